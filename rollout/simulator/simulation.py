"""Run traces through policies: one at a time, or several side by side (kernels run without the interpreter's lock)."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from rollout.errors import UsageProblem
from rollout.simulator.clairvoyant import next_uses, replay_optimal
from rollout.simulator.counters import Counters, read_counters
from rollout.simulator.pool import NOTHING, check_pool, new_pool, plain_record
from rollout.simulator.settings import PoolSettings
from rollout.simulator.state import ABSENT
from rollout.simulator.trace import Trace, split


@dataclass(frozen=True)
class Job:
    """One simulation to run: the first `warm_up` accesses are replayed and not counted."""

    policy: str
    trace: Trace
    frames: int
    settings: PoolSettings = field(default_factory=PoolSettings)
    warm_up: int = 0


def simulate(
    policy: str, trace: Trace, frames: int, settings: PoolSettings | None = None, *, warm_up: int = 0
) -> Counters:
    """Replay a trace through an empty pool of `frames` frames; the first `warm_up` accesses are not counted.

    Raises `UsageProblem` for an unknown policy, an impossible pool, or read-ahead over numbers that are no pages'.
    """
    settings = settings or PoolSettings()
    check_pool(policy, trace.page_count, frames)
    if settings.read_ahead_threshold and not trace.adjacent:
        raise UsageProblem(
            f"{trace.name}: its ids were numbered anew, so neighbours are not neighbours on disk",
            hint="leave linear read-ahead out (read-ahead threshold 0)",
        )
    if policy == "optimal":
        return _optimal(trace, frames, warm_up)
    pool = new_pool(policy, trace.page_count, frames, settings, writes=trace.writes)
    before, after = split(trace, warm_up)
    for block in before:
        pool.replay(block)
    start = pool.counters()
    for block in after:
        pool.replay(block)
    return pool.counters().since(start)


def simulate_all(jobs: Sequence[Job], workers: int | None = None) -> list[Counters]:
    """Run jobs side by side on `workers` threads (by default one a core); results in the jobs' order."""
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        return list(pool.map(_run, jobs))


def _run(job: Job) -> Counters:
    return simulate(job.policy, job.trace, job.frames, job.settings, warm_up=job.warm_up)


def _optimal(trace: Trace, frames: int, warm_up: int) -> Counters:
    """Replay the whole trace at once, from memory; the future of each access is worked out before the clock starts."""
    whole = trace.whole()
    uses = np.empty(len(whole), np.int64)
    next_uses(whole.pages, whole.deeds, np.empty(trace.page_count, np.int64), uses)
    pools = plain_record(trace.page_count, frames)
    resident = np.full(trace.page_count, ABSENT, np.uint32)
    heap, dead = np.empty(2 * frames + 64, np.int64), np.empty(frames, np.int64)
    replay_optimal(resident, pools[0], NOTHING.pages, NOTHING.deeds, uses[:0], heap, dead, warm_up)  # compiles it
    started = time.perf_counter()
    replay_optimal(resident, pools[0], whole.pages, whole.deeds, uses, heap, dead, warm_up)
    return read_counters("optimal", pools, time.perf_counter() - started)
