"""The fitted workload of a host under the other policies, other pools and other settings of its list."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rollout.prediction.fit import Fitted
from rollout.prediction.model import WhatIf
from rollout.prediction.workload import PolicyName

_POLICIES: tuple[PolicyName, ...] = ("mariadb-10.4", "mariadb-fix", "never-promote", "clock-sweep")


def what_if(found: Fitted) -> tuple[WhatIf, ...]:
    """Run a good fit under four policies, half and twice the pool, and two settings; nothing where the fit is bad."""
    if not found.summary.good:
        return ()
    frames, own = found.seen.frames, found.seen.policy
    cases: list[tuple[str, PolicyName, dict[str, Any]]] = [
        *((f"policy {policy}", policy, {}) for policy in _POLICIES),
        ("half the pool", own, {"frames": frames // 2}),
        ("twice the pool", own, {"frames": frames * 2}),
        ("innodb_old_blocks_time=0", own, {"old_blocks_time_ms": 0}),
        ("innodb_old_blocks_pct=60", own, {"old_blocks_pct": 60}),
    ]
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(lambda case: _figures(found, *case), cases))


def _figures(found: Fitted, changed: str, policy: PolicyName, values: dict[str, Any]) -> WhatIf:
    outcome, requests = found.under(policy, **values), found.seen.requests
    return WhatIf(changed, found.hit_ratio(outcome), outcome.promotions / requests, outcome.mutex / requests)
