"""The kernel that replays accesses through the policies with a midpoint list."""

from rollout.simulator.compiled import AHEAD, compiled, inlined, prefetch
from rollout.simulator.eviction import flush_batch, free_one, is_dirty, lru_batch, make_clean, make_dirty
from rollout.simulator.midpoint import forget, insert
from rollout.simulator.promotion import ticks, touch
from rollout.simulator.state import ABSENT, CREATE, FREE, WRITE, Deeds, Dense, Records, Times, wide

AREA = 64  # pages of a read-ahead area


@inlined
def take_frame(pages: Records, pool: Records, writes: Records, page: int, now: int, old: bool) -> None:
    """Give an absent page a frame and a place in the list."""
    if pool.free == 0:
        free_one(pages, pool, writes, now)
    pool.free -= 1
    insert(pages, pool, page, old)


@inlined
def call_cleaner(pages: Records, pool: Records, writes: Records, now: int) -> None:
    """Wake the page cleaner when a taken frame left too few free ones."""
    if pool.on_demand and 2 * pool.free < pool.scan_depth and pool.length > pool.eviction_floor:
        lru_batch(pages, pool, writes, now)


@compiled
def every_second(pages: Records, pool: Records, writes: Records, now: int) -> None:
    """Let the clock of seconds tick and the page cleaner do what a second brings."""
    pool.tick = ticks(now)
    pool.next_second = now - now % 1000 + 1000
    if not pool.cleaner:
        return
    flushed = pool.dirty > 0
    if flushed:
        flush_batch(pages, pool, writes, now)
    scarce = pool.free < pool.scan_depth and pool.length > pool.eviction_floor
    if scarce and (flushed or not pool.on_demand):
        lru_batch(pages, pool, writes, now)


@inlined
def in_order(pages: Records, first: int, allowed: int) -> bool:
    """Tell whether fewer than `allowed` pages of an area are absent, unread or read out of order."""
    wrong = 0
    last_at = wide(0)
    for page in range(first, first + AREA):
        at = wide(pages[page].at)
        if pages[page].prev == ABSENT or at == 0 or at < last_at:
            wrong += 1
        last_at = at if at else last_at
    return wrong < allowed


@compiled
def read_ahead(pages: Records, pool: Records, writes: Records, page: int, now: int) -> None:
    """Read the next area when the last page of this one ends a scan (linear read-ahead, ascending)."""
    last = page + 1 + AREA
    if page % AREA != AREA - 1 or last > pool.page_count:
        return
    if not in_order(pages, page + 1 - AREA, AREA - pool.read_ahead_threshold):
        return
    pool.mutex_acquisitions += 1
    for ahead in range(page + 1, last):
        if pages[ahead].prev == ABSENT:
            take_frame(pages, pool, writes, ahead, now, True)
            pool.read_ahead += 1
            pool.mutex_acquisitions += pool.miss_mutex
            call_cleaner(pages, pool, writes, now)


@inlined
def read(pages: Records, pool: Records, writes: Records, page: int, now: int, changes: bool) -> None:
    """Read a page, into a frame first if it has none, and change it if asked to."""
    missed = pages[page].prev == ABSENT
    if missed:
        pool.misses += 1
        pool.mutex_acquisitions += pool.miss_mutex
        take_frame(pages, pool, writes, page, now, True)
    else:
        pool.hits += 1
    unread = pages[page].at == 0
    touch(pages, pool, page, now)
    if changes:
        make_dirty(writes, pool, page)
    if missed:
        call_cleaner(pages, pool, writes, now)
    if unread and pool.read_ahead_threshold:
        read_ahead(pages, pool, writes, page, now)


@compiled
def create(pages: Records, pool: Records, writes: Records, page: int, now: int) -> None:
    """Make a new page: it starts at the head, first access stamped, and dirty."""
    pool.created += 1
    if pages[page].prev == ABSENT:
        pool.mutex_acquisitions += 2
        take_frame(pages, pool, writes, page, now, False)
    touch(pages, pool, page, now)
    make_dirty(writes, pool, page)
    call_cleaner(pages, pool, writes, now)


@compiled
def release(pages: Records, pool: Records, writes: Records, page: int) -> None:
    """Free a page (purge, merge, truncate): it leaves the list and counts for the clock, save in 10.4."""
    if pages[page].prev == ABSENT:
        return
    pool.freed += 1
    if is_dirty(writes, pool, page):
        make_clean(writes, pool, page)
    if not pool.keep_freed:
        forget(pages, pool, page)
        pool.clock += 1


@inlined
def access(pages: Records, pool: Records, writes: Records, page: int, now: int, deed: int) -> None:
    """Replay one access at `now` milliseconds."""
    if now >= pool.next_second:
        every_second(pages, pool, writes, now)
    if deed == CREATE:
        create(pages, pool, writes, page, now)
    elif deed == FREE:
        release(pages, pool, writes, page)
    else:
        read(pages, pool, writes, page, now, deed == WRITE)


@compiled
def replay(
    pages: Records, pools: Records, writes: Records, trace: Dense, times: Times, deeds: Deeds, start: float, step: float
) -> None:
    """Replay a block of accesses.

    `trace` holds dense pages. `times` (ms) and `deeds` may be empty: then access i happens at `start + i * step`
    and reads. With several pools (10.4's instances) a page's pool follows from its group of 64 pages.
    """
    last = len(trace) - 1
    for i in range(len(trace)):
        prefetch(pages, trace[min(i + AHEAD, last)])
        page = wide(trace[i])
        now = wide(times[i]) if len(times) else wide(start + i * step)
        deed = wide(deeds[i]) if len(deeds) else 0
        instance = page // AREA % len(pools) if len(pools) > 1 else 0
        access(pages, pools[instance], writes, page, now, deed)
