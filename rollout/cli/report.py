"""`rollout report`: what came of a run, as a page, as text, or as JSON."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from rollout.cli.options import json_option, state_option
from rollout.engine.run_folder import RunFolder, find_run
from rollout.errors import UsageProblem
from rollout.prediction.ticket import ticket as upstream_text
from rollout.printable import printable
from rollout.report.files import write_whole
from rollout.report.html import render_html
from rollout.report.load import kept_facts, load_report
from rollout.report.text import render_text

MOMENTS = ("before", "before-2", "soaked", "soaked-2")  # as the engine names its samples

_HELP = """Show what was planned, what happened and what came of it, from the run's folder alone.

Without --out the report is printed as text. The page needs no network and no script.

\b
Examples:
  rollout report
  rollout report --run 20261130t095934-f822 --out report.html
  rollout report --ticket --host db1
"""


@click.command(help=_HELP)
@click.option("--run", "run_id", metavar="ID", help="Which run; the last one where it is left out.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html", help="Write the page.")
@click.option("--ticket", is_flag=True, help="Print the text of an upstream report, with both sides' counters.")
@click.option("--host", "name", metavar="NAME", help="Which host --ticket is about.")
@state_option
@json_option
def command(
    *, run_id: str | None, out: Path | None, ticket: bool, name: str | None, state: Path, as_json: bool
) -> None:
    """Show what came of a run."""
    run = find_run(state, run_id)
    if ticket:
        click.echo(printable(_ticket(run, name), lines=True))
        return
    report = load_report(run)
    if out:
        write_whole(out, render_html(report).encode("utf-8"))
        click.echo(f"the report of run {report.run_id} is in {printable(str(out))}", err=True)
    if as_json:
        click.echo(json.dumps({"schema": 1, **asdict(report)}, indent=1))
    elif not out:
        click.echo(render_text(report))


def _ticket(run: RunFolder, name: str | None) -> str:
    """Return the text for one host of the run, from the four looks that the engine kept of it."""
    names = list(run.state().hosts)
    if name is None and len(names) > 1:
        raise UsageProblem("a ticket is about one host", hint=f"Name it with --host: {', '.join(names)}")
    chosen = name or next(iter(names), "")
    looks = [kept_facts(run.host_path(chosen) / f"facts-{moment}.json") for moment in MOMENTS]
    before, again, soaked, last = looks
    if chosen not in names or before is None or again is None or soaked is None or last is None:
        hint = "It needs both samples, before the change and after the soak: a host that was changed with a soak."
        raise UsageProblem(f"run {run.run_id} keeps no counters of both sides for {chosen}", hint=hint)
    return upstream_text((before, again), (soaked, last))
