"""The time line of a run as numbers that a renderer can draw: one row a host, one bar a phase."""

from collections.abc import Iterator
from dataclasses import dataclass

from rollout.report.model import HostReport, PhaseStatus, Report

WIDTH = 1000  # units of the drawing; the renderer stretches it
_STEPS_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_MOST_TICKS = 8
_LEAST_WIDTH = 1.5  # a phase of milliseconds is still seen


@dataclass(frozen=True)
class Bar:
    """A phase: where it begins and how wide it is, in units of the drawing."""

    phase: str
    status: PhaseStatus
    left: float
    width: float
    seconds: float


@dataclass(frozen=True)
class Row:
    """The bars of one host."""

    name: str
    status: str
    tone: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A mark of the time axis: seconds since the run began, as text, and where it stands."""

    label: str
    left: float


@dataclass(frozen=True)
class Timeline:
    """The whole drawing: rows wave by wave (numbered from 1, 0 for hosts of none)."""

    waves: tuple[tuple[int, tuple[Row, ...]], ...]
    ticks: tuple[Tick, ...]
    seconds: float


def timeline(report: Report) -> Timeline:
    """Lay the phases of all hosts on one time axis, which begins with the run."""
    seconds = max(report.last_event_at - report.started_at, 0.001)
    numbers = sorted({host.wave for host in report.hosts})
    waves = ((number, [host for host in report.hosts if host.wave == number]) for number in numbers)
    rows = tuple((number, tuple(_row(host, report.started_at, seconds) for host in hosts)) for number, hosts in waves)
    return Timeline(rows, tuple(_ticks(seconds)), seconds)


def _row(host: HostReport, start: float, seconds: float) -> Row:
    bars = []
    for span in host.spans:
        ended = start + seconds if span.ended_at is None else span.ended_at
        left = (span.started_at - start) / seconds * WIDTH
        width = max((ended - span.started_at) / seconds * WIDTH, _LEAST_WIDTH)
        bars.append(Bar(span.phase, span.status, round(left, 2), round(width, 2), round(ended - span.started_at, 3)))
    return Row(host.name, host.status, host.tone, tuple(bars))


def _ticks(seconds: float) -> Iterator[Tick]:
    step = next((step for step in _STEPS_SECONDS if seconds / step <= _MOST_TICKS), _STEPS_SECONDS[-1])
    for number in range(int(seconds / step) + 1):
        yield Tick(clock(number * step), round(number * step / seconds * WIDTH, 2))


def clock(seconds: float) -> str:
    """Write a duration as people say it: 0.4 s, 12 s, 3 min 5 s, 2 h 4 min."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
