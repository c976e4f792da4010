"""Workloads: who reads which pages, at what rate. The same seed gives the same trace, block by block."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from rollout.errors import UsageProblem
from rollout.simulator.compiled import compiled
from rollout.simulator.state import wide
from rollout.simulator.trace import BLOCK_ACCESSES, START_MS, Block, Trace, step_of

Pages = NDArray[np.uint32]
Draw = Callable[[np.random.Generator, int], Pages]
DEFAULT_RATE = 100_000.0  # accesses a second


def uniform(
    *, pages: int, accesses: int, seed: int = 1, accesses_per_second: float = DEFAULT_RATE, first: int = 0
) -> Trace:
    """Read pages `first` to `first + pages` with equal chances."""
    _check(pages, accesses)

    def draw(random: np.random.Generator, count: int) -> Pages:
        return random.integers(first, first + pages, count, dtype=np.uint32)

    return _drawn(
        f"uniform over {pages} pages, seed {seed}",
        first + pages,
        draw,
        accesses=accesses,
        seed=seed,
        accesses_per_second=accesses_per_second,
    )


def paced(*, pages: int, steps: Sequence[tuple[float, int]], step_ms: float, seed: int = 1) -> Trace:
    """Read pages with equal chances at a pace that was measured: steps of (start in ms, accesses), `step_ms` long each.

    Within a step the accesses are even; between two steps there may be a rest. Their starts must rise.
    """
    accesses = sum(count for _, count in steps)
    _check(pages, accesses)

    def blocks() -> Iterator[Block]:
        random = np.random.default_rng(seed)
        for start_ms, count in steps:
            drawn = random.integers(0, pages, count, dtype=np.uint32)
            yield Block(drawn, start_ms=float(start_ms), step_ms=step_ms / max(count, 1))

    return Trace(f"uniform over {pages} pages at a measured pace, seed {seed}", pages, accesses, blocks)


def zipf(
    *,
    pages: int,
    accesses: int,
    exponent: float = 0.9,
    seed: int = 1,
    accesses_per_second: float = DEFAULT_RATE,
    first: int = 0,
) -> Trace:
    """Read the page of rank k with a chance like 1 / k**exponent; ranks are scattered over the page numbers."""
    _check(pages, accesses)
    weights = np.arange(1, pages + 1, dtype=np.float64) ** -exponent
    weights = np.random.default_rng([seed, 0]).permutation(weights)
    chance, other = alias_table(weights * (pages / weights.sum()))

    def draw(random: np.random.Generator, count: int) -> Pages:
        column = random.integers(0, pages, count, dtype=np.uint32)
        kept = random.random(count) < chance[column]
        return np.where(kept, column, other[column]).astype(np.uint32) + np.uint32(first)

    name = f"zipf {exponent} over {pages} pages, seed {seed}"
    return _drawn(name, first + pages, draw, accesses=accesses, seed=seed, accesses_per_second=accesses_per_second)


def pareto(
    *,
    pages: int,
    accesses: int,
    share: float = 0.2,
    weight: float = 0.8,
    seed: int = 1,
    accesses_per_second: float = DEFAULT_RATE,
) -> Trace:
    """Read as sysbench's Pareto distribution does: the first `share` of the pages get `weight` of the accesses."""
    _check(pages, accesses)
    power = log(_share("share", share)) / log(_share("weight", weight))

    def draw(random: np.random.Generator, count: int) -> Pages:
        return (random.random(count) ** power * pages).astype(np.uint32)

    name = f"pareto {share}/{weight} over {pages} pages, seed {seed}"
    return _drawn(name, pages, draw, accesses=accesses, seed=seed, accesses_per_second=accesses_per_second)


def hotspot(
    *,
    pages: int,
    accesses: int,
    share: float = 0.1,
    weight: float = 0.9,
    seed: int = 1,
    accesses_per_second: float = DEFAULT_RATE,
) -> Trace:
    """Read the first `share` of the pages with `weight` of the accesses, the others with the rest, each evenly."""
    _check(pages, accesses)
    hot = max(round(pages * _share("share", share)), 1)

    def draw(random: np.random.Generator, count: int) -> Pages:
        inside = random.random(count) < _share("weight", weight)
        return np.where(inside, random.integers(0, hot, count), random.integers(hot, pages, count)).astype(np.uint32)

    name = f"hot spot {share}/{weight} over {pages} pages, seed {seed}"
    return _drawn(name, pages, draw, accesses=accesses, seed=seed, accesses_per_second=accesses_per_second)


def scan(*, first: int, last: int, touches: int = 1, accesses_per_second: float = DEFAULT_RATE) -> Trace:
    """Read pages `first` to `last` (not included) in order, each `touches` times at once (rows a page / 8, plus 1)."""
    _check(last - first, touches)
    accesses = (last - first) * touches

    def blocks() -> Iterator[Block]:
        step = step_of(accesses_per_second)
        for start in range(0, accesses, BLOCK_ACCESSES):
            count = min(BLOCK_ACCESSES, accesses - start)
            pages = (first + np.arange(start, start + count) // touches).astype(np.uint32)
            yield Block(pages, start_ms=START_MS + start * step, step_ms=step)

    return Trace(f"scan of {last - first} pages", last, accesses, blocks)


@dataclass(frozen=True)
class TreeShape:
    """A B-tree: `leaves` numbered from 0, behind them the branches a level at a time, and the root last."""

    leaves: int
    fan_out: int = 1000

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Return (first page, pages) of each level from the leaves up to the root."""
        found = [(0, self.leaves)]
        while found[-1][1] > 1:
            first, count = found[-1]
            found.append((first + count, ceil(count / self.fan_out)))
        return found

    @property
    def page_count(self) -> int:
        """Return the pages of the whole tree."""
        first, count = self.levels[-1]
        return first + count


def point_lookups(leaves: Trace, *, fan_out: int = 1000) -> Trace:
    """Turn reads of leaves into point lookups, which touch the root and a branch of each level on the way down."""
    shape = TreeShape(leaves.page_count, fan_out)
    levels = shape.levels

    def blocks() -> Iterator[Block]:
        for block in leaves.blocks():
            above = [first + block.pages // fan_out**level for level, (first, _) in enumerate(levels)]
            path = np.column_stack(above[::-1]).ravel().astype(np.uint32)
            step = block.step_ms / len(levels)
            times, deeds = np.repeat(block.times, len(levels)), _leaf_deeds(block, len(levels))
            yield Block(path, times, deeds, block.start_ms, step)

    name = f"point lookups of height {len(levels)}: {leaves.name}"
    return Trace(name, shape.page_count, leaves.accesses * len(levels), blocks, leaves.writes)


def with_writes(trace: Trace, share: float, seed: int = 1) -> Trace:
    """Let a share of the reads change their page."""
    if share == 0:
        return trace
    _share("write share", share)

    def blocks() -> Iterator[Block]:
        for index, block in enumerate(trace.blocks()):
            deeds = np.random.default_rng([seed, index, 7]).random(len(block)) < share
            yield replace(block, deeds=deeds.astype(np.uint8))

    return replace(trace, name=f"{trace.name}, {share:.0%} writes", blocks=blocks, writes=True)


@dataclass(frozen=True)
class Stream:
    """One part of a mix: `trace` read at its own rate from `start_ms` (after the mix began) on, until it ends."""

    trace: Trace
    start_ms: float = 0.0


def mix(*streams: Stream) -> Trace:
    """Let several traces over the same pages run at once, each at its own rate."""
    traces = [stream.trace for stream in streams]
    writes = any(trace.writes for trace in traces)
    return Trace(
        " beside ".join(trace.name for trace in traces),
        max(trace.page_count for trace in traces),
        sum(trace.accesses for trace in traces),
        lambda: _merged(streams, writes),
        writes,
        all(trace.adjacent for trace in traces),
    )


def _merged(streams: Sequence[Stream], writes: bool) -> Iterator[Block]:
    """Merge blocks by time: what is older than the first access yet to come of every stream can go out."""
    sources = [_shifted(stream) for stream in streams]
    waiting: list[Block | None] = [next(source, None) for source in sources]
    while any(block is not None for block in waiting):
        horizon = min(int(block.times[-1]) for block in waiting if block is not None)
        parts = []
        for index, block in enumerate(waiting):
            if block is None:
                continue
            until = int(np.searchsorted(block.times, horizon, side="right"))
            parts.append(block.part(0, until))
            waiting[index] = block.part(until, len(block)) if until < len(block) else next(sources[index], None)
        yield _sorted(parts, writes)


def _shifted(stream: Stream) -> Iterator[Block]:
    start: float | None = None
    for block in stream.trace.blocks():
        times = block.times if len(block.times) else block.start_ms + np.arange(len(block)) * block.step_ms
        start = float(times[0]) if start is None and len(times) else start
        if len(times):
            moved = (times - (start or 0.0) + START_MS + stream.start_ms).astype(np.int64)
            yield Block(block.pages, moved, block.deeds)


def _sorted(parts: Sequence[Block], writes: bool) -> Block:
    times = np.concatenate([part.times for part in parts])
    order = np.argsort(times, kind="stable")
    pages = np.concatenate([part.pages for part in parts])[order]
    if not writes:
        return Block(pages, times[order])
    deeds = [part.deeds if len(part.deeds) else np.zeros(len(part), np.uint8) for part in parts]
    return Block(pages, times[order], np.concatenate(deeds)[order])


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Return the chance to keep a column and the column to take otherwise, for weights of mean 1 (Vose's method)."""
    chance = np.ascontiguousarray(weights, np.float64).copy()
    other = np.arange(len(weights), dtype=np.uint32)
    _pair_columns(chance, other, np.empty(len(weights), np.uint32), np.empty(len(weights), np.uint32))
    return chance, other


@compiled
def _pair_columns(chance: NDArray[np.float64], other: Pages, small: Pages, large: Pages) -> None:
    """Fill every column that is too small from one that is too large."""
    few = many = 0
    for column in range(len(chance)):
        if chance[column] < 1.0:
            small[few] = column
            few += 1
        else:
            large[many] = column
            many += 1
    while few > 0 and many > 0:
        few -= 1
        low = wide(small[few])
        high = wide(large[many - 1])
        other[low] = high
        chance[high] -= 1.0 - chance[low]
        if chance[high] < 1.0:
            many -= 1
            small[few] = high
            few += 1
    for rest in range(few):  # what rounding left over
        chance[small[rest]] = 1.0


def _drawn(name: str, page_count: int, draw: Draw, *, accesses: int, seed: int, accesses_per_second: float) -> Trace:
    """Make a trace whose blocks are drawn one by one, each from a seed of its own."""
    step = step_of(accesses_per_second)

    def blocks() -> Iterator[Block]:
        for index, start in enumerate(range(0, accesses, BLOCK_ACCESSES)):
            count = min(BLOCK_ACCESSES, accesses - start)
            pages = draw(np.random.default_rng([seed, 1, index]), count)
            yield Block(pages, start_ms=START_MS + start * step, step_ms=step)

    return Trace(name, page_count, accesses, blocks)


def _leaf_deeds(block: Block, height: int) -> NDArray[np.uint8]:
    if not len(block.deeds):
        return block.deeds
    deeds = np.zeros((len(block), height), np.uint8)
    deeds[:, -1] = block.deeds
    return deeds.ravel()


def _check(pages: int, accesses: int) -> None:
    if pages < 1 or accesses < 1:
        raise UsageProblem(f"{pages} pages and {accesses} accesses: both must be at least 1")


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise UsageProblem(f"{name} is {value}: it lies between 0 and 1")
    return value
