"""The samples of one memory run, as the host wrote them, and the figures that they come to. Pure."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20
_DESCENT_BYTES = 16 * MIB  # a fall of less is noise of pages that come and go


@dataclass(frozen=True)
class Sample:
    """The server at one moment: seconds since the run's first mark, bytes and counts; None was not read then."""

    seconds: float
    rss: int
    swap: int
    heap: int | None
    arenas: int | None
    regions: int | None
    memory_used: int | None
    pool_pages: int | None


@dataclass(frozen=True)
class Phase:
    """A stretch of a run: `load` or `rest`, from and to in seconds since the run's first mark."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class MemoryRun:
    """One run of one arm; `iteration_seconds` is the load's own mean of each round.

    `tmp_on_disk` is the share of the internal tmp tables that went to disk, None where the server told none.
    """

    arm: str
    allocator: str
    samples: tuple[Sample, ...]
    phases: tuple[Phase, ...]
    iteration_seconds: tuple[float, ...]
    tmp_on_disk: float | None = None


def read_run(raw: Path, number: int, arm: str) -> MemoryRun:
    """Read the files of run `number` as the host left them."""
    marks = [line.partition("\t") for line in (raw / f"marks-{number}").read_text().splitlines()]
    first = int(marks[0][0])
    timed = [((int(moment) - first) / 1e9, words) for moment, _, words in marks]
    lines = (raw / f"samples-{number}").read_text().splitlines()
    samples = tuple(_sample(line.split(), first) for line in lines if len(line.split()) == 9)
    allocator = next(words.partition(" ")[2] for _, words in timed if words.startswith("allocator "))
    rounds = sorted(raw.glob(f"slap-{number}-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    seconds = tuple(map(_mean_of_round, rounds))
    tables = [words.split()[1:] for _, words in timed if words.startswith("tmp ")]
    return MemoryRun(arm, allocator, samples, _phases(timed), seconds, _share_on_disk(tables[-1] if tables else []))


def figures(run: MemoryRun) -> dict[str, float]:
    """Return the figures of a run by name: bytes, counts and seconds."""
    first_load = next(phase.begin for phase in run.phases if phase.name == "load")
    before = [one for one in run.samples if one.seconds <= first_load] or list(run.samples[:1])
    start, peak, rest = _whole(before[-1]), max(map(_whole, run.samples)), _whole(run.samples[-1])
    found = {
        "start_bytes": start,
        "peak_bytes": peak,
        "rest_bytes": rest,
        "kept_bytes": rest - start,
        "swap_bytes": max(one.swap for one in run.samples),
        "descents": descents([_whole(one) for one in run.samples if _under_load(one, run.phases)]),
        "iteration_seconds": sum(run.iteration_seconds) / len(run.iteration_seconds),
    }
    for name in ("regions", "heap", "arenas", "memory_used", "pool_pages"):
        known = [value for value in (getattr(one, name) for one in run.samples) if value is not None]
        if known:
            found[name if name in ("regions", "pool_pages") else f"{name}_bytes"] = known[-1]
    if run.tmp_on_disk is not None:
        found["tmp_on_disk"] = run.tmp_on_disk
    held = [one.heap + one.arenas for one in run.samples if one.heap is not None and one.arenas is not None]
    if held:
        found["held_bytes"] = held[-1]
    return {name: float(value) for name, value in found.items()}


def descents(sizes: Sequence[int]) -> int:
    """Count the falls of at least 16 MiB: from a height to the depth after it, a rise as large between two of them."""
    count, high, low, falling = 0, 0, 0, False
    for size in sizes:
        if falling:
            low = min(low, size)
            if size >= low + _DESCENT_BYTES:
                falling, high = False, size
        else:
            high = max(high, size)
            if size <= high - _DESCENT_BYTES:
                count, falling, low = count + 1, True, size
    return count


def _whole(sample: Sample) -> int:
    """Resident and swapped out: RSS falls too when a host swaps, and that is no memory given back."""
    return sample.rss + sample.swap


def _under_load(sample: Sample, phases: Sequence[Phase]) -> bool:
    return any(phase.name == "load" and phase.begin <= sample.seconds <= phase.end for phase in phases)


def _sample(fields: Sequence[str], first: int) -> Sample:
    def kib(text: str) -> int | None:
        return None if text == "-" else int(text) * 1024

    def count(text: str) -> int | None:
        return None if text == "-" else int(text)

    moment, rss, swap, heap, arenas, regions, used, pages, _ = fields
    seconds = (int(moment) - first) / 1e9
    return Sample(
        seconds, int(rss) * 1024, int(swap) * 1024, kib(heap), kib(arenas), count(regions), count(used), count(pages)
    )


def _phases(marks: Sequence[tuple[float, str]]) -> tuple[Phase, ...]:
    found, begun = [], dict[str, float]()
    for moment, words in marks:
        name, _, rest = words.partition(" ")
        if rest.startswith("begin"):
            begun[name] = moment
        elif rest.startswith("end") and name in begun:
            found.append(Phase(name, begun.pop(name), moment))
    return tuple(found)


def _share_on_disk(counts: Sequence[str]) -> float | None:
    """Read `ON_DISK ALL`."""
    if len(counts) != 2 or not int(counts[1]):
        return None
    return int(counts[0]) / int(counts[1])


def _mean_of_round(path: Path) -> float:
    """Read mariadb-slap's own line: engine, mode, mean, shortest, longest, clients, queries a client."""
    (row,) = csv.reader(path.read_text().splitlines())
    return float(row[2])
