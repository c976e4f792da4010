"""One host walks through its phases. The order is fixed, and this is the only place that knows it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from rollout.engine import lock
from rollout.engine.backup import Backup, back_up
from rollout.engine.change import Made, make, take_back_again
from rollout.engine.connections import wait_until_gone
from rollout.engine.hooks import hook_on_failure, run_hooks, try_hooks, with_hooks
from rollout.engine.look import fresh_facts, its_unit, kept_facts, was_active
from rollout.engine.neighbours import others_synced, replicas_new_enough
from rollout.engine.outcome import Outcome, of_error
from rollout.engine.preflight import Tried, preflight
from rollout.engine.proof import Proof, prove
from rollout.engine.recover import recover
from rollout.engine.restore import verify_restore
from rollout.engine.retention import prune_backups
from rollout.engine.shorter_stop import restore_variables, shorten_stop
from rollout.engine.soak import soak, take_sample
from rollout.engine.steps import HostRun
from rollout.engine.variables import at_restart
from rollout.engine.way_back import prepare, write_record
from rollout.errors import CommandFailed, HostProblem, RolloutError, StalePlan, WrongState
from rollout.facts.model import Facts, Unit
from rollout.journal import dump_synced
from rollout.plan.build import drifted, still_needed


@dataclass(frozen=True)
class Ready:
    """A host that stands right before its change: the facts it is measured against, and its unit."""

    before: Facts
    unit: Unit


def apply_to(run: HostRun) -> Outcome:
    """Take one host through all phases, or through those that an earlier part of the same run left undone.

    Never raises for a fault of the host: the outcome says what it was, and so does the journal.
    """
    began = bool(run.known and run.known.change_began and not run.known.finished)
    try:
        ready = _ready_again(run) if began else _until_the_change(run)
    except RolloutError as error:
        return finish(run, of_error(error, change_began=began))
    if isinstance(ready, Outcome):
        return finish(run, ready)
    try:
        return finish(run, _through_the_change(run, ready))
    except RolloutError as error:
        return finish(run, with_hooks(run, of_error(error, change_began=True), "undrain", "after"))


def finish(run: HostRun, outcome: Outcome) -> Outcome:
    """Tell the host's news, if there is any, and write its last line into the journal."""
    if outcome.status != "ok":
        try_hooks(run, "notify", status=outcome.status, error=outcome.error)
    run.record(
        run.name,
        "finished",
        status=outcome.status,
        error=outcome.error,
        restarts=outcome.restarts,
        downtime_seconds=outcome.downtime_seconds,
    )
    return outcome


def _until_the_change(run: HostRun) -> Ready | Outcome:
    with run.phase("lock"):
        lock.take(run)
        lock.wait_for_the_dead(run)
    with lock.back_on_failure(run):
        if run.known and run.known.finished:
            _begin_anew(run)
        with run.phase("probe"):
            facts = fresh_facts(run, refresh=True)
            stale = drifted(run.plan, facts, run.host, run.kinds)
            if stale:
                raise StalePlan(f"{run.name}: {stale}", hint="Make a fresh plan with: rollout plan")
        if not still_needed(facts, run.host, run.kinds):
            lock.leave(run)
            return Outcome("ok")
        unit = its_unit(run, facts)
        try_hooks(run, "notify", status="started")
        with hook_on_failure(run, "after"):
            run_hooks(run, "before")
            _prepare(run, facts, unit)
            others_synced(run, facts)
            replicas_new_enough(run)
            with hook_on_failure(run, "undrain"), _variables_back_on_failure(run, facts):
                _drain(run, facts, unit)
                if was_active(unit):
                    shorten_stop(run, facts)
    return Ready(kept_facts(run, "before"), unit)


def _prepare(run: HostRun, facts: Facts, unit: Unit) -> None:
    """Try, measure and save all that must be tried, measured and saved before the change."""
    with run.phase("preflight") as details:
        details.update(_refuse_failures(run, preflight(run, facts, unit)))
    with run.phase("variables") as details:
        details["at_restart"] = _at_restart(run, facts, unit)
    with run.phase("baseline"):
        take_sample(run, "before")
    with run.phase("backup") as details:
        backup = back_up(run, facts)
        details.update(_backup_details(run, backup))
    if run.options.verify_restore:
        with run.phase("restore") as details:
            details["tables_read"] = verify_restore(run, facts, backup)
    with run.phase("way_back") as details:
        details["rebuilt"] = prepare(run, facts, unit)
        write_record(run, facts, unit)


@contextmanager
def _variables_back_on_failure(run: HostRun, facts: Facts) -> Iterator[None]:
    """Put back what was set for a shorter stop when the stop does not come."""
    try:
        yield
    except RolloutError:
        if run.host.settings.shorter_stop:
            with suppress(HostProblem):  # the first error is the one to tell
                restore_variables(run, facts)
        raise


def _at_restart(run: HostRun, facts: Facts, unit: Unit) -> list[str]:
    """Say which variables change at the restart, or why nobody knows: that alone keeps no host from its change."""
    try:
        found = at_restart(run, facts, unit)
    except (WrongState, CommandFailed) as problem:
        return [f"not known: {problem.message}"]
    dump_synced(run.folder / "variables.json", [asdict(one) for one in found])
    return [one.told for one in found]


def _drain(run: HostRun, facts: Facts, unit: Unit) -> None:
    """Take the clients away; that took its time, so the other nodes of a cluster are asked once more."""
    run_hooks(run, "drain")
    if was_active(unit):
        wait_until_gone(run, facts)
    if run.plan.hooks.drain:
        others_synced(run, facts)


def _begin_anew(run: HostRun) -> None:
    """Clear the record of an earlier attempt of this run, so that the host is tried once more.

    What that attempt left behind, because its way back failed, is taken back first. Raises `WrongState` when that
    fails again.
    """
    if not run.ask(f"[ ! -e {run.here}/begun ] || [ -e {run.here}/undone ]").ok:
        with run.phase("take_back") as details:
            ended = take_back_again(run)
            details.update(exit_status=ended.exit_status, last_words=ended.last_words)
        if ended.exit_status != 0:
            hint = f"rollout rollback --host {run.name}, then a fresh plan"
            told = f"an earlier attempt left a change behind, see {run.here}: {ended.last_words}"
            raise WrongState(run.name, told, hint=hint)
    run.ask(f"find {run.here} -mindepth 1 -delete").check("clearing the record of an earlier attempt")


def _ready_again(run: HostRun) -> Ready:
    """Come back to a host whose change began: the lock must still be ours, and its first facts are on file."""
    with run.phase("lock"):
        lock.take(run)
    before = kept_facts(run, "before")
    return Ready(before, its_unit(run, before))


def _through_the_change(run: HostRun, ready: Ready) -> Outcome:
    with run.phase("change") as details:
        made = make(run, ready.before)
        details.update(exit_status=made.ended.exit_status, last_words=made.ended.last_words)
    left = restore_variables(run, ready.before) if run.host.settings.shorter_stop else ""
    proof = Proof(0, (), ())
    problem = _what_went_wrong(made)
    if not problem:
        with run.phase("proof") as details:
            proof = prove(run, ready.before)
            details.update(restarts=proof.restarts, wrong=proof.wrong, remarks=proof.remarks)
        problem = "; ".join(proof.wrong)
    if problem:
        outcome = with_hooks(run, recover(run, ready.before, made, problem), "undrain", "after")
        lock.leave(run)
        return outcome
    outcome = Outcome("changed", "; ".join(proof.remarks), proof.restarts, made.downtime_seconds)
    outcome = with_hooks(run, outcome.with_trouble(left) if left else outcome, "undrain")
    with run.phase("soak") as details:
        failed = [f"{result.id}: {result.found}" for result in soak(run) if result.status == "fail"]
        details.update(gate=failed)
    for one in failed:
        outcome = outcome.with_trouble(f"health gate {one}")
    if run.host.settings.backup_keep:
        with run.phase("retention") as details:
            details["removed"] = prune_backups(run)
    outcome = with_hooks(run, outcome, "after")
    lock.leave(run)
    return outcome


def _what_went_wrong(made: Made) -> str:
    if made.ended.exit_status == 0:
        return ""
    return f"do.sh ended with {made.ended.exit_status}: {made.ended.last_words}"


def _refuse_failures(run: HostRun, tried: tuple[Tried, ...]) -> dict[str, Any]:
    dump_synced(run.folder / "preflight.json", [vars(entry) for entry in tried])
    failed = [entry for entry in tried if entry.status == "fail"]
    if failed:
        raise WrongState(run.name, "preflight: " + "; ".join(f"{entry.id}: {entry.seen}" for entry in failed))
    return {"tried": len(tried), "warnings": [entry.seen for entry in tried if entry.status == "warn"]}


def _backup_details(run: HostRun, backup: Backup | None) -> dict[str, Any]:
    if backup is None:
        return {"skipped": run.options.skip_backup or "the settings ask for none"}
    return backup.details
