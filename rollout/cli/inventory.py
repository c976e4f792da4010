"""`rollout inventory`: what an inventory means, in the words of `ansible-inventory --list`."""

import json

import click

from rollout.cli.options import FleetOptions, fleet_options, json_option, read_inventory, select_hosts, select_names
from rollout.cli.tables import cell, show, table
from rollout.inventory.listing import as_json as listing_json
from rollout.inventory.listing import listing
from rollout.settings import Host


@click.command(
    epilog="Example: rollout inventory inventory.yml --limit 'databases:!db3' --hosts",
)
@fleet_options
@json_option
@click.option("--hosts", "only_names", is_flag=True, help="Only the names of the hosts, one a line, in their order.")
def command(fleet: FleetOptions, as_json: bool, only_names: bool) -> None:
    """Show hosts, groups and variables of an inventory.

    --json prints what `ansible-inventory --list` prints, values as written; without it every host is resolved, so
    that all mistakes of the inventory come to light.
    """
    if as_json and only_names:
        raise click.UsageError("--json and --hosts exclude each other")
    if not (as_json or only_names):
        _show(select_hosts(fleet))
        return
    inventory = read_inventory(fleet)
    names = select_names(fleet, inventory)
    click.echo(listing_json(listing(inventory, names)) if as_json else "\n".join(names))


def _show(hosts: list[Host]) -> None:
    show(table(("host", "connection", "user", "groups", "settings"), map(_row, hosts)))


def _row(host: Host) -> list[object]:
    groups = ", ".join(name for name in host.groups if name != "all")
    return [host.name, _way(host), host.connection.user or "", groups, cell(_settings(host), lines=True)]


def _way(host: Host) -> str:
    """Say in a few words how a host is reached."""
    connection = host.connection
    if connection.kind == "recorded":
        return f"recorded in {connection.recording}"
    if connection.kind == "local":
        return "this machine"
    port = f" port {connection.port}" if connection.port else ""
    jump = f" through {connection.proxy_jump}" if connection.proxy_jump else ""
    return f"ssh {connection.address}{port}{jump}"


def _settings(host: Host) -> str:
    """Show the settings that were set, as their author named them, each as JSON."""
    values = host.settings.model_dump(mode="json", exclude_unset=True)
    return "\n".join(f"{name}: {json.dumps(values[name], ensure_ascii=False)}" for name in sorted(values))
