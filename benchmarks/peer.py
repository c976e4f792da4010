"""The peer: libCacheSim's LRU by the package `libcachesim`, fed by its own C reader from an oracleGeneral file."""

import time
from pathlib import Path

import numpy as np
from libcachesim import LRU, ReaderInitParam, TraceReader, TraceType
from numpy.typing import NDArray

from rollout.simulator.files import ORACLE

HASH_POWERS = (18, 20, 22, 24)


def write_oracle(pages: NDArray[np.uint32], file: Path) -> None:
    """Write reads as an oracleGeneral trace of objects of size 1; an LRU needs no next use."""
    records = np.zeros(len(pages), ORACLE)
    records["id"], records["size"], records["next"] = pages, 1, -2
    records.tofile(file)


def reading_seconds(file: Path) -> float:
    """Return the time that the reader alone takes: a cache of one object, which never hits a list."""
    return _seconds(file, 1, 10)[0]


def peer(file: Path, frames: int) -> tuple[int, float, float]:
    """Return the best hash power, its seconds with reading, and the miss ratio."""
    runs = [(*_seconds(file, frames, power), power) for power in HASH_POWERS]
    seconds, misses, power = min(runs)
    return power, seconds, misses


def _seconds(file: Path, frames: int, power: int) -> tuple[float, float]:
    reader = TraceReader(str(file), TraceType.ORACLE_GENERAL_TRACE, ReaderInitParam(ignore_obj_size=True))
    cache = LRU(frames, hashpower=power)
    started = time.perf_counter()
    misses, _ = cache.process_trace(reader)
    return time.perf_counter() - started, misses
