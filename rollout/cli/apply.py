"""`rollout apply`: run the saved plan, host by host, with the way back prepared before each change."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from rollout.cli.choices import policy_choices, run_choices
from rollout.cli.options import (
    FleetOptions,
    events_option,
    fleet_options,
    json_option,
    progress_option,
    select_hosts,
    state_option,
)
from rollout.cli.progress import Progress
from rollout.cli.runs import host_documents
from rollout.cli.tables import outcome_table, plan_details, plan_table, show, table
from rollout.engine.loop import RunResult, apply_plan
from rollout.engine.rehearse import rehearse
from rollout.engine.run_folder import OpenRun, RunFolder, new_run_id, run_to_resume
from rollout.engine.steps import Options
from rollout.errors import StalePlan, UsageProblem
from rollout.plan.build import resolved
from rollout.plan.model import Plan, load_plan
from rollout.plan.playbook import load_playbook
from rollout.remote.recorded import refuse_recorded
from rollout.settings import Host

EXAMPLE = """\b
Example:
  rollout apply --host db1        one host of the saved plan
  rollout apply --resume          go on with a run that was cut off
"""
INTERRUPTED = (
    "run {run_id} was interrupted. A change that has begun goes on by itself on its host, which stays locked. "
    "See how far it came with rollout status; go on with rollout apply --resume, or go back with rollout rollback."
)


@click.command(epilog=EXAMPLE)
@fleet_options
@click.option("--plan", "plan_file", type=click.Path(dir_okay=False, path_type=Path), help="Instead of the last plan.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--check", is_flag=True, help="Try all that preflight tries; change nothing.")
@click.option("--resume", is_flag=True, help="Go on with the last run that was cut off, on the hosts of that run.")
@click.option("--run", "run_id", default=None, metavar="ID", help="With --resume: the run to go on with.")
@policy_choices
@run_choices
@events_option
@progress_option
@state_option
@json_option
def command(
    *,
    fleet: FleetOptions,
    plan_file: Path | None,
    yes: bool,
    check: bool,
    resume: bool,
    run_id: str | None,
    asked: dict[str, bool],
    options: Options,
    events: str | None,
    no_progress: bool,
    state: Path,
    as_json: bool,
) -> None:
    """Run the saved plan: lock, backup, way back, change, proof. Asks once unless --yes."""
    if (check and resume) or (run_id and not resume) or (as_json and events == "-"):
        raise UsageProblem("--check with --resume, --run without it, and --json with --events - do not go together")
    folder = run_to_resume(state, run_id) if resume else RunFolder(state / "runs" / new_run_id())
    plan = _under(folder.plan() if resume else load_plan(plan_file or state / "plan.json"), asked)
    hosts = _hosts_of(plan, fleet)
    earlier = folder.state() if resume else None
    if earlier and not fleet.given and not fleet.names and not fleet.limit:
        hosts = {name: host for name, host in hosts.items() if name in earlier.hosts}
    if not as_json:
        chosen = plan.model_copy(update={"hosts": tuple(row for row in plan.hosts if row.name in hosts)})
        show(plan_table(chosen))
        click.echo(plan_details(chosen))
    if check:
        raise click.exceptions.Exit(_check(plan, hosts, options, as_json=as_json))
    _ask(hosts, yes=yes)
    everyone = _everyone(plan, fleet, hosts)
    with (
        _said_when_interrupted(folder),
        Progress(quiet=no_progress or as_json, events=events) as progress,
        closing(OpenRun(folder, progress)) as run,
    ):
        run.keep_plan(plan)
        result = apply_plan(plan, hosts, run, options, everyone=everyone, earlier=earlier, go_on=_go_on)
    _tell(folder, result, as_json=as_json)
    raise click.exceptions.Exit(result.exit_code)


@contextmanager
def _said_when_interrupted(folder: RunFolder) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        click.echo(INTERRUPTED.format(run_id=folder.run_id), err=True)
        raise


def _under(plan: Plan, asked: dict[str, bool]) -> Plan:
    """Return the plan with what the operator asked of its policy on top."""
    policy = plan.policy.model_copy(update={name: True for name, wanted in asked.items() if wanted})
    return plan.model_copy(update={"policy": policy}).sealed()


def _everyone(plan: Plan, fleet: FleetOptions, hosts: dict[str, Host]) -> dict[str, Host]:
    """Return all hosts of the plan where a cluster, replicas or primaries are not all chosen: these are asked, too."""
    clusters = (set(group) for group in plan.one_at_a_time if hosts.keys() & set(group))
    replicas = (set(plan.after.get(name, ())) for name in hosts)
    primaries = ({primary} for primary, those in plan.after.items() if hosts.keys() & set(those))
    if all(hosts.keys() >= group for group in (*clusters, *replicas, *primaries)):
        return hosts
    return _hosts_of(plan, replace(fleet, limit="", names=()))


def _hosts_of(plan: Plan, fleet: FleetOptions) -> dict[str, Host]:
    """Resolve the hosts anew, and refuse a plan that was made for another inventory than the one of today."""
    source = fleet if fleet.given else replace(fleet, sources=plan.inventory_sources)
    hosts = {host.name: host for host in plan.over(select_hosts(source, load_playbook(Path(plan.playbook.source))))}
    named = {name: host for name, host in hosts.items() if name in plan.inventory}
    strangers = sorted(hosts.keys() - named.keys())
    if strangers and (fleet.names or fleet.limit):
        hint = f"It was made for {', '.join(plan.inventory)}: name those, or make a fresh plan with: rollout plan"
        raise StalePlan(f"the plan has no host {', '.join(strangers)}", hint=hint)
    if strangers and fleet.given and named.keys() != plan.inventory.keys():
        hint = "Make a fresh plan with: rollout plan"
        raise StalePlan(f"the plan was made for another inventory: it has no host {', '.join(strangers)}", hint=hint)
    changed = [name for name, host in named.items() if resolved(host) != plan.inventory[name]]
    if changed:
        hint = "Make a fresh plan with: rollout plan"
        raise StalePlan(f"the inventory says something else now than in the plan: {', '.join(changed)}", hint=hint)
    refuse_recorded(named.values())
    return named


def _ask(hosts: dict[str, Host], *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageProblem("there is no terminal to ask on", hint="Say --yes when the plan has been read.")
    if not click.confirm(f"Change {', '.join(hosts)} now?"):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(0)


def _check(plan: Plan, hosts: dict[str, Host], options: Options, *, as_json: bool) -> int:
    """Try everything that preflight tries, show it, and return the exit code."""
    tried = rehearse(plan, hosts, options, forks=len(hosts))
    if as_json:
        rows = [{"name": name, "preflight": [vars(entry) for entry in entries]} for name, entries in tried.items()]
        click.echo(json.dumps({"schema": 1, "hosts": rows}, indent=1))
    else:
        lines = ((name, entry.id, entry.status, entry.seen) for name, entries in tried.items() for entry in entries)
        show(table(("host", "tried", "came out", "seen"), lines))
    return 1 if any(entry.status == "fail" for entries in tried.values() for entry in entries) else 0


def _go_on(reason: str) -> bool:
    """Ask a person whether the next wave may begin; without a terminal nobody can say yes."""
    return sys.stdin.isatty() and click.confirm(f"{reason}. Go on?")


def _tell(folder: RunFolder, result: RunResult, *, as_json: bool) -> None:
    if as_json:
        document = {"schema": 1, "run_id": result.run_id, "stopped": result.stopped, "hosts": host_documents(folder)}
        click.echo(json.dumps(document, indent=1))
        return
    show(outcome_table(result.outcomes))
    if result.stopped:
        click.echo(f"stopped by the policy: {result.stopped}", err=True)
    click.echo(f"run {result.run_id} is in {folder.path}", err=True)
