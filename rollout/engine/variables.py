"""Which variables change when the server is restarted, told before it is.

Three ways lead there: a variable was set at run time only, a file was changed since the start, or the new release has
another default. Each side is asked rather than guessed: the server for what it has and where from
(`information_schema.SYSTEM_VARIABLES`, `GLOBAL_VALUE_ORIGIN`), both binaries for what they read from this host's files
(`--help --verbose`). What the server works out for itself at its start (`AUTO`) is left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rollout.engine.look import its_socket, login_option, was_active
from rollout.engine.steps import HostRun, script
from rollout.errors import WrongState
from rollout.facts.model import Facts, Unit

# What differs between two binaries for where they lie, or names the release itself.
_PLACES = frozenset({"plugin_dir", "lc_messages_dir", "character_sets_dir", "basedir", "language"})
# Given as the name of a file, and told by the server as a switch: named at all means on.
_NAMED_SWITCHES = frozenset({"log_bin"})
_WORDS = {"TRUE": "ON", "YES": "ON", "FALSE": "OFF", "NO": "OFF", "(NO DEFAULT VALUE)": "", "NULL": ""}


@dataclass(frozen=True)
class Becomes:
    """A variable that the restart changes: its value now and then (None: the release does not have it), and why."""

    name: str
    now: str
    then: str | None
    why: str

    @property
    def told(self) -> str:
        """Say it in words."""
        if self.then is None:
            return f"{self.name} is gone, is {self.now or 'empty'} now ({self.why})"
        now, then = _apart(self.now, self.then)
        return f"{self.name} becomes {then or 'empty'}, is {now or 'empty'} now ({self.why})"


@dataclass(frozen=True)
class Values:
    """The values of all variables by whom they were asked of; `origins` are the server's own words for running ones."""

    running: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    old: Mapping[str, str] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    in_files: frozenset[str] = frozenset()


def at_restart(run: HostRun, facts: Facts, unit: Unit) -> tuple[Becomes, ...]:
    """Ask the host which variables change at the restart. Nothing changes on a server that is stopped.

    To be asked after preflight, which leaves what the new binary reads. Raises `WrongState` or `CommandFailed` when
    the host does not say.
    """
    if not was_active(unit):
        return ()
    text = script(
        "variables",
        here=run.here,
        run_id=run.run_id,
        unit=unit.id,
        user=unit.user or "root",
        login=login_option(run),
        socket=its_socket(facts),
    )
    result = run.ask(text, timeout_seconds=120).check("asking for variables")
    values = read_values(result.text.splitlines())
    if not values.old:
        raise WrongState(run.name, "the server's own binary does not say what it would read from the option files")
    return changing(values)


def read_values(lines: Iterable[str]) -> Values:
    """Read what the script prints: whence, name, value and origin, parted by tabs. Other lines are passed over."""
    running, origins, sides, files = {}, {}, {"old": dict[str, str](), "new": dict[str, str]()}, set()
    for whence, name, value, origin in (line.split("\t") for line in lines if line.count("\t") == 3):
        if whence == "running":
            running[name], origins[name] = value, origin
        elif whence == "file":
            files.add(name)
        elif whence in sides:
            sides[whence][name] = value.strip()
    return Values(running, origins, sides["old"], sides["new"], frozenset(files))


def changing(values: Values) -> tuple[Becomes, ...]:
    """Return every variable that will be another one after the restart, by name. Pure."""
    found = {one.name: one for one in (*_by_release(values), *_by_hand(values))}
    return tuple(found[name] for name in sorted(found))


def _by_hand(values: Values) -> Iterator[Becomes]:
    """Yield what was set at run time, and what the files say otherwise since the start."""
    for name, now in values.running.items():
        then = _as_told((values.new or values.old).get(name, values.old.get(name)), name)
        if then is None or _plain(then) == _plain(now):
            continue
        if values.origins[name] == "SQL":
            yield Becomes(name, now, then, "set at run time, and the option files say otherwise")
        elif values.origins[name] == "CONFIG" or name in values.in_files:
            yield Becomes(name, now, then, "the option files were changed since the start")


def _as_told(value: str | None, name: str) -> str | None:
    """Return a value of an option as the running server would tell it."""
    if value is None or name not in _NAMED_SWITCHES:
        return value
    return "OFF" if _plain(value) in ("", "OFF", "0.0") else "ON"


def _by_release(values: Values) -> Iterator[Becomes]:
    """Yield what the new binary reads otherwise than the old one from the same files."""
    for name, old in values.old.items() if values.new else ():
        if name in _PLACES or name.startswith("version"):
            continue
        now = values.running.get(name, old)
        if name not in values.new:
            yield Becomes(name, now, None, "the new release does not have it")
        elif _plain(values.new[name]) not in (_plain(old), _plain(now)):
            yield Becomes(name, now, values.new[name], "the new release has another default")


def _apart(now: str, then: str) -> tuple[str, str]:
    """Leave of two lists of switches, as of `optimizer_switch`, those that differ; other values stay as they are.

    `--help --verbose` cuts long lists off, so a switch that only one side names says nothing.
    """
    here, there = _switches(now), _switches(then)
    differ = [name for name in here if name in there and here[name] != there[name]]
    if not differ:
        return now, then
    return ",".join(f"{name}={here[name]}" for name in differ), ",".join(f"{name}={there[name]}" for name in differ)


def _switches(value: str) -> dict[str, str]:
    return {name: setting for name, equals, setting in (one.partition("=") for one in value.split(",")) if equals}


def _plain(value: str) -> str:
    """Bring a value to one form: ON and TRUE, 2 and 2.000000, with and without a last slash are the same."""
    text = value.strip().upper()
    text = _WORDS.get(text, text)
    try:
        return repr(float(text))
    except ValueError:
        return text.rstrip("/")
