"""Small steps for tests: fill a pool page by page, look at its list, and hold it to its invariants."""

from collections.abc import Iterable
from dataclasses import replace

from rollout.simulator.pool import MidpointPool
from rollout.simulator.settings import PoolSettings
from rollout.simulator.state import ABSENT, MARK

QUIET = PoolSettings(page_cleaner=False, clock_start=0, lru_scan_depth=100)


def filled(
    policy: str, pages: int, *, frames: int = 4056, at_ms: int = 1, settings: PoolSettings = QUIET
) -> MidpointPool:
    """Read pages 1 to `pages` in order, all at the same time."""
    pool = MidpointPool(policy, frames + pages + 64, frames, settings, writes=True)
    read(pool, range(1, pages + 1), at_ms)
    return pool


def read(pool: MidpointPool, pages: Iterable[int], now_ms: int) -> None:
    """Read pages one after the other at one time."""
    for page in pages:
        pool.access(page, now_ms)


def order(pool: MidpointPool) -> list[int]:
    """Return the pages from the head to the tail."""
    return [listed.page for listed in pool.order()]


def old_pages(pool: MidpointPool) -> list[int]:
    """Return the pages of the old sublist, head side first."""
    return [listed.page for listed in pool.order() if listed.old]


def at_of(pool: MidpointPool, page: int) -> int:
    """Return the first access of a page (ms or ticks)."""
    return int(pool.pages[page].at)


def marked(pool: MidpointPool, page: int) -> bool:
    """Tell whether a page bears PROMOTE or ACCESSED."""
    return bool(int(pool.pages[page].stamp) & MARK)


def record(pool: MidpointPool) -> object:
    """Return the record of a pool of one instance."""
    return pool.pools[0]


def with_time(milliseconds: int) -> PoolSettings:
    """Return quiet settings with `innodb_old_blocks_time`."""
    return replace(QUIET, old_blocks_time_ms=milliseconds)


def check(pool: MidpointPool) -> None:
    """Hold a pool to what must be true of it after every access (`buf_LRU_validate`)."""
    for index, rules in enumerate(pool.pools):
        listed = pool.order(index)
        pages = [one.page for one in listed]
        back, page = [], int(pool.pages[rules.sentinel].prev)
        while page != rules.sentinel:
            back.append(page)
            page = int(pool.pages[page].prev)
        assert pages == back[::-1], "both directions show the same list"
        assert len(set(pages)) == len(pages) == rules.length, "each page stands in the list once"
        assert rules.length + rules.free == rules.frames, "a frame is free or in the list"
        old = [one.page for one in listed if one.old]
        assert len(old) == rules.old_length
        if rules.length < rules.old_min_length:
            assert old == []
            continue
        assert pages[-len(old) :] == old, "old pages are the tail of the list"
        assert old[0] == rules.old_start
        most = rules.length - rules.old_tolerance - rules.young_min_length
        target = min(rules.length * rules.ratio // 1024, most)
        assert abs(rules.old_length - target) <= rules.old_tolerance
    resident = sum(int(rules.length) for rules in pool.pools)
    assert int((pool.pages.prev[: pool.pools[0].page_count] != ABSENT).sum()) == resident
