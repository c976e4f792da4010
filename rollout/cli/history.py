"""`rollout history`: the runs that this controller has made."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from rollout.cli.options import json_option, state_option
from rollout.cli.tables import show, table
from rollout.engine.run_folder import RunFolder, runs

EXAMPLE = """\b
Example:
  rollout history --json
"""


@click.command(epilog=EXAMPLE)
@state_option
@json_option
def command(state: Path, as_json: bool) -> None:
    """List the runs so far, oldest first."""
    rows = [_row(run) for run in runs(state)]
    if as_json:
        click.echo(json.dumps({"schema": 1, "runs": rows}, indent=1))
        return
    show(table(("run", "kind", "when", "ended", "operator", "hosts"), (row.values() for row in rows)))


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
