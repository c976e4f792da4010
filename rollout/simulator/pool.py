"""A simulated buffer pool that can be stepped, looked into, and set to a state that was read from a server."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rollout.errors import UsageProblem
from rollout.simulator.clocksweep import replay_clock
from rollout.simulator.counters import Counters, read_counters
from rollout.simulator.eviction import flush_batch, lru_batch
from rollout.simulator.midpoint import forget
from rollout.simulator.promotion import ticks
from rollout.simulator.recency import replay_lru
from rollout.simulator.replay import every_second, replay
from rollout.simulator.settings import POLICIES, PoolSettings
from rollout.simulator.state import (
    ABSENT,
    FIX,
    LAZY,
    LINK,
    NEVER,
    NONE,
    OLD,
    PAGE,
    POOL,
    READ,
    READERS,
    Records,
    empty_links,
)
from rollout.simulator.trace import START_MS, Block

KINDS = {
    "mariadb-10.4": READERS,
    "mariadb-10.5": READERS,
    "never-promote": NEVER,
    "lazy-accessed": LAZY,
    "mariadb-fix": FIX,
}
MOST_PAGES = ABSENT - 64


NOTHING = Block(np.empty(0, np.uint32))


class Replaying(Protocol):
    """What every simulated pool can do."""

    def replay(self, block: Block) -> None:
        """Replay a block of accesses."""

    def counters(self) -> Counters:
        """Return what was counted so far."""


@dataclass(frozen=True)
class Listed:
    """A page of the list: first access (ms, or ticks with the sweeping policies; 0 = never), clock stamp or mark."""

    page: int
    at: int = 0
    stamp: int = 0
    old: bool = False


class MidpointPool:
    """A pool under a policy with a midpoint; `writes` says that pages may become dirty (8 bytes a page more)."""

    def __init__(
        self, policy: str, page_count: int, frames: int, settings: PoolSettings | None = None, *, writes: bool = False
    ) -> None:
        self.policy = policy
        self.settings = settings or PoolSettings()
        instances = self.settings.instances_for(policy, frames)
        self.pools: Records = np.recarray(instances, dtype=POOL)
        self.pools.view(np.uint8)[:] = 0
        for index in range(instances):
            share = frames // instances + (index < frames % instances)
            _set_rules(self.pools[index], policy, share, self.settings)
            self.pools[index].page_count = page_count
            self.pools[index].sentinel = page_count + index
        self.pages = empty_links(page_count, instances, PAGE)
        self.writes = empty_links(page_count, instances, LINK) if writes else empty_links(0, 0, LINK)
        self.seconds = 0.0
        self.now_ms = START_MS
        _compile_first(self)

    def replay(self, block: Block) -> None:
        """Replay a block of accesses and add the time that it took; `now_ms` is then when it ended."""
        started = time.perf_counter()
        arrays = (self.pages, self.pools, self.writes)
        replay(*arrays, block.pages, block.times, block.deeds, block.start_ms, block.step_ms)
        self.seconds += time.perf_counter() - started
        self.now_ms = block.end_ms if len(block) else self.now_ms

    def access(self, page: int, now_ms: int, deed: int = READ) -> None:
        """Replay one access; for tests and small programs, a block is a thousand times faster."""
        one = (np.array([page], np.uint32), np.array([now_ms], np.int64), np.array([deed], np.uint8))
        self.replay(Block(*one))

    def pool_of(self, page: int) -> Records:
        """Return the record of the instance that holds `page`."""
        return self.pools[page // 64 % len(self.pools)]

    def pin(self, page: int | None) -> None:
        """Keep a thread without a frame from taking this page's, as while a descent holds the root; None lets it go."""
        self.pools.pinned = NONE if page is None else page

    def tick(self, now_ms: int) -> None:
        """Let the clock of seconds and the page cleaner reach `now_ms` without an access."""
        for pool in self.pools:
            every_second(self.pages, pool, self.writes, now_ms)

    def lru_batch(self, now_ms: int) -> None:
        """Run one LRU batch of the page cleaner."""
        for pool in self.pools:
            pool.tick = ticks(now_ms)
            lru_batch(self.pages, pool, self.writes, now_ms)

    def flush_batch(self, now_ms: int) -> None:
        """Run one batch of the flush list."""
        for pool in self.pools:
            pool.tick = ticks(now_ms)
            flush_batch(self.pages, pool, self.writes, now_ms)

    def discard(self, page: int) -> None:
        """Drop a clean page as a dropped table would; it counts for the clock."""
        pool = self.pool_of(page)
        forget(self.pages, pool, page)
        pool.clock += 1

    def counters(self) -> Counters:
        """Return what was counted so far."""
        return read_counters(self.policy, self.pools, self.seconds)

    def order(self, instance: int = 0) -> list[Listed]:
        """Return the list from the head to the tail."""
        pool = self.pools[instance]
        found = []
        page = int(self.pages[pool.sentinel].next)
        while page != pool.sentinel:
            record = self.pages[page]
            stamp = int(record.stamp)
            found.append(Listed(page, int(record.at), stamp & ~OLD, stamp & OLD != 0))
            page = int(record.next)
        return found

    def fill(self, listed: Sequence[Listed], clock: int = 0) -> None:
        """Set an empty pool of one instance to a list that was read from a server, head first, old pages last."""
        pool = self.pools[0]
        ring = [int(pool.sentinel), *(one.page for one in listed)]
        for before, page in zip(ring, ring[1:] + ring[:1], strict=True):
            self.pages[before].next = page
            self.pages[page].prev = before
        for one in listed:
            self.pages[one.page].at = one.at
            self.pages[one.page].stamp = one.stamp | (OLD if one.old else 0)
        pool.length = len(listed)
        pool.free = pool.frames - len(listed)
        pool.clock = clock
        pool.old_length = sum(one.old for one in listed)
        pool.old_start = listed[-pool.old_length].page if pool.old_length else NONE


class RecencyPool:
    """A pool under exact LRU."""

    def __init__(self, page_count: int, frames: int) -> None:
        self.pools = plain_record(page_count, frames)
        self.pages = empty_links(page_count, 1, LINK)
        self.seconds = 0.0
        _compile_first(self)

    def replay(self, block: Block) -> None:
        """Replay a block of accesses and add the time that it took."""
        started = time.perf_counter()
        replay_lru(self.pages, self.pools[0], block.pages, block.deeds)
        self.seconds += time.perf_counter() - started

    def counters(self) -> Counters:
        """Return what was counted so far."""
        return read_counters("lru", self.pools, self.seconds)


class ClockPool:
    """A pool under PostgreSQL's clock sweep."""

    def __init__(self, page_count: int, frames: int) -> None:
        self.pools = plain_record(page_count, frames)
        self.frame_of: NDArray[np.uint32] = np.full(page_count, ABSENT, np.uint32)
        self.page_in: NDArray[np.uint32] = np.arange(1, frames + 1, dtype=np.uint32)
        self.usage: NDArray[np.uint8] = np.zeros(frames, np.uint8)
        self.seconds = 0.0
        _compile_first(self)

    def replay(self, block: Block) -> None:
        """Replay a block of accesses and add the time that it took."""
        started = time.perf_counter()
        replay_clock(self.frame_of, self.page_in, self.usage, self.pools[0], block.pages, block.deeds)
        self.seconds += time.perf_counter() - started

    def counters(self) -> Counters:
        """Return what was counted so far."""
        return read_counters("clock-sweep", self.pools, self.seconds)


def _compile_first(pool: "MidpointPool | RecencyPool | ClockPool") -> None:
    """Replay nothing, so that the time of compiling the kernel counts for no run."""
    pool.replay(NOTHING)
    pool.seconds = 0.0


def new_pool(policy: str, page_count: int, frames: int, settings: PoolSettings, *, writes: bool) -> Replaying:
    """Return an empty pool under any policy but `optimal`, which needs the whole trace at once."""
    check_pool(policy, page_count, frames)
    if policy == "lru":
        return RecencyPool(page_count, frames)
    if policy == "clock-sweep":
        return ClockPool(page_count, frames)
    return MidpointPool(policy, page_count, frames, settings, writes=writes)


def check_pool(policy: str, page_count: int, frames: int) -> None:
    """Refuse what no pool can be."""
    if policy not in POLICIES:
        raise UsageProblem(f"there is no policy {policy!r}", hint="policies: " + " ".join(POLICIES))
    if not 2 <= frames < MOST_PAGES:
        raise UsageProblem(f"a pool has from 2 to {MOST_PAGES} frames, not {frames}")
    if page_count > MOST_PAGES:
        raise UsageProblem(f"{page_count} different pages are too many: the limit is {MOST_PAGES}")


def plain_record(page_count: int, frames: int) -> Records:
    """Return the record of a pool without a midpoint: its size and its counters."""
    pools = np.recarray(1, dtype=POOL)
    pools.view(np.uint8)[:] = 0
    pools.frames = pools.free = frames
    pools.page_count = pools.sentinel = page_count
    return pools


def _set_rules(pool: Records, policy: str, frames: int, settings: PoolSettings) -> None:
    """Turn settings into the rules of one pool instance."""
    constants = settings.constants
    early = policy == "mariadb-10.4"
    clock = settings.clock_start
    pool.kind = KINDS[policy]
    pool.frames = pool.free = frames
    pool.ratio = settings.old_ratio
    pool.threshold = settings.threshold_ticks if policy == "mariadb-fix" else settings.old_blocks_time_ms
    pool.window = settings.window(frames)
    pool.scan_depth = settings.lru_scan_depth
    pool.lru_floor = constants.eviction_floor if early else max(min(frames // 20 - 1, constants.eviction_floor), 0)
    pool.visit_limit = settings.lru_scan_depth if early else 0
    pool.user_scan = constants.user_scan
    pool.old_min_length = constants.old_min_length
    pool.old_tolerance = constants.old_tolerance
    pool.young_min_length = constants.young_min_length
    pool.eviction_floor = constants.eviction_floor
    pool.cleaner = settings.page_cleaner
    pool.on_demand = settings.page_cleaner and not early
    pool.keep_freed = early
    pool.flush_quota = settings.flush_pages_per_second
    pool.write_quota = settings.lru_writes_per_batch
    pool.miss_mutex = 3 if early else 2
    pool.repaired_wrap = settings.repaired_wrap
    pool.read_ahead_threshold = settings.read_ahead_threshold
    pool.clock = clock if clock is not None else int(policy == "mariadb-10.5")
    pool.old_start = pool.pinned = NONE
