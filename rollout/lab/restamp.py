"""A program of a stand-in package says the version of its package: the text in its ELF file is exchanged.

The release string of MariaDB's programs is one read-only text. A longer one does not fit in its place, so it is
written over the end of the distribution's package note (ELF section .note.package, which nothing reads at run time),
and the instructions that take the address of the old text take that of the new one instead.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rollout.errors import RolloutError

ELF64 = b"\x7fELF\x02\x01"  # 64 bit, little endian
NOTE = b'{"type":"deb"'
LOAD, EXECUTABLE = 1, 1  # p_type and p_flags of elf(5)


@dataclass(frozen=True)
class Segment:
    """A loaded segment: where it lies in the file and in memory, its bytes in the file, whether code runs from it."""

    offset: int
    address: int
    size: int
    executable: bool


def restamp(program: Path, old: str, new: str) -> bool:
    """Make an ELF program print `new` where it printed `old`; False when it is no ELF file or has no such text.

    Raises `RolloutError` when it has the text and cannot be changed: a stand-in that lies would be worse than none.
    """
    data = bytearray(program.read_bytes())
    texts = [found.start() + 1 for found in re.finditer(re.escape(f"\0{old}\0".encode()), data)]
    if not data.startswith(ELF64) or not texts:
        return False
    segments = list(_segments(data))
    place = _place(data, new)
    changed = sum(
        _point_elsewhere(data, segments, _address(segments, text), _address(segments, place)) for text in texts
    )
    if not changed:
        raise RolloutError(f"{program.name} holds {old} and nothing that points to it: no stand-in can be made of it")
    data[place : place + len(new) + 1] = new.encode() + b"\0"
    program.write_bytes(data)
    return True


def _segments(data: bytearray) -> Iterator[Segment]:
    """Yield the loaded segments by the program headers, elf(5)."""
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, headers + number * size)
        if kind == LOAD:
            yield Segment(offset, address, length, bool(flags & EXECUTABLE))


def _place(data: bytearray, new: str) -> int:
    """Return where in the file the new text goes: over the end of the package note."""
    note = data.find(NOTE)
    end = data.find(b"\0", note)
    if note < 0 or end - note < len(NOTE) + len(new) + 1:
        raise RolloutError("the program has no package note to write the stand-in's version over")
    return end - len(new) - 1


def _address(segments: list[Segment], offset: int) -> int:
    """Return the address in memory of a place in the file."""
    for segment in segments:
        if segment.offset <= offset < segment.offset + segment.size:
            return offset - segment.offset + segment.address
    raise RolloutError(f"byte {offset} of the program is in no loaded segment")


def _point_elsewhere(data: bytearray, segments: list[Segment], old: int, new: int) -> int:
    """Turn every displacement in code that ends at address `old` to `new`; return how many there were.

    On x86-64 the address of a text is the place behind its four bytes plus their signed value.
    """
    changed = 0
    for segment in (one for one in segments if one.executable):
        for shift in range(4):
            count = (segment.size - shift) // 4
            code = np.frombuffer(bytes(data), "<i4", count, segment.offset + shift).astype(np.int64)
            behind = segment.address + shift + 4 * np.arange(1, count + 1, dtype=np.int64)
            for index in np.nonzero(behind + code == old)[0]:
                where = segment.offset + shift + 4 * int(index)
                struct.pack_into("<i", data, where, new - int(behind[index]))
                changed += 1
    return changed
