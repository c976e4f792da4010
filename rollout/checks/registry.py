"""All checks in the order in which people read them, and the one function that runs them."""

from collections.abc import Callable

from rollout.checks.aftermath import backup, error_log, lru_monitoring, old_blocks
from rollout.checks.allocator import allocator_mapped, allocator_reported, drop_in_wins
from rollout.checks.data import datadir_identity, schemas_tables
from rollout.checks.model import CheckResult, Expectation, Judgement, Situation
from rollout.checks.packages import packages_configured, packages_version, unattended_upgrades
from rollout.checks.release import fix_present, version_client, version_on_disk, version_running
from rollout.checks.topology import replication, wsrep
from rollout.checks.unit import (
    daemon_reload,
    deleted_mappings,
    drop_in_content,
    one_invocation,
    unit_active,
    unit_restarts,
)
from rollout.facts.model import Facts

Check = Callable[[Situation], Judgement]

# A check's id is the name of its function; `codes.py` says what it means.
CHECKS: tuple[Check, ...] = (
    *(version_running, version_on_disk, version_client, fix_present),
    *(allocator_reported, allocator_mapped, drop_in_content, drop_in_wins),
    *(unit_active, unit_restarts, daemon_reload, one_invocation, deleted_mappings),
    *(packages_version, packages_configured, unattended_upgrades),
    *(datadir_identity, schemas_tables, replication, wsrep),
    *(old_blocks, lru_monitoring, error_log, backup),
)
REACHABLE = "reachable"  # no function of facts: whoever probes hands it out
CHECK_IDS = tuple(check.__name__ for check in CHECKS)


def run_checks(after: Facts, before: Facts | None, expected: Expectation) -> tuple[CheckResult, ...]:
    """Run every check on the facts of one host. Pure: the same facts give the same results, in the same order."""
    situation = Situation(after, before, expected)
    return tuple(_named(check, situation) for check in CHECKS)


def _named(check: Check, situation: Situation) -> CheckResult:
    made = check(situation)
    return CheckResult(check.__name__, made.status, made.expected, made.found, made.evidence, made.cause)


_ANSWERS = "the host answers the probe"


def reached(seconds: float) -> CheckResult:
    """Return the result of a host that was probed, in so many seconds."""
    return CheckResult(REACHABLE, "pass", _ANSWERS, f"in {seconds:.1f} s")


def unreachable(reason: str) -> tuple[CheckResult, ...]:
    """Return the results of a host that could not be probed: one failure, which says why."""
    return (CheckResult(REACHABLE, "fail", _ANSWERS, reason),)
