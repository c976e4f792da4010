"""Hooks: programs of the user's around a host, on the controller or on the host.

A hook that fails before the change (`before`, `drain`) keeps the host from being changed. `undrain`, `after` and
`notify` come when the change is over, and their failure is told. Facts reach a hook in its environment, as ROLLOUT_*.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from shutil import which

from rollout.engine.outcome import Outcome
from rollout.engine.program import TIMED_OUT, run_here
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import run_detached
from rollout.errors import RolloutError, Unreachable, WrongState
from rollout.journal import dump_synced
from rollout.printable import printable
from rollout.settings import Hook, HookEvent

EVENTS: tuple[HookEvent, ...] = ("before", "drain", "undrain", "after", "notify")
STOPS_THE_HOST = frozenset({"before", "drain"})
LOST = frozenset({"unreachable", "unknown"})  # hosts on which nothing can be run now
ATTACH_MARGIN_SECONDS = 60.0  # a host's own timeout(1) ends a hook; this bounds the wait for that end


@dataclass(frozen=True)
class HookRan:
    """How one hook ended; `said` is the end of its output, made safe to print."""

    where: str
    command: str
    exit_status: int
    seconds: float
    said: str

    @property
    def told(self) -> str:
        """Say in one sentence how it ended."""
        how = "ran into its time limit" if self.exit_status == TIMED_OUT else f"ended with {self.exit_status}"
        return f"{self.command} on the {self.where} {how}" + (f": {self.said}" if self.said else "")


def run_hooks(run: HostRun, event: HookEvent, **facts: str) -> None:
    """Run the hooks of an event as a phase of its own, with these facts beside the usual ones.

    Raises `WrongState` when one fails. Before the change the first failure is the last hook that is run; after it all
    are run. Nothing happens, and no phase is written, where an event has no hooks.
    """
    hooks = run.plan.hooks.of(event)
    if facts.get("status") in LOST:
        hooks = tuple(hook for hook in hooks if hook.where == "controller")
    if run.options.skip_hooks or not hooks:
        return
    with run.phase(event) as details:
        ran: list[HookRan] = []
        for number, hook in enumerate(hooks):
            ran.append(_run_one(run, event, number, hook, _facts(run, event, facts)))
            if ran[-1].exit_status and event in STOPS_THE_HOST:
                break
        details["hooks"] = [one.told for one in ran]
        dump_synced(run.folder / f"hooks-{event}.json", [asdict(one) for one in ran])
        failed = "; ".join(one.told for one in ran if one.exit_status)
        if failed:
            raise WrongState(run.name, f"hook {event}: {failed}")


def missing_programs(run: HostRun) -> list[str]:
    """Name the programs of all hooks that are not where they would be run, each with its event."""
    planned = [(event, hook) for event in EVENTS for hook in run.plan.hooks.of(event)]
    there = [hook.command[0] for _, hook in planned if hook.where == "host"]
    found = run.ask(script("programs", names=there)).check("looking for hooks").text.splitlines() if there else []
    return [
        f"{event}: there is no program {printable(hook.command[0])} on the {hook.where}"
        for event, hook in planned
        if (hook.command[0] not in found if hook.where == "host" else not which(hook.command[0]))
    ]


def try_hooks(run: HostRun, event: HookEvent, **facts: str) -> str:
    """Run the hooks of an event and return what went wrong, empty for nothing: the change itself is over by then."""
    try:
        run_hooks(run, event, **facts)
    except RolloutError as error:
        return error.message.removeprefix(f"{run.name}: ")
    return ""


def with_hooks(run: HostRun, outcome: Outcome, *events: HookEvent) -> Outcome:
    """Run the hooks that follow a change, and return its outcome with what went wrong in them.

    A host that is lost gets none: the run is not done with it, and --resume or rollback runs them.
    """
    if outcome.status in LOST:
        return outcome
    for event in events:
        wrong = try_hooks(run, event, status=outcome.status, error=outcome.error)
        outcome = outcome.with_trouble(wrong) if wrong else outcome
    return outcome


@contextmanager
def hook_on_failure(run: HostRun, event: HookEvent) -> Iterator[None]:
    """Run the hooks of an event when something fails inside, so that what `drain` or `before` did is taken back.

    The first error is the one that is raised; the journal has what went wrong in the hooks. A host out of reach gets
    none, as in `with_hooks`.
    """
    try:
        yield
    except Unreachable:
        raise
    except RolloutError as error:
        try_hooks(run, event, status="failed", error=error.message)
        raise


def run_program(run: HostRun, what: str, program: Hook, **facts: str) -> HookRan:
    """Run a program of the user's that is no hook, in the same way and with the same facts and these."""
    return _run_one(run, what, 0, program, _facts(run, what, facts))


def _run_one(run: HostRun, event: str, number: int, hook: Hook, facts: dict[str, str]) -> HookRan:
    started = time.monotonic()
    if hook.where == "controller":
        status, said = _here(run, hook, facts)
    elif event == "notify":
        status, said = _once(run, hook, facts)
    else:
        status, said = _on_host(run, f"{event}-{number}", hook, facts)
    words = printable(" ".join(hook.command))
    return HookRan(hook.where, words, status, round(time.monotonic() - started, 3), said)


def _here(run: HostRun, hook: Hook, facts: dict[str, str]) -> tuple[int, str]:
    ended = run_here(hook.command, {**_own_environment(run), **facts}, hook.timeout_seconds)
    return ended.exit_status, _last_words(ended.output)


def _once(run: HostRun, hook: Hook, facts: dict[str, str]) -> tuple[int, str]:
    """Run a hook on the host that nothing hangs on: after the run has left, so that its folder may be gone."""
    text = _text(hook, facts)
    result = run.transport.run(text, timeout_seconds=hook.timeout_seconds + ATTACH_MARGIN_SECONDS)
    return result.exit_status, _last_words(result.stdout)


def _last_words(output: bytes) -> str:
    return printable(output.strip())[-1000:]


def _on_host(run: HostRun, name: str, hook: Hook, facts: dict[str, str]) -> tuple[int, str]:
    """Run a hook in a unit of its own: a connection that breaks neither ends it nor starts it twice."""
    unique = f"hook-{run.run_id}-{name}"
    text = _text(hook, facts)
    ended = run_detached(run, unique, text, timeout_seconds=hook.timeout_seconds + ATTACH_MARGIN_SECONDS)
    return ended.exit_status, ended.last_words


def _text(hook: Hook, facts: dict[str, str]) -> str:
    return script(
        "hook",
        facts=sorted(facts.items()),
        command=hook.command,
        timeout_seconds=hook.timeout_seconds,
    )


def _own_environment(run: HostRun) -> dict[str, str]:
    """Return the controller's environment without the variables in which this host's passwords stand."""
    secret = run.host.settings.secret_variables
    return {name: value for name, value in os.environ.items() if name not in secret}


def _facts(run: HostRun, event: str, more: dict[str, str]) -> dict[str, str]:
    """Return what a hook is told. Texts that may come from a host are made safe to print."""
    told = {
        "HOOK": event,
        "HOST": run.name,
        "ADDRESS": run.host.connection.address or run.name,
        "RUN": run.run_id,
        "KIND": run.kind,
        "OPERATOR": run.options.operator,
        "CHANGES": "; ".join(change.summary for change in run.plan.changes),
        "STATUS": "",
        **{name.upper(): value for name, value in more.items()},
    }
    return {f"ROLLOUT_{name}": printable(value) for name, value in told.items()}
