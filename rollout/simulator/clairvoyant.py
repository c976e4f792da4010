"""The optimum (Belady): evict the page whose next use lies farthest ahead; no policy on demand is better.

The heap holds nothing but the times of next uses: the page is what the trace has there. A time that has passed is
smaller than all others, so it never comes to the top and is swept out when the heap is full.
"""

from rollout.simulator.compiled import AHEAD, compiled, inlined, prefetch
from rollout.simulator.state import ABSENT, CREATE, FREE, Deeds, Dense, Records, Times, wide


@compiled
def next_uses(trace: Dense, deeds: Deeds, ahead: Times, result: Times) -> None:
    """Fill `result` with the index of the next use of each access's page; `ahead` is work space, one a page.

    Where there is no next use the index is the trace's length.
    """
    for page in range(len(ahead)):
        ahead[page] = len(trace)
    for i in range(len(trace) - 1, -1, -1):
        result[i] = ahead[trace[i]]
        if len(deeds) == 0 or deeds[i] != FREE:
            ahead[trace[i]] = i


@inlined
def sift_down(heap: Times, size: int, at: int) -> None:
    """Let the time at `at` sink to its place (largest on top)."""
    value = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inlined
def sift_up(heap: Times, at: int) -> None:
    """Let the time at `at` rise to its place."""
    value = heap[at]
    while at > 0 and heap[(at - 1) // 2] < value:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = value


@compiled
def sweep_out(heap: Times, size: int, now: int, trace: Dense, resident: Dense) -> int:
    """Drop the times that have passed or whose page was freed, order what is left; return how many there are."""
    kept = 0
    for at in range(size):
        if heap[at] > now and resident[trace[heap[at]]] != ABSENT:
            heap[kept] = heap[at]
            kept += 1
    for at in range(kept // 2 - 1, -1, -1):
        sift_down(heap, kept, at)
    return kept


@inlined
def pop_victim(heap: Times, size: int, trace: Dense, resident: Dense) -> int:
    """Evict the resident page of the latest next use; return the heap's new size."""
    gone = False
    while not gone:
        victim = trace[heap[0]]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, size, 0)
        gone = resident[victim] != ABSENT  # a freed page left its time behind
    resident[victim] = ABSENT
    return size


@compiled
def replay_optimal(
    resident: Dense, pool: Records, trace: Dense, deeds: Deeds, uses: Times, heap: Times, dead: Times, count_from: int
) -> None:
    """Replay a whole trace; `resident` holds ABSENT or 0 a page, `uses` comes from `next_uses`.

    `heap` is work space for more than twice as many times as frames; `dead` for the resident pages that are never
    used again and go first. What happens before access `count_from` is not counted.
    """
    never = len(trace)
    size = doomed = 0
    for i in range(len(trace)):
        if i == count_from:
            pool.hits = pool.misses = pool.created = pool.freed = pool.evictions = 0
        prefetch(resident, trace[min(i + AHEAD, never - 1)])
        page = wide(trace[i])
        deed = wide(deeds[i]) if len(deeds) else 0
        here = resident[page] != ABSENT
        if deed == FREE:
            if here and uses[i] != never:  # a page that is never used again is among the dead already
                resident[page] = ABSENT
                pool.free += 1
                pool.freed += 1
            continue
        pool.created += deed == CREATE
        pool.hits += here and deed != CREATE
        pool.misses += not here and deed != CREATE
        if not here and pool.free > 0:
            pool.free -= 1
        elif not here:
            pool.evictions += 1
            if doomed > 0:
                doomed -= 1
                resident[dead[doomed]] = ABSENT
            else:
                size = pop_victim(heap, size, trace, resident)
        resident[page] = 0
        if uses[i] == never:
            dead[doomed] = page
            doomed += 1
            continue
        if size == len(heap):
            size = sweep_out(heap, size, i, trace, resident)
        heap[size] = uses[i]
        size += 1
        sift_up(heap, size - 1)
    pool.length = pool.frames - pool.free
