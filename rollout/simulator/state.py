"""What a simulated pool remembers: one record a page, one record a pool, and a list of dirty pages.

A page's record is found by the page's dense number: no object a page, no hash. Lists are circular and run through a
sentinel record behind the last page (one a pool instance), whose `next` is the head and whose `prev` is the tail.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Records = Any  # a numpy record array; its fields have no types that mypy could see
Dense = NDArray[np.uint32]
Deeds = NDArray[np.uint8]
Times = NDArray[np.int64]

# Fields are 32 bits wide and unsigned; kernels count in signed 64 bits, and say so where one becomes the other.
wide: Any = np.int64
word: Any = np.uint32

ABSENT = 0xFFFFFFFF  # `prev` of a page that is in no list
NONE = 0xFFFFFFFF  # `old_start` when there is no old sublist

MASK_31 = 0x7FFFFFFF
MASK_32 = 0xFFFFFFFF
OLD = 0x80000000  # top bit of `stamp`: the page lies in the old sublist
MARK = 1  # lowest bit of `stamp`: PROMOTE (fix) or ACCESSED (lazy); the readers' policies keep a clock there instead

# 16 bytes: a hit, and a look at the tail, touch one cache line. `at` is the first access (ms, or 16-bit seconds).
PAGE = np.dtype([("prev", "u4"), ("next", "u4"), ("at", "u4"), ("stamp", "u4")], align=True)
# 8 bytes more a page, only for traces that write: the flush list, oldest modification at the tail.
LINK = np.dtype([("prev", "u4"), ("next", "u4")], align=True)

RULES = (
    *("kind", "frames", "ratio", "threshold", "window", "scan_depth", "lru_floor", "visit_limit", "user_scan"),
    *("old_min_length", "old_tolerance", "young_min_length", "eviction_floor", "cleaner", "on_demand", "keep_freed"),
    *("flush_quota", "write_quota", "miss_mutex", "repaired_wrap", "read_ahead_threshold", "page_count", "sentinel"),
)
VARIABLES = ("length", "old_start", "old_length", "free", "clock", "tick", "next_second", "hand", "dirty", "pinned")
COUNTERS = (
    *("hits", "misses", "created", "freed", "made_young", "young_moves", "made_not_young", "mutex_acquisitions"),
    *("evictions", "read_ahead", "read_ahead_evicted", "pages_written", "waits", "probes"),
)
POOL = np.dtype([(name, "i8") for name in (*RULES, *VARIABLES, *COUNTERS)])

READERS, NEVER, LAZY, FIX = 0, 1, 2, 3  # who promotes: readers, nobody, the sweep (early form), the sweep (the fix)
READ, WRITE, FREE, CREATE = 0, 1, 2, 3  # what an access does with its page


def empty_links(pages: int, sentinels: int, kind: np.dtype[Any]) -> Records:
    """Return `pages` absent records and behind them `sentinels` empty lists."""
    records = np.recarray(pages + sentinels, dtype=kind)
    records.view(np.uint8)[:] = 0
    records.prev = ABSENT
    for sentinel in range(pages, pages + sentinels):
        records[sentinel].prev = sentinel
        records[sentinel].next = sentinel
    return records
