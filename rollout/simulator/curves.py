"""How hits, promotions and mutex operations change with the pool and its settings; the optimum beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rollout.errors import UsageProblem
from rollout.simulator.counters import Counters
from rollout.simulator.settings import PoolSettings
from rollout.simulator.simulation import Job, simulate_all
from rollout.simulator.trace import Trace

# Policies that `innodb_old_blocks_pct` and `innodb_old_blocks_time` do nothing to: one run stands for all settings.
WITHOUT_MIDPOINT = ("lru", "clock-sweep", "optimal")


@dataclass(frozen=True)
class Point:
    """One simulation of a curve."""

    policy: str
    frames: int
    old_blocks_pct: int
    old_blocks_time_ms: int
    counters: Counters


@dataclass(frozen=True)
class Grid:
    """What a curve runs over; an empty list of settings stands for the setting of `settings`."""

    policies: Sequence[str]
    frames: Sequence[int]
    old_blocks_pct: Sequence[int] = ()
    old_blocks_time_ms: Sequence[int] = ()
    settings: PoolSettings = field(default_factory=PoolSettings)


def curve(trace: Trace, grid: Grid, *, warm_up: int = 0, workers: int | None = None) -> list[Point]:
    """Run a trace over every point of a grid, several at once; the first `warm_up` accesses are not counted."""
    if not grid.policies or not grid.frames:
        raise UsageProblem("a curve needs at least one policy and one pool size")
    if warm_up >= trace.accesses:
        raise UsageProblem(f"a warm-up of {warm_up} accesses leaves nothing of {trace.accesses}")
    jobs = [Job(policy, trace, frames, settings, warm_up) for policy, frames, settings in _points(grid)]
    return [
        Point(job.policy, job.frames, job.settings.old_blocks_pct, job.settings.old_blocks_time_ms, counters)
        for job, counters in zip(jobs, simulate_all(jobs, workers), strict=True)
    ]


def _points(grid: Grid) -> Iterator[tuple[str, int, PoolSettings]]:
    percents = grid.old_blocks_pct or [grid.settings.old_blocks_pct]
    times = grid.old_blocks_time_ms or [grid.settings.old_blocks_time_ms]
    every = [
        replace(grid.settings, old_blocks_pct=percent, old_blocks_time_ms=time_ms)
        for percent in percents
        for time_ms in times
    ]
    for policy in grid.policies:
        for frames in grid.frames:
            for settings in every[:1] if policy in WITHOUT_MIDPOINT else every:
                yield policy, frames, settings
