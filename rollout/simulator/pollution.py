"""The question of the dump: what does it do to a hot set, and what do `innodb_old_blocks_*` change about it?

A hot set is read evenly at a rate. A dump reads cold pages once each, in order, each several times at once (rows a
page / 8, plus 1). The hits of the hot set are counted while the dump runs and for as long again after it. Before it
the pool is warm (full of older pages and of the hot set, read for long) or cold (empty, as after a restart).
The axis is how often a hot page is read while a dumped page travels from the midpoint to the tail.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

from rollout.errors import UsageProblem
from rollout.simulator.counters import Counters
from rollout.simulator.generators import Stream, mix, scan, uniform
from rollout.simulator.pool import MidpointPool
from rollout.simulator.settings import PoolSettings
from rollout.simulator.trace import START_MS, Block, Trace, chain

HEATS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # reads of a hot page a passage
TOUCHES = 9  # 64 rows a page: 8 restores of the cursor, and the step to the page


@dataclass(frozen=True)
class Scene:
    """Pool, hot set and dump: frames, pages, and pages a second."""

    frames: int = 40_000
    hot_pages: int = 32_000
    dump_pages: int = 120_000
    dump_pages_per_second: float = 4_000.0
    touches: int = TOUCHES
    lru_scan_depth: int = 1536
    seed: int = 1

    @property
    def passage_seconds(self) -> float:
        """Return how long the dump takes to push a page from the midpoint to the tail, at 37 %."""
        return self.frames * PoolSettings().old_ratio / 1024 / self.dump_pages_per_second

    @property
    def dump_seconds(self) -> float:
        """Return how long the dump runs."""
        return self.dump_pages / self.dump_pages_per_second


@dataclass(frozen=True)
class Pollution:
    """Hit ratios of the hot set while the dump ran and after it, under one policy and one pair of settings."""

    policy: str
    old_blocks_time_ms: int
    old_blocks_pct: int
    warm: bool
    reads_per_passage: float
    before: float | None
    during: float
    after: float


@dataclass(frozen=True)
class Case:
    """One point to simulate."""

    policy: str
    old_blocks_time_ms: int
    old_blocks_pct: int
    warm: bool
    reads_per_passage: float


def cases(
    policies: Sequence[str],
    heats: Sequence[float],
    times_ms: Sequence[int] = (0, 1000),
    percents: Sequence[int] = (37, 60),
) -> list[Case]:
    """Return every combination, pool warm and cold."""
    return [Case(*case) for case in product(policies, times_ms, percents, (True, False), heats)]


def pollution(scene: Scene, points: Sequence[Case], workers: int | None = None) -> list[Pollution]:
    """Run the dump for each case; results in their order."""
    if scene.hot_pages > scene.frames:
        raise UsageProblem(f"a hot set of {scene.hot_pages} pages does not fit in {scene.frames} frames")
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(lambda case: dump(scene, case), points))


def dump(scene: Scene, case: Case) -> Pollution:
    """Run one dump."""
    settings = PoolSettings(
        old_blocks_time_ms=case.old_blocks_time_ms,
        old_blocks_pct=case.old_blocks_pct,
        lru_scan_depth=scene.lru_scan_depth,
    )
    pool = MidpointPool(case.policy, scene.hot_pages + scene.dump_pages + scene.frames, scene.frames, settings)
    rate = case.reads_per_passage / scene.passage_seconds * scene.hot_pages
    before = None
    if case.warm:
        _run(pool, _warming(scene, rate))
        before = 1 - _run(pool, _hot(scene, rate, 3)).misses / _reads(scene, rate)
    during = _run(pool, _with_dump(scene, rate))
    # Every dumped page is read in once: all other misses are the hot set's.
    hot_misses = during.misses - scene.dump_pages
    after = _run(pool, _hot(scene, rate, 5))
    return Pollution(
        *(case.policy, case.old_blocks_time_ms, case.old_blocks_pct, case.warm, case.reads_per_passage, before),
        during=1 - hot_misses / _reads(scene, rate),
        after=1 - after.misses / _reads(scene, rate),
    )


def _reads(scene: Scene, rate: float) -> int:
    """Return the reads of the hot set in the time of the dump."""
    return max(round(rate * scene.dump_seconds), 1)


def _hot(scene: Scene, rate: float, part: int) -> Trace:
    accesses = _reads(scene, rate)
    seed = scene.seed * 10 + part
    return uniform(pages=scene.hot_pages, accesses=accesses, seed=seed, accesses_per_second=rate)


def _warming(scene: Scene, rate: float) -> Trace:
    """Fill the pool with older pages as far as the hot set leaves room, then read the hot set for long.

    A hot set that had to fight its way into a full pool would be another question: read faster than the old sublist
    is passed in `innodb_old_blocks_time`, its pages are evicted before that time is over, and it never gets in.
    """
    first = scene.hot_pages + scene.dump_pages
    room = max(scene.frames - scene.hot_pages - scene.lru_scan_depth, 1)
    older = scan(first=first, last=first + room, accesses_per_second=scene.dump_pages_per_second)
    return chain(older, *(_hot_set(scene, rate, part) for part in range(2)))


def _hot_set(scene: Scene, rate: float, part: int) -> Trace:
    accesses = 4 * scene.hot_pages
    return uniform(pages=scene.hot_pages, accesses=accesses, seed=scene.seed * 10 + part, accesses_per_second=rate)


def _with_dump(scene: Scene, rate: float) -> Trace:
    per_second = scene.dump_pages_per_second * scene.touches
    first = scene.hot_pages
    pages = scan(first=first, last=first + scene.dump_pages, touches=scene.touches, accesses_per_second=per_second)
    return mix(Stream(_hot(scene, rate, 4)), Stream(pages))


def _run(pool: MidpointPool, trace: Trace) -> Counters:
    """Replay a trace after what the pool has seen, and return what it added."""
    start = pool.counters()
    for block in _later(trace.blocks(), pool.now_ms):
        pool.replay(block)
    return pool.counters().since(start)


def _later(blocks: Iterator[Block], now_ms: float) -> Iterator[Block]:
    """Shift blocks that begin at `START_MS` to begin at `now_ms`."""
    shift = now_ms - START_MS
    for block in blocks:
        yield replace(block, times=block.times + round(shift), start_ms=block.start_ms + shift)
