"""Proof on fresh facts that the change is what it must be."""

import json
from dataclasses import asdict, dataclass

from rollout.changes.model import Change
from rollout.checks.model import CheckResult, DropIn, Expectation
from rollout.checks.registry import run_checks
from rollout.checks.unit import one_invocation, starts_since
from rollout.engine.look import fresh_facts, its_unit, keep_facts, was_active
from rollout.engine.preflight import moving, needs_backup
from rollout.engine.steps import HostRun
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or
from rollout.journal import dump_synced
from rollout.plan.build import still_needed
from rollout.versions import fix_releases


@dataclass(frozen=True)
class Proof:
    """What the proof came to: the starts of the unit since before, what is wrong, and what is only remarkable."""

    restarts: int
    wrong: tuple[str, ...]
    remarks: tuple[str, ...]


def prove(run: HostRun, before: Facts) -> Proof:
    """Look again and hold the host against the plan.

    A start more than planned is a remark and nothing to go back for: going back would be one more.
    """
    after = fresh_facts(run, refresh=True)
    keep_facts(run, "after", after)
    results = run_checks(after, before, expectation(run, before))
    dump_synced(run.folder / "checks.json", [asdict(result) for result in results])
    failed = [result for result in results if result.status == "fail"]
    wrong = [_told(result) for result in failed if result.id != one_invocation.__name__]
    left = still_needed(after, run.host, run.kinds)
    if left:
        wrong.append(f"still to be done: {left}")
    remarks = tuple(_told(result) for result in failed if result.id == one_invocation.__name__)
    return Proof(known_or(starts_since(before, after), 0), tuple(wrong), remarks)


def _told(result: CheckResult) -> str:
    return f"{result.id}: expected {result.expected}, found {result.found}"


def expectation(run: HostRun, before: Facts) -> Expectation:
    """Say what the host must be like after the planned changes."""
    by_kind = {change.kind: change for change in run.plan.changes}
    allocator = by_kind.get("allocator")
    moved = moving(by_kind.get("packages"))
    active = was_active(its_unit(run, before))
    return Expectation(
        version=run.plan.version.target if by_kind.get("packages") else None,
        exact=True,
        packages=dict(moved) if moved else None,
        releases=fix_releases(run.host.settings.fix_releases),
        library=str(allocator.after["library"]) if allocator else None,
        drop_in=_drop_in(allocator),
        active=active,
        invocations=run.plan.restarts if active else None,
        backup=_prepared_backup(run),
    )


def _prepared_backup(run: HostRun) -> str | None:
    """Return the folder that holds a prepared backup; every other kind was judged when it was taken."""
    path = run.folder / "backup.json"
    backup = json.loads(path.read_text()) if needs_backup(run) and path.is_file() else {}
    return f"{backup['directory']}/data" if backup.get("how") == "mariadb-backup" else None


def _drop_in(allocator: Change | None) -> DropIn | None:
    if allocator is None:
        return None
    return DropIn(str(allocator.after["drop_in_path"]), str(allocator.after["drop_in"]))
