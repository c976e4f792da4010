"""`rollout rollback`: take back what a run did, by the record that it left on each host."""

import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from rollout.cli.options import (
    FleetOptions,
    events_option,
    fleet_options,
    hooks_option,
    json_option,
    lock_option,
    patience_option,
    progress_option,
    select_hosts,
    select_hosts_of,
    state_option,
)
from rollout.cli.progress import Progress
from rollout.cli.runs import host_documents
from rollout.cli.tables import outcome_table, show
from rollout.engine.lookback import look_back
from rollout.engine.loop import identified, roll_back_hosts
from rollout.engine.run_folder import OpenRun, RunFolder, close_behind, dead_runs, new_run_id, reached_by_plan, runs
from rollout.engine.steps import Options
from rollout.errors import ConfigProblem, StalePlan, UsageProblem
from rollout.plan.model import Plan
from rollout.plan.playbook import load_playbook
from rollout.plan.way_back import Reached, way_back
from rollout.printable import printable
from rollout.remote.recorded import refuse_recorded
from rollout.settings import Host

EXAMPLE = """\b
Example:
  rollout rollback inventory.yml --host db1
"""


@click.command(epilog=EXAMPLE)
@fleet_options
@click.option("--run", "run_id", default="", metavar="ID", help="The run to take back, instead of the last one.")
@click.option("--accept-drift", is_flag=True, help="Go over files that somebody changed since.")
@click.option(
    "--accept-unknown-primary",
    is_flag=True,
    help="Take a replica back although nobody knows what its primary runs, which must not be newer.",
)
@hooks_option
@lock_option
@patience_option
@click.option("--yes", is_flag=True, help="Do not ask. It is asked only where no host is named.")
@events_option
@progress_option
@state_option
@json_option
def command(
    *,
    fleet: FleetOptions,
    run_id: str,
    accept_drift: bool,
    accept_unknown_primary: bool,
    skip_hooks: str,
    take_over_lock: str,
    patience_seconds: float,
    yes: bool,
    events: str | None,
    no_progress: bool,
    state: Path,
    as_json: bool,
) -> None:
    """Take back what the last run (or --run) did on each host, in reverse order. Needs only the inventory.

    Without an inventory it takes that of the last apply here, and all hosts of it unless some are named.
    """
    if as_json and events == "-":
        raise UsageProblem("--json and --events - do not go together: both write to stdout")
    last = _last_apply(state, run_id)
    source = fleet if fleet.given or last is None else replace(fleet, sources=last.plan().inventory_sources)
    plan = _plan_of(last)
    hosts = {host.name: host for host in _hosts(source, plan)}
    refuse_recorded(hosts.values())
    everyone = {**_neighbourhood(source), **hosts}
    seen = look_back(list(hosts.values()), everyone, run_id)
    for name in (name for name in seen.silent if name in hosts):
        told = f"it is asked again, and given up when it is out of reach for {patience_seconds:g} s (--patience)"
        click.echo(f"rollout: {printable(seen.silent[name])}; {told}", err=True)
    reached = reached_by_plan(state, plan.plan_id) if plan else Reached()
    back = way_back(plan, everyone, hosts, reached, seen, accept_unknown=accept_unknown_primary)
    _ask([name for wave in back.waves for name in wave], yes=bool(yes or fleet.names or fleet.limit))
    locks = (*dead_runs(state), *([take_over_lock] if take_over_lock else []))
    options = identified(
        Options(
            accept_drift=accept_drift,
            skip_hooks=skip_hooks,
            take_over_locks=locks,
            patience_seconds=patience_seconds,
        )
    )
    folder = RunFolder(state / "runs" / new_run_id())
    with (
        Progress(quiet=no_progress or as_json, events=events) as progress,
        closing(OpenRun(folder, progress)) as run,
    ):
        result = roll_back_hosts(hosts, back, run, options, run_id, everyone=everyone)
    close_behind(state, [name for name, end in result.outcomes.items() if end.status == "rolled_back"])
    if as_json:
        click.echo(json.dumps({"schema": 1, "run_id": result.run_id, "hosts": host_documents(folder)}, indent=1))
    else:
        show(outcome_table(result.outcomes))
    raise click.exceptions.Exit(result.exit_code)


def _ask(names: list[str], *, yes: bool) -> None:
    """Ask for a word when no host was named: then the whole fleet is meant."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageProblem("there is no terminal to ask on", hint="Name the hosts with --host, or say --yes.")
    if not click.confirm(f"Take back {', '.join(names)}?"):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(0)


def _plan_of(last: RunFolder | None) -> Plan | None:
    """Return the plan of the run that is taken back; None where this controller has none that can be read."""
    if last is None:
        return None
    try:
        return last.plan()
    except (ConfigProblem, StalePlan) as problem:
        click.echo(f"the order is the inventory's, turned round: {problem.message}", err=True)
        return None


def _hosts(fleet: FleetOptions, plan: Plan | None) -> list[Host]:
    """Resolve the hosts, with the `vars` of the playbook that they were changed by, where it can still be read."""
    if plan is None:
        return select_hosts(fleet)
    try:
        playbook = load_playbook(Path(plan.playbook.source))
    except ConfigProblem as problem:
        click.echo(f"the inventory's settings hold, without the vars of a playbook: {problem.message}", err=True)
        return select_hosts(fleet)
    return select_hosts_of(fleet, playbook, plan.inventory)


def _neighbourhood(fleet: FleetOptions) -> dict[str, Host]:
    """Resolve all hosts of the inventory; none where one that is not taken back has a mistake in it."""
    try:
        return {host.name: host for host in select_hosts(replace(fleet, names=(), limit=""))}
    except ConfigProblem as problem:
        click.echo(f"other hosts of the inventory are not looked at: {problem.message}", err=True)
        return {}


def _last_apply(state: Path, run_id: str) -> RunFolder | None:
    """Return the apply that is meant, where this controller made it; the host's own record serves elsewhere."""
    made = [run for run in runs(state) if run.state().kind == "apply" and (not run_id or run.run_id == run_id)]
    return made[-1] if made else None
