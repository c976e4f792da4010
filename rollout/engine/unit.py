"""Scripts that go on without us: each in a transient unit on the host, found again after a broken connection."""

import time
from dataclasses import dataclass

from rollout.engine.steps import HostRun, script
from rollout.errors import Unreachable, WrongState

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Ended:
    """How a script in its unit ended: its exit status, and the last lines of its log."""

    exit_status: int
    last_words: str


def run_detached(run: HostRun, name: str, text: str, *, timeout_seconds: float) -> Ended:
    """Run `text` as the unit of that name, or attach to it when it was begun before, and wait for its end.

    A unit that vanished (the host went down under it) is run again: what runs here is safe to run again.
    """
    state = _ask(run, name, text)
    if state == "vanished":
        state = _ask(run, name, text, again=True)
    return _wait(run, name, timeout_seconds)


def start_only(run: HostRun, name: str, text: str) -> None:
    """Start `text` as the unit of that name, if it was not begun before, and do not wait."""
    _ask(run, name, text)


def attach(run: HostRun, name: str, *, timeout_seconds: float) -> Ended | None:
    """Wait for a unit that may be running; None when nothing runs and nothing ended."""
    state = _ask(run, name, None)
    return _wait(run, name, timeout_seconds) if state in ("running", "ended") else None


def _ask(run: HostRun, name: str, text: str | None, *, again: bool = False) -> str:
    made = script("detached", here=run.here, name=name, unit=_unit(run, name), start=text is not None, again=again)
    result = run.transport.run(made, (text or "").encode())
    return result.check(f"starting {name} on the host").text.strip()


def _unit(run: HostRun, name: str) -> str:
    return f"rollout-{run.record_id or run.run_id}-{name}"


def _wait(run: HostRun, name: str, timeout_seconds: float) -> Ended:
    deadline = time.monotonic() + timeout_seconds
    text = (
        f"cd {run.here} && if [ -e {name}.rc ]; then cat {name}.rc; tail -n 4 {name}.log; "
        f'elif [ "$(systemctl show -p ActiveState --value {_unit(run, name)})" = inactive ] && [ ! -e {name}.rc ]; '
        "then echo vanished; else echo running; fi"
    )
    while time.monotonic() < deadline:
        first, _, rest = run.transport.run(text).check(f"asking after {name}").text.partition("\n")
        if first == "vanished":
            raise Unreachable(
                run.name, f"{name} vanished from the host: it went down under it", hint="--resume goes on."
            )
        if first != "running":
            return Ended(int(first), " / ".join(line for line in rest.splitlines() if line.strip())[-1000:])
        time.sleep(POLL_SECONDS)
    raise WrongState(run.name, f"{name} has not ended after {timeout_seconds:g} s")
