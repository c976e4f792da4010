"""The folder of a run on the controller: its plan, its journal, and what was seen of each host."""

import fcntl
import os
import secrets
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rollout.errors import Locked, UsageProblem
from rollout.journal import Event, Journal, RunState, dump_synced, fold, read
from rollout.plan.model import Plan, load_plan
from rollout.plan.way_back import Reached

OnEvent = Callable[[Event], None]
_HALF_WAY = ("unknown", "failed")  # of a host whose change began: neither at its end nor back


def new_run_id(now: datetime | None = None) -> str:
    """Make an id that sorts by time and says it: 20261130t093012-5f3a. Fit for a unit's and a folder's name."""
    moment = now or datetime.now(UTC)
    return f"{moment:%Y%m%dt%H%M%S}-{secrets.token_hex(2)}"


@dataclass(frozen=True)
class RunFolder:
    """Where one run lives on the controller."""

    path: Path

    @property
    def run_id(self) -> str:
        """The run's id, which is the folder's name."""
        return self.path.name

    @property
    def state_dir(self) -> Path:
        """The state directory that holds this run and all others."""
        return self.path.parent.parent

    @property
    def journal_path(self) -> Path:
        """The journal file."""
        return self.path / "journal.jsonl"

    def host(self, name: str) -> Path:
        """The folder of one host, made where it is missing."""
        folder = self.host_path(name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def host_path(self, name: str) -> Path:
        """Where the folder of one host is, or would be; its name is made safe for a path."""
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(".")
        return self.path / "hosts" / (safe or "_")

    def state(self) -> RunState:
        """Fold the journal; an empty run when there is none yet."""
        return fold(read(self.journal_path)) if self.journal_path.exists() else RunState(run_id=self.run_id)

    def plan(self) -> Plan:
        """Read the plan that this run works on."""
        return load_plan(self.path / "plan.json")


def runs(state_dir: Path) -> list[RunFolder]:
    """Return all runs of a state directory, oldest first. One that was killed before its first line is none."""
    folder = state_dir / "runs"
    found = (RunFolder(path) for path in (folder.iterdir() if folder.is_dir() else ()))
    return sorted((run for run in found if _begun(run.journal_path)), key=lambda run: run.run_id)


def _begun(journal: Path) -> bool:
    return journal.exists() and b"\n" in journal.read_bytes()


def reached_by_plan(state_dir: Path, plan_id: str) -> Reached:
    """Return how far runs of this plan have brought its hosts, what later rollbacks did to them being counted."""
    done: set[str] = set()
    in_doubt: set[str] = set()
    for state in (run.state() for run in runs(state_dir)):
        arrived = {name for name, host in state.hosts.items() if host.status in ("changed", "ok")}
        half_way = {name for name, host in state.hosts.items() if host.change_began and host.status in _HALF_WAY}
        if state.kind == "rollback":
            done -= state.hosts.keys() - arrived  # also where the way back ended half way
            in_doubt -= {name for name, host in state.hosts.items() if host.status == "rolled_back"}
        elif state.about.get("plan_id") == plan_id:
            done |= arrived
            in_doubt = (in_doubt - state.hosts.keys()) | half_way
    return Reached(frozenset(done), frozenset(in_doubt))


def find_run(state_dir: Path, run_id: str | None, kind: str | None = None) -> RunFolder:
    """Return the run of that id, or the last one (of a kind); raises `UsageProblem` when there is none."""
    known = runs(state_dir)
    if run_id:
        for run in known:
            if run.run_id == run_id:
                return run
        raise UsageProblem(f"there is no run {run_id} in {state_dir}", hint="rollout history lists the runs.")
    for run in reversed(known):
        if kind is None or run.state().kind == kind:
            return run
    raise UsageProblem(f"no run has been made yet in {state_dir}", hint="rollout plan, then rollout apply.")


def unfinished(state_dir: Path, kind: str = "apply") -> list[RunFolder]:
    """Return the runs of a kind that were cut off: not ended, or with a host of which nobody knows how far it came."""
    made = ((run, run.state()) for run in runs(state_dir))
    return [run for run, state in made if state.kind == kind and _open(state)]


def _open(state: RunState) -> bool:
    return not state.ended or any(host.status == "unknown" for host in state.hosts.values())


def run_to_resume(state_dir: Path, run_id: str | None) -> RunFolder:
    """Return the run of that id, or the last one that was cut off; raises `UsageProblem` when there is none."""
    if run_id:
        return find_run(state_dir, run_id)
    cut_off = unfinished(state_dir)
    if cut_off:
        return cut_off[-1]
    last = find_run(state_dir, None, "apply")
    if any(host.status not in ("changed", "ok") for host in last.state().hosts.values()):
        return last
    raise UsageProblem(
        f"no run in {state_dir} was cut off or left a host undone", hint="rollout history lists the runs."
    )


def close_behind(state_dir: Path, names: Collection[str]) -> None:
    """Write into the runs that were cut off that these hosts of theirs have been taken back since."""
    for folder in (*unfinished(state_dir), *unfinished(state_dir, "bench")):
        lost = [name for name, host in folder.state().hosts.items() if host.status == "unknown" and name in names]
        if not lost:
            continue
        run = OpenRun(folder, lambda _event: None)
        try:
            for name in lost:
                run.record(name, "phase_ended", phase="unlock", status="done", seconds=0.0)
                run.record(name, "finished", status="rolled_back", error="taken back by a later run")
            run.record("", "run_ended", stopped="")
        finally:
            run.close()


def dead_runs(state_dir: Path) -> tuple[str, ...]:
    """Return the ids of the runs here on which no process works any more: locks that they left are ours to take."""
    kinds = ("apply", "bench")
    return tuple(run.run_id for run in runs(state_dir) if run.state().kind in kinds and not _worked_on(run))


def _worked_on(folder: RunFolder) -> bool:
    try:
        os.close(_exclusive(folder))
    except Locked:
        return True
    return False


class OpenRun:
    """A run that is being worked on: one process at a time, every event synced and then told to listeners."""

    def __init__(self, folder: RunFolder, on_event: OnEvent) -> None:
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.path.chmod(0o700)
        self.folder = folder
        self._guard = _exclusive(folder)
        self._journal = Journal(folder.journal_path)
        self._on_event = on_event
        self._lock = threading.Lock()

    def record(self, host: str, event: str, **data: Any) -> None:
        """Append an event; hosts that are worked on side by side take turns."""
        with self._lock:
            self._on_event(self._journal.append(host, event, **data))

    def keep_plan(self, plan: Plan) -> None:
        """Write the plan into the run's folder."""
        dump_synced(self.folder.path / "plan.json", plan.to_json())

    def close(self) -> None:
        """Close the journal and let another process have the run."""
        self._journal.close()
        os.close(self._guard)


def _exclusive(folder: RunFolder) -> int:
    descriptor = os.open(folder.path / "guard", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise Locked("controller", f"run {folder.run_id} is being worked on by another process here") from error
    return descriptor
