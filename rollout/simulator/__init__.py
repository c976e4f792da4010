"""The buffer-pool simulator: InnoDB's LRU under MariaDB 10.4, 10.5 to 11.8.9 and the fixed releases, access by access.

A library of its own; loading it loads numba, so import it where a simulation runs. What a caller needs::

    from rollout.simulator import PoolSettings, chain, frames_of, scan, simulate, uniform, zipf

    reads = zipf(pages=1_000_000, accesses=10_000_000, exponent=0.9, seed=1)     # a Trace
    counted = simulate("mariadb-10.5", reads, frames=200_000)                    # Counters
    counted.hit_ratio, counted.made_young, counted.mutex_acquisitions

    fill = scan(first=0, last=1_000_000)            # every page once, then the reads; the filling is not counted
    simulate("mariadb-fix", chain(fill, reads), frames_of(100 << 30), PoolSettings(old_blocks_pct=60),
             warm_up=fill.accesses)

`simulate_all` runs jobs side by side, `miniature` runs a sample of the pages in a pool scaled alike, `curve` runs over
pool sizes or settings, `pollution` asks what a dump does to a hot set, `read_trace` reads traces from files.
Policies: `POLICIES`. Times are milliseconds, sizes frames of 16 KiB.
"""

from rollout.simulator.charts import check_chart, draw_curve, draw_pollution
from rollout.simulator.counters import Counters
from rollout.simulator.curves import Grid, Point, curve
from rollout.simulator.files import read_trace
from rollout.simulator.generators import (
    Stream,
    TreeShape,
    hotspot,
    mix,
    paced,
    pareto,
    point_lookups,
    scan,
    uniform,
    with_writes,
    zipf,
)
from rollout.simulator.miniature import Miniature, miniature
from rollout.simulator.pollution import HEATS, Pollution, Scene, cases, pollution
from rollout.simulator.pool import Listed, MidpointPool
from rollout.simulator.settings import PAGE_BYTES, POLICIES, Constants, PoolSettings, frames_of
from rollout.simulator.simulation import Job, simulate, simulate_all
from rollout.simulator.trace import Block, Trace, chain, trace_of

__all__ = [
    "HEATS",
    "PAGE_BYTES",
    "POLICIES",
    "Block",
    "Constants",
    "Counters",
    "Grid",
    "Job",
    "Listed",
    "MidpointPool",
    "Miniature",
    "Point",
    "Pollution",
    "PoolSettings",
    "Scene",
    "Stream",
    "Trace",
    "TreeShape",
    "cases",
    "chain",
    "check_chart",
    "curve",
    "draw_curve",
    "draw_pollution",
    "frames_of",
    "hotspot",
    "miniature",
    "mix",
    "paced",
    "pareto",
    "point_lookups",
    "pollution",
    "read_trace",
    "scan",
    "simulate",
    "simulate_all",
    "trace_of",
    "uniform",
    "with_writes",
    "zipf",
]
