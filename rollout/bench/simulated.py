"""What the simulator says of a case that was measured: promotions and hit ratio of uniform reads by primary key."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Simulated:
    """By the simulator: promotions a row and hit ratio of the touched leaves, and the policy that gave them."""

    policy: str
    promotions: float
    hit_ratio: float


def uniform_points(
    policy: str,
    *,
    leaves: int,
    listed: int,
    frames: int,
    rows_per_second: float,
    warm_rows: int,
    rows: int,
    settings: tuple[int, int, int],
) -> Simulated:
    """Read leaves evenly, one access a row, after the whole list was filled: first the pages that nobody reads then.

    `listed` is the number of pages with data, `settings` are old_blocks_pct, old_blocks_time in ms, lru_scan_depth.
    """
    from rollout.simulator import PoolSettings, chain, scan, simulate, uniform  # noqa: PLC0415 - loads numba

    percent, time_ms, depth = settings
    read = uniform(pages=leaves, accesses=warm_rows + rows, seed=1, accesses_per_second=rows_per_second)
    fill = scan(first=0, last=leaves, accesses_per_second=rows_per_second)
    parts = [fill, read]
    before = leaves
    if listed > leaves:
        parts.insert(0, scan(first=leaves, last=listed, accesses_per_second=rows_per_second))
        before = listed
    trace = chain(*parts)
    rules = PoolSettings(old_blocks_pct=percent, old_blocks_time_ms=time_ms, lru_scan_depth=depth)
    counted = simulate(policy, trace, frames, rules, warm_up=before + warm_rows)
    return Simulated(policy, counted.made_young / counted.accesses, counted.hit_ratio or 0.0)
