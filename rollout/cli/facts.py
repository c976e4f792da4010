"""`rollout facts`: what is known of each host, as a table, as JSON, or kept as a recording."""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from rollout.cli.options import FleetOptions, fleet_options, forks_option, json_option, select_hosts
from rollout.cli.tables import Grid, show, table
from rollout.errors import Unreachable
from rollout.facts.form import facts_to_json
from rollout.facts.recording import prepare_recording, write_recording
from rollout.facts.remarks import remarks
from rollout.printable import printable
from rollout.remote import open_transport
from rollout.remote.pool import Done, Failed, Outcome, run_on_all
from rollout.remote.probing import Look, look_at
from rollout.report.facts_table import COLUMNS, row
from rollout.settings import Host

_HELP = """Show what is known of each host. Changes nothing on any of them.

One script asks everything in one round trip. What cannot be found out is unknown, shown as `?` in the table and in
JSON as null with its reason under `unknown`.

\b
Examples:
  rollout facts inventory.yml
  rollout facts inventory.yml --host db1 --json
  rollout facts inventory.yml --record bug-report
  rollout facts bug-report
"""


@click.command(help=_HELP)
@fleet_options
@forks_option
@json_option
@click.option("--refresh", is_flag=True, help="Fetch the package lists first, into a private folder on the host.")
@click.option("--deep", is_flag=True, help="Add what costs more, such as the size of the datadir.")
@click.option(
    "--sample", "sample_seconds", type=click.FloatRange(min=0), metavar="SECONDS", help="Look twice, so far apart."
)
@click.option(
    "--record",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep what the hosts answered, secrets taken out; `rollout facts DIR` reads it again.",
)
def command(
    *,
    fleet: FleetOptions,
    forks: int,
    as_json: bool,
    refresh: bool,
    deep: bool,
    sample_seconds: float | None,
    record: Path | None,
) -> None:
    """Probe, keep, print."""
    hosts = select_hosts(fleet)
    if record is not None:
        prepare_recording(record)
    outcomes = run_on_all(
        hosts, lambda host: _looks(host, sample_seconds, refresh=refresh, deep=deep), forks, on_outcome=_tell
    )
    seen = {name: outcome.value for name, outcome in outcomes.items() if isinstance(outcome, Done)}
    if record is not None:
        write_recording(record, {name: [look.recorded for look in looks] for name, looks in seen.items()})
    if as_json:
        click.echo(json.dumps({"schema": 1, "hosts": [_document(outcomes[host.name]) for host in hosts]}, indent=2))
    elif seen:
        show(_table([host for host in hosts if host.name in seen], seen))
    if ends_with := _exit_code(outcomes.values()):
        raise click.exceptions.Exit(ends_with)


def _looks(host: Host, sample_seconds: float | None, *, refresh: bool, deep: bool) -> list[Look]:
    """Look at a host once, or twice so many seconds apart; a recorded host has its looks at hand."""
    transport = open_transport(host)
    try:
        looks = [look_at(transport, host, refresh=refresh, deep=deep)]
        if sample_seconds is not None:
            time.sleep(0 if host.connection.kind == "recorded" else sample_seconds)
            looks.append(look_at(transport, host, deep=deep))
        return looks
    finally:
        transport.close()


def _exit_code(outcomes: Iterable[Outcome[list[Look]]]) -> int:
    """Return 2 when a file was wrong (a spoiled recording), 1 when a host failed or did not grant root, else 0."""
    codes = [0]
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            codes.append(outcome.error.exit_code)
        elif any(look.refused for look in outcome.value):
            codes.append(1)
    return max(codes)


def _tell(outcome: Outcome[list[Look]]) -> None:
    """Say on stderr what went wrong with a host, or what a person must know of it, as soon as it is known."""
    if isinstance(outcome, Failed):
        click.echo(f"rollout: {printable(str(outcome.error), lines=True)}", err=True)
        return
    for remark in remarks(outcome.value[-1].facts):
        click.echo(f"{outcome.host}: {printable(remark)}", err=True)


def _document(outcome: Outcome[list[Look]]) -> dict[str, Any]:
    """Return one host of the JSON document; `looks` are there when it was looked at twice."""
    if isinstance(outcome, Failed):
        status = "unreachable" if isinstance(outcome.error, Unreachable) else "failed"
        return {"name": outcome.host, "status": status, "error": str(outcome.error), "facts": None}
    looks = [facts_to_json(look.facts) for look in outcome.value]
    refused = outcome.value[-1].refused
    document = {"name": outcome.host, "status": "failed" if refused else "ok", "facts": looks[-1]}
    return document | ({"error": refused} if refused else {}) | ({"looks": looks} if len(looks) > 1 else {})


def _table(hosts: list[Host], seen: dict[str, list[Look]]) -> Grid:
    return table(COLUMNS, (row(seen[host.name][-1].facts, host.settings.fix_releases) for host in hosts))
