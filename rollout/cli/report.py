"""`rollout report`: what came of a run, as a page, as text, or as JSON."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from rollout.cli.options import json_option, state_option
from rollout.engine.run_folder import find_run
from rollout.printable import printable
from rollout.report.files import write_whole
from rollout.report.html import render_html
from rollout.report.load import load_report
from rollout.report.text import render_text

_HELP = """Show what was planned, what happened and what came of it, from the run's folder alone.

Without --out the report is printed as text. The page needs no network and no script.

\b
Examples:
  rollout report
  rollout report --run 20261130t095934-f822 --out report.html
"""


@click.command(help=_HELP)
@click.option("--run", "run_id", metavar="ID", help="Which run; the last one where it is left out.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html", help="Write the page.")
@state_option
@json_option
def command(run_id: str | None, out: Path | None, state: Path, as_json: bool) -> None:
    """Show what came of a run."""
    report = load_report(find_run(state, run_id))
    if out:
        write_whole(out, render_html(report).encode("utf-8"))
        click.echo(f"the report of run {report.run_id} is in {printable(str(out))}", err=True)
    if as_json:
        click.echo(json.dumps({"schema": 1, **asdict(report)}, indent=1))
    elif not out:
        click.echo(render_text(report))
