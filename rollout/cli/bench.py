"""`rollout bench`: measure memory or the LRU on a host that allows it, show what was measured, and compare two runs."""

import json
from pathlib import Path
from typing import Any, get_args

import click

from rollout.bench.arms import AS_FOUND, Arm, parse_arm
from rollout.bench.chart import check_chart, draw
from rollout.bench.lru import CASES, EVERY_CASE, Case, LoadFrom, LruPlan
from rollout.bench.memory import MemoryPlan
from rollout.bench.refusal import BUSY_QUESTIONS_PER_SECOND, check_marked
from rollout.bench.run import Measuring, run_on
from rollout.bench.sizes import PUBLISHED, Asked
from rollout.bench.store import kept_one
from rollout.bench.words import diff_lines, result_lines
from rollout.cli.options import FleetOptions, fleet_options, json_option, progress_option, select_hosts, state_option
from rollout.cli.progress import Progress
from rollout.engine.run_folder import RunFolder, find_run, new_run_id
from rollout.errors import UsageProblem
from rollout.printable import printable
from rollout.settings import Host

SMALL = "Share of the pool that the table in memory takes."
LARGE = "Times the pool that the table beyond memory takes."
PLACES = click.Choice(get_args(LoadFrom))
CHART = click.Path(dir_okay=False, path_type=Path)
_HELP = """Measure on a host that allows it (`rollout_bench: true` in the inventory), through the same lock, undo record
and recovery as a change. Never on a host that serves.

\b
Examples:
  rollout bench memory inventory.yml --host db1 --compare --chart memory.svg
  rollout bench show
"""


@click.group("bench", help=_HELP)
def command() -> None:
    """Hold the subcommands together."""


busy_option = click.option(
    "--busy",
    type=click.FloatRange(min=0),
    default=BUSY_QUESTIONS_PER_SECOND,
    show_default=True,
    metavar="N",
    help="Questions a second of others from which the host is left in peace.",
)

_MEMORY = """Measure the server's memory over time under a load that turns memory over, and at rest after it.

Restart, warm pool, rounds of mariadb-slap on a table of its own, rest; memory of the process once a second. --compare
does it with glibc and with jemalloc in turn, A B B A, and puts back what it found. Sizes that are not named are scaled
to the host; what could drive it into swap is refused, with the arithmetic.

\b
Examples:
  rollout bench memory inventory.yml --host db1
  rollout bench memory inventory.yml --host db1 --compare --pairs 2 --chart memory.png
  rollout bench memory inventory.yml --host db1 --arm glibc --arm glibc,MALLOC_ARENA_MAX=2 --arm glibc,cpus=0
"""


@command.command("memory", help=_MEMORY)
@fleet_options
@click.option("--rows", type=click.IntRange(min=100), help="Rows of the generated table.")
@click.option("--clients", type=click.IntRange(min=1), help="Clients at once; at most half of max_connections.")
@click.option("--rounds", type=click.IntRange(min=1), help="Rounds of load.")
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations a round.")
@click.option("--rest", "rest_seconds", type=click.IntRange(min=5), help="Seconds at rest after the last round.")
@click.option("--tmp-table-bytes", type=click.IntRange(min=1024), help="tmp_table_size of the load's sessions.")
@click.option("--session", multiple=True, metavar="NAME=VALUE", help="More for the load's sessions; repeatable.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the table.")
@click.option("--like-published", is_flag=True, help="300,000 rows, 24 clients, 4 rounds of 25 iterations, 60 s.")
@click.option("--compare", is_flag=True, help="glibc and jemalloc in turn.")
@click.option("--arm", "arms", multiple=True, metavar="ARM", help="found|glibc|jemalloc[,cpus=0-1][,NAME=VALUE].")
@click.option("--pairs", type=click.IntRange(min=1), default=None, help="Turns of each arm; 2 with --compare.")
@click.option("--no-restart", is_flag=True, help="Measure the process as it stands.")
@click.option("--chart", type=CHART, help="Draw it into an .svg or a .png.")
@busy_option
@progress_option
@state_option
@json_option
def memory(
    *,
    fleet: FleetOptions,
    like_published: bool,
    compare: bool,
    arms: tuple[str, ...],
    pairs: int | None,
    no_restart: bool,
    chart: Path | None,
    busy: float,
    no_progress: bool,
    state: Path,
    as_json: bool,
    **sizes: Any,
) -> None:
    """Measure memory on one host."""
    chosen = _arms(arms, compare=compare)
    if no_restart and (arms or compare or (pairs or 1) > 1):
        raise UsageProblem("--no-restart measures one run of the process as it stands: no arms, no pairs")
    host = _one_host(fleet)
    check_marked(host, restart=not no_restart)
    asked = PUBLISHED if like_published else Asked()
    named = {name: value for name, value in sizes.items() if value is not None}
    plan = MemoryPlan(Asked(**{**vars(asked), **named}), chosen, pairs or (2 if len(chosen) > 1 else 1), not no_restart)
    what = Measuring(plan.compose, plan.read, busy)
    _measure(host, what, state, "memory", chart=chart, quiet=no_progress, as_json=as_json)


_LRU = """Measure reads that move pages in the LRU list: by key, through an index, in ranges; in memory and beyond it.

Runs sysbench on the host, or, where it is not installed there, on the controller: then its questions reach the
server's port on the host through SSH, and queries a second and latencies hold that way. Each case is measured several
times, forward and backward, and the spread of equal runs is shown. Run it before and after a change, and compare with
`rollout bench diff`.

\b
Examples:
  rollout bench lru inventory.yml --host db1
  rollout bench lru inventory.yml --host db1 --case small:points:uniform --seconds 30 --threads 40
  rollout bench lru inventory.yml --host db1 --load-from controller
"""


@command.command("lru", help=_LRU)
@fleet_options
@click.option("--case", "cases", multiple=True, metavar="TABLE:SHAPE:ACCESS", help="Only these; repeatable.")
@click.option("--pairs", type=click.IntRange(min=1), default=2, show_default=True, help="Pairs of runs of each case.")
@click.option("--threads", type=click.IntRange(min=1), default=4, show_default=True, help="Threads that ask.")
@click.option("--seconds", type=click.IntRange(min=1), default=20, show_default=True, help="Of one measurement.")
@click.option("--warm-seconds", type=click.IntRange(min=1), default=10, show_default=True, help="Of load before it.")
@click.option("--list-rows", type=click.IntRange(min=1), default=100, show_default=True, help="Rows of one query.")
@click.option("--memory-share", type=click.FloatRange(0.01, 0.9), default=0.6, show_default=True, help=SMALL)
@click.option("--larger", type=click.FloatRange(1.1, 20), default=1.5, show_default=True, help=LARGE)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of tables and reads.")
@click.option("--load-from", type=PLACES, default="auto", show_default=True, help="Where sysbench runs.")
@click.option("--chart", type=CHART, help="Draw it into an .svg or a .png.")
@busy_option
@progress_option
@state_option
@json_option
def lru(
    *,
    fleet: FleetOptions,
    cases: tuple[str, ...],
    chart: Path | None,
    busy: float,
    no_progress: bool,
    state: Path,
    as_json: bool,
    **rest: Any,
) -> None:
    """Measure the LRU on one host."""
    plan = LruPlan(**rest, cases=_cases(cases))
    host = _one_host(fleet)
    check_marked(host, restart=False)
    if plan.load_from == "controller" and host.connection.kind != "ssh":
        raise UsageProblem(f"{host.name} is the controller itself: leave out --load-from controller")
    _measure(
        host, Measuring(plan.compose, plan.read, busy), state, "lru", chart=chart, quiet=no_progress, as_json=as_json
    )


def _cases(texts: tuple[str, ...]) -> tuple[Case, ...]:
    known = {f"{case.table}:{case.shape}:{case.access}": case for case in EVERY_CASE}
    unknown = [text for text in texts if text not in known]
    if unknown:
        raise UsageProblem(f"--case: there is no {', '.join(unknown)}", hint=f"One of {' '.join(known)}")
    return tuple(known[text] for text in dict.fromkeys(texts)) or CASES


def _arms(texts: tuple[str, ...], *, compare: bool) -> tuple[Arm, ...]:
    if compare and texts:
        raise UsageProblem("--compare names its own arms: leave out --arm")
    named = ("glibc", "jemalloc") if compare else texts
    return tuple(map(parse_arm, dict.fromkeys(named))) or (AS_FOUND,)


def _one_host(fleet: FleetOptions) -> Host:
    hosts = select_hosts(fleet)
    if len(hosts) != 1:
        raise UsageProblem(f"a measurement is made on one host, and {len(hosts)} are meant", hint="Name it: --host db1")
    return hosts[0]


def _measure(
    host: Host, what: Measuring, state: Path, name: str, *, chart: Path | None, quiet: bool, as_json: bool
) -> None:
    """Run a measurement, print and draw what came of it, and end with the outcome's code."""
    if chart:
        check_chart(chart)
    folder = RunFolder(state / "runs" / new_run_id())
    with Progress(quiet=quiet or as_json, events=None) as progress:
        outcome = run_on(host, what, folder, progress, name)
    if outcome.status != "ok":
        click.echo(f"rollout: {printable(f'{host.name}: {outcome.error}')}", err=True)
        raise click.exceptions.Exit(outcome.exit_code)
    _show(folder, chart, as_json=as_json)


def _show(folder: RunFolder, chart: Path | None, *, as_json: bool) -> None:
    found = kept_one(folder.path)
    if chart:
        draw(found, chart)
        click.echo(f"the chart is in {printable(str(chart))}", err=True)
    if as_json:
        click.echo(json.dumps(found.result.model_dump(mode="json", by_alias=True), indent=1))
        return
    click.echo("\n".join(printable(line) for line in result_lines(found.result)))


_SHOW = """Show what a run measured, with everything that is needed to repeat it.

\b
Example:
  rollout bench show 20261130t095934-f822 --chart memory.svg
"""


@command.command("show", help=_SHOW)
@click.argument("run_id", required=False)
@click.option("--chart", type=CHART, help="Draw it into an .svg or a .png.")
@state_option
@json_option
def show(*, run_id: str | None, chart: Path | None, state: Path, as_json: bool) -> None:
    """Show one measurement."""
    if chart:
        check_chart(chart)
    _show(find_run(state, run_id, None if run_id else "bench"), chart, as_json=as_json)


_DIFF = """Compare two runs of the same measurement: each figure, the difference, and the noise; no winner within it.

\b
Example:
  rollout bench diff 20261130t095934-f822 20261130t101500-1c2d
"""


@command.command("diff", help=_DIFF)
@click.argument("first")
@click.argument("second")
@state_option
def diff(*, first: str, second: str, state: Path) -> None:
    """Compare two measurements."""
    before, after = (kept_one(find_run(state, run_id).path).result for run_id in (first, second))
    click.echo("\n".join(printable(line) for line in diff_lines(before, after)))
