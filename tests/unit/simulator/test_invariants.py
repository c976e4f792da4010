"""Whatever is replayed, lists stay lists, and degenerate settings are textbook policies."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from stepping import check

from rollout.simulator import Constants, Counters, PoolSettings, simulate, trace_of
from rollout.simulator.pool import KINDS, MidpointPool

SMALL = Constants(old_min_length=40, old_tolerance=2, young_min_length=2, eviction_floor=16, user_scan=8)
# A pool so small that nothing is old, whose young pages have always fallen behind, and whose clock runs.
DEGENERATE = PoolSettings(old_blocks_pct=95, old_blocks_time_ms=0, page_cleaner=False, clock_start=1)
# Uncompiled, as `test_planted_bugs` runs these, an access takes ten thousand times as long.
ACCESSES, EXAMPLES = (60, 5) if config.DISABLE_JIT else (200, 20)
FRAMES = st.integers(2, 12)


def drawn(seed: int, pages: int) -> list[int]:
    """Draw reads, the lower pages more often: hits and misses in turn, whatever the frames."""
    random = np.random.default_rng(seed)
    chosen: list[int] = (random.random(ACCESSES) ** 2 * pages).astype(int).tolist()
    return chosen


PAGES = st.builds(drawn, st.integers(0, 100_000), st.integers(4, 40))


def counted(policy: str, pages: Sequence[int], frames: int, rules: PoolSettings = DEGENERATE) -> Counters:
    """Replay reads, a page more than a second after the other."""
    trace = trace_of(np.array(pages, np.uint32), page_count=41, accesses_per_second=0.5)
    return simulate(policy, trace, frames, rules)


def stack_distance_hits(pages: Sequence[int], frames: int) -> int:
    """Count the accesses whose page is among the `frames` last different ones (Mattson)."""
    stack: list[int] = []
    hits = 0
    for page in pages:
        if page in stack:
            hits += stack.index(page) < frames
            stack.remove(page)
        stack.insert(0, page)
    return hits


def queue_hits(pages: Sequence[int], frames: int) -> int:
    """Count the hits of a plain queue: first in, first out."""
    queue: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for page in pages:
        if page in queue:
            hits += 1
            continue
        if len(queue) == frames:
            queue.popitem(last=False)
        queue[page] = None
    return hits


def second_chance_hits(pages: Sequence[int], frames: int) -> int:
    """Count the hits of a queue whose head goes to the back once for each time it was found marked."""
    queue: OrderedDict[int, bool] = OrderedDict()
    hits = 0
    for page in pages:
        if page in queue:
            hits += 1
            queue[page] = True
            continue
        if len(queue) == frames:
            while (first := next(iter(queue))) is not None and queue.pop(first):
                queue[first] = False
        queue[page] = True
    return hits


def fewest_misses(pages: Sequence[int], frames: int) -> int:
    """Count the misses of the clairvoyant policy by looking ahead each time."""
    resident: set[int] = set()
    misses = 0
    for index, page in enumerate(pages):
        if page in resident:
            continue
        misses += 1
        if len(resident) == frames:
            ahead = [*pages[index:]]
            resident.discard(max(resident, key=lambda one: ahead.index(one) if one in ahead else len(ahead)))
        resident.add(page)
    return misses


@pytest.mark.parametrize("policy", KINDS)
@given(seed=st.integers(0, 100_000), frames=st.integers(45, 90))
@settings(max_examples=6, deadline=None)
def test_lists_stay_whole_after_every_access(policy: str, seed: int, frames: int) -> None:
    """Order, old sublist, frames and flush list hold together under reads, writes, frees and creations."""
    rules = PoolSettings(old_blocks_time_ms=1000, lru_scan_depth=6, flush_pages_per_second=3, constants=SMALL)
    pool = MidpointPool(policy, 120, frames, rules, writes=True)
    random = np.random.default_rng(seed)
    pages = np.concatenate([random.permutation(120)[: frames - 10], (random.random(ACCESSES) ** 2 * 120).astype(int)])
    deeds = random.choice([0, 0, 0, 0, 1, 1, 2, 3], len(pages))
    times = 1_000_000 + np.cumsum(random.choice([0, 1, 300, 1500], len(pages)))
    for page, now, deed in zip(pages.tolist(), times.tolist(), deeds.tolist(), strict=True):
        pool.access(page, now, deed)
        check(pool)
    assert pool.counters().accesses == int((deeds < 2).sum())


@given(pages=PAGES, frames=FRAMES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_lru_is_lru_by_stack_distance(pages: list[int], frames: int) -> None:
    """A page hits when fewer than `frames` different pages came since."""
    assert counted("lru", pages, frames).hits == stack_distance_hits(pages, frames)


@given(pages=PAGES, frames=FRAMES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_degenerate_readers_are_exact_lru(pages: list[int], frames: int) -> None:
    """Without an old sublist, a window or a clock at zero, every hit moves its page to the head."""
    for policy in ("mariadb-10.4", "mariadb-10.5"):
        assert counted(policy, pages, frames).hits == stack_distance_hits(pages, frames)


@given(pages=PAGES, frames=FRAMES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_without_promotion_the_list_is_a_queue(pages: list[int], frames: int) -> None:
    """Never promoting, or a threshold that no age reaches, is first in, first out."""
    never = replace(DEGENERATE, old_blocks_time_ms=4_294_967_295)
    assert counted("never-promote", pages, frames).hits == queue_hits(pages, frames)
    assert counted("mariadb-fix", pages, frames, never).hits == queue_hits(pages, frames)


@given(pages=PAGES, frames=FRAMES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_without_a_threshold_the_fix_gives_second_chances(pages: list[int], frames: int) -> None:
    """Every touch marks, the sweep moves what is marked: a queue with second chances."""
    assert counted("mariadb-fix", pages, frames).hits == second_chance_hits(pages, frames)


@given(pages=PAGES, frames=FRAMES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_the_optimum_is_the_optimum(pages: list[int], frames: int) -> None:
    """It misses as often as a search that looks ahead, and no policy misses less."""
    best = counted("optimal", pages, frames).misses
    assert best == fewest_misses(pages, frames)
    for policy in (*KINDS, "lru", "clock-sweep"):
        assert counted(policy, pages, frames).misses >= best


def test_the_optimum_sweeps_its_heap_when_frees_fill_it() -> None:
    """Freed pages leave times behind; a long trace of them neither overflows the heap nor evicts an absent page."""
    random = np.random.default_rng(5)
    pages = random.integers(0, 60, 20_000).astype(np.uint32)
    deeds = random.choice([0, 0, 0, 2, 3], 20_000).astype(np.uint8)
    result = simulate("optimal", trace_of(pages, page_count=60, deeds=deeds), 8)
    assert result.hits + result.misses == int((deeds == 0).sum())
    assert result.length <= 8
    assert result.misses <= simulate("lru", trace_of(pages, page_count=60, deeds=deeds), 8).misses


def test_instances_share_the_frames_and_keep_to_themselves() -> None:
    """10.4 splits a pool of 1 GiB in eight; 64 neighbouring pages stay together."""
    frames = 65_536
    pages = np.arange(80_000, dtype=np.uint32)
    pool = MidpointPool("mariadb-10.4", 80_000, frames)
    pool.replay(trace_of(pages).whole())
    check(pool)
    assert [int(one.frames) for one in pool.pools] == [8192] * 8
    assert {one.page // 64 % 8 for one in pool.order(3)} == {3}
