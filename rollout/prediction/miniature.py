"""A workload in miniature: pages by rank, read with a power law, beside a scan; run through any policy.

Every `scale` pages of neighbouring rank become one that is read as often as one of them is on the mean; the pool, its
constants and all rates are scaled alike, so times stay what they are (`innodb_old_blocks_time` is in real seconds).
sysbench's Pareto is such a law too: with h = 0.2 the density of rank x falls as x ** -0.861.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rollout.prediction.workload import PolicyName

# Frames, or pages where all fit, of the miniature: the sampling error of its ratios is about 1 / sqrt(reads).
_MINIATURE = 1500
_FEWEST_READS, _MOST_READS = 60_000, 500_000
_TURNOVERS = 6
# Where a page goes through the old sublist in less than so many times `innodb_old_blocks_time`, few are promoted, and
# the young sublist takes longer to come to rest: so many times as long is waited (0.6 to 1 % off, before 3 to 12 %).
_SHORT_STAY, _LONGER = 8.0, 8
_SEED = 20_260_102


@dataclass(frozen=True)
class Pool:
    """The pool of the server: frames and what bears on the order of its list."""

    frames: int
    old_blocks_pct: int = 37
    old_blocks_time_ms: int = 1000
    lru_scan_depth: int = 1536


@dataclass(frozen=True)
class Reads:
    """Leaf reads a second over `pages` pages with skew `exponent` (0: alike), and pages a second of a scan.

    `unread` pages are in the list and nobody reads them; they matter where all pages fit.
    """

    pages: int
    exponent: float
    leaf_reads: float
    scanned: float = 0.0
    unread: int = 0


@dataclass(frozen=True)
class Outcome:
    """Events a second at full size: pages read in, old pages moved, left alone, young ones moved, mutex operations."""

    reads: float
    promotions: float
    not_young: float
    young_moves: float
    mutex: float


def run(policy: PolicyName, reads: Reads, pool: Pool, miss_ratio: float, *, coarse: bool = False) -> Outcome:
    """Run the workload under `policy`; `miss_ratio` (of leaf reads, roughly) decides how long it has to settle.

    `coarse` is for a first look: a third of the pages.
    """
    from rollout.simulator import (  # noqa: PLC0415 - loads numba
        PoolSettings,
        chain,
        scan,
        simulate,
        trace_of,
    )

    scale = max(1.0, min(pool.frames, 1.2 * (reads.pages + reads.unread)) / (_MINIATURE / 3 if coarse else _MINIATURE))
    small = replace(reads, pages=max(2, round(reads.pages / scale)))
    listed = small.pages + round(reads.unread / scale)
    turnover = pool.frames / max(miss_ratio, 1e-6)  # reads
    stay_ms = 1000 * pool.old_blocks_pct / 100 * turnover / reads.leaf_reads
    longer = _LONGER if stay_ms < _SHORT_STAY * pool.old_blocks_time_ms else 1
    count = int(np.clip(longer * _TURNOVERS * turnover / scale, _FEWEST_READS, longer * _MOST_READS))
    pages, times = _accesses(small, reads.pages / small.pages, scale, count)
    trace = trace_of(pages, page_count=listed, times=times)
    # A pool that has to make room was filled by its own workload; one that holds all was filled in some other order.
    all_fit = reads.pages + reads.unread <= pool.frames - pool.lru_scan_depth
    whole, filled = (chain(scan(first=0, last=listed), trace), listed) if all_fit else (trace, 0)
    settings = PoolSettings(
        old_blocks_pct=pool.old_blocks_pct,
        old_blocks_time_ms=pool.old_blocks_time_ms,
        lru_scan_depth=pool.lru_scan_depth,
    ).scaled(1 / scale)
    warm = len(pages) // 2
    counted = simulate(policy, whole, round(pool.frames / scale), settings, warm_up=filled + warm)
    factor = scale * 1000 / max(1, int(times[-1] - times[warm]))
    return Outcome(
        reads=counted.misses * factor,
        promotions=counted.made_young * factor,
        not_young=counted.made_not_young * factor,
        young_moves=counted.young_moves * factor,
        mutex=counted.mutex_acquisitions * factor,
    )


def _accesses(small: Reads, per_rank: float, scale: float, count: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Draw page reads with their times in ms; the same random numbers for every exponent, so that runs compare."""
    random = np.random.default_rng(_SEED)
    ranks = np.searchsorted(_cumulative(small.pages, per_rank, small.exponent), random.random(count))
    pages = random.permutation(small.pages).astype(np.uint32)[np.minimum(ranks, small.pages - 1)]
    times = np.arange(count) * (1000 * scale / small.leaf_reads)
    scanned = int(times[-1] * small.scanned / scale / 1000)
    if not scanned:
        return pages, times.astype(np.int64)
    pages = np.concatenate([pages, np.arange(scanned, dtype=np.uint32) % np.uint32(small.pages)])
    times = np.concatenate([times, np.arange(scanned) * (1000 * scale / small.scanned)])
    order = np.argsort(times, kind="stable")
    return pages[order], times[order].astype(np.int64)


def _cumulative(pages: int, per_rank: float, exponent: float) -> NDArray[np.float64]:
    """Return the share of the reads that goes to the first 1 .. `pages` miniature pages of `per_rank` ranks each."""
    ends = 0.5 + np.arange(pages + 1) * per_rank
    if abs(exponent - 1) < 1e-9:
        grown = np.log(ends / ends[0])
    else:
        grown = (ends ** (1 - exponent) - ends[0] ** (1 - exponent)) / (1 - exponent)
    share: NDArray[np.float64] = grown[1:] / grown[-1]
    return share
