"""Read traces from files, block by block: `.npy`, `.npz`, CSV and libCacheSim's `oracleGeneral` (zstd too).

A first pass counts accesses and looks at the ids. Page numbers that lie densely enough stay what they are; other ids
are numbered anew in the order in which they appear, and the trace says so (`adjacent` is false).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import zstandard
from numpy.typing import NDArray

from rollout.errors import ConfigProblem, Mistake, UsageProblem
from rollout.simulator.compiled import compiled
from rollout.simulator.csvfile import DEEDS, csv_blocks
from rollout.simulator.pool import MOST_PAGES
from rollout.simulator.state import Dense, wide
from rollout.simulator.trace import BLOCK_ACCESSES, NO_DEEDS, NO_TIMES, START_MS, Block, RawBlock, Trace, step_of

ORACLE = np.dtype([("seconds", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
ORACLE_BYTES = 24
ALWAYS_DENSE = 1 << 24  # page numbers below this stay as they are: their state fits in 256 MiB
EMPTY = 0xFFFFFFFF


def read_trace(path: Path, *, accesses_per_second: float = 100_000.0) -> Trace:
    """Open a trace; `accesses_per_second` is used where the file has no times.

    Raises `ConfigProblem` with all mistakes of the file, or `UsageProblem` for a file that is no trace at all.
    """
    if not path.is_file():
        raise UsageProblem(f"{path}: there is no such file")
    step_of(accesses_per_second)
    raw = _reader(path)
    seen = _survey(raw)
    if seen.accesses == 0:
        raise UsageProblem(f"{path}: the trace is empty")
    dense = seen.highest < max(ALWAYS_DENSE, 4 * seen.accesses) and seen.highest < MOST_PAGES
    numbering = None if dense else _number(raw, seen.accesses)
    page_count = seen.highest + 1 if numbering is None else numbering.count
    blocks = partial(_dense_blocks, raw, numbering, seen.first_ms, accesses_per_second)
    return Trace(path.name, page_count, seen.accesses, blocks, seen.writes, numbering is None)


Reader = Callable[[], Iterator[RawBlock]]


def _reader(path: Path) -> Reader:
    names = path.name.lower()
    if names.endswith(".npy"):
        return partial(_npy_blocks, path)
    if names.endswith(".npz"):
        return partial(_npz_blocks, path)
    if names.endswith(".csv"):
        return partial(csv_blocks, path)
    if "oraclegeneral" in names:
        return partial(_oracle_blocks, path)
    raise UsageProblem(f"{path}: no trace by its name", hint="traces end in .npy, .npz, .csv, .oracleGeneral[.zst]")


@dataclass(frozen=True)
class _Survey:
    accesses: int
    highest: int
    writes: bool
    first_ms: int


def _survey(raw: Reader) -> _Survey:
    """Read the trace once and look at its ids and its first time."""
    accesses, highest, writes, first_ms = 0, 0, False, 0
    for block in raw():
        if accesses == 0 and len(block.times):
            first_ms = int(block.times[0])
        accesses += len(block.ids)
        highest = max(highest, int(block.ids.max(initial=0)))
        writes |= bool(len(block.deeds))
    return _Survey(accesses, highest, writes, first_ms)


@dataclass(frozen=True)
class _Numbering:
    """A hash table from ids to dense numbers: open addressing, a power of two of slots."""

    ids: NDArray[np.uint64]
    numbers: Dense
    count: int


def _number(raw: Reader, accesses: int) -> _Numbering:
    """Number the ids in the order in which they appear."""
    slots = 1 << 16
    table = _Numbering(np.zeros(slots, np.uint64), np.full(slots, EMPTY, np.uint32), 0)
    for block in raw():
        while 2 * (table.count + len(block.ids)) > len(table.ids) and len(table.ids) < 4 * accesses:
            table = _grown(table)
        table = _Numbering(table.ids, table.numbers, _enter(table.ids, table.numbers, block.ids, table.count))
    if table.count > MOST_PAGES:
        raise UsageProblem(f"{table.count} different pages are too many: the limit is {MOST_PAGES}")
    return table


def _grown(table: _Numbering) -> _Numbering:
    slots = 2 * len(table.ids)
    ids, numbers = np.zeros(slots, np.uint64), np.full(slots, EMPTY, np.uint32)
    _rehash(table.ids, table.numbers, ids, numbers)
    return _Numbering(ids, numbers, table.count)


@compiled
def _slot(ids: NDArray[np.uint64], numbers: Dense, wanted: int) -> int:
    """Return the slot that holds `wanted`, or the empty one where it belongs."""
    mask = len(ids) - 1
    hashed = np.uint64(wanted) * np.uint64(0x9E3779B97F4A7C15)
    at = wide((hashed >> np.uint64(20)) & np.uint64(mask))
    while numbers[at] != EMPTY and ids[at] != np.uint64(wanted):
        at = (at + 1) & mask
    return at


@compiled
def _enter(ids: NDArray[np.uint64], numbers: Dense, block: NDArray[np.uint64], count: int) -> int:
    """Give every new id of a block the next number; return how many there are then."""
    for one in block:
        at = _slot(ids, numbers, one)
        if numbers[at] == EMPTY:
            ids[at] = one
            numbers[at] = count
            count += 1
    return count


@compiled
def _rehash(ids: NDArray[np.uint64], numbers: Dense, new_ids: NDArray[np.uint64], new_numbers: Dense) -> None:
    for old in range(len(ids)):
        if numbers[old] != EMPTY:
            at = _slot(new_ids, new_numbers, ids[old])
            new_ids[at] = ids[old]
            new_numbers[at] = numbers[old]


@compiled
def _look_up(ids: NDArray[np.uint64], numbers: Dense, block: NDArray[np.uint64], pages: Dense) -> None:
    """Fill `pages` with the numbers of the ids of a block."""
    for i in range(len(block)):
        pages[i] = numbers[_slot(ids, numbers, block[i])]


def _dense_blocks(
    raw: Reader, numbering: _Numbering | None, first_ms: int, accesses_per_second: float
) -> Iterator[Block]:
    """Yield the trace with dense pages; its own times are shifted to begin an hour after the server's start."""
    step = step_of(accesses_per_second)
    done = 0
    for block in raw():
        pages = np.empty(len(block.ids), np.uint32)
        if numbering is None:
            pages[:] = block.ids
        else:
            _look_up(numbering.ids, numbering.numbers, np.ascontiguousarray(block.ids, np.uint64), pages)
        times = block.times - first_ms + int(START_MS) if len(block.times) else NO_TIMES
        yield Block(pages, times, block.deeds, START_MS + done * step, step)
        done += len(pages)


def _npy_blocks(path: Path) -> Iterator[RawBlock]:
    try:
        pages = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as fault:
        raise _broken(path, f"cannot be read as .npy: {fault}") from fault
    yield from _from_arrays(path, pages, NO_TIMES, NO_DEEDS)


def _npz_blocks(path: Path) -> Iterator[RawBlock]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in ("page", "time_ms", "op") if name in arrays}
    except (ValueError, OSError, EOFError) as fault:
        raise _broken(path, f"cannot be read as .npz: {fault}") from fault
    if "page" not in found:
        raise _broken(path, "has no array `page`")
    times = found.get("time_ms", NO_TIMES)
    yield from _from_arrays(path, found["page"], times, _deeds(path, found.get("op")))


def _deeds(path: Path, op: NDArray[Any] | None) -> NDArray[np.uint8]:
    if op is None:
        return NO_DEEDS
    letters = op.astype("U1")
    unknown = sorted(set(np.unique(letters).tolist()) - set(DEEDS))
    if unknown:
        raise _broken(path, f"`op` holds {', '.join(map(repr, unknown))}: it must be r, w, f or c")
    deeds = np.zeros(len(letters), np.uint8)
    for letter, deed in DEEDS.items():
        deeds[letters == letter] = deed
    return deeds


def _from_arrays(path: Path, pages: NDArray[Any], times: NDArray[Any], deeds: NDArray[np.uint8]) -> Iterator[RawBlock]:
    mistakes = []
    if pages.ndim != 1 or pages.dtype.kind not in "ui":
        mistakes.append(f"page ids are {pages.dtype} in {pages.ndim} dimensions: they must be whole numbers in a row")
    for name, array in (("time_ms", times), ("op", deeds)):
        if len(array) not in (0, len(pages)):
            mistakes.append(f"{len(array)} values in `{name}` for {len(pages)} pages")
    if len(times) and bool((np.diff(times) < 0).any()):
        mistakes.append("times fall: sort the accesses by time first")
    if mistakes:
        raise ConfigProblem(Mistake(str(path), 0, words) for words in mistakes)
    for first in range(0, len(pages), BLOCK_ACCESSES):
        until = first + BLOCK_ACCESSES
        part = pages[first:until]
        if part.dtype.kind == "i" and int(part.min()) < 0:
            raise _broken(path, f"page {int(part.min())} is negative")
        yield RawBlock(part, times[first:until].astype(np.int64), deeds[first:until])


def _oracle_blocks(path: Path) -> Iterator[RawBlock]:
    """Yield the records of a libCacheSim trace; its times are whole seconds."""
    last = 0
    for chunk in _chunks(path, ORACLE_BYTES * BLOCK_ACCESSES):
        if len(chunk) % ORACLE_BYTES:
            raise _broken(path, f"ends in the middle of a record of {ORACLE_BYTES} bytes")
        records = np.frombuffer(chunk, ORACLE)
        times = records["seconds"].astype(np.int64) * 1000
        if len(times) and (times[0] < last or bool((np.diff(times) < 0).any())):
            raise _broken(path, "times fall: sort the accesses by time first")
        last = int(times[-1]) if len(times) else last
        yield RawBlock(records["id"], times, NO_DEEDS)


def _chunks(path: Path, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed when it ends in .zst, in pieces of `size` (the last may be shorter)."""
    with path.open("rb") as file:
        packed = path.suffix == ".zst"
        source = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) if packed else file
        try:
            while chunk := _filled(cast(IO[bytes], source), size):
                yield chunk
        except zstandard.ZstdError as fault:
            raise _broken(path, f"cannot be unpacked: {fault}") from fault


def _filled(source: IO[bytes], size: int) -> bytes:
    parts, missing = [], size
    while missing and (part := source.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _broken(path: Path, words: str) -> ConfigProblem:
    return ConfigProblem([Mistake(str(path), 0, words)])
