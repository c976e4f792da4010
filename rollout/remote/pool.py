"""The same work on many hosts, a bounded number at a time.

The fault of one host becomes its outcome and never ends the others. Threads are daemons, so that a host which does
not answer cannot keep an interrupted program from ending.
"""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from rollout.errors import HostProblem, RolloutError
from rollout.settings import Host

T = TypeVar("T")
GRACE_SECONDS = 3.0
LISTEN_SECONDS = 0.2  # the main thread must wake up to see ctrl-C


@dataclass(frozen=True)
class Done(Generic[T]):
    """The work on `host` gave `value`."""

    host: str
    value: T
    seconds: float


@dataclass(frozen=True)
class Failed:
    """The work on `host` ended with `error`."""

    host: str
    error: RolloutError
    seconds: float


Outcome = Done[T] | Failed


class ProgramFault(HostProblem):
    """A fault of the program itself while it worked on a host; the original exception is its `__cause__`."""


def run_on_all(
    hosts: Iterable[Host],
    work: Callable[[Host], T],
    forks: int,
    *,
    on_outcome: Callable[[Outcome[T]], None] | None = None,
    stopping: threading.Event | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> dict[str, Outcome[T]]:
    """Return the outcome of `work` for every host, in the order of `hosts`, `forks` hosts at a time.

    `on_outcome` is called in the calling thread as each outcome comes. On ctrl-C no further host is begun, `stopping`
    is set (for work that can end early), those that run get `grace_seconds`, and KeyboardInterrupt goes on.
    """
    todo: SimpleQueue[Host] = SimpleQueue()
    rows = list(hosts)
    for host in rows:
        todo.put(host)
    outcomes: SimpleQueue[Outcome[T]] = SimpleQueue()
    halt = stopping or threading.Event()
    workers = [
        threading.Thread(target=_work_off, args=(todo, work, outcomes, halt), name=f"rollout-worker-{n}", daemon=True)
        for n in range(min(max(1, forks), len(rows)))
    ]
    for worker in workers:
        worker.start()
    found: dict[str, Outcome[T]] = {}
    try:
        while len(found) < len(rows):
            outcome = _next(outcomes)
            if outcome:
                found[outcome.host] = outcome
                if on_outcome:
                    on_outcome(outcome)
    except KeyboardInterrupt:
        halt.set()
        deadline = time.monotonic() + grace_seconds
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
        raise
    return {host.name: found[host.name] for host in rows}


def _next(outcomes: "SimpleQueue[Outcome[T]]") -> Outcome[T] | None:
    try:
        return outcomes.get(timeout=LISTEN_SECONDS)
    except Empty:
        return None


def _work_off(
    todo: "SimpleQueue[Host]", work: Callable[[Host], T], outcomes: "SimpleQueue[Outcome[T]]", halt: threading.Event
) -> None:
    """Take hosts off the queue until it is empty or the run is halted."""
    while not halt.is_set():
        try:
            host = todo.get_nowait()
        except Empty:
            return
        outcomes.put(_outcome(host, work))


def _outcome(host: Host, work: Callable[[Host], T]) -> Outcome[T]:
    """Do the work on one host."""
    started = time.monotonic()
    try:
        return Done(host.name, work(host), time.monotonic() - started)
    except RolloutError as error:
        return Failed(host.name, error, time.monotonic() - started)
    except Exception as fault:  # noqa: BLE001 - a fault of ours on one host must not end the work on the others half-way
        ours = ProgramFault(
            host.name, f"a fault of rollout itself: {type(fault).__name__}: {fault}", hint="See --debug."
        )
        ours.__cause__ = fault
        return Failed(host.name, ours, time.monotonic() - started)
