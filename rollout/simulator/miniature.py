"""Miniature simulation: a sample of the pages in a pool scaled alike, with its error shown.

Spatial sampling by a hash of the page (Waldspurger and others, SHARDS, FAST 2015; "Cache Modeling and Optimization
using Miniature Simulations", ATC 2017). Times stay what they are; the constants of the server's source, which do not
scale with the pool, are scaled with it here. What the hottest pages do to the number of sampled accesses is corrected
as SHARDS does: accesses too few or too many are taken for hits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from rollout.errors import UsageProblem
from rollout.simulator.counters import Counters
from rollout.simulator.settings import PoolSettings
from rollout.simulator.simulation import Job, simulate_all
from rollout.simulator.trace import Block, Trace

FEWEST_FRAMES = 64


@dataclass(frozen=True)
class Miniature:
    """What samples of `rate` of the pages say about the whole; `errors` are standard errors over the samples.

    With one sample nothing is known of its error, and the errors are None.
    """

    policy: str
    rate: float
    samples: tuple[Counters, ...]
    hit_ratio: float
    hit_ratio_error: float | None
    promotions_per_access: float
    promotions_error: float | None
    mutex_per_access: float
    mutex_error: float | None

    @property
    def seconds(self) -> float:
        """Return the kernel time of all samples."""
        return sum(sample.seconds for sample in self.samples)


def miniature(
    policy: str,
    trace: Trace,
    frames: int,
    settings: PoolSettings | None = None,
    *,
    rate: float,
    samples: int = 1,
    seed: int = 1,
    warm_up: int = 0,
) -> Miniature:
    """Simulate `rate` of the pages (each sample others) in a pool of `rate` times the frames.

    The first `warm_up` accesses of the whole trace are not counted, as far as the samples can tell where they end.
    Raises `UsageProblem` where the sampled pool would be too small to say anything.
    """
    if not 0 < rate <= 1:
        raise UsageProblem(f"the sampling rate is {rate}: it lies above 0 and is at most 1")
    small = round(frames * rate)
    if small < FEWEST_FRAMES:
        raise UsageProblem(f"{frames} frames at a rate of {rate} leave {small}: take at least {FEWEST_FRAMES}")
    scaled = (settings or PoolSettings()).scaled(rate)
    parts = [sampled(trace, rate, seed + index) for index in range(samples)]
    jobs = [Job(policy, part, small, scaled, round(warm_up * part.accesses / trace.accesses)) for part in parts]
    counted = simulate_all(jobs)
    expected = (trace.accesses - warm_up) * rate
    # The hottest pages carry many accesses each: their luck in the sample is taken out by the expected number.
    hits = [1 - one.misses / expected for one in counted]
    promotions = [one.made_young / expected for one in counted]
    mutex = [one.mutex_acquisitions / expected for one in counted]
    return Miniature(
        *(policy, rate, tuple(counted)),
        *(mean(hits), _error(hits)),
        *(mean(promotions), _error(promotions)),
        *(mean(mutex), _error(mutex)),
    )


def sampled(trace: Trace, rate: float, seed: int) -> Trace:
    """Return the accesses to a share of the pages, at their own times, the pages numbered anew."""
    chosen = _chosen(trace.page_count, rate, seed)
    numbers = (np.cumsum(chosen) - 1).astype(np.uint32)
    accesses = sum(int(chosen[block.pages].sum()) for block in trace.blocks())
    if accesses == 0:
        raise UsageProblem(f"{trace.name}: no access falls on the sampled pages", hint="take a higher sampling rate")

    def blocks() -> Iterator[Block]:
        for block in trace.blocks():
            part = block.where(chosen[block.pages])
            yield Block(numbers[part.pages], part.times, part.deeds)

    name = f"{rate:.4g} of the pages of {trace.name}, sample {seed}"
    return Trace(name, int(chosen.sum()), accesses, blocks, trace.writes, adjacent=False)


def _chosen(page_count: int, rate: float, seed: int) -> NDArray[np.bool_]:
    """Tell for each page whether a hash of its number and the seed falls below the rate (splitmix64)."""
    if rate == 1:
        return np.ones(page_count, np.bool_)
    with np.errstate(over="ignore"):
        mixed = (np.arange(page_count, dtype=np.uint64) + np.uint64(seed << 40)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    chosen: NDArray[np.bool_] = (mixed >> np.uint64(33)) < np.uint64(rate * (1 << 31))
    return chosen


def _error(values: list[float]) -> float | None:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None
