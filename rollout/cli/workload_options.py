"""The options of `rollout simulate`: what is replayed, through which pool, under which settings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rollout.errors import UsageProblem

if TYPE_CHECKING:  # the simulator loads numba: it is imported where a simulation runs
    from rollout.simulator import PoolSettings, Trace

Command = Callable[..., Any]
WORKLOADS = ("uniform", "zipf", "pareto", "scan", "mix")
MIX_SCAN_SHARE = 0.1


@dataclass(frozen=True)
class Workload:
    """What is replayed, as typed: a trace file, or a generator with its numbers."""

    file: Path | None
    generator: str | None
    pages: int
    accesses: int
    exponent: float
    write_share: float
    seed: int
    accesses_per_second: float

    def trace(self) -> "Trace":
        """Open the file or make the generator's trace; raises `UsageProblem` when neither or both were given."""
        from rollout.simulator import read_trace, with_writes  # noqa: PLC0415 - loads numba

        if (self.file is None) == (self.generator is None):
            raise UsageProblem("give either --trace FILE or --workload NAME")
        if self.file is not None:
            trace = read_trace(self.file, accesses_per_second=self.accesses_per_second)
        else:
            trace = self._generated()
        return with_writes(trace, self.write_share, self.seed)

    def _generated(self) -> "Trace":
        from rollout.simulator import Stream, mix, pareto, scan, uniform, zipf  # noqa: PLC0415 - loads numba

        pages, rate = self.pages, self.accesses_per_second
        drawn = {"pages": pages, "accesses": self.accesses, "seed": self.seed}
        if self.generator == "uniform":
            return uniform(**drawn, accesses_per_second=rate)
        if self.generator == "pareto":
            return pareto(**drawn, accesses_per_second=rate)
        if self.generator == "scan":
            touches = max(self.accesses // pages, 1)
            return scan(first=0, last=pages, touches=touches, accesses_per_second=rate)
        if self.generator == "zipf":
            return zipf(**drawn, exponent=self.exponent, accesses_per_second=rate)
        # Point reads of the first half of the pages, and a scan of the other half at a tenth of the rate.
        cold = max(min(pages // 2, round(self.accesses * MIX_SCAN_SHARE)), 1)
        points = {"pages": max(pages - pages // 2, 1), "accesses": max(self.accesses - cold, 1), "seed": self.seed}
        reads = zipf(**points, exponent=self.exponent, accesses_per_second=rate * (1 - MIX_SCAN_SHARE))
        first = points["pages"]
        return mix(
            Stream(reads), Stream(scan(first=first, last=first + cold, accesses_per_second=rate * MIX_SCAN_SHARE))
        )


@dataclass(frozen=True)
class PoolChoice:
    """How large the pool is, as typed, and how many accesses fill it before anything is counted."""

    frames: int | None
    pool_bytes: int | None
    warm_up: int

    def size(self) -> int:
        """Return the frames; raises `UsageProblem` when none or both ways to say it were used."""
        from rollout.simulator import frames_of  # noqa: PLC0415 - loads numba

        if (self.frames is None) == (self.pool_bytes is None):
            raise UsageProblem("give either --frames N or --pool-bytes N")
        return self.frames if self.frames is not None else frames_of(self.pool_bytes or 0)


@dataclass(frozen=True)
class Rules:
    """The settings of the simulated server, as typed."""

    old_blocks_pct: int
    old_blocks_time_ms: int
    lru_scan_depth: int
    read_ahead_threshold: int
    instances: int
    page_cleaner: bool

    def settings(self) -> "PoolSettings":
        """Return them as the simulator takes them; raises `UsageProblem` with all that is out of range."""
        from rollout.simulator import PoolSettings  # noqa: PLC0415 - loads numba

        return PoolSettings(**vars(self))


def workload_options(function: Command) -> Command:
    """Add --trace, --workload and the numbers of the generators; the command gets one `workload: Workload`."""

    @wraps(function)
    def wrapper(*args: Any, trace: Path | None, workload: str | None, **rest: Any) -> Any:
        names = ("pages", "accesses", "exponent", "write_share", "seed", "accesses_per_second")
        numbers = {name: rest.pop(name) for name in names}
        return function(*args, workload=Workload(trace, workload, **numbers), **rest)

    return _decorated(wrapper, _WORKLOAD)


def rules_options(function: Command) -> Command:
    """Add the settings of the server; the command gets one `rules: Rules`."""

    @wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        rules = Rules(**{name: rest.pop(name) for name in Rules.__dataclass_fields__})
        return function(*args, rules=rules, **rest)

    return _decorated(wrapper, _RULES)


def pool_options(function: Command) -> Command:
    """Add --frames, --pool-bytes and --warm-up; the command gets one `pool: PoolChoice`."""

    @wraps(function)
    def wrapper(*args: Any, frames: int | None, pool_bytes: int | None, warm_up: int, **rest: Any) -> Any:
        return function(*args, pool=PoolChoice(frames, pool_bytes, warm_up), **rest)

    return _decorated(wrapper, _POOL)


def numbers(_context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    """Read whole numbers with commas between them."""
    words = [word.strip() for word in value.split(",")] if value else []
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise click.BadParameter(f"{value!r} is no list of whole numbers such as 1,4,16", param=option)
    return tuple(map(int, words))


def _decorated(command: Command, decorators: tuple[Callable[[Command], Command], ...]) -> Command:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def shown(name: str, kind: Any, default: float, words: str) -> Callable[[Command], Command]:
    """Return an option with a number whose default is shown."""
    return click.option(name, type=kind, default=default, show_default=True, help=words)


COUNT = click.IntRange(min=1)
_FILES = "Replay a .npy, .npz, .csv or .oracleGeneral[.zst] file."
_WORKLOAD = (
    click.option("--trace", type=click.Path(path_type=Path, dir_okay=False), help=_FILES),
    click.option("--workload", type=click.Choice(WORKLOADS), help="Make accesses; mix is zipf reads beside a scan."),
    shown("--pages", COUNT, 1_000_000, "Pages of the workload."),
    shown("--accesses", COUNT, 10_000_000, "Accesses of the workload."),
    shown("--exponent", click.FloatRange(min=0), 0.9, "Skew of zipf."),
    shown("--write-share", click.FloatRange(0, 1, max_open=True), 0.0, "Share of the accesses that write."),
    shown("--seed", click.IntRange(min=0), 1, "Seed of the generators."),
    shown("--accesses-per-second", click.FloatRange(min=0, min_open=True), 100_000.0, "Where a trace has no times."),
)
_POOL = (
    click.option("--frames", type=click.IntRange(min=2), help="Pages that the pool holds."),
    click.option("--pool-bytes", type=COUNT, help="innodb_buffer_pool_size instead of --frames."),
    shown("--warm-up", click.IntRange(min=0), 0, "Accesses that are replayed first and not counted."),
)
_RULES = (
    shown("--old-blocks-pct", int, 37, "innodb_old_blocks_pct"),
    shown("--old-blocks-time-ms", int, 1000, "innodb_old_blocks_time"),
    shown("--lru-scan-depth", int, 1536, "innodb_lru_scan_depth"),
    shown("--read-ahead-threshold", int, 0, "innodb_read_ahead_threshold; 56 on a server, 0 is off."),
    shown("--instances", int, 8, "innodb_buffer_pool_instances (10.4 only, from 1 GiB on)."),
    click.option("--page-cleaner/--no-page-cleaner", default=True, help="A read-only server has none."),
)
