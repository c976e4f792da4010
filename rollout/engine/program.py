"""A program of the user's, run here on the controller: bounded in time and in what it may say."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

TIMED_OUT = 124  # the exit status that timeout(1) gives, here as on a host
CANNOT_RUN = 127
KEPT_BYTES = 4000  # of the end of what it said: as much as is kept of a script on a host
GRACE_SECONDS = 2.0  # between the polite signal and the other one


@dataclass(frozen=True)
class Said:
    """How a program ended: its exit status (124: its time was over), and the end of what it said on both streams."""

    exit_status: int
    output: bytes


def run_here(command: Sequence[str], environment: Mapping[str, str], timeout_seconds: float) -> Said:
    """Run a program in a session of its own, without a shell and without input, and never longer than it may.

    What it leaves running in the background is not waited for once the program itself has ended.
    """
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        os.close(reading)
        return Said(CANNOT_RUN, f"{command[0]}: {error.strerror}".encode())
    finally:
        os.close(writing)
    try:
        return _followed(process, reading, time.monotonic() + timeout_seconds)
    finally:
        _end(process)
        os.close(reading)


def _followed(process: "subprocess.Popen[bytes]", stream: int, deadline: float) -> Said:
    """Read until the program ends or its time is over."""
    os.set_blocking(stream, False)
    kept = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while process.poll() is None:
            if time.monotonic() >= deadline:
                return Said(TIMED_OUT, kept)
            selector.select(0.05)
            kept = _more(stream, kept)
    return Said(process.returncode, _more(stream, kept))


def _more(stream: int, kept: bytes) -> bytes:
    """Add what can be read now, and keep the end of it."""
    with suppress(BlockingIOError):
        while chunk := os.read(stream, 65536):
            kept = (kept + chunk)[-KEPT_BYTES:]
            if len(chunk) < 65536:
                break
    return kept


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program that still runs, with all that it started in its session."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
