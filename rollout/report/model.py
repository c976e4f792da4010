"""The report of a run as values: everything that a renderer shows, and nothing that it would have to work out.

Times are seconds since the epoch, durations seconds, sizes bytes. `None` means that nobody measured it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rollout.checks.model import CheckResult, Status

PhaseStatus = Literal["done", "failed", "started", "skipped"]
Tone = Literal["good", "bad", "notice", "quiet"]


@dataclass(frozen=True)
class Span:
    """One phase of one host. `ended_at` is None where the run was cut off inside it; `details` are plain texts."""

    phase: str
    status: PhaseStatus
    started_at: float
    ended_at: float | None
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Script:
    """A text that ran, or was ready to run, on hosts: `key` tells equal texts, `hosts` who has it."""

    key: str
    title: str
    text: str
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class PlannedChange:
    """One change of a host as planned. `do` and `undo` are keys of scripts."""

    kind: str
    summary: str
    why: str
    reversible: bool
    do: str
    undo: str


@dataclass(frozen=True)
class Note:
    """A blocker or a warning with its code; `meaning` is the text of `rollout explain`, empty where it has none."""

    code: str
    message: str
    meaning: str = ""


@dataclass(frozen=True)
class Figure:
    """One quantity before and after the change, and what was predicted for after; texts with their units."""

    name: str
    before: str
    after: str
    predicted: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Seconds:
    """A range of seconds."""

    low: float
    high: float


@dataclass(frozen=True)
class MeasuredLoad:
    """What `rollout bench` measured on a host: a table as lines of text, and the picture as an SVG element."""

    lines: tuple[str, ...]
    svg: str


@dataclass(frozen=True)
class HostReport:
    """What happened on one host. `wave` counts from 1, 0 means none. `status` is one of the journal's."""

    name: str
    status: str
    tone: Tone
    wave: int
    error: str
    advice: str
    version_before: str
    version_after: str
    allocator_before: str
    allocator_after: str
    restarts: int
    planned_restarts: int
    downtime_seconds: float | None
    expected_downtime: Seconds | None
    verdict: str
    reasons: tuple[str, ...]
    figures: tuple[Figure, ...]
    figure_notes: tuple[Note, ...]  # what has to be known to read the figures
    changes: tuple[PlannedChange, ...]
    blockers: tuple[Note, ...]
    warnings: tuple[Note, ...]
    spans: tuple[Span, ...]
    checks: tuple[CheckResult, ...]
    check_status: Status
    load: MeasuredLoad | None = None

    @property
    def is_trouble(self) -> bool:
        """Whether a person has to look at it."""
        return self.tone == "bad" or bool(self.error)


@dataclass(frozen=True)
class Report:
    """What happened in one run."""

    run_id: str
    kind: str
    playbook: str
    plan_id: str
    digest: str
    program_version: str
    operator: str
    controller: str
    started_at: float
    ended_at: float | None
    last_event_at: float
    stopped: str
    waves: tuple[tuple[str, ...], ...]
    hosts: tuple[HostReport, ...]
    scripts: tuple[Script, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of hosts by status, in the order in which the statuses first come."""
        counted: dict[str, int] = {}
        for host in self.hosts:
            counted[host.status] = counted.get(host.status, 0) + 1
        return counted

    @property
    def longest_downtime_seconds(self) -> float | None:
        """The longest time without an answer of any host, None where none was measured."""
        return max((host.downtime_seconds for host in self.hosts if host.downtime_seconds is not None), default=None)

    @property
    def trouble(self) -> tuple[HostReport, ...]:
        """The hosts that a person has to look at."""
        return tuple(host for host in self.hosts if host.is_trouble)
