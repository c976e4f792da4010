"""`rollout plan`: look at every host, say what would be done and why, and keep it as a file. Changes nothing."""

import json
import secrets
from datetime import UTC, datetime
from pathlib import Path

import click

from rollout import __version__
from rollout.cli.options import FleetOptions, fleet_options, forks_option, json_option, select_hosts, state_option
from rollout.cli.tables import plan_details, plan_table, show
from rollout.engine.survey import survey
from rollout.facts.form import facts_to_json
from rollout.journal import dump_synced
from rollout.plan.build import resolved
from rollout.plan.compose import FleetPlan, compose
from rollout.plan.drawing import draw, topology_json
from rollout.plan.model import Plan, PlaybookPart, replacing
from rollout.plan.playbook import Playbook, find_playbook, load_playbook
from rollout.printable import printable
from rollout.settings import Host

EXAMPLE = """\b
Example:
  rollout plan inventory.yml --limit 'databases:!canary'
"""


@click.command(epilog=EXAMPLE)
@fleet_options
@click.option("--playbook", default="fix-and-jemalloc", show_default=True, help="One that ships, or a file.")
@click.option(
    "--sample",
    "sample_seconds",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Seconds between the two probes.",
)
@click.option("--no-refresh", is_flag=True, help="Go by the hosts' own package lists; none is fetched.")
@click.option(
    "--replace-allocator",
    is_flag=True,
    help="On all hosts, let jemalloc overrule an allocator that others preload; kept in the plan.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to keep the plan.")
@click.option("--detailed-exitcode", is_flag=True, help="0 nothing to do, 10 changes pending, 11 blocked.")
@forks_option
@state_option
@json_option
def command(
    *,
    fleet: FleetOptions,
    playbook: str,
    sample_seconds: float,
    no_refresh: bool,
    replace_allocator: bool,
    out: Path | None,
    detailed_exitcode: bool,
    forks: int,
    state: Path,
    as_json: bool,
) -> None:
    """Probe every host, say what would be changed there and what for, and save the plan. Changes nothing."""
    chosen = load_playbook(find_playbook(playbook))
    hosts = select_hosts(fleet, chosen)
    if replace_allocator:
        hosts = [replacing(host) for host in hosts]
    plan, composed = _plan(
        fleet, chosen, hosts, forks, sample_seconds, refresh=not no_refresh, replace=replace_allocator
    )
    if no_refresh and any(host.connection.kind != "recorded" for host in hosts):
        told = "apply fetches them, and a host whose repository offers something else then is stale"
        click.echo(f"rollout: package lists are those that the hosts have already (--no-refresh): {told}", err=True)
    path = out or state / "plan.json"
    dump_synced(path, plan.to_json())
    if as_json:
        document = {**plan.to_json(facts=False), "topology": topology_json(composed.order.graph)}
        click.echo(json.dumps(document, indent=1))
    else:
        show(plan_table(plan))
        click.echo(plan_details(plan))
        click.echo(printable(draw(composed.order.graph, plan.waves), lines=True))
        where = f" --plan {out}" if out else "" if state == Path(".rollout") else f" --state-dir {state}"
        run_it = f"; run it with: rollout apply{where}" if any(row.status == "change" for row in plan.hosts) else ""
        click.echo(f"plan {plan.plan_id} is in {path}{run_it}", err=True)
    raise click.exceptions.Exit(_exit_code(plan, detailed=detailed_exitcode))


def _plan(
    fleet: FleetOptions,
    playbook: Playbook,
    hosts: list[Host],
    forks: int,
    sample_seconds: float,
    *,
    refresh: bool,
    replace: bool,
) -> tuple[Plan, FleetPlan]:
    looked = survey(hosts, forks=forks, sample_seconds=sample_seconds, refresh=refresh)
    composed = compose(hosts, looked.seen, looked.lost, playbook)
    demanded = composed.order.constraints
    moment = datetime.now(UTC)
    plan = Plan(
        schema=1,
        plan_id=f"{moment:%Y%m%dt%H%M%S}-{secrets.token_hex(2)}",
        created_at=moment.isoformat(timespec="seconds"),
        program_version=__version__,
        playbook=_part(playbook),
        inventory_sources=tuple(_absolute(source) for source in fleet.sources),
        inventory={host.name: resolved(host) for host in hosts},
        policy=playbook.policy,
        replace_allocator=replace,
        waves=composed.order.waves,
        after={name: tuple(sorted(others)) for name, others in demanded.after.items()},
        one_at_a_time=tuple(tuple(sorted(group)) for group in demanded.one_at_a_time),
        primaries={name: tuple(sorted(others)) for name, others in demanded.primaries.items()},
        hosts=composed.rows,
        facts={name: facts_to_json(seen.first) for name, seen in looked.seen.items()},
    )
    return plan.sealed(), composed


def _absolute(source: str) -> str:
    """Return an inventory's path so that it is found from anywhere; a list of hosts `db1,db2,` stays as it is."""
    return source if "," in source else str(Path(source).resolve())


def _part(playbook: Playbook) -> PlaybookPart:
    return PlaybookPart(
        name=playbook.name,
        source=str(playbook.file.resolve()),
        changes=playbook.changes,
        phases=playbook.phases,
        definition=playbook.model_dump(mode="json"),
    )


def _exit_code(plan: Plan, *, detailed: bool) -> int:
    statuses = {row.status for row in plan.hosts}
    if "unreachable" in statuses:
        return 1
    if not detailed:
        return 0
    if "blocked" in statuses:
        return 11
    return 10 if "change" in statuses else 0
