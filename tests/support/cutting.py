"""Ways to break a run at a given moment: the journal tells when."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from product import Product

MOMENT_SECONDS = 240.0


def wait_for_line(product: Product, process: "subprocess.Popen[str]", host: str, event: str, phase: str) -> None:
    """Return when the journal of the newest run says that `phase` of the host has `event`; fails when it never does."""
    deadline = time.monotonic() + MOMENT_SECONDS
    while time.monotonic() < deadline:
        if any(_is(line, host, event, phase) for line in _lines(product.state)):
            return
        if process.poll() is not None:
            _, complaint = process.communicate()
            raise AssertionError(f"the run ended before {event} {phase}: {complaint}")
        time.sleep(0.02)
    raise AssertionError(f"{event} {phase} was never written")


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill the controller as a power cut would: nothing of it gets to tidy up."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def eventually(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds; fails when it does not in that time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.2)


def _is(line: str, host: str, event: str, phase: str) -> bool:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:  # the line is being written
        return False
    return bool(entry["host"] == host and entry["event"] == event and entry["data"].get("phase") == phase)


def _lines(state: Path) -> list[str]:
    journals = sorted(state.glob("runs/*/journal.jsonl"))
    return journals[-1].read_text().splitlines() if journals else []
