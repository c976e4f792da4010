"""Who makes a page young, and when: the reader at the access, nobody, or the sweep that looks for a frame.

Sources: `buf_page_peek_if_too_old` and `buf_page_make_young` (10.4 to 11.8.9), the lazy ACCESSED bit of an early
patch, and PROMOTE with `make_young_if_needed` (the fix, MDEV-33966). `now` is in milliseconds.
"""

from rollout.simulator.compiled import inlined
from rollout.simulator.midpoint import move_to_head
from rollout.simulator.state import FIX, LAZY, MARK, MASK_31, MASK_32, OLD, READERS, Records, wide, word


@inlined
def ticks(now: int) -> int:
    """Return the 16-bit clock of seconds; 0 means never, so it is lifted to 1."""
    return max(now // 1000 & 0xFFFF, 1)


@inlined
def touch(pages: Records, pool: Records, page: int, now: int) -> None:
    """Tell the policy that a resident page is being read."""
    if pool.kind == FIX:
        _touch_mark(pages, pool, page)
    elif pool.kind == READERS:
        _touch_reader(pages, pool, page, now)
    elif pool.kind == LAZY:
        pages[page].stamp |= word(MARK)
        if pages[page].at == 0:
            pages[page].at = pool.tick
    elif pages[page].at == 0:
        pages[page].at = max(now & MASK_32, 1)


@inlined
def _touch_mark(pages: Records, pool: Records, page: int) -> None:
    """Mark the page when its first access, or its last promotion, is more than the threshold of seconds ago."""
    at = wide(pages[page].at)
    if at == 0:
        at = pool.tick
        pages[page].at = at
    stamp = wide(pages[page].stamp)
    if stamp & MARK:
        return
    if pool.threshold == 0 or (pool.tick - at) & 0xFFFF > pool.threshold:
        pages[page].stamp = word(stamp | MARK)


@inlined
def _touch_reader(pages: Records, pool: Records, page: int, now: int) -> None:
    """Move the page at once when it is old and known long enough, or young and fallen behind."""
    at = wide(pages[page].at)
    if at == 0:
        at = max(now & MASK_32, 1)
        pages[page].at = at
    if pool.clock == 0:
        return
    stamp = wide(pages[page].stamp)
    old = stamp & OLD
    if old and pool.threshold:
        if (now - at) & MASK_32 < pool.threshold:
            pool.made_not_young += 1
            return
    elif young_enough(pool, stamp & MASK_31):
        return
    if old:
        pool.made_young += 1
    else:
        pool.young_moves += 1
    pool.mutex_acquisitions += 1
    move_to_head(pages, pool, page)


@inlined
def young_enough(pool: Records, stamped: int) -> bool:
    """Tell whether fewer than `window` pages left the list since the stamp (MDEV-41036: modulo 2**31)."""
    clock = pool.clock & MASK_31
    if pool.repaired_wrap:
        return (clock - stamped) & MASK_31 < pool.window
    return clock < stamped + pool.window


@inlined
def spared(pages: Records, pool: Records, page: int, now: int, count_not_young: bool, only_old: bool) -> bool:
    """Let a sweep look at a page; True when it is not to be evicted in this visit (`make_young_if_needed`)."""
    if pool.kind == FIX:
        return _spared_mark(pages, pool, page, count_not_young, only_old)
    if pool.kind == LAZY:
        return _spared_accessed(pages, pool, page, now)
    return False


@inlined
def _spared_mark(pages: Records, pool: Records, page: int, count_not_young: bool, only_old: bool) -> bool:
    stamp = wide(pages[page].stamp)
    old = stamp & OLD != 0
    if only_old and not old:
        return False
    if stamp & MARK == 0:
        if count_not_young and old and pages[page].at != 0:
            pool.made_not_young += 1
        return False
    if old:
        pool.made_young += 1
    else:
        pool.young_moves += 1
    pages[page].stamp = word(stamp & ~MARK)
    pages[page].at = pool.tick
    move_to_head(pages, pool, page)
    return True


@inlined
def _spared_accessed(pages: Records, pool: Records, page: int, now: int) -> bool:
    stamp = wide(pages[page].stamp)
    if stamp & MARK == 0:
        return False
    pages[page].stamp = word(stamp & ~MARK)
    limit = (now // 1000 - pool.threshold // 1000) & 0xFFFF if pool.threshold else 0
    if limit == 0 or stamp & OLD == 0:
        return True
    if limit < wide(pages[page].at):  # a plain comparison, not a modular one: so it stood in that patch
        pool.made_not_young += 1
        return True
    pages[page].at = 0
    pool.made_young += 1
    move_to_head(pages, pool, page)
    return True
