"""What the simulator has to reproduce: rates of a host's buffer pool, its shape, and its settings."""

from dataclasses import dataclass

from rollout.facts.model import Facts
from rollout.facts.unknown import known_or
from rollout.prediction.contention import evicts
from rollout.prediction.model import Note
from rollout.prediction.rates import Rates
from rollout.prediction.running import RunningPolicy

# Fewer events than this in a sample are mostly chance.
_ENOUGH_EVENTS = 200
_HEIGHTS = (1.5, 4.5)
# Rows on a leaf that a range reads one after the other, about: 16 KiB hold a hundred rows of some 150 bytes. No page
# is asked for more often a visit than it has rows.
_ROWS_A_LEAF = 100
_POINT_READS_OFF = 0.05


@dataclass(frozen=True)
class Observed:
    """Rates a second, the pool in frames, and the pages of all tables.

    `levels` is read requests a visit of a leaf: the height of the trees where queries are point reads, and more where
    ranges ask for one leaf again and again, row by row; `levels_off` is how far off its logarithm may be. `not_young`
    are hits on old pages before `old_blocks_time`; None where the counter is unknown, or where ranges raise it several
    times a visit. `pages` may be read at most: all data, or all that is listed.
    """

    policy: RunningPolicy
    requests: float
    reads: float
    read_ahead: float
    promotions: float
    not_young: float | None
    levels: float
    levels_off: float
    seconds: float
    frames: int
    pages: int
    evicts: bool
    old_blocks_pct: int
    old_blocks_time_ms: int
    lru_scan_depth: int


def observed(seen: Rates, facts: Facts, policy: RunningPolicy) -> Observed | Note:
    """Return what was observed, or why it cannot be fitted."""
    pool = facts.pool
    rates = [known_or(rate, None) for rate in (seen.read_requests, seen.reads, seen.read_ahead, seen.made_young)]
    shape = [known_or(fact, None) for fact in (pool.pages_total, pool.data_bytes, pool.old_blocks_time_ms)]
    if policy != "mariadb-10.5":
        return Note("bad_fit", f"only servers of 10.5 to 11.8.9 are fitted, not {policy}")
    if seen.fatal:
        return Note("bad_fit", f"the workload is not fitted: {seen.fatal[0].message}")
    if seen.since_start or None in rates or None in shape:
        return Note("bad_fit", "the workload is not fitted: two probes with all counters of the pool are needed")
    requests, reads, ahead, promotions = (rate or 0.0 for rate in rates)
    frames, size, time_ms = (int(fact or 0) for fact in shape)
    events = (promotions + reads) * seen.seconds
    if events < _ENOUGH_EVENTS:
        return Note("bad_fit", f"the workload is not fitted: only {events:.0f} misses and promotions were seen")
    levels, levels_off = _levels(seen, requests)
    full = evicts(pool) and reads * seen.seconds >= _ENOUGH_EVENTS
    return Observed(
        policy,
        requests,
        reads,
        ahead,
        promotions,
        not_young=known_or(seen.made_not_young, None) if levels_off == _POINT_READS_OFF else None,
        levels=levels,
        levels_off=levels_off,
        seconds=seen.seconds,
        frames=frames,
        pages=max(1, size // known_or(pool.page_size_bytes, 16384) if full else known_or(pool.pages_data, frames)),
        evicts=full,
        old_blocks_pct=known_or(pool.old_blocks_pct, 37),
        old_blocks_time_ms=time_ms,
        lru_scan_depth=known_or(pool.lru_scan_depth, 1536),
    )


def _levels(seen: Rates, requests: float) -> tuple[float, float]:
    """Return read requests a visit of a leaf, and its doubt; three, and much doubt, where nothing is known.

    A row looked up by key is a visit. Where the requests are too many for that, ranges are read: a leaf more for each
    hundred rows that were read in order. The requests that stay on a leaf move no page.
    """
    looked_up = known_or(seen.rows_by_key, 0.0)
    height = requests / looked_up if looked_up else 0.0
    if _HEIGHTS[0] <= height <= _HEIGHTS[1]:
        return height, _POINT_READS_OFF
    in_order = known_or(seen.rows_in_order, None)
    if height < _HEIGHTS[0] or in_order is None:
        return 3.0, 0.3
    visits = looked_up + in_order / _ROWS_A_LEAF
    return min(max(requests / visits, _HEIGHTS[0]), _ROWS_A_LEAF), 0.3
