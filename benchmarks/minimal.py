"""A minimal compiled LRU list: what a kernel could do at best if it kept no clock and counted nothing but hits.

Over the same arrays and with the same look ahead as the simulator's kernels, so that a ratio shows what the policy
costs and not what the memory does. `plain` is the same without looking ahead: what a straightforward list does.
"""

from typing import Any

from rollout.simulator.compiled import AHEAD, compiled, prefetch
from rollout.simulator.state import ABSENT, wide


@compiled
def minimal_lru(links: Any, trace: Any, frames: int) -> int:
    """Replay reads; return the hits."""
    sentinel = len(links) - 1
    last = len(trace) - 1
    hits = held = 0
    for i in range(len(trace)):
        prefetch(links, trace[min(i + AHEAD, last)])
        page = wide(trace[i])
        if links[page].prev != ABSENT:
            hits += 1
            before, after = links[page].prev, links[page].next
            links[before].next = after
            links[after].prev = before
        elif held < frames:
            held += 1
        else:
            victim = wide(links[sentinel].prev)
            before = links[victim].prev
            links[before].next = sentinel
            links[sentinel].prev = before
            links[victim].prev = ABSENT
        head = links[sentinel].next
        links[page].prev = sentinel
        links[page].next = head
        links[head].prev = page
        links[sentinel].next = page
    return hits


@compiled
def plain_lru(links: Any, trace: Any, frames: int) -> int:
    """Replay reads without looking ahead; return the hits."""
    sentinel = len(links) - 1
    hits = held = 0
    for i in range(len(trace)):
        page = wide(trace[i])
        if links[page].prev != ABSENT:
            hits += 1
            before, after = links[page].prev, links[page].next
            links[before].next = after
            links[after].prev = before
        elif held < frames:
            held += 1
        else:
            victim = wide(links[sentinel].prev)
            before = links[victim].prev
            links[before].next = sentinel
            links[sentinel].prev = before
            links[victim].prev = ABSENT
        head = links[sentinel].next
        links[page].prev = sentinel
        links[page].next = head
        links[head].prev = page
        links[sentinel].next = page
    return hits
