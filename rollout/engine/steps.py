"""One host in the hands of the engine, and how its phases are written into the journal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from rollout.changes.model import Kind
from rollout.changes.render import shell_scripts
from rollout.errors import RolloutError, Unreachable
from rollout.journal import WRITING_PHASES, HostState
from rollout.plan.model import HostPlan
from rollout.remote.transport import Result, Transport
from rollout.resources import PACKAGE
from rollout.settings import Host

BASE = "/var/lib/rollout"  # on every host: root, 0700, one folder a run
LOGIN = f"{BASE}/login.cnf"  # the database login of the inventory: root's only, there while the lock is held
T = TypeVar("T")
AGAIN_SECONDS = 1.0
Record = Callable[..., None]  # record(host, event, **data): journal, progress and log hang on it

script = shell_scripts(PACKAGE / "engine" / "scripts")


@dataclass(frozen=True)
class Options:
    """What the operator asked of a run beyond the plan."""

    skip_backup: str = ""  # the reason, in the operator's words
    skip_hooks: str = ""  # the same, for a run without hooks
    verify_restore: bool = False
    take_over_locks: tuple[str, ...] = ()  # dead runs whose locks are taken over
    accept_no_rollback: bool = False
    accept_drift: bool = False
    patience_seconds: float = 300.0  # how long a host may be out of reach while its scripts run
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
    phases: tuple[str, ...] = ("backup", "soak")  # those of the playbook that may be left out
    peers: tuple[Host, ...] = ()  # the other hosts of which none may be down together with this one
    replicas: tuple[Host, ...] = ()  # the hosts that replicate from this one
    kind: Literal["apply", "rollback"] = "apply"
    record_id: str = ""  # the run whose record on the host is worked with, when it is another one (rollback)

    @property
    def here(self) -> str:
        """The folder on the host in which the record lies."""
        return f"{BASE}/{self.record_id or self.run_id}"

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name

    def patiently(self, ask: Callable[[], T]) -> T:
        """Ask again and again while the host is out of reach, for as long as the operator's patience lasts.

        Only for what is safe to ask twice. Raises the last `Unreachable`.
        """
        deadline = time.monotonic() + self.options.patience_seconds
        while True:
            try:
                return ask()
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(AGAIN_SECONDS)

    def ask(self, text: str, stdin: bytes = b"", *, timeout_seconds: float = 60.0) -> Result:
        """Run a script that is safe to run twice, through broken connections."""
        return self.patiently(lambda: self.transport.run(text, stdin, timeout_seconds=timeout_seconds))

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
            ended = {**details, "phase": name, "status": "failed", "seconds": seconds, "error": error.message}
            self.record(self.name, "phase_ended", **ended)
            raise
        seconds = round(time.monotonic() - started, 3)
        self.record(self.name, "phase_ended", phase=name, status="done", seconds=seconds, **details)
