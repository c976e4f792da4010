"""Traces: accesses to pages numbered densely from 0, streamed in blocks so that a trace may be larger than memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain as joined
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollout.errors import UsageProblem

BLOCK_ACCESSES = 1 << 20
START_MS = 3_600_000.0  # a server that has been up for an hour: no clock of seconds stands at its odd beginning
NO_TIMES: NDArray[np.int64] = np.empty(0, np.int64)
NO_DEEDS: NDArray[np.uint8] = np.empty(0, np.uint8)


@dataclass(frozen=True)
class Block:
    """Some accesses: `pages` (uint32), and `times` (ms) and `deeds` (`state.READ`...) or empty arrays.

    Without times access i happens at `start_ms + i * step_ms`; without deeds all are reads.
    """

    pages: NDArray[np.uint32]
    times: NDArray[np.int64] = field(default_factory=lambda: NO_TIMES)
    deeds: NDArray[np.uint8] = field(default_factory=lambda: NO_DEEDS)
    start_ms: float = START_MS
    step_ms: float = 0.0

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def end_ms(self) -> float:
        """Return the time at which the next block without times would begin."""
        if len(self.times):
            return float(self.times[-1])
        return self.start_ms + len(self.pages) * self.step_ms

    def part(self, first: int, last: int) -> "Block":
        """Return the accesses from `first` up to `last`, at their own times."""
        return Block(
            self.pages[first:last],
            self.times[first:last],
            self.deeds[first:last],
            self.start_ms + first * self.step_ms,
            self.step_ms,
        )

    def where(self, chosen: NDArray[np.bool_]) -> "Block":
        """Return the chosen accesses, at their own times."""
        return Block(self.pages[chosen], times_of(self)[chosen], self.deeds[chosen] if len(self.deeds) else NO_DEEDS)


@dataclass(frozen=True)
class RawBlock:
    """Accesses as a file has them: any ids, times in ms and deeds or empty arrays."""

    ids: NDArray[Any]
    times: NDArray[np.int64] = field(default_factory=lambda: NO_TIMES)
    deeds: NDArray[np.uint8] = field(default_factory=lambda: NO_DEEDS)


@dataclass(frozen=True)
class Trace:
    """Accesses to `page_count` pages; `blocks` starts anew at each call. `adjacent`: numbers are page numbers."""

    name: str
    page_count: int
    accesses: int
    blocks: Callable[[], Iterator[Block]]
    writes: bool = False
    adjacent: bool = True

    def whole(self) -> Block:
        """Return all accesses as one block."""
        parts = list(self.blocks())
        if len(parts) == 1:
            return parts[0]
        timed = any(len(part.times) or part.step_ms != parts[0].step_ms for part in parts)
        return Block(
            np.concatenate([part.pages for part in parts]) if parts else np.empty(0, np.uint32),
            np.concatenate([times_of(part) for part in parts]) if timed else NO_TIMES,
            np.concatenate([_deeds(part) for part in parts]) if self.writes else NO_DEEDS,
            parts[0].start_ms if parts else START_MS,
            parts[0].step_ms if parts else 0.0,
        )


def trace_of(
    pages: NDArray[np.uint32],
    *,
    page_count: int | None = None,
    times: NDArray[np.int64] = NO_TIMES,
    deeds: NDArray[np.uint8] = NO_DEEDS,
    accesses_per_second: float = 100_000.0,
    name: str = "array",
) -> Trace:
    """Make a trace of arrays: dense `pages`; times in ms that never fall, or a constant rate; deeds or all reads."""
    dense = np.ascontiguousarray(pages, np.uint32)
    _check_lengths(len(dense), times, deeds)
    count = page_count if page_count is not None else int(dense.max(initial=0)) + 1
    whole = Block(dense, np.ascontiguousarray(times, np.int64), deeds, START_MS, step_of(accesses_per_second))
    return Trace(name, count, len(dense), lambda: cut(whole), writes=bool(len(deeds)))


def step_of(accesses_per_second: float) -> float:
    """Return the milliseconds between two accesses at a constant rate."""
    if accesses_per_second <= 0:
        raise UsageProblem(f"accesses per second is {accesses_per_second}: it must be above 0")
    return 1000.0 / accesses_per_second


def cut(block: Block, size: int = BLOCK_ACCESSES) -> Iterator[Block]:
    """Cut a block into blocks of at most `size` accesses, at their own times."""
    for first in range(0, len(block), size):
        yield block.part(first, first + size)


def chain(*traces: Trace) -> Trace:
    """Join traces over the same pages one after the other; each goes on when the one before it has ended."""

    def blocks() -> Iterator[Block]:
        now = START_MS
        for trace in traces:
            shift: float | None = None
            for block in trace.blocks():
                first = float(block.times[0]) if len(block.times) else block.start_ms
                shift = now - first if shift is None else shift
                moved = replace(block, times=block.times + round(shift), start_ms=block.start_ms + shift)
                yield moved
                now = moved.end_ms

    return Trace(
        " then ".join(trace.name for trace in traces),
        max(trace.page_count for trace in traces),
        sum(trace.accesses for trace in traces),
        blocks,
        any(trace.writes for trace in traces),
        all(trace.adjacent for trace in traces),
    )


def split(trace: Trace, accesses: int) -> tuple[Iterator[Block], Iterator[Block]]:
    """Split a trace's blocks at an access; the first part must be used up before the second is begun."""
    blocks = trace.blocks()
    rest: list[Block] = []

    def before() -> Iterator[Block]:
        left = accesses
        while left > 0 and (block := next(blocks, None)) is not None:
            yield block.part(0, left)
            rest[:] = [block.part(left, len(block))] if len(block) > left else []
            left -= len(block)

    return before(), joined(_given(rest), blocks)


def _given(blocks: list[Block]) -> Iterator[Block]:
    yield from blocks


def times_of(block: Block) -> NDArray[np.int64]:
    """Return the time of each access of a block, in ms."""
    if len(block.times):
        return block.times
    times: NDArray[np.int64] = (block.start_ms + np.arange(len(block)) * block.step_ms).astype(np.int64)
    return times


def _deeds(block: Block) -> NDArray[np.uint8]:
    return block.deeds if len(block.deeds) else np.zeros(len(block), np.uint8)


def _check_lengths(accesses: int, times: NDArray[np.int64], deeds: NDArray[np.uint8]) -> None:
    for name, array in (("times", times), ("deeds", deeds)):
        if len(array) not in (0, accesses):
            raise UsageProblem(f"{len(array)} {name} for {accesses} accesses: give one for each, or none")
    if len(times) and bool((np.diff(times) < 0).any()):
        raise UsageProblem("times fall: sort the accesses by time first")
