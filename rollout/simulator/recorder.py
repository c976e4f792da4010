"""Read a real server's LRU list, and hold a simulated pool against it page by page.

Pure: bytes of a tablespace file and rows of `INFORMATION_SCHEMA.INNODB_BUFFER_PAGE_LRU` in, values out. Position 0 of
that table is the tail; IS_OLD is always NULL, so a page is old when its position lies below
`Innodb_buffer_pool_pages_old`, read at the same rest.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rollout.errors import UsageProblem
from rollout.simulator.pool import Listed, MidpointPool
from rollout.simulator.settings import PAGE_BYTES, PoolSettings

SNAPSHOT_SQL = (
    "SELECT LRU_POSITION, SPACE, PAGE_NUMBER, ACCESS_TIME, FREE_PAGE_CLOCK"
    " FROM information_schema.INNODB_BUFFER_PAGE_LRU ORDER BY LRU_POSITION DESC"
)
STATUS_SQL = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool%'"
LONG_AGO_MS = 1

INDEX_PAGE = 17855  # FIL_PAGE_INDEX
PAGE_HEADER = 38  # bytes of the header that every page has
NO_PAGE = 0xFFFFFFFF


@dataclass(frozen=True, order=True)
class PageKey:
    """A page of a server: tablespace and page number."""

    space: int
    number: int


@dataclass(frozen=True)
class Row:
    """A page in the real list: its first access (ms of the server, 0 = never) and its clock stamp."""

    key: PageKey
    at: int
    stamp: int


@dataclass(frozen=True)
class Snapshot:
    """A server's list from the head to the tail, the length of its old sublist, and its counters."""

    rows: tuple[Row, ...]
    old_length: int
    made_young: int
    made_not_young: int
    frames: int

    @property
    def order(self) -> tuple[PageKey, ...]:
        """Return the pages from the head to the tail."""
        return tuple(row.key for row in self.rows)


def read_snapshot(listed: Iterable[Sequence[str]], status: Iterable[Sequence[str]]) -> Snapshot:
    """Make a snapshot of the rows of `SNAPSHOT_SQL` and of `STATUS_SQL`."""
    values = {name.lower(): value for name, value in status}
    pages = "innodb_buffer_pool_pages_"
    rows = sorted((tuple(map(int, row)) for row in listed), reverse=True)
    return Snapshot(
        tuple(Row(PageKey(space, number), at, stamp) for _, space, number, at, stamp in rows),
        int(values[pages + "old"]),
        int(values[pages + "made_young"]),
        int(values[pages + "made_not_young"]),
        int(values[pages + "total"]),
    )


@dataclass(frozen=True)
class Leaf:
    """A leaf of a clustered index whose keys count up from 1 without gaps."""

    key: PageKey
    first_id: int
    records: int


@dataclass(frozen=True)
class Tree:
    """A clustered index of two levels."""

    root: PageKey
    leaves: tuple[Leaf, ...]


def read_tree(tablespace: bytes) -> Tree:
    """Read the clustered index of a tablespace file whose only index it is; its root is page 3."""
    root = _page(tablespace, 3)
    if _field(root, 24, "H") != INDEX_PAGE or _field(root, PAGE_HEADER + 26, "H") != 1:
        raise UsageProblem("page 3 of the tablespace is not the root of an index of two levels")
    space = _field(root, 34, "I")
    number = _first_leaf(tablespace)
    leaves, next_id = [], 1
    while number != NO_PAGE:
        page = _page(tablespace, number)
        records = _field(page, PAGE_HEADER + 16, "H")
        leaves.append(Leaf(PageKey(space, number), next_id, records))
        next_id += records
        number = _field(page, 12, "I")
    return Tree(PageKey(space, 3), tuple(leaves))


class Replica:
    """A simulated pool that stands for a real one; pages are numbered as they become known."""

    def __init__(self, start: Snapshot, pages: Iterable[PageKey], settings: PoolSettings, policy: str) -> None:
        known = dict.fromkeys([*start.order, *pages])
        self.keys = list(known)
        self.numbers = {key: number for number, key in enumerate(self.keys)}
        self.pool = MidpointPool(policy, len(self.keys), start.frames, settings, writes=True)
        old_from = len(start.rows) - start.old_length
        listed = [
            # Whatever was read before the start was read long ago: the caller waits before it begins.
            Listed(self.numbers[row.key], LONG_AGO_MS if row.at else 0, row.stamp, place >= old_from)
            for place, row in enumerate(start.rows)
        ]
        self.pool.fill(listed, clock=max((row.stamp for row in start.rows), default=0))
        self.start = start

    def read(self, keys: Sequence[PageKey], now_ms: int) -> None:
        """Replay a descent and what follows it; the first page, the root, is pinned while the second is read."""
        for place, key in enumerate(keys):
            self.pool.pin(self.numbers[keys[0]] if place == 1 else None)
            self.pool.access(self.numbers[key], now_ms)
        self.pool.pin(None)

    def order(self) -> tuple[PageKey, ...]:
        """Return the pages from the head to the tail."""
        return tuple(self.keys[listed.page] for listed in self.pool.order())

    def differences(self, real: Snapshot) -> list[str]:
        """Say in words where the real server differs; an empty list when it is the same, page by page."""
        mine, counted = self.order(), self.pool.counters()
        found = _order_differences(mine, real.order)
        pairs = (
            ("old length", counted.old_length, real.old_length),
            ("made young", counted.made_young, real.made_young - self.start.made_young),
            ("made not young", counted.made_not_young, real.made_not_young - self.start.made_not_young),
        )
        return found + [f"{name}: simulated {ours}, real {theirs}" for name, ours, theirs in pairs if ours != theirs]


def _order_differences(mine: Sequence[PageKey], real: Sequence[PageKey]) -> list[str]:
    found = []
    if len(mine) != len(real):
        found.append(f"length: simulated {len(mine)}, real {len(real)}")
    for place, (ours, theirs) in enumerate(zip(mine, real, strict=False)):
        if ours != theirs:
            found.append(f"position {place} from the head: simulated {ours}, real {theirs}")
    return found


def _first_leaf(tablespace: bytes) -> int:
    """Return the leaf that has no leaf before it."""
    for number in range(4, len(tablespace) // PAGE_BYTES):
        page = _page(tablespace, number)
        is_leaf = _field(page, 24, "H") == INDEX_PAGE and _field(page, PAGE_HEADER + 26, "H") == 0
        if is_leaf and _field(page, 8, "I") == NO_PAGE:
            return number
    raise UsageProblem("the tablespace has no first leaf")


def _page(tablespace: bytes, number: int) -> bytes:
    return tablespace[number * PAGE_BYTES : (number + 1) * PAGE_BYTES]


def _field(page: bytes, offset: int, kind: str) -> int:
    value: int = struct.unpack_from(">" + kind, page, offset)[0]
    return value
