"""One host in the hands of the engine, and how its phases are written into the journal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rollout.changes.model import Kind
from rollout.changes.render import shell_scripts
from rollout.errors import RolloutError
from rollout.journal import WRITING_PHASES, HostState
from rollout.plan.model import HostPlan
from rollout.remote.transport import Transport
from rollout.resources import PACKAGE
from rollout.settings import Host

BASE = "/var/lib/rollout"  # on every host: root, 0700, one folder a run
Record = Callable[..., None]  # record(host, event, **data): journal, progress and log hang on it

script = shell_scripts(PACKAGE / "engine" / "scripts")


@dataclass(frozen=True)
class Options:
    """What the operator asked of a run beyond the plan."""

    skip_backup: str = ""  # the reason, in the operator's words
    take_over_lock: str = ""  # the run whose lock is taken over
    accept_no_rollback: bool = False
    accept_drift: bool = False
    operator: str = ""
    controller: str = ""


@dataclass(frozen=True)
class HostRun:
    """One host in one run: all that its phases need. `known` is what an earlier part of the same run left."""

    run_id: str
    host: Host
    plan: HostPlan
    kinds: tuple[Kind, ...]
    transport: Transport
    folder: Path  # of this host in the run's folder on the controller
    record: Record
    options: Options = field(default_factory=Options)
    known: HostState | None = None
    record_id: str = ""  # the run whose record on the host is worked with, when it is another one (rollback)

    @property
    def here(self) -> str:
        """The folder on the host in which the record lies."""
        return f"{BASE}/{self.record_id or self.run_id}"

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name

    @contextmanager
    def phase(self, name: str) -> Iterator[dict[str, Any]]:
        """Write down that a phase began (when it writes to the host) and how it ended; details go into the dict."""
        started = time.monotonic()
        if name in WRITING_PHASES:
            self.record(self.name, "phase_started", phase=name)
        details: dict[str, Any] = {}
        try:
            yield details
        except RolloutError as error:
            seconds = round(time.monotonic() - started, 3)
            self.record(self.name, "phase_ended", phase=name, status="failed", seconds=seconds, error=error.message)
            raise
        seconds = round(time.monotonic() - started, 3)
        self.record(self.name, "phase_ended", phase=name, status="done", seconds=seconds, **details)
