"""`make bench`: how fast the simulator is, beside libCacheSim and beside a minimal list, in one run.

    python -m benchmarks.speed [--large]      # --large adds a pool of 100 GiB and 100 million accesses

Every figure is the best of three, kernel time alone; what a run takes as a whole is shown where it matters.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.minimal import minimal_lru, plain_lru
from benchmarks.peer import peer, reading_seconds, write_oracle
from rollout.simulator import (
    Job,
    PoolSettings,
    chain,
    frames_of,
    miniature,
    scan,
    simulate,
    simulate_all,
    trace_of,
    zipf,
)
from rollout.simulator import uniform as uniform_reads
from rollout.simulator.state import LINK, PAGE, empty_links

PAGES, ACCESSES, FRAMES = 1_000_000, 10_000_000, 200_000
POLICIES = ("lru", "mariadb-10.4", "mariadb-10.5", "mariadb-fix", "clock-sweep", "optimal")
REPEATS = 3
GIB_100 = 100 << 30
FOUR = ("lru", "mariadb-10.4", "mariadb-10.5", "mariadb-fix")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def best(run: Callable[[], float]) -> float:
    """Return the shortest of some runs, in seconds."""
    return min(run() for _ in range(REPEATS))


def minimal(kernel: Callable[..., int], pages: NDArray[np.uint32]) -> float:
    """Return the seconds of one run of a minimal list."""
    links = empty_links(PAGES, 1, LINK)
    started = time.perf_counter()
    kernel(links, pages, FRAMES)
    return time.perf_counter() - started


def speed() -> None:
    """One Zipf trace through everything."""
    pages = zipf(pages=PAGES, accesses=ACCESSES, exponent=0.9, seed=1).whole().pages
    trace = trace_of(pages, page_count=PAGES)
    say(f"Zipf 0.9, {ACCESSES:,} accesses, {PAGES:,} pages, {FRAMES:,} frames; best of {REPEATS}")
    for kernel in (minimal_lru, plain_lru):
        kernel(empty_links(8, 1, LINK), pages[:0], 4)
    least, plain = (best(lambda kernel=kernel: minimal(kernel, pages)) for kernel in (minimal_lru, plain_lru))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "zipf.oracleGeneral"
        write_oracle(pages, file)
        reading = reading_seconds(file)
        power, with_reading, misses = peer(file, FRAMES)
    peers = with_reading - reading
    say(f"  minimal list   {ACCESSES / least / 1e6:6.1f} M/s; without looking ahead {ACCESSES / plain / 1e6:.1f} M/s")
    say(f"  libcachesim    {ACCESSES / peers / 1e6:6.1f} M/s (2**{power} buckets; reading {reading:.2f} s taken off)")
    say(f"  libcachesim    {ACCESSES / with_reading / 1e6:6.1f} M/s with reading; miss ratio {misses:.6f}")
    for policy in POLICIES:
        runs = [simulate(policy, trace, FRAMES) for _ in range(REPEATS)]
        seconds = min(one.seconds for one in runs)
        ratio = f"{least / seconds:5.2f} of the minimal list, {plain / seconds:5.2f} of the plain one"
        peer_ratio = f"{peers / seconds:5.1f} times libcachesim"
        hits = f"hit ratio {runs[0].hit_ratio:.6f}"
        say(f"  {policy:14} {ACCESSES / seconds / 1e6:6.1f} M/s, {ratio}, {peer_ratio}, {hits}")
    say(
        f"  state: {LINK.itemsize} bytes a page for lru, {PAGE.itemsize} with a midpoint, {LINK.itemsize} more to write"
    )


def start_up() -> None:
    """The command, with a cache of kernels and without one."""
    words = [sys.executable, "-m", "rollout", "simulate", "run", "--policy", "mariadb-fix"]
    words += ["--workload", "uniform", "--pages", "1000", "--accesses", "1000", "--frames", "600"]
    with TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            started = time.perf_counter()
            subprocess.run(words, env={**os.environ, "NUMBA_CACHE_DIR": folder}, check=True, capture_output=True)
            say(f"start of `rollout simulate run`, {name}: {time.perf_counter() - started:.1f} s")


def growth() -> None:
    """A pool of 100 GiB and 100 million accesses, and the same at a tenth and a hundredth of the size."""
    for part in (100, 10, 1):
        frames, accesses = frames_of(GIB_100) // part, 100_000_000 // part
        trace = zipf(pages=frames * 3 // 2, accesses=accesses, exponent=0.9, seed=1)
        for policy in ("mariadb-10.5", "mariadb-fix"):
            started = time.perf_counter()
            counted = simulate(policy, trace, frames)
            whole = time.perf_counter() - started
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rate = f"{(counted.accesses_per_second or 0) / 1e6:.1f} M/s"
            say(
                f"{policy}: {frames:,} frames, {accesses:,} accesses: {counted.seconds:.1f} s, {rate}, "
                f"{whole:.1f} s with making the trace, peak {peak:.0f} MiB"
            )


def side_by_side() -> None:
    """Four policies one after the other and at once."""
    trace = trace_of(zipf(pages=PAGES, accesses=ACCESSES, exponent=0.9, seed=1).whole().pages, page_count=PAGES)
    jobs = [Job(policy, trace, FRAMES) for policy in FOUR]
    for workers in (1, 2):
        started = time.perf_counter()
        simulate_all(jobs, workers)
        say(f"four policies on {workers} at once: {time.perf_counter() - started:.2f} s")


def in_memory() -> None:
    """Uniform reads of 19 GiB in a pool of 100 GiB: moves a leaf touch, beside the rule (0.369 - u) / (1 - u)."""
    frames, pages = frames_of(GIB_100), (19 << 30) // 16384
    fill = scan(first=0, last=pages)
    reads = uniform_reads(pages=pages, accesses=10_000_000, accesses_per_second=2_000_000.0)
    later = uniform_reads(pages=pages, accesses=10_000_000, accesses_per_second=2_000_000.0, seed=2)
    for policy in ("mariadb-10.4", "mariadb-10.5", "mariadb-fix", "never-promote"):
        warm = fill.accesses + reads.accesses
        counted = simulate(policy, chain(fill, reads, later), frames, warm_up=warm)
        moves = (counted.made_young + counted.young_moves) / counted.accesses
        say(f"in memory, {policy}: {moves:.4f} moves a leaf touch (rule for mariadb-10.5: 0.369)")
    small = round(frames * 0.4)
    for policy in ("mariadb-10.5", "mariadb-fix"):
        older = scan(first=pages * 6, last=pages * 6 + frames)
        hot = [uniform_reads(pages=small, accesses=8_000_000, seed=s, accesses_per_second=2e6) for s in (1, 2, 3, 4, 5)]
        warm = older.accesses + sum(one.accesses for one in hot[:4])
        counted = simulate(policy, chain(older, *hot), frames, warm_up=warm)
        moves = (counted.made_young + counted.young_moves) / counted.accesses
        say(f"pool full, hot set {small:,} pages, less than the young sublist, {policy}: {moves:.4f} moves a touch")


def miniatures() -> None:
    """The full pool beside samples of its pages."""
    trace = zipf(pages=PAGES, accesses=ACCESSES, exponent=0.9, seed=1)
    for policy in ("mariadb-10.5", "mariadb-fix"):
        full = simulate(policy, trace, FRAMES)
        moves = full.made_young / full.accesses
        say(f"{policy}: full size, hit ratio {full.hit_ratio:.4f}, promotions {moves:.4f}, {full.seconds:.2f} s")
        for part in (8, 32, 128):
            small = miniature(policy, trace, FRAMES, PoolSettings(), rate=1 / part, samples=4)
            hits = f"hit ratio {small.hit_ratio:.4f} (off {small.hit_ratio - (full.hit_ratio or 0):+.4f}"
            shown = f"said {small.hit_ratio_error:.4f})"
            say(
                f"  1/{part}: {hits}, {shown}, promotions {small.promotions_per_access:.4f}, "
                f"{small.seconds / len(small.samples):.3f} s a sample"
            )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="100 GiB and 100 million accesses, too")
    large = parser.parse_args().large
    speed()
    start_up()
    side_by_side()
    miniatures()
    if large:
        growth()
        in_memory()


if __name__ == "__main__":
    main()
