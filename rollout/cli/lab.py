"""`rollout lab`: a rehearsal fleet of real hosts on this machine."""

import json
import os
from pathlib import Path
from typing import Any, get_args

import click

from rollout.cli.options import json_option, state_option
from rollout.cli.tables import show, table
from rollout.errors import UsageProblem
from rollout.lab import fleet as lab
from rollout.lab.base import upstream
from rollout.lab.layout import MOST_HOSTS, Distro, Place, Topology
from rollout.lab.machine import Machine
from rollout.lab.topology import SIZES

name_option = click.option("--name", default="lab", show_default=True, help="Name of the fleet; several can live.")


def say(text: str) -> None:
    """Tell the person at the terminal what goes on."""
    click.echo(text, err=True)


@click.group()
def command() -> None:
    """Run a rehearsal fleet: real hosts on this machine, each with systemd, sshd, apt and MariaDB (root, Linux).

    \b
    Example:
      rollout lab up --hosts 3
      rollout facts .rollout/lab/lab/inventory.yml
      rollout lab down
    """


@command.command()
@click.option("--hosts", type=click.IntRange(1, MOST_HOSTS), help="How many hosts.  [default: as it is, or 3]")
@click.option("--distro", type=click.Choice(get_args(Distro)), help="[default: as it is, or bookworm]")
@click.option(
    "--topology",
    type=click.Choice(list(SIZES)),
    help="How the hosts hang together.  [default: as it is, or standalone]",
)
@click.option("--hard", is_flag=True, help="Hosts that are hard to work with on purpose: --topology hard.")
@click.option("--publish-fix", is_flag=True, help="Offer the newer release from the start.")
@click.option("--writer/--no-writer", default=True, show_default=True, help="Insert rows on each host all the time.")
@name_option
@state_option
def up(
    *,
    hosts: int | None,
    distro: Distro | None,
    topology: Topology | None,
    hard: bool,
    publish_fix: bool,
    writer: bool,
    name: str,
    state: Path,
) -> None:
    """Bring the fleet up, or what is missing of it.

    Example: rollout lab up --hosts 3 --distro bookworm
    """
    if hard and topology not in {None, "hard"}:
        raise UsageProblem(f"--hard is a topology of its own, beside --topology {topology}", hint="give one of them")
    shape: Topology | None = "hard" if hard else topology
    fleet = lab.up(
        Place(state, name), hosts=hosts, distro=distro, topology=shape, writer=writer, publish=publish_fix, say=say
    )
    say(f"{fleet.record.hosts} host{'s are' if fleet.record.hosts != 1 else ' is'} up. Inventory: {fleet.inventory}")


@command.command()
@name_option
@state_option
def down(name: str, state: Path) -> None:
    """Take the fleet down and remove all that it made.

    Example: rollout lab down --name lab
    """
    say(f"The fleet {name} is down." if lab.down(Place(state, name)) else f"There is no fleet named {name}.")


@command.command()
@name_option
@state_option
@json_option
def status(name: str, state: Path, as_json: bool) -> None:
    """Show the hosts of the fleet and what its repository offers.

    Example: rollout lab status --json
    """
    fleet = lab.find(Place(state, name))
    rows = [_row(machine) for machine in fleet.machines]
    old, new = (upstream(version) for version in (fleet.base.record.old, fleet.base.record.new))
    if as_json:
        document = {"schema": 1, "name": name, "distro": fleet.record.distro, "inventory": str(fleet.inventory)}
        click.echo(json.dumps({**document, "old": old, "new": new, "published": fleet.published, "hosts": rows}))
        return
    shown = ((row[column] or "-" for column in ("name", "address", "state", "mariadb")) for row in rows)
    show(table(("host", "address", "state", "mariadb"), shown, title=f"{name} ({fleet.record.distro})"))
    click.echo(f"The repository offers {new if fleet.published else old}. Inventory: {fleet.inventory}")


def _row(machine: Machine) -> dict[str, Any]:
    """Describe one host as it is now."""
    running = machine.leader() is not None
    script = "systemctl is-system-running; systemctl is-active mariadb"
    said = machine.shell(script).stdout.decode().split() if running else []
    state, server = (*said, "", "")[:2]
    return {"name": machine.wiring.host, "address": machine.wiring.address, "state": state or "off", "mariadb": server}


@command.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@name_option
@state_option
@click.argument("host")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
def ssh(host: str, words: tuple[str, ...], name: str, state: Path) -> None:
    """Open a shell on a host, or run a command there; options stand before the host.

    Example: rollout lab ssh db1 sudo mariadb -e 'SELECT VERSION()'
    """
    line = [*lab.find(Place(state, name)).ssh(host), *words]
    os.execvp(line[0], line)  # noqa: S606 - there is nothing left to do for this process


@command.command()
@name_option
@state_option
def publish(name: str, state: Path) -> None:
    """Put the newer release into the fleet's package repository: "the fix is out".

    Example: rollout lab publish
    """
    fleet = lab.find(Place(state, name))
    fleet.publish()
    say(f"The repository of {name} offers {fleet.base.record.new}.")


@command.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@name_option
@state_option
def reset(hosts: tuple[str, ...], name: str, state: Path) -> None:
    """Put hosts back to their first state (all of them, when none is named).

    Example: rollout lab reset db1
    """
    lab.find(Place(state, name)).reset(*hosts)
    say(f"Back in the first state: {', '.join(hosts) or 'all hosts'}.")
