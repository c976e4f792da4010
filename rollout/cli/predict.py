"""`rollout predict`: each server version for a workload that somebody describes in a file."""

import json
from pathlib import Path

import click

from rollout.cli.options import json_option
from rollout.cli.tables import Grid, show, table
from rollout.errors import UsageProblem
from rollout.prediction.chart import draw
from rollout.prediction.counters import operations
from rollout.prediction.curves import Curve, over_cores, over_threads
from rollout.prediction.described import INPUTS, DescribedPrediction, predict_described
from rollout.prediction.ranges import Range
from rollout.prediction.workload import load_workload

_HELP = """Predict each server version for the workload that WORKLOAD describes.

The threads ask again as soon as they are answered, so what comes out is the highest rate, not that of a live host
(for that see `rollout plan`). docs/prediction.md names the model and its assumptions.

\b
Example:
  $ cat points.yml
  name: point lookups, all in memory
  threads: 40
  cores: 52
  pool_bytes: 100GiB          # innodb_buffer_pool_size
  data_bytes: 19GiB           # pages of the working set
  unread_bytes: 0             # pages in the list that nobody reads
  leaf_reads_per_query: 100   # page touches below the root and branch pages
  access: uniform             # or {zipf: 0.9}, {pareto: [0.2, 0.8]}
  think_us_per_query: 701     # may be a map by policy
  $ rollout predict points.yml --threads 1,2,4,8,16,40,80 --chart points.svg
"""


def _counts(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """Read whole numbers with commas between them."""
    words = value.split(",") if value else []
    if not all(word.strip().isdecimal() and 1 <= int(word) <= 4096 for word in words):
        raise click.BadParameter(f"{value!r} is no list of numbers from 1 to 4096 such as 1,4,16")
    return tuple(int(word) for word in words)


@click.command(help=_HELP)
@click.argument("workload", type=click.Path(path_type=Path))
@click.option("--threads", callback=_counts, default="", metavar="N,N,...", help="Places on the curve over threads.")
@click.option("--cores", callback=_counts, default="", metavar="N,N,...", help="Places on the curve over cores.")
@click.option("--chart", type=click.Path(path_type=Path, dir_okay=False), help="Draw the curves into an .svg or .png.")
@json_option
def command(
    workload: Path, threads: tuple[int, ...], cores: tuple[int, ...], chart: Path | None, as_json: bool
) -> None:
    """Read, predict, print."""
    if chart and chart.suffix not in {".svg", ".png"}:
        raise UsageProblem(f"{chart}: a chart is an .svg or a .png file")
    work = load_workload(workload)
    forecast = predict_described(work, operations)
    curves = (over_threads(work, operations, threads), over_cores(work, operations, cores))
    if chart:
        draw(curves, work.name or workload.name, chart)
    if as_json:
        click.echo(json.dumps({**forecast.to_json(), "curves": {each.over: each.to_json() for each in curves}}))
    else:
        _print(forecast, curves)


def _print(forecast: DescribedPrediction, curves: tuple[Curve, ...]) -> None:
    show(_policies(forecast))
    for curve in curves:
        show(_curve(curve))
    click.echo(f"gain of the fix over 10.5 to 11.8.9: {_shown(forecast.gain)}")
    click.echo(f"what drives the range: {INPUTS[forecast.driver]}")
    click.echo(f"mutex: {forecast.cost.source}")


def _policies(forecast: DescribedPrediction) -> Grid:
    work, rows = forecast.work, []
    for policy, each in forecast.policies.items():
        middles = (each.latency_ms.mid, each.operations.promotions, each.mutex_utilisation.mid)
        cells = (f"{value:.3g}" for value in middles)
        rows.append((policy, _shown(each.queries_per_second), *cells, f"{each.operations.hit_ratio:.4f}"))
    title = f"{work.name or 'workload'}: {work.threads} threads, {work.cores} cores"
    headings = ("policy", "queries/s", "latency ms", "promotions a query", "mutex in use", "hit ratio")
    return table(headings, rows, title, numbers=True)


def _curve(curve: Curve) -> Grid:
    rows = []
    for point in curve.points:
        speeds = (_shown(point.queries_per_second[name]) for name in ("mariadb-10.5", "mariadb-fix"))
        rows.append((point.at, *speeds, _shown(point.gain)))
    headings = (curve.over, "10.5 to 11.8.9, queries/s", "with the fix, queries/s", "gain")
    return table(headings, rows, f"over {curve.over}", numbers=True)


def _shown(value: Range) -> str:
    low, mid, high = (f"{each:,.0f}" if each >= 1000 else f"{each:.3g}" for each in (value.low, value.mid, value.high))
    return mid if low == high else f"{mid} ({low} to {high})"
