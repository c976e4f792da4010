"""Where free frames come from: the page cleaner's batches and the thread that found the free list empty.

Sources: `buf_do_LRU_batch`, `buf_LRU_scan_and_free_block`, `buf_flush_list`. Times of I/O are not modelled: a page
that a batch writes is clean when the batch looks again.
"""

from rollout.simulator.compiled import compiled, inlined
from rollout.simulator.midpoint import forget, link_behind, unlink
from rollout.simulator.promotion import spared
from rollout.simulator.state import ABSENT, FIX, LAZY, Records, wide


@inlined
def make_dirty(writes: Records, pool: Records, page: int) -> None:
    """Enter a page in the flush list, at the end of the newest; a dirty page keeps its place."""
    if writes[page].prev == ABSENT:
        link_behind(writes, pool.sentinel, page)
        pool.dirty += 1


@inlined
def is_dirty(writes: Records, pool: Records, page: int) -> bool:
    """Tell whether a page must be written before its frame can be reused."""
    return pool.dirty > 0 and writes[page].prev != ABSENT


@inlined
def make_clean(writes: Records, pool: Records, page: int) -> None:
    """Take a dirty page off the flush list."""
    unlink(writes, page)
    writes[page].prev = ABSENT
    pool.dirty -= 1


@inlined
def evict(pages: Records, pool: Records, page: int) -> None:
    """Drop a page to reuse its frame; the clock of the readers' policies counts it."""
    forget(pages, pool, page)
    pool.evictions += 1
    pool.clock += 1


@compiled
def lru_pass(pages: Records, pool: Records, writes: Records, now: int, quota: int) -> int:
    """Walk once from the tail until `scan_depth` frames are free; return how many pages were written."""
    written = 0
    index = 0
    page = wide(pages[pool.sentinel].prev)
    while page != pool.sentinel and pool.free < pool.scan_depth and pool.length > pool.lru_floor:
        if pool.visit_limit and index >= min(pool.visit_limit, pool.length):
            break
        before = wide(pages[page].prev)
        index += 1
        if spared(pages, pool, page, now, True, False):
            if pool.kind == FIX and index % 512 == 0:
                pool.mutex_acquisitions += 1
        elif not is_dirty(writes, pool, page):
            evict(pages, pool, page)
            if index % 32 == 0:
                pool.mutex_acquisitions += 1
        elif written < quota:
            make_clean(writes, pool, page)
            written += 1
        page = before
    pool.pages_written += written
    pool.mutex_acquisitions += written + 1
    return written


@compiled
def lru_batch(pages: Records, pool: Records, writes: Records, now: int) -> None:
    """Evict from the tail until `scan_depth` frames are free; once more for what the first pass wrote."""
    if lru_pass(pages, pool, writes, now, pool.write_quota):
        lru_pass(pages, pool, writes, now, 0)


@compiled
def flush_batch(pages: Records, pool: Records, writes: Records, now: int) -> None:
    """Write the oldest dirty pages, at most `flush_quota`; the sweeping policies look at each on the way."""
    written = 0
    while pool.dirty and written < pool.flush_quota:
        page = wide(writes[pool.sentinel].prev)
        if pool.kind in (FIX, LAZY):
            spared(pages, pool, page, now, False, True)
        make_clean(writes, pool, page)
        written += 1
    pool.pages_written += written
    pool.mutex_acquisitions += written + 1


@compiled
def scan_for_clean(pages: Records, pool: Records, writes: Records, now: int, limit: int) -> bool:
    """Evict the first clean page among the last `limit` that nothing spares or pins; tell whether there was one."""
    visited = 0
    page = wide(pages[pool.sentinel].prev)
    while page != pool.sentinel and visited < limit:
        before = wide(pages[page].prev)
        visited += 1
        held = page == pool.pinned or is_dirty(writes, pool, page)
        if not spared(pages, pool, page, now, True, False) and not held:
            if pages[page].at == 0:
                pool.read_ahead_evicted += 1
            evict(pages, pool, page)
            return True
        page = before
    return False


@compiled
def free_one(pages: Records, pool: Records, writes: Records, now: int) -> None:
    """Find a frame for a thread that met an empty free list; as a last resort write the tail and take it."""
    if scan_for_clean(pages, pool, writes, now, pool.user_scan):
        return
    pool.waits += 1
    if pool.cleaner:
        lru_batch(pages, pool, writes, now)
    if pool.free or scan_for_clean(pages, pool, writes, now, 2 * pool.length):
        return
    page = wide(pages[pool.sentinel].prev)
    if is_dirty(writes, pool, page):
        make_clean(writes, pool, page)
        pool.pages_written += 1
    evict(pages, pool, page)
