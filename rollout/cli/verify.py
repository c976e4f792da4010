"""`rollout verify`: the checks on live hosts, for people, for CI and for monitoring."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from rollout.checks.model import HostResults
from rollout.cli.options import FleetOptions, fleet_options, forks_option, json_option, select_hosts
from rollout.cli.tables import Grid, cell, show, table
from rollout.engine.verify import verify_all
from rollout.plan.playbook import find_playbook, load_playbook
from rollout.report.files import write_whole
from rollout.report.junit import junit
from rollout.report.prometheus import prometheus
from rollout.report.results import results_to_json
from rollout.settings import Host

STYLES = {"pass": "green", "fail": "red", "warn": "yellow", "skip": "dim"}

_HELP = """Run every check on live hosts; ends with 1 when one fails or a host cannot be reached. Changes nothing.

What is wanted comes from the inventory's settings and the playbook. No check passes on a value that is unknown.

\b
Examples:
  rollout verify inventory.yml
  rollout verify inventory.yml --limit replicas --junit verify.xml
  rollout verify inventory.yml --watch --watch-limit 900
"""


@dataclass(frozen=True)
class Outputs:
    """Where the results go beside the terminal."""

    as_json: bool
    junit: Path | None
    textfile: Path | None
    every: bool


@click.command(help=_HELP)
@fleet_options
@click.option("--playbook", default="fix-and-jemalloc", show_default=True, help="What is wanted: ships, or a file.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write a JUnit file for CI.")
@click.option(
    "--textfile", type=click.Path(dir_okay=False, path_type=Path), help="Write Prometheus text for node_exporter."
)
@click.option("--every", is_flag=True, help="Show every check, not only those that fail or warn.")
@click.option("--watch", is_flag=True, help="Look again and again until nothing fails.")
@click.option("--watch-limit", default=600.0, show_default=True, help="Seconds after which --watch gives up.")
@click.option("--watch-pause", default=5.0, show_default=True, help="Seconds between two looks of --watch.")
@forks_option
@json_option
def command(
    *,
    fleet: FleetOptions,
    playbook: str,
    junit: Path | None,
    textfile: Path | None,
    every: bool,
    watch: bool,
    watch_limit: float,
    watch_pause: float,
    forks: int,
    as_json: bool,
) -> None:
    """Run every check on live hosts."""
    chosen = load_playbook(find_playbook(playbook))
    hosts = select_hosts(fleet, chosen)
    started = time.monotonic()

    def look(some: Sequence[Host]) -> tuple[HostResults, ...]:
        return verify_all(some, chosen.changes, forks)

    found = _until_healthy(hosts, look, watch_limit, watch_pause) if watch else look(hosts)
    _hand_out(found, Outputs(as_json, junit, textfile, every), time.monotonic() - started)
    raise click.exceptions.Exit(int(any(host.status == "fail" for host in found)))


def _until_healthy(
    hosts: Sequence[Host],
    look: Callable[[Sequence[Host]], tuple[HostResults, ...]],
    limit_seconds: float,
    pause_seconds: float,
) -> tuple[HostResults, ...]:
    """Look again at the hosts that fail until none does or the limit is over; the last results of each."""
    deadline = time.monotonic() + limit_seconds
    found: dict[str, HostResults] = {}
    left = list(hosts)
    while True:
        found |= {host.name: host for host in look(left)}
        left = [host for host in hosts if found[host.name].status == "fail"]
        if not left or time.monotonic() + pause_seconds > deadline:
            return tuple(found[host.name] for host in hosts)
        click.echo(f"rollout: {len(left)} of {len(hosts)} hosts fail; looking again", err=True)
        time.sleep(pause_seconds)


def _hand_out(found: Sequence[HostResults], outputs: Outputs, seconds: float) -> None:
    moment = datetime.now(UTC)
    if outputs.junit:
        write_whole(outputs.junit, junit(found, moment, seconds))
    if outputs.textfile:
        write_whole(outputs.textfile, prometheus(found, moment).encode())
    if outputs.as_json:
        click.echo(json.dumps(results_to_json(found), indent=1))
        return
    show(results_table(found, every=outputs.every))
    states = [host.status for host in found]
    counts = ", ".join(f"{states.count(state)} {state}" for state in STYLES if state in states)
    click.echo(f"{len(found)} host{'s' * (len(found) != 1)} in {seconds:.1f} s: {counts}", err=True)


def results_table(found: Sequence[HostResults], *, every: bool = False) -> Grid:
    """Show a row for each check that fails or warns (or for every one), and one for a host where none does."""
    rows = []
    for host in found:
        shown = [result for result in host.results if every or result.status in ("fail", "warn")]
        if not shown:
            rows.append([host.name, cell(host.status, STYLES[host.status]), "", f"{len(host.results)} checks", ""])
        for result in shown:
            cause = f" ({result.cause})" if result.cause else ""
            status = cell(result.status, STYLES[result.status])
            rows.append([host.name, status, result.id, result.found + cause, result.expected])
    return table(("host", "status", "check", "found", "expected"), rows)
