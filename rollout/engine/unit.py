"""The run's own scripts in units of their own on the host, found again after a broken connection or a reboot."""

import time
from dataclasses import dataclass
from functools import partial

from rollout.engine.steps import HostRun
from rollout.errors import Unreachable, WrongState
from rollout.printable import printable
from rollout.remote.detached import Job, Progress, State, poll_detached, start_detached, wait_detached

ATTEMPTS = 3  # a host that goes down three times under the same script is not a matter of luck


@dataclass(frozen=True)
class Ended:
    """How a script in its unit ended: its exit status, and the last lines of its log, made safe to print."""

    exit_status: int
    last_words: str


def run_detached(run: HostRun, name: str, text: str, *, timeout_seconds: float) -> Ended:
    """Run `text` as the unit of that name, or attach to it when it was begun before, and wait for its end.

    A script under which the host went down is run again as the next attempt: what runs here is safe to run again.
    Raises `Unreachable` when the host stays away for longer than the operator's patience; the script runs on.
    """
    for attempt in range(1, ATTEMPTS + 1):
        job = _job(run, name, attempt)
        run.patiently(partial(start_detached, run.transport, job, text))
        progress = _wait(run, job, timeout_seconds)
        if progress.state is State.ENDED:
            return _ended(progress)
        _until_settled(run)
    raise WrongState(run.name, f"{name} was begun {ATTEMPTS} times, and the host went down under it each time")


def _until_settled(run: HostRun) -> None:
    """Wait until a host that went down is up again, for as long as the operator's patience lasts.

    On its way down it still answers for a while, and would take a new unit down with it.
    """
    deadline = time.monotonic() + run.options.patience_seconds
    while time.monotonic() < deadline:
        if run.ask("systemctl is-system-running || :").text.strip() in ("running", "degraded"):
            return
        time.sleep(1.0)
    raise Unreachable(run.name, "the host did not come up again in time", hint="rollout apply --resume goes on later.")


def start_only(run: HostRun, name: str, text: str) -> None:
    """Start `text` as the unit of that name, if it was not begun before, and do not wait."""
    run.patiently(partial(start_detached, run.transport, _job(run, name, 1), text))


def attach(run: HostRun, name: str, *, timeout_seconds: float) -> Ended | None:
    """Wait for a unit that may be running; None when none was begun, or it vanished with the host."""
    found = None
    for attempt in range(1, ATTEMPTS + 1):
        job = _job(run, name, attempt)
        progress = poll_detached(run.transport, job)
        if progress.state is State.RUNNING:
            progress = _wait(run, job, timeout_seconds)
        if progress.state is State.ENDED:
            found = _ended(progress)
    return found


def _job(run: HostRun, name: str, attempt: int) -> Job:
    return Job(f"rollout-{run.record_id or run.run_id}-{name}-{attempt}", run.here, f"run-{name}-{attempt}")


def _wait(run: HostRun, job: Job, timeout_seconds: float) -> Progress:
    return wait_detached(
        run.transport, job, timeout_seconds=timeout_seconds, patience_seconds=run.options.patience_seconds
    )


def _ended(progress: Progress) -> Ended:
    return Ended(1 if progress.exit_status is None else progress.exit_status, last_words(progress.log))


def last_words(output: bytes) -> str:
    """Return the last four lines that are not empty as one, made safe to print, at most 1000 characters."""
    lines = [printable(line) for line in output.splitlines() if line.strip()]
    return " / ".join(lines[-4:])[-1000:]
