"""What happened in a run, one synced JSON line an event, and the folds that turn the lines into states.

Every event is on disk before the change that it announces begins, so that whatever is killed, and whenever, the
lines say what may have been done. A last line that was torn by a crash is dropped on reading and cut off before the
next one is written; a torn line anywhere else is damage and is refused.
"""

import errno
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rollout.errors import ConfigProblem, Mistake, RolloutError

Status = Literal[
    "changed",
    "ok",
    "failed",
    "recovered",
    "rolled_back",
    "unreachable",
    "stale",
    "blocked",
    "skipped",
    "pending",
    "unknown",
]

# Phases that write to the host: their start stands in the journal, so that a run which was killed inside one of them
# is known to have begun it.
WRITING_PHASES = frozenset(
    {"lock", "preflight", "backup", "way_back", "change", "take_back", "unlock"}
    | {"before", "drain", "shorter_stop", "undrain", "after", "notify", "restore", "retention"}
)


class Event(BaseModel):
    """One line: when (seconds since the epoch), on which host ("" for the run itself), what, and its details."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: float
    host: str
    event: Literal["run_started", "phase_started", "phase_ended", "finished", "run_ended"]
    data: dict[str, Any] = Field(default_factory=dict)


class Journal:
    """An open journal file. `append` returns when the line is on disk, and raises `RolloutError` when it is not."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = path.open("ab+", buffering=0)
        self._cut_torn_line()
        _sync_directory(path.parent)

    def append(self, host: str, event: str, **data: Any) -> Event:
        """Write one event and sync it; the event is returned."""
        entry = Event.model_validate({"time": time.time(), "host": host, "event": event, "data": data})
        self._write_whole(entry.model_dump_json().encode() + b"\n")
        return entry

    def _write_whole(self, line: bytes) -> None:
        """Write and sync a line, or none of it: a full disk may take the first bytes without an error."""
        end = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(end)
            hint = "Nothing is begun without its line. Make room, then go on with --resume."
            raise RolloutError(f"the journal {self._path} cannot be written: {error.strerror}", hint=hint) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut_torn_line(self) -> None:
        self._file.seek(0)
        whole = self._file.read()
        keep = whole.rfind(b"\n") + 1
        if keep < len(whole):
            self._file.truncate(keep)


def read(path: Path) -> tuple[Event, ...]:
    """Return the events of the journal at `path`, without a torn last line.

    Raises `ConfigProblem` with every damaged line when one that is not the last cannot be read.
    """
    lines = path.read_bytes().split(b"\n")
    events, mistakes = [], []
    for number, line in enumerate(lines[:-1], 1):  # what stands after the last line end is torn
        try:
            events.append(Event.model_validate_json(line))
        except ValidationError:
            mistakes.append(Mistake(str(path), number, "this line of the journal is damaged"))
    if mistakes:
        raise ConfigProblem(mistakes, hint="The host's own record (/var/lib/rollout) is whole: roll back by it.")
    return tuple(events)


@dataclass(frozen=True)
class PhaseState:
    """One phase of one host: `started`, `done` or `failed`, and the seconds that it took (0 while it runs)."""

    phase: str
    status: Literal["started", "done", "failed", "skipped"]
    seconds: float = 0.0


@dataclass(frozen=True)
class HostState:
    """Where one host stands: what a fold over its events gives."""

    name: str
    status: Status = "pending"
    phases: tuple[PhaseState, ...] = ()
    restarts: int = 0
    downtime_seconds: float | None = None
    error: str = ""
    holds_lock: bool = False
    change_began: bool = False

    @property
    def finished(self) -> bool:
        """Whether the run said its last word on this host."""
        return self.status not in ("pending", "unknown")


@dataclass(frozen=True)
class RunState:
    """A run as its journal tells it. `kind` is `apply` or `rollback`; `ended` is False when it was cut off."""

    run_id: str = ""
    kind: str = "apply"
    started_at: float = 0.0
    ended: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)
    hosts: Mapping[str, HostState] = field(default_factory=dict)


def fold(events: Iterable[Event]) -> RunState:
    """Return the state of the run after `events`. Any prefix of a journal folds to a state."""
    run = RunState()
    for event in events:
        run = _step(run, event)
    return run


def _step(run: RunState, event: Event) -> RunState:
    if event.event == "run_started":
        names = event.data.get("hosts", [])
        return RunState(
            run_id=event.data.get("run_id", ""),
            kind=event.data.get("kind", "apply"),
            started_at=run.started_at or event.time,
            about=event.data,
            hosts={**run.hosts, **{name: run.hosts.get(name, HostState(name)) for name in names}},
        )
    if event.event == "run_ended":
        return replace(run, ended=True)
    host = run.hosts.get(event.host, HostState(event.host))
    return replace(run, ended=False, hosts={**run.hosts, event.host: _host_step(host, event)})


def _host_step(host: HostState, event: Event) -> HostState:
    if event.event == "finished":
        return replace(
            host,
            status=event.data["status"],
            error=event.data.get("error", ""),
            restarts=event.data.get("restarts", 0),
            downtime_seconds=event.data.get("downtime_seconds"),
        )
    phase = PhaseState(
        event.data["phase"],
        "started" if event.event == "phase_started" else event.data.get("status", "done"),
        event.data.get("seconds", 0.0),
    )
    kept = tuple(known for known in host.phases if known.phase != phase.phase)
    host = replace(host, phases=(*kept, phase), status="unknown", error="")
    if phase.phase == "lock" and phase.status == "done":
        return replace(host, holds_lock=True)
    if phase.phase == "unlock" and phase.status == "done":
        return replace(host, holds_lock=False)
    return replace(host, change_began=host.change_began or phase.phase == "change")


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def dump_synced(path: Path, value: Any) -> None:
    """Write `value` as JSON to `path` so that after a crash either the old file or the whole new one stands there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(path.suffix + ".new")
    with fresh.open("w") as file:
        json.dump(value, file, indent=1, sort_keys=True)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    _sync_directory(path.parent)
