"""What the simulator says of a case that was measured: promotions and hit ratio of uniform reads by primary key."""

from dataclasses import dataclass
from typing import TypeAlias

Pace: TypeAlias = tuple[tuple[int, int], ...]  # tenths of a second since the epoch, and the rows that each brought
TENTH_MS = 100


@dataclass(frozen=True)
class Simulated:
    """By the simulator: promotions a row and hit ratio of the touched leaves, and the policy that gave them."""

    policy: str
    promotions: float
    hit_ratio: float


def uniform_points(
    policy: str, *, leaves: int, listed: int, frames: int, warm: Pace, measured: Pace, settings: tuple[int, int, int]
) -> Simulated:
    """Read leaves evenly, one access a row, after the whole list was filled: first the pages that nobody reads then.

    `listed` is the number of pages with data, `settings` are old_blocks_pct, old_blocks_time in ms, lru_scan_depth.
    """
    from rollout.simulator import PoolSettings, chain, paced, scan, simulate  # noqa: PLC0415 - loads numba

    percent, time_ms, depth = settings
    fill = [scan(first=first, last=last) for first, last in ((leaves, listed), (0, leaves)) if first < last]
    reads = paced(
        pages=leaves, steps=[(TENTH_MS * tenth, rows) for tenth, rows in (*warm, *measured)], step_ms=TENTH_MS
    )
    trace = chain(*fill, reads)
    before = sum(one.accesses for one in fill) + _rows(warm)
    rules = PoolSettings(old_blocks_pct=percent, old_blocks_time_ms=time_ms, lru_scan_depth=depth)
    counted = simulate(policy, trace, frames, rules, warm_up=before)
    return Simulated(policy, counted.made_young / counted.accesses, counted.hit_ratio or 0.0)


def _rows(pace: Pace) -> int:
    return sum(rows for _, rows in pace)
