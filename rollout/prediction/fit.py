"""Find the workload that reproduces what a host's buffer pool showed, from the rates alone.

Looked for are the pages that are read at all, how skewed the reads are, and how many of the read requests are visits
of leaves (the others go to roots and branches, which are always there, or stay on a leaf). Misses and promotions have
to come out, and the visits have to be about the rows looked up by key and the leaves that ranges went through.
What is scanned comes from the read-ahead. Nothing is known of the generator.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from rollout.prediction.miniature import Outcome, Pool, Reads, run
from rollout.prediction.model import FitSummary
from rollout.prediction.observed import Observed
from rollout.prediction.workload import PolicyName

_EXPONENTS = (0.0, 0.4, 0.7, 0.9, 1.1, 1.3)
_SIZES = 5
_FINER, _NEARER, _BETWEEN = (-0.1, 0.0, 0.1), (0.85, 1.0, 1.18), 15
# What the logarithms of misses and promotions may be off, as standard deviations; an event's chance is added.
_MISSES_OFF, _PROMOTIONS_OFF = 0.02, 0.05
_MOST_OF_LEVELS = 2.0  # a visit takes at most so many times the requests that were guessed
# Good enough: misses within 10 % or 0.3 points of the requests, promotions within 15 % or 0.3 points. Two figures and
# three parameters agree easily, so a third figure that was not fitted to has to agree, too: within 20 % or 0.3 points.
_WITHIN, _PROMOTIONS_WITHIN, _NOT_YOUNG_WITHIN, _POINTS = 0.1, 0.15, 0.2, 0.003
# Below this share of the pages read, read-ahead is the chance order of point reads and no scan.
_SCAN_SHARE = 0.05
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """The workload found, the pool it ran in, and how well it reproduces what was observed."""

    seen: Observed
    reads: Reads
    now: Outcome
    fixed: Outcome
    summary: FitSummary

    def under(
        self,
        policy: PolicyName,
        *,
        old_blocks_pct: int | None = None,
        old_blocks_time_ms: int | None = None,
        frames: int | None = None,
    ) -> Outcome:
        """Run the same workload under another policy, other settings, or another pool size."""
        pool = pool_of(self.seen)
        changed = replace(
            pool,
            old_blocks_pct=pool.old_blocks_pct if old_blocks_pct is None else old_blocks_pct,
            old_blocks_time_ms=pool.old_blocks_time_ms if old_blocks_time_ms is None else old_blocks_time_ms,
            frames=frames or pool.frames,
        )
        return run(policy, self.reads, changed, _misses(self.seen, self.reads))

    @property
    def change_of_hit_ratio(self) -> float:
        """Return by how much the hit ratio of read requests grows with the fix (a fall is below 0)."""
        return (self.now.reads - self.fixed.reads) / self.seen.requests

    def hit_ratio(self, outcome: Outcome) -> float:
        """Return the hit ratio of read requests, read-ahead counted as a miss, as in Innodb_buffer_pool_reads."""
        return 1 - outcome.reads / self.seen.requests


def pool_of(seen: Observed) -> Pool:
    """Return the pool as it was observed."""
    return Pool(seen.frames, seen.old_blocks_pct, seen.old_blocks_time_ms, seen.lru_scan_depth)


def fit(seen: Observed) -> Fitted:
    """Fit the miniature to what was observed; `summary.good` says whether it reproduces it."""
    started = time.perf_counter()
    scanned = seen.read_ahead if seen.read_ahead > _SCAN_SHARE * seen.reads else 0.0
    reads = Reads(seen.pages, 0.0, max(seen.requests - scanned, 1.0) / seen.levels, scanned)
    reads = _nearest(seen, reads, _EXPONENTS, _working_sets(seen), coarse=True)
    exponents = [max(0.0, reads.exponent + step) for step in _FINER]
    pages = [min(max(round(reads.pages * factor), seen.frames), seen.pages) for factor in _NEARER]
    reads = _nearest(seen, reads, exponents, pages if seen.evicts else [seen.pages])
    now = _try(seen, reads)
    fixed = run("mariadb-fix", reads, pool_of(seen), _misses(seen, reads))
    summary = FitSummary(
        good=_reproduces(seen, now),
        observed_miss_ratio=seen.reads / seen.requests,
        fitted_miss_ratio=now.reads / seen.requests,
        observed_promotion_ratio=seen.promotions / seen.requests,
        fitted_promotion_ratio=now.promotions / seen.requests,
        seconds=time.perf_counter() - started,
        observed_not_young_ratio=None if seen.not_young is None else seen.not_young / seen.requests,
        fitted_not_young_ratio=None if seen.not_young is None else now.not_young / seen.requests,
    )
    return Fitted(seen, reads, now, fixed, summary)


def _working_sets(seen: Observed) -> list[int]:
    """Return sizes of the set of pages that is read: between the pool, where pages are evicted, and all data."""
    if not seen.evicts or seen.pages <= seen.frames:
        return [seen.pages]
    return [round(size) for size in np.geomspace(seen.frames * 1.02, seen.pages, _SIZES)]


def _nearest(
    seen: Observed, reads: Reads, exponents: Sequence[float], sizes: Sequence[int], *, coarse: bool = False
) -> Reads:
    """Run a grid of skews and sizes and take the best place in it, logarithms being straight between its points."""
    skews, pages = sorted(set(exponents)), sorted(set(sizes))
    places = [replace(reads, exponent=skew, pages=size) for skew in skews for size in pages]
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(lambda place: _try(seen, place, coarse), places))
    shape = (len(skews), len(pages))
    fine_skews = np.linspace(skews[0], skews[-1], _BETWEEN * len(skews))
    fine_pages = np.geomspace(pages[0], pages[-1], _BETWEEN * len(pages))
    axes = (np.array(skews), fine_skews, np.log(pages), np.log(fine_pages))
    misses = _between(np.array([_log(each.reads, seen) for each in outcomes]).reshape(shape), *axes)
    promotions = _between(np.array([_log(each.promotions, seen) for each in outcomes]).reshape(shape), *axes)
    distance, shift = _distance(seen, misses, promotions, log(reads.leaf_reads * seen.levels / seen.requests))
    skew, size = np.unravel_index(int(np.argmin(distance)), distance.shape)
    leaf_reads = reads.leaf_reads * exp(float(shift[skew, size]))
    fewest, most = seen.requests / (_MOST_OF_LEVELS * seen.levels), seen.requests
    return replace(
        reads,
        exponent=float(fine_skews[skew]),
        pages=round(float(fine_pages[size])),
        leaf_reads=min(max(leaf_reads, fewest), most),
    )


def _between(grid: Floats, skews: Floats, fine_skews: Floats, pages: Floats, fine_pages: Floats) -> Floats:
    """Interpolate a grid over skews and sizes, first along the one, then along the other."""
    rows = np.array([np.interp(fine_pages, pages, row) for row in grid])
    return np.array([np.interp(fine_skews, skews, column) for column in rows.T]).T


def _distance(seen: Observed, misses: Floats, promotions: Floats, guessed: float) -> tuple[Floats, Floats]:
    """Weigh the differences of misses, promotions and leaf reads; more leaf reads raise all three alike.

    Returns the weighted square with the best choice of leaf reads, and that choice as a logarithm of their change.
    """
    chance = 1 / max(1.0, seen.promotions * seen.seconds)
    off = [(_log(seen.promotions, seen) - promotions, _PROMOTIONS_OFF**2 + chance)]
    off.append((np.full_like(misses, -guessed), seen.levels_off**2))
    if seen.evicts:
        off.append((_log(seen.reads, seen) - misses, _MISSES_OFF**2 + 1 / max(1.0, seen.reads * seen.seconds)))
    weights = sum(1 / variance for _, variance in off)
    shift = np.sum([difference / variance for difference, variance in off], axis=0) / weights
    squared = np.sum([(difference - shift) ** 2 / variance for difference, variance in off], axis=0)
    return squared, shift


def _log(rate: float, seen: Observed) -> float:
    """Logarithm of a rate; half an event in the sample stands for none."""
    return log(max(rate, 0.5 / seen.seconds))


def _try(seen: Observed, reads: Reads, coarse: bool = False) -> Outcome:
    return run(seen.policy, reads, pool_of(seen), _misses(seen, reads), coarse=coarse)


def _misses(seen: Observed, reads: Reads) -> float:
    return seen.reads / reads.leaf_reads if seen.evicts else 1.0


def _reproduces(seen: Observed, now: Outcome) -> bool:
    pairs = [(now.reads, seen.reads, _WITHIN), (now.promotions, seen.promotions, _PROMOTIONS_WITHIN)]
    if seen.not_young is not None:
        pairs.append((now.not_young, seen.not_young, _NOT_YOUNG_WITHIN))
    return all(abs(made - real) <= max(within * real, _POINTS * seen.requests) for made, real, within in pairs)
