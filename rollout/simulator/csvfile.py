"""Traces as CSV: `time_ms,page` or `time_ms,page,op` a line, with or without a line of names on top."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from rollout.errors import ConfigProblem, Mistake
from rollout.simulator.trace import NO_DEEDS, RawBlock

LINES = 200_000
MOST_MISTAKES = 20
LARGEST = (1 << 63) - 1
DEEDS = {"r": 0, "w": 1, "f": 2, "c": 3}


def csv_blocks(path: Path) -> Iterator[RawBlock]:
    """Yield the accesses of a CSV file; raises `ConfigProblem` with the first twenty mistakes and their lines."""
    with path.open(encoding="utf-8", errors="replace") as file:
        first, last_ms = 1, 0
        columns = 0
        while lines := [line.strip() for line in islice(file, LINES)]:
            if first == 1:
                skip = lines[0].replace(" ", "").lower() in ("time_ms,page", "time_ms,page,op")
                columns = lines[0].count(",") + 1
                lines = [""] * skip + lines[skip:]
            mistakes: list[Mistake] = []
            rows = list(_rows(path, lines, first, columns, mistakes))
            mistakes += _falling(path, rows, last_ms)
            if mistakes:
                raise ConfigProblem(sorted(mistakes, key=lambda mistake: mistake.line)[:MOST_MISTAKES])
            first += len(lines)
            if rows:
                last_ms = rows[-1][1]
                _, times, ids, deeds = zip(*rows, strict=True)
                changes = np.array(deeds, np.uint8) if columns == 3 else NO_DEEDS
                yield RawBlock(np.array(ids, np.uint64), np.array(times, np.int64), changes)


def _rows(
    path: Path, lines: Sequence[str], first: int, columns: int, mistakes: list[Mistake]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (line, time, page, deed) of each line that is right, and note the others."""
    for number, line in enumerate(lines, first):
        if not line:
            continue
        words = [word.strip() for word in line.split(",")]
        wrong = _mistake(words, columns)
        if wrong:
            mistakes.append(Mistake(str(path), number, wrong))
        else:
            yield number, int(words[0]), int(words[1]), DEEDS[words[2]] if columns == 3 else 0


def _mistake(words: Sequence[str], columns: int) -> str:
    """Say what is wrong with the words of a line; nothing when all is right."""
    if columns not in (2, 3) or len(words) != columns:
        return f"{len(words)} columns: a line is time_ms,page or time_ms,page,op, and all lines are alike"
    for name, word in zip(("time_ms", "page"), words, strict=False):
        if not (word.isascii() and word.isdigit()) or int(word) > LARGEST:
            return f"{name} is {word!r}: it must be a whole number from 0 to 2**63 - 1"
    if columns == 3 and words[2] not in DEEDS:
        return f"op is {words[2]!r}: it must be r, w, f or c"
    return ""


def _falling(path: Path, rows: Sequence[tuple[int, int, int, int]], last_ms: int) -> Iterator[Mistake]:
    for number, now, _, _ in rows:
        if now < last_ms:
            yield Mistake(str(path), number, f"time {now} lies before {last_ms} of the line above: sort by time first")
        last_ms = now
