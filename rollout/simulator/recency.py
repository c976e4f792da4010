"""Exact LRU: every hit moves its page to the head. The yardstick, and what no server with threads can afford."""

from rollout.simulator.compiled import AHEAD, compiled, prefetch
from rollout.simulator.midpoint import link_behind, unlink
from rollout.simulator.state import ABSENT, CREATE, FREE, Deeds, Dense, Records, wide


@compiled
def replay_lru(pages: Records, pool: Records, trace: Dense, deeds: Deeds) -> None:
    """Replay a block; `pages` are `state.LINK` records, `deeds` may be empty (all reads)."""
    sentinel = pool.sentinel
    last = len(trace) - 1
    hits = misses = evictions = 0
    free = pool.free
    for i in range(len(trace)):
        prefetch(pages, trace[min(i + AHEAD, last)])
        page = wide(trace[i])
        deed = wide(deeds[i]) if len(deeds) else 0
        if pages[page].prev != ABSENT:
            unlink(pages, page)
            if deed == FREE:
                pages[page].prev = ABSENT
                free += 1
                pool.freed += 1
                continue
            hits += deed != CREATE
        elif deed == FREE:
            continue
        else:
            misses += deed != CREATE
            if free > 0:
                free -= 1
            else:
                victim = wide(pages[sentinel].prev)
                unlink(pages, victim)
                pages[victim].prev = ABSENT
                evictions += 1
        pool.created += deed == CREATE
        link_behind(pages, sentinel, page)
    pool.hits += hits
    pool.misses += misses
    pool.evictions += evictions
    pool.mutex_acquisitions += hits + 2 * misses
    pool.free = free
    pool.length = pool.frames - free
