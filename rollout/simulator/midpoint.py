"""The LRU list with its midpoint, as every MariaDB from 10.4 on keeps it (`buf0lru.cc`).

From the head to `old_start` the list is young, from there to the tail it is old. `pages` is an array of
`state.PAGE`, `pool` one record of `state.POOL`, `page` a dense number.
"""

from rollout.simulator.compiled import compiled, inlined
from rollout.simulator.state import ABSENT, MASK_31, NONE, OLD, READERS, Records, wide, word


@inlined
def link_behind(links: Records, where: int, page: int) -> None:
    """Link `page` in, one step behind `where` towards the tail."""
    after = links[where].next
    links[page].prev = where
    links[page].next = after
    links[where].next = page
    links[after].prev = page


@inlined
def unlink(links: Records, page: int) -> None:
    """Take `page` out of its list; its own record still says where it was."""
    before = links[page].prev
    after = links[page].next
    links[before].next = after
    links[after].prev = before


@inlined
def adjust(pages: Records, pool: Records) -> None:
    """Step the midpoint until the old sublist is within the tolerance of its share (ADJUST)."""
    most = pool.length - (pool.old_tolerance + pool.young_min_length)
    target = min(pool.length * pool.ratio // 1024, most)
    while pool.old_length + pool.old_tolerance < target:
        start = wide(pages[pool.old_start].prev)
        pages[start].stamp |= word(OLD)
        pool.old_start = start
        pool.old_length += 1
    while pool.old_length > target + pool.old_tolerance:
        start = pool.old_start
        pages[start].stamp &= word(MASK_31)
        pool.old_start = wide(pages[start].next)
        pool.old_length -= 1


@compiled
def begin_old(pages: Records, pool: Records) -> None:
    """Call every page old, then let the midpoint find its place (OLD_INIT, when the list is just long enough)."""
    page = wide(pages[pool.sentinel].next)
    pool.old_start = page
    while page != pool.sentinel:
        pages[page].stamp |= word(OLD)
        page = wide(pages[page].next)
    pool.old_length = pool.length
    adjust(pages, pool)


@compiled
def end_old(pages: Records, pool: Records) -> None:
    """Forget the old sublist: the list became too short for one."""
    page = wide(pages[pool.sentinel].next)
    while page != pool.sentinel:
        pages[page].stamp &= word(MASK_31)
        page = wide(pages[page].next)
    pool.old_start = NONE
    pool.old_length = 0


@inlined
def insert(pages: Records, pool: Records, page: int, want_old: bool) -> None:
    """Put a page at the midpoint (`want_old`) or at the head; a head insertion stamps the clock (INSERT)."""
    to_midpoint = want_old and pool.length >= pool.old_min_length
    if to_midpoint:
        link_behind(pages, pool.old_start, page)
        pool.old_length += 1
    else:
        link_behind(pages, pool.sentinel, page)
        if pool.kind == READERS:
            pages[page].stamp = word(pool.clock & MASK_31)
    pool.length += 1
    if pool.length > pool.old_min_length:
        if to_midpoint:
            pages[page].stamp |= word(OLD)
        adjust(pages, pool)
    elif pool.length == pool.old_min_length:
        begin_old(pages, pool)


@inlined
def remove(pages: Records, pool: Records, page: int) -> None:
    """Take a page out of the list (REMOVE); its stamp keeps the old bit, its record the former neighbours."""
    if page == pool.old_start:
        start = wide(pages[page].prev)  # there is one: `young_min_length` pages are always young
        pages[start].stamp |= word(OLD)
        pool.old_start = start
        pool.old_length += 1
    was_old = wide(pages[page].stamp) & OLD != 0
    unlink(pages, page)
    pool.length -= 1
    if pool.old_length == 0:
        return
    if pool.length < pool.old_min_length:
        end_old(pages, pool)
        return
    if was_old:
        pool.old_length -= 1
    adjust(pages, pool)


@inlined
def move_to_head(pages: Records, pool: Records, page: int) -> None:
    """Make a page the youngest: remove it and insert it at the head."""
    remove(pages, pool, page)
    pages[page].stamp &= word(MASK_31)
    insert(pages, pool, page, False)


@inlined
def forget(pages: Records, pool: Records, page: int) -> None:
    """Drop a page from the pool; everything that was known of it is lost, its frame is free."""
    remove(pages, pool, page)
    pages[page].prev = ABSENT
    pages[page].at = 0
    pages[page].stamp = 0
    pool.free += 1
