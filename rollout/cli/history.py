"""`rollout history`: the runs that this controller has made, and how good their predictions were."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from rollout.cli.options import json_option, state_option
from rollout.cli.tables import show, table
from rollout.engine.run_folder import RunFolder, runs
from rollout.prediction.compare import Comparison, Tally, tally
from rollout.report.load import kept_comparison

EXAMPLE = """\b
Example:
  rollout history --json
"""


@click.command(epilog=EXAMPLE)
@state_option
@json_option
def command(state: Path, as_json: bool) -> None:
    """List the runs so far, oldest first, and how often what they measured lay within what was predicted."""
    made = runs(state)
    rows = [_row(run) for run in made]
    tallied = tally(_comparisons(made))
    if as_json:
        click.echo(json.dumps({"schema": 1, "runs": rows, "predictions": [asdict(one) for one in tallied]}, indent=1))
        return
    show(table(("run", "kind", "when", "ended", "operator", "hosts"), (row.values() for row in rows)))
    if tallied:
        show(
            table(
                ("predicted", "judged", "within the range", "of these a wide one", "mean error of the middle"),
                map(_tallied, tallied),
            )
        )


def _comparisons(made: Iterable[RunFolder]) -> Iterator[Comparison]:
    for path in (path for run in made for path in sorted(run.path.glob("hosts/*/comparison.json"))):
        comparison = kept_comparison(path)
        if comparison is not None:
            yield comparison


def _tallied(one: Tally) -> tuple[str, int, int, int, str]:
    error = "not known" if one.mean_relative_error is None else f"{one.mean_relative_error:.0%}"
    return one.name, one.judged, one.within, one.wide, error


def _row(folder: RunFolder) -> dict[str, Any]:
    run = folder.state()
    counted = Counter(host.status for host in run.hosts.values())
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "started_at": datetime.fromtimestamp(run.started_at).astimezone().isoformat(timespec="seconds"),
        "ended": run.ended,
        "operator": run.about.get("operator", ""),
        "hosts": ", ".join(f"{count} {status}" for status, count in sorted(counted.items())),
    }
