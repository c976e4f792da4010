"""Memory and processor time of the server's process."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rollout.facts.database import Database, number
from rollout.facts.frame import Answers, lines, read
from rollout.facts.model import Memory
from rollout.facts.unknown import Known

ARENA_BYTES = 64 * 1024 * 1024  # glibc's HEAP_MAX_SIZE on 64 bits: an arena's heap starts on a multiple of it


@dataclass(frozen=True)
class Region:
    """One mapped region; `name` is `-` for anonymous memory."""

    start: int
    end: int
    name: str
    rss_bytes: int
    lazy_free_bytes: int

    @property
    def is_arena(self) -> bool:
        """Whether this is an arena of glibc: anonymous, on a 64 MiB boundary, no larger than that."""
        anonymous = self.name == "-" or self.name.startswith("[anon")
        return anonymous and self.start % ARENA_BYTES == 0 and self.end - self.start <= ARENA_BYTES


def parse_memory(answers: Answers, database: Database) -> Memory:
    """Read the process's facts; all unknown when it does not run."""
    stopped = "the server does not run"
    status = read(answers.text("process-status", otherwise=stopped), parse_process_status)
    regions = read(answers.text("smaps", otherwise=stopped), parse_smaps)
    switches = read(answers.text("switches", otherwise=stopped), lambda text: [int(word) for word in text.split()])
    return Memory(
        rss_bytes=read(status, lambda fields: fields["VmRSS"]),
        rss_peak_bytes=read(status, lambda fields: fields["VmHWM"]),
        swap_bytes=read(status, lambda fields: fields["VmSwap"]),
        heap_bytes=read(regions, lambda rows: _rss(row for row in rows if row.name == "[heap]")),
        arena_bytes=read(regions, lambda rows: _rss(row for row in rows if row.is_arena)),
        arenas=read(regions, lambda rows: sum(row.is_arena and row.rss_bytes > 0 for row in rows)),
        lazy_free_bytes=read(regions, lambda rows: sum(row.lazy_free_bytes for row in rows)),
        mapped_regions=read(regions, len),
        memory_used_bytes=number(database.pairs("status"), "Memory_used"),
        threads=read(status, lambda fields: fields["Threads"]),
        cpu_seconds=_cpu_seconds(answers),
        voluntary_switches=read(switches, lambda pair: pair[0]),
        involuntary_switches=read(switches, lambda pair: pair[1]),
    )


def parse_process_status(text: str) -> dict[str, int]:
    """Read /proc/PID/status: sizes in bytes, counts as they are."""
    rows = re.findall(r"^(\w+):\s+(\d+)( kB)?$", text, re.MULTILINE)
    return {name: int(value) * (1024 if unit else 1) for name, value, unit in rows}


def parse_smaps(text: str) -> tuple[Region, ...]:
    """Read the probe's digest of /proc/PID/smaps: range, name, Rss, Anonymous, LazyFree and Swap in KiB."""
    if not text.strip():
        raise ValueError("a process without any mapped region: it may not be looked at")
    regions = []
    for row in lines(text):
        span, rest = row.split(" ", 1)
        name, rss, _, lazy, _ = rest.rsplit(" ", 4)
        start, end = (int(edge, 16) for edge in span.split("-"))
        regions.append(Region(start, end, name, int(rss) * 1024, int(lazy) * 1024))
    return tuple(regions)


def parse_cpu_ticks(text: str) -> int:
    """Read user and system time out of /proc/PID/stat; the name in brackets may hold anything."""
    fields = text.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _rss(regions: Iterable[Region]) -> int:
    return sum(region.rss_bytes for region in regions)


def _cpu_seconds(answers: Answers) -> Known[float]:
    ticks = read(answers.text("process-stat", otherwise="the server does not run"), parse_cpu_ticks)
    per_second = read(answers.text("clock-ticks"), int)
    return read(per_second, lambda rate: read(ticks, lambda count: count / rate))
