"""`rollout status`: where each host of a run stands."""

import json
from pathlib import Path

import click

from rollout.cli.options import json_option, state_option
from rollout.cli.runs import host_documents
from rollout.cli.tables import STYLES, cell, show, table
from rollout.engine.run_folder import find_run, unfinished
from rollout.journal import HostState

EXAMPLE = """\b
Example:
  rollout status --json
"""


@click.command(epilog=EXAMPLE)
@click.option("--run", "run_id", default=None, metavar="ID", help="Instead of the last run.")
@state_option
@json_option
def command(run_id: str | None, state: Path, as_json: bool) -> None:
    """Show the hosts of the last run: how far each came, what holds a lock, and what to do."""
    folder = find_run(state, run_id)
    run = folder.state()
    if as_json:
        document = {"schema": 1, "run_id": run.run_id, "kind": run.kind, "ended": run.ended}
        click.echo(json.dumps({**document, "hosts": host_documents(folder)}, indent=1))
        return
    title = f"run {run.run_id} ({run.kind}, {'ended' if run.ended else 'cut off, or still at work'})"
    show(table(("host", "status", "last phase", "lock", "what"), (_row(host) for host in run.hosts.values()), title))
    for other in unfinished(state):
        hosts = " ".join(f"--host {name}" for name, host in other.state().hosts.items() if host.status == "unknown")
        click.echo(
            f"run {other.run_id} was cut off; go on with: rollout apply --resume --run {other.run_id}; "
            f"or take it back with: rollout rollback {hosts}",
            err=True,
        )
    for other in unfinished(state, "bench"):
        hosts = " ".join(f"--host {name}" for name, host in other.state().hosts.items() if not host.finished)
        click.echo(
            f"measurement {other.run_id} was cut off, or is still at work; its host puts itself back at the end; "
            f"end it, and see that nothing is left, with: rollout rollback {hosts}",
            err=True,
        )


def _row(host: HostState) -> list[object]:
    last = host.phases[-1] if host.phases else None
    phase = f"{last.phase.replace('_', ' ')} {last.status}" if last else "-"
    lock = "held" if host.holds_lock else "-"
    return [host.name, cell(host.status, STYLES.get(host.status, "")), phase, lock, host.error]
