"""`rollout simulate`: the buffer-pool simulator on its own."""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rollout.cli.options import json_option
from rollout.cli.tables import show, table
from rollout.cli.workload_options import (
    PoolChoice,
    Rules,
    Workload,
    numbers,
    pool_options,
    rules_options,
    workload_options,
)
from rollout.errors import UsageProblem

if TYPE_CHECKING:  # the simulator loads numba: it is imported where a simulation runs
    from rollout.simulator import Counters, Miniature, Pollution

POLICIES = (
    *("lru", "mariadb-10.4", "mariadb-10.5", "mariadb-fix"),
    *("lazy-accessed", "never-promote", "clock-sweep", "optimal"),
)
COMPARED = ("mariadb-10.4", "mariadb-10.5", "mariadb-fix", "lru", "clock-sweep", "optimal")
CHART = click.Path(path_type=Path, dir_okay=False)

_HELP = """Replay page accesses through InnoDB's buffer pool as MariaDB keeps it.

mariadb-10.5 stands for 10.5 to 11.8.9, mariadb-fix for 11.8.10, 12.3.4 and 13.1.2. What mariadb-10.5 does is held
against real servers page by page; mariadb-10.4 and mariadb-fix rest on the published source and its test, for lack of
a server to hold them against. docs/simulator.md says what is modelled and what is not.

\b
Example:
  $ rollout simulate compare --workload zipf --pages 1000000 --frames 200000
  $ rollout simulate run --policy mariadb-fix --trace reads.npy --pool-bytes 1073741824 --json
"""


@click.group("simulate", help=_HELP)
def command() -> None:
    """Hold the subcommands together."""


_RUN = """Replay a trace or a workload through one policy.

\b
Example:
  $ rollout simulate run --policy mariadb-10.5 --workload uniform --pages 300000 --frames 400000
"""


@command.command("run", help=_RUN)
@click.option("--policy", type=click.Choice(POLICIES), required=True, help="Which server, or which textbook.")
@pool_options
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Simulate in miniature: share of the pages.",
)
@workload_options
@rules_options
@json_option
def run(
    *,
    policy: str,
    pool: PoolChoice,
    sample: float | None,
    workload: Workload,
    rules: Rules,
    as_json: bool,
) -> None:
    """Open the trace, replay it, print what was counted."""
    from rollout.simulator import miniature, simulate  # noqa: PLC0415 - loads numba

    size, settings, trace = pool.size(), rules.settings(), workload.trace()
    _check_warm_up(pool.warm_up, trace.accesses)
    if sample is not None:
        small = miniature(
            policy, trace, size, settings, rate=sample, samples=4, seed=workload.seed, warm_up=pool.warm_up
        )
        _show_miniature(small, trace.name, size, as_json=as_json)
        return
    started = time.perf_counter()
    counted = simulate(policy, trace, size, settings, warm_up=pool.warm_up)
    whole = time.perf_counter() - started
    if as_json:
        rest = {"trace": trace.name, "reading_seconds": max(whole - counted.seconds, 0.0)}
        click.echo(json.dumps({"schema": 1, **as_dict(counted), **rest}))
        return
    _print([counted], trace.name)


_COMPARE = """Replay a trace or a workload through several policies, side by side on all cores.

\b
Example:
  $ rollout simulate compare --workload zipf --pages 1000000 --accesses 10000000 --frames 200000
"""


@command.command("compare", help=_COMPARE)
@click.option("--policy", "policies", type=click.Choice(POLICIES), multiple=True, help="Several; six by default.")
@pool_options
@workload_options
@rules_options
@json_option
def compare(
    *,
    policies: tuple[str, ...],
    pool: PoolChoice,
    workload: Workload,
    rules: Rules,
    as_json: bool,
) -> None:
    """Open the trace, replay it under each policy, print the table."""
    from rollout.simulator import Job, simulate_all  # noqa: PLC0415 - loads numba

    size, settings, trace = pool.size(), rules.settings(), workload.trace()
    _check_warm_up(pool.warm_up, trace.accesses)
    names = policies or COMPARED
    found = simulate_all([Job(name, trace, size, settings, pool.warm_up) for name in names])
    if as_json:
        click.echo(json.dumps({"schema": 1, "trace": trace.name, "runs": [as_dict(one) for one in found]}))
        return
    _print(found, trace.name)


_CURVE = """Run over pool sizes and settings: hit ratio, promotions and mutex operations, the optimum beside them.

\b
Example:
  $ rollout simulate curve --workload zipf --frames 50000,100000,200000,400000 --chart curve.svg
  $ rollout simulate curve --workload mix --frames 200000 --percents 5,20,37,60,80 --times-ms 0,1000,10000
"""


@command.command("curve", help=_CURVE)
@click.option("--policy", "policies", type=click.Choice(POLICIES), multiple=True, help="Several.")
@click.option("--frames", "sizes", callback=numbers, required=True, metavar="N,N,...", help="Pool sizes.")
@click.option("--percents", callback=numbers, default="", metavar="N,N,...", help="innodb_old_blocks_pct.")
@click.option("--times-ms", callback=numbers, default="", metavar="N,N,...", help="innodb_old_blocks_time.")
@click.option("--warm-up", type=click.IntRange(min=0), default=0, help="Accesses that are replayed and not counted.")
@click.option("--chart", type=CHART, help="Draw it into an .svg or a .png.")
@workload_options
@rules_options
@json_option
def curve_command(
    *,
    policies: tuple[str, ...],
    sizes: tuple[int, ...],
    percents: tuple[int, ...],
    times_ms: tuple[int, ...],
    warm_up: int,
    chart: Path | None,
    workload: Workload,
    rules: Rules,
    as_json: bool,
) -> None:
    """Run the grid, draw it, print it."""
    from rollout.simulator import Grid, check_chart, curve, draw_curve  # noqa: PLC0415 - loads numba

    if chart:
        check_chart(chart)
    trace = workload.trace()
    grid = Grid(
        policies or ("mariadb-10.5", "mariadb-fix", "lru", "optimal"), sizes, percents, times_ms, rules.settings()
    )
    points = curve(trace, grid, warm_up=warm_up)
    if chart:
        draw_curve(points, trace.name, chart)
    if as_json:
        rows = [
            {"old_blocks_pct": p.old_blocks_pct, "old_blocks_time_ms": p.old_blocks_time_ms, **as_dict(p.counters)}
            for p in points
        ]
        click.echo(json.dumps({"schema": 1, "trace": trace.name, "points": rows}))
        return
    settings = [(f"{p.old_blocks_pct} %", f"{p.old_blocks_time_ms} ms") for p in points]
    _print([p.counters for p in points], trace.name, settings)


_POLLUTION = """Ask what a dump does to a hot set, with innodb_old_blocks_time 0 and 1000, ..._pct 37 and 60.

A hot set is read evenly; a dump reads cold pages once each, in order. Shown is the hit ratio of the hot set while
the dump runs and for as long after it, over how often a hot page is read while a dumped page travels from the
midpoint to the tail; the pool is warm or cold before it.

\b
Example:
  $ rollout simulate pollution --chart pollution.svg
"""


@command.command("pollution", help=_POLLUTION)
@click.option("--policy", "policies", type=click.Choice(POLICIES[1:6]), multiple=True, help="Several.")
@click.option(
    "--frames", type=click.IntRange(min=1024), default=40_000, show_default=True, help="Pages that the pool holds."
)
@click.option(
    "--hot-pages", type=click.IntRange(min=1), default=32_000, show_default=True, help="Pages of the hot set."
)
@click.option(
    "--dump-pages", type=click.IntRange(min=1), default=120_000, show_default=True, help="Pages that are dumped."
)
@click.option(
    "--dump-pages-per-second",
    type=click.FloatRange(min=1),
    default=4000.0,
    show_default=True,
    help="Speed of the dump.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the reads.")
@click.option("--chart", type=CHART, help="Draw it into an .svg or a .png.")
@json_option
def pollution_command(
    *,
    policies: tuple[str, ...],
    frames: int,
    hot_pages: int,
    dump_pages: int,
    dump_pages_per_second: float,
    seed: int,
    chart: Path | None,
    as_json: bool,
) -> None:
    """Run every case, draw and print them."""
    from rollout.simulator import (  # noqa: PLC0415 - loads numba
        HEATS,
        Scene,
        cases,
        check_chart,
        draw_pollution,
        pollution,
    )

    if chart:
        check_chart(chart)
    scene = Scene(frames, hot_pages, dump_pages, dump_pages_per_second, seed=seed)
    results = pollution(scene, cases(policies or ("mariadb-10.5", "mariadb-fix"), HEATS))
    title = f"a dump of {dump_pages} pages beside {hot_pages} hot pages in {frames} frames, seed {seed}"
    if chart:
        draw_pollution(results, title, chart)
    if as_json:
        click.echo(json.dumps({"schema": 1, "scene": vars(scene), "cases": [vars(one) for one in results]}))
        return
    _print_pollution(results, title)


def as_dict(counted: "Counters") -> dict[str, Any]:
    """Return the counters under the names that scripts may build on."""
    names = ("policy", "frames", "accesses", "hits", "misses", "made_young", "made_not_young", "mutex_acquisitions")
    more = ("evictions", "seconds", "accesses_per_second", "hit_ratio", "young_moves", "created", "freed")
    rest = ("read_ahead", "read_ahead_evicted", "pages_written", "length", "old_length")
    return {name: getattr(counted, name) for name in (*names, *more, *rest)}


def _check_warm_up(warm_up: int, accesses: int) -> None:
    if warm_up >= accesses:
        raise UsageProblem(f"a warm-up of {warm_up} accesses leaves nothing of {accesses}")


def _print(found: Sequence["Counters"], title: str, settings: Iterable[tuple[str, ...]] = ()) -> None:
    given = list(settings)
    more = ("old pct", "old time") if given else ()
    headings = ("hit ratio", "misses", "made young", "young moves", "not young", "mutex", "evictions", "M accesses/s")
    rows = []
    for index, one in enumerate(found):
        ratio = "-" if one.hit_ratio is None else f"{one.hit_ratio:.4f}"
        speed = "-" if one.accesses_per_second is None else f"{one.accesses_per_second / 1e6:.1f}"
        sums = (one.misses, one.made_young, one.young_moves, one.made_not_young, one.mutex_acquisitions, one.evictions)
        cells = (f"{one.frames:,}", *(given[index] if given else ()), ratio, *(f"{value:,}" for value in sums), speed)
        rows.append((one.policy, *cells))
    show(table(("policy", "frames", *more, *headings), rows, title, numbers=True))


def _show_miniature(small: "Miniature", name: str, frames: int, *, as_json: bool) -> None:
    if as_json:
        shown = {key: value for key, value in vars(small).items() if key != "samples"}
        runs = [as_dict(one) for one in small.samples]
        click.echo(json.dumps({"schema": 1, "trace": name, "frames": frames, **shown, "samples": runs}))
        return
    figures = (
        ("hit ratio", small.hit_ratio, small.hit_ratio_error),
        ("made young by access", small.promotions_per_access, small.promotions_error),
        ("mutex by access", small.mutex_per_access, small.mutex_error),
    )
    rows = ((words, f"{value:.5f}", "unknown" if error is None else f"{error:.5f}") for words, value, error in figures)
    title = f"{small.policy} in miniature: {small.rate:.4g} of the pages, {len(small.samples)} samples"
    show(table(("", "estimate", "standard error"), rows, title, numbers=True))


def _print_pollution(results: Sequence["Pollution"], title: str) -> None:
    rows = []
    for one in results:
        before = "-" if one.before is None else f"{one.before:.3f}"
        cells = ("warm" if one.warm else "cold", f"{one.old_blocks_time_ms} ms", f"{one.old_blocks_pct} %")
        rows.append((one.policy, *cells, f"{one.reads_per_passage:g}", before, f"{one.during:.3f}", f"{one.after:.3f}"))
    headings = ("policy", "pool", "old time", "old pct", "reads a passage", "before", "during", "after")
    show(table(headings, rows, title, numbers=True))
