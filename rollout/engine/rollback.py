"""Take back what a run did, by the record that it left on the host: from any controller, in any state."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ValidationError

from rollout.changes.packages import upstream_of
from rollout.changes.placement import DROP_IN
from rollout.checks.unit import starts_since
from rollout.engine import lock
from rollout.engine.change import take_back, wait_for_change, watched
from rollout.engine.connections import wait_until_gone
from rollout.engine.hooks import hook_on_failure, run_hooks, try_hooks, with_hooks
from rollout.engine.look import fresh_facts, keep_facts
from rollout.engine.neighbours import others_synced
from rollout.engine.outcome import Outcome, of_error
from rollout.engine.shorter_stop import restore_variables
from rollout.engine.steps import BASE, HostRun, script
from rollout.engine.walk import finish
from rollout.errors import RollbackIncomplete, RolloutError, StalePlan, WrongState
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.remote.transport import Result
from rollout.settings import Host
from rollout.versions import Upstream

Ask = Callable[[str], Result]  # runs a script on a host
DRIFTED = 3  # exit status of undo.sh
BENCH_DROP_IN = "zz-rollout-bench.conf"  # of a measurement, below /run


class RecordedChange(BaseModel):
    """A change as the record on the host tells it."""

    kind: Literal["packages", "allocator", "load"]
    summary: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]


class HostRecord(BaseModel):
    """record.json of one run on a host."""

    run_id: str
    host: str
    unit: str
    was_active: bool
    operator: str = ""
    controller: str = ""
    changes: tuple[RecordedChange, ...]

    @property
    def server_before(self) -> Upstream | None:
        """The release to which the server's packages go back; None where the run did not move them."""
        moved = [one.before for one in self.changes if one.kind == "packages"]
        versions = (upstream_of(version) for before in moved for name, version in before.items() if name != "running")
        return next((version for version in versions if version), None)


@dataclass(frozen=True)
class Found:
    """A record and what has become of it: `none` (nothing changed), `begun`, `done` or `undone`."""

    record: HostRecord
    state: str


@dataclass(frozen=True)
class Left:
    """What runs have left on a host: their records, oldest first, and the run that holds the lock ("" for none).

    `unit` is the true Id of the unit that the inventory names, "" where it names none.
    """

    records: tuple[Found, ...]
    lock_run: str
    unit: str

    def of_this_server(self) -> tuple[Found, ...]:
        """Return the records of the row's own server: each instance on a machine is taken back by its own row."""
        return tuple(entry for entry in self.records if self.unit in ("", entry.record.unit))

    def of_others(self) -> tuple[Found, ...]:
        """Return the records of the machine's other servers."""
        return tuple(entry for entry in self.records if entry not in self.of_this_server())


def what_is_left(host: Host, ask: Ask) -> Left:
    """Read what runs have left on the host; raises `WrongState` on a record that cannot be read."""
    found, lock_run, unit = [], "", ""
    asked = ask(script("records", base=BASE, unit=host.settings.unit))
    for line in asked.check("reading the records").text.splitlines():
        name, state, text = line.split("\t", 2)
        if name == "unit":
            unit = text
            continue
        if name == "lock":
            lock_run = lock.owner(text).get("run_id", "?")
            continue
        try:
            found.append(Found(HostRecord.model_validate_json(text), state))
        except ValidationError as error:
            message = f"{BASE}/{name}/record.json cannot be read: {error.error_count()} mistakes"
            raise WrongState(host.name, message) from error
    return Left(tuple(sorted(found, key=lambda entry: entry.record.run_id)), lock_run, unit)


def roll_back(run: HostRun) -> Outcome:
    """Take back the run named by `record_id`, or the last one that changed the host and was not taken back yet.

    Never raises for a fault of the host. Nothing to take back is `ok`, and says so.
    """
    try:
        return finish(run, _rolled_back(run))
    except RolloutError as error:
        return finish(run, of_error(error, change_began=False))


def _rolled_back(run: HostRun) -> Outcome:
    left = what_is_left(run.host, run.ask)
    chosen = choose(left, run.record_id)
    theirs = {entry.record.run_id for entry in left.of_others()}
    if isinstance(chosen, str) and left.lock_run in ("", *theirs):
        return Outcome("ok", chosen) if _settled(left, run.record_id) else Outcome("failed", chosen, exit_code=1)
    with run.phase("lock"):
        lock.take(run)
    try:
        if isinstance(chosen, str):
            return _cleared(run, left.lock_run)
        return _under_lock(replace(run, record_id=chosen.record.run_id), chosen)
    finally:
        lock.leave(run)


def _cleared(run: HostRun, dead_run: str) -> Outcome:
    """Clear up behind a run that died before its change: its lock was taken over, and its folder goes."""
    with run.phase("take_back"):
        left = restore_variables(replace(run, record_id=dead_run), fresh_facts(run))
        text = (
            f'folder={shlex.quote(BASE)}/{shlex.quote(dead_run)}; [ -e "$folder/record.json" ] || rm -rf -- "$folder"'
        )
        run.ask(text).check("clearing up behind a run that changed nothing")
    outcome = Outcome("rolled_back", error=f"run {dead_run} had changed nothing yet; its lock is gone")
    outcome = outcome.with_trouble(left) if left else outcome
    return with_hooks(run, outcome, "undrain", "after")


def choose(left: Left, wanted: str) -> Found | str:
    """Return the record to take back, or the sentence that says why there is nothing to do."""
    found = left.of_this_server()
    if wanted:
        named = tuple(entry for entry in left.records if entry.record.run_id == wanted)
        if not named:
            return f"run {wanted} left no record here: it changed nothing on this host"
        found = tuple(entry for entry in found if entry in named)
        if not found:
            return f"run {wanted} changed {named[0].record.unit} on this host, and this row is {left.unit}"
    if not found and left.records:
        units = ", ".join(sorted({entry.record.unit for entry in left.records}))
        return f"nothing to take back: no run has changed {left.unit} here, only {units}"
    open_ones = [entry for entry in found if entry.state in ("begun", "done")]
    if open_ones:
        return open_ones[-1]
    if any(entry.state == "undone" for entry in found):
        later = [entry.record.run_id for entry in left.of_this_server() if entry.state in ("begun", "done")]
        beside = f"; what holds now is of run {later[-1]}" if later else ""
        return f"nothing to take back: it was taken back already{beside}"
    return "nothing to take back: no run has changed this host"


def _settled(left: Left, wanted: str) -> bool:
    """Whether nothing is left to take back of the run that was asked for; one that left no record here is not it."""
    found = {entry.state for entry in left.of_this_server() if entry.record.run_id == wanted}
    return not wanted or found == {"undone"}


def _under_lock(run: HostRun, chosen: Found) -> Outcome:
    """Take back one record, with the hooks around it as around a change.

    A node that is whole waits for the others of its cluster; one whose change did not come to its end goes back now.
    """
    with run.phase("probe"):
        wait_for_change(run)
        before = fresh_facts(run)
        keep_facts(run, "before", before)
    try_hooks(run, "notify", status="started")
    with hook_on_failure(run, "after"):
        run_hooks(run, "before")
        with hook_on_failure(run, "undrain"):
            run_hooks(run, "drain")
            if _answers(before):
                wait_until_gone(run, before)
                if chosen.state == "done":
                    others_synced(run, before)
            outcome = _taken_back(run, chosen.record, before)
    return with_hooks(run, outcome, "undrain", "after")


def _answers(facts: Facts) -> bool:
    """Whether the server answers: the clients of one that is down are gone, and nobody could be asked."""
    return known_or(facts.server.running, None) is not None


def _taken_back(run: HostRun, record: HostRecord, before: Facts) -> Outcome:
    with run.phase("take_back") as details:
        ended, downtime_seconds = watched(
            run, before, lambda: take_back(run, "--accept-drift" if run.options.accept_drift else "")
        )
        details.update(exit_status=ended.exit_status, last_words=ended.last_words)
    if ended.exit_status == DRIFTED:
        hint = "Look at what it names; rollout rollback --accept-drift takes the change back all the same."
        raise StalePlan(f"{run.name}: {ended.last_words}", hint=hint)
    with run.phase("proof"):
        after = fresh_facts(run)
        keep_facts(run, "after", after)
        left = [*not_back(after, record), *([ended.last_words] if ended.exit_status else [])]
    restarts = known_or(starts_since(before, after), 0)
    if left:
        told = f"the rollback is not complete: {'; '.join(left)}. Record: {run.here} on the host"
        return Outcome("failed", told, restarts, downtime_seconds, RollbackIncomplete.exit_code)
    return Outcome("rolled_back", restarts=restarts, downtime_seconds=downtime_seconds)


def not_back(facts: Facts, record: HostRecord) -> list[str]:
    """Compare fresh facts with what the record says was there before; return every difference. Pure."""
    wrong = []
    for change in record.changes:
        wrong += _NOT_BACK[change.kind](facts, change)
    unit = facts.unit
    running = not isinstance(unit, Unknown) and unit is not None and unit.active_state == "active"
    if running != record.was_active:
        wrong.append(f"{record.unit} is {'running' if running else 'not running'}, and was otherwise before")
    return wrong


def _load_not_back(facts: Facts, change: RecordedChange) -> list[str]:
    """Tell what is left of a measurement: its schema, or its drop-in below /run."""
    schemas = facts.server.schemas
    name = change.after["schema"] or ""
    wrong = []
    if isinstance(schemas, Unknown):
        wrong.append(f"whether schema {name} is gone cannot be told: {schemas.reason}")
    elif name in schemas:
        wrong.append(f"schema {name} is still there")
    unit = facts.unit
    drop_ins = () if isinstance(unit, Unknown) or unit is None else unit.drop_ins
    return wrong + [f"{entry.path} is still there" for entry in drop_ins if entry.path.endswith(f"/{BENCH_DROP_IN}")]


def _packages_not_back(facts: Facts, change: RecordedChange) -> list[str]:
    wrong = []
    for name, version in change.before.items():
        if name == "running":
            continue  # a restart alone has nothing to take back
        package = facts.packages.named(name)
        now = package.installed if package else None
        if now != version:
            wrong.append(f"{name} is at {now}, and was at {version}")
    return wrong


def _allocator_not_back(facts: Facts, change: RecordedChange) -> list[str]:
    wrong = []
    unit = facts.unit
    drop_ins = () if isinstance(unit, Unknown) or unit is None else unit.drop_ins
    path = change.after.get("drop_in_path") or DROP_IN  # a record of before there were two places has no path
    ours = next((entry.content for entry in drop_ins if entry.path.endswith(path)), None)
    if ours != change.before["drop_in"]:
        wrong.append(f"{path} is not as it was")
    mapped = known_or(facts.allocator.mapped, ())
    others = (change.before.get("others_mapped") or "").split() if facts.server.running is not None else []
    loaded = {entry.path.partition(".so")[0] for entry in mapped}  # a newer file of the same library will do
    wrong += [f"{path} is not loaded again" for path in others if path.partition(".so")[0] not in loaded]
    if _without_jemalloc(change.before["running"]) and any("jemalloc" in entry.path for entry in mapped):
        wrong.append("the server still has jemalloc loaded")
    name, _, _ = (change.after["package"] or "").partition("=")
    package = facts.packages.named(name) if name else None
    if package and package.installed:
        wrong.append(f"{name} is still installed")
    return wrong


def _without_jemalloc(running: str | None) -> bool:
    """Whether the server ran without jemalloc, as far as is known."""
    return running is not None and "jemalloc" not in running


_NOT_BACK = {"packages": _packages_not_back, "allocator": _allocator_not_back, "load": _load_not_back}
