"""Threads that ask again at once, one blocking mutex and a number of cores: a closed network of two stations.

Exact mean value analysis with load-dependent stations (Reiser and Lavenberg, J. ACM 27(2), 1980; Reiser, Performance
Evaluation 1(1), 1981). The textbook's step p(0) = 1 - sum of the others loses all digits at a saturated station. With
two stations it is not needed: one is empty exactly when the other holds everybody.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Seconds = Callable[[int], float]


@dataclass(frozen=True)
class Steady:
    """The network with `threads` in it: queries a second, and the share of time in which the mutex is held."""

    threads: int
    queries_per_second: float
    mutex_utilisation: float

    @property
    def latency_seconds(self) -> float:
        """Mean seconds of one query (Little's law)."""
        return self.threads / self.queries_per_second


def populations(threads: int, thinking: Seconds, mutex: Seconds) -> list[Steady]:
    """Solve the network for 1 to `threads` threads; the list's first entry is one thread.

    `thinking(n)` and `mutex(n)` are the seconds from one query's leaving that station to the next one's while n are
    there: think time / n as long as there are cores for all, operations of a query x seconds of an operation.
    """
    counts = np.arange(1, threads + 1)
    think = np.array([thinking(int(n)) for n in counts])
    hold = np.array([mutex(int(n)) for n in counts])
    at_work, at_mutex = np.array([1.0]), np.array([1.0])
    solved = []
    for n in range(1, threads + 1):
        residence = _residence(counts[:n], think, at_work) + _residence(counts[:n], hold, at_mutex)
        rate = n / residence
        work_tail, mutex_tail = rate * think[:n] * at_work, rate * hold[:n] * at_mutex
        at_work = np.concatenate(([mutex_tail[-1]], work_tail))
        at_mutex = np.concatenate(([work_tail[-1]], mutex_tail))
        solved.append(Steady(n, float(rate), float(mutex_tail.sum())))
    return solved


def _residence(counts: NDArray[np.int64], seconds: NDArray[np.float64], before: NDArray[np.float64]) -> np.float64:
    """Seconds that an arriving query stays: it sees the station as it would be with one thread fewer."""
    stay: np.float64 = np.sum(counts * seconds[: len(counts)] * before)
    return stay


def on_cores(think_seconds: float, busy_seconds: float, cores: int) -> Seconds:
    """Return the thinking station: all threads at once, until what they need of the cores fills all of these.

    `busy_seconds` is what one query needs of a core, at the mutex too; the rest of `think_seconds` is waiting for a
    device. One thread alone never waits for a core.
    """
    servers = cores * think_seconds / busy_seconds
    return lambda n: think_seconds / (1 if n == 1 else min(n, servers))


def one_mutex(operations: float, alone: float, waited_for: float, instances: int = 1) -> Seconds:
    """Return the mutex station: `operations` a query; seconds of one `alone`, and of one when others wait.

    `instances` mutexes side by side (MariaDB 10.4 has up to 8) are one station whose rate with n threads is that of
    balanced queues, n x instances / (n + instances - 1) operations at a time; a thread is alone at its own with
    probability (1 - 1/instances) ** (n - 1).
    """

    def seconds(n: int) -> float:
        lonely = (1 - 1 / instances) ** (n - 1)
        each = alone * lonely + waited_for * (1 - lonely)
        return operations * each * (n + instances - 1) / (n * instances)

    return seconds
