"""PostgreSQL's clock sweep (`freelist.c`): a hand goes round the frames and takes one that was not used lately."""

from rollout.simulator.compiled import AHEAD, compiled, inlined, prefetch
from rollout.simulator.state import ABSENT, CREATE, FREE, Deeds, Dense, Records, wide

MOST_USED = 5  # BM_MAX_USAGE_COUNT


@inlined
def find_victim(pool: Records, usage: Deeds) -> int:
    """Turn the hand until it meets a frame of usage 0, taking one from each on the way; return that frame."""
    while True:
        frame = pool.hand
        pool.hand = frame + 1 if frame + 1 < pool.frames else 0
        pool.probes += 1
        if usage[frame] == 0:
            return frame
        usage[frame] -= 1


@inlined
def free_frame(pool: Records, page_in: Dense, frame_of: Dense, usage: Deeds) -> int:
    """Return a frame for a new page: one that holds none while there are any, else the victim of the sweep."""
    if pool.free > 0:
        pool.free -= 1
        frame = pool.old_start  # the head of the chain of free frames, linked through `page_in`
        pool.old_start = wide(page_in[frame])
        return frame
    frame = find_victim(pool, usage)
    frame_of[page_in[frame]] = ABSENT
    pool.evictions += 1
    return frame


@compiled
def replay_clock(frame_of: Dense, page_in: Dense, usage: Deeds, pool: Records, trace: Dense, deeds: Deeds) -> None:
    """Replay a block; `frame_of` a page, `page_in` a frame and its `usage`; `deeds` may be empty (all reads)."""
    last = len(trace) - 1
    for i in range(len(trace)):
        prefetch(frame_of, trace[min(i + AHEAD, last)])
        page = wide(trace[i])
        deed = wide(deeds[i]) if len(deeds) else 0
        frame = wide(frame_of[page])
        if deed == FREE:
            if frame != ABSENT:
                frame_of[page] = ABSENT
                page_in[frame] = pool.old_start
                usage[frame] = 0
                pool.old_start = frame
                pool.free += 1
                pool.freed += 1
            continue
        pool.created += deed == CREATE
        if frame != ABSENT:
            pool.hits += deed != CREATE
            usage[frame] = min(usage[frame] + 1, MOST_USED)
            continue
        pool.misses += deed != CREATE
        frame = free_frame(pool, page_in, frame_of, usage)
        frame_of[page] = frame
        page_in[frame] = page
        usage[frame] = 1
    pool.length = pool.frames - pool.free
