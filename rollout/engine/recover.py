"""The automatic way back of one host whose change did not hold."""

from rollout.changes.assess import assess
from rollout.checks.unit import starts_since
from rollout.engine.change import Made, take_back
from rollout.engine.look import fresh_facts
from rollout.engine.outcome import Outcome
from rollout.engine.steps import HostRun
from rollout.errors import RollbackIncomplete
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or


def recover(run: HostRun, before: Facts, made: Made, problem: str) -> Outcome:
    """Take the host back, unless do.sh has done so by itself, and look whether it is as it was.

    A way back that failed under do.sh is tried once more. `recovered` is said only where undo.sh came to its end and
    the host needs the very changes again that were planned for it.
    """
    with run.phase("take_back") as details:
        ended = made.ended if made.taken_back else take_back(run, "--after-failure")
        details.update(exit_status=ended.exit_status, last_words=ended.last_words)
        after = fresh_facts(run, refresh=True)
        failed = "" if made.taken_back or ended.exit_status == 0 else f"undo.sh: {ended.last_words}"
        left = "; ".join(filter(None, [failed, as_before(run, after)]))
    restarts = known_or(starts_since(before, after), 0)
    if left:
        told = f"{problem}; and the host is not as it was: {left}. Record: {run.here} on the host"
        return Outcome("failed", told, restarts, made.downtime_seconds, RollbackIncomplete.exit_code)
    return Outcome("recovered", problem, restarts, made.downtime_seconds, exit_code=1)


def as_before(run: HostRun, facts: Facts) -> str:
    """Say what is not as it was before the change, by fresh facts; empty when all is."""
    needs = assess(facts, run.host.settings, run.kinds)
    if needs.changes == run.plan.changes:
        return ""
    if needs.blockers:
        return "; ".join(f"{finding.code}: {finding.message}" for finding in needs.blockers)
    planned = {change.kind: change for change in run.plan.changes}
    now = {change.kind: change for change in needs.changes}
    return "; ".join(
        f"{kind}: expected {planned[kind].summary if kind in planned else 'nothing'}, "
        f"found {now[kind].summary if kind in now else 'nothing'}"
        for kind in sorted({*planned, *now})
        if planned.get(kind) != now.get(kind)
    )
