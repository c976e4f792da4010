"""Operations on `buf_pool.mutex` a query, by rule, where nothing is evicted and all pages are read alike.

A page is moved when it is touched in the old sublist. Where pages are touched uniformly, a touched page is there with
the probability that a random page of those that are read is there. Pages that nobody reads sink to the end of the
list and take their share of the old sublist away: (ratio - u) / (1 - u) of the touches move a page, with u the
unread share of the list. It does not depend on the number of touches a query.
"""

from dataclasses import dataclass

from rollout.prediction.frames import frames
from rollout.prediction.ranges import Range
from rollout.prediction.workload import DescribedWorkload, PolicyName

# innodb_old_blocks_pct is kept in 1024ths (BUF_LRU_OLD_RATIO_DIV), and below 512 pages there is no old sublist.
_RATIO_DIVISOR = 1024
_OLD_MIN_LENGTH = 512
# As read from the published run: undo and other pages that no query touches.
UNREAD_SHARE_WHERE_UNKNOWN = Range(0.0, 0.027, 0.054)


@dataclass(frozen=True)
class Operations:
    """What one query does to the list: pages moved that the server counts, mutex operations in all, hit ratio."""

    promotions: float
    mutex: float
    hit_ratio: float


def old_ratio(old_blocks_pct: int) -> float:
    """Return the old sublist's share of the list, as the server rounds it (37 -> 378/1024)."""
    return (old_blocks_pct * _RATIO_DIVISOR // 100) / _RATIO_DIVISOR


def rule_holds(work: DescribedWorkload) -> bool:
    """Whether the rule describes this workload: uniform, and the pool never has to make room."""
    list_pages = (work.data_bytes + (work.unread_bytes or 0)) / work.page_bytes
    room = frames(work.pool_bytes, work.page_bytes) - work.lru_scan_depth
    return work.access == "uniform" and list_pages <= room


def unread_shares(work: DescribedWorkload) -> Range:
    """Return the share of listed pages that nobody reads; not told means a range."""
    if work.unread_bytes is None:
        return UNREAD_SHARE_WHERE_UNKNOWN
    return Range.exactly(work.unread_bytes / (work.data_bytes + work.unread_bytes))


def by_rule(work: DescribedWorkload, policy: PolicyName, unread_share: float) -> Operations:
    """Return the operations of one query under `policy`.

    `lru` moves a page at every touch. `mariadb-10.4` moves none until its clock is started by a first eviction, and
    none happened here unless the file says so. All others move nothing as long as nothing has to be evicted.
    """
    if policy == "lru":
        share = 1.0
    elif policy == "mariadb-10.5" or (policy == "mariadb-10.4" and work.clock_started):
        share = _moved_share(work, unread_share)
    else:
        share = 0.0
    moves = work.leaf_reads_per_query * share
    return Operations(promotions=moves, mutex=moves, hit_ratio=1.0)


def _moved_share(work: DescribedWorkload, unread_share: float) -> float:
    if work.data_bytes / work.page_bytes / (1 - unread_share) < _OLD_MIN_LENGTH:
        return 0.0
    return max(0.0, (old_ratio(work.old_blocks_pct) - unread_share) / (1 - unread_share))
