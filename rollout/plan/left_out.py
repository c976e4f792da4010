"""Hosts that a run leaves out and that must be changed before one of its own."""

from collections.abc import Collection

from rollout.plan.model import HostPlan, Plan


def left_out(plan: Plan, names: Collection[str], done: Collection[str]) -> dict[str, str]:
    """Return the hosts among `names` that would become newer than a replica of theirs, each with the sentence why.

    `names` are the hosts of the run, `done` those that an earlier run of the same plan has changed. The plan is sound
    when it is run whole; run with --host or --limit, a primary could go before the replicas that stand before it.
    """
    found = {}
    for name in names:
        row = plan.host(name)
        if row is None or not _changes_packages(row):
            continue
        waiting = [other for other in plan.after.get(name, ()) if other not in {*names, *done} and _open(plan, other)]
        if waiting:
            found[name] = f"this run leaves out replicas that must be changed before it: {', '.join(waiting)}"
    return found


def _changes_packages(row: HostPlan) -> bool:
    return any(change.kind == "packages" for change in row.changes)


def _open(plan: Plan, name: str) -> bool:
    """Whether the plan has something left to do for the host, or does not know."""
    row = plan.host(name)
    return row is None or row.status != "ok"
