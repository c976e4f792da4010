"""The options that most commands share, as decorators, and the way from them to a list of hosts.

A command that works on hosts takes one keyword for all of them:

    @click.command()
    @fleet_options
    @forks_option
    @state_option
    @json_option
    def command(fleet: FleetOptions, forks: int, state: Path, as_json: bool) -> None:
        hosts = select_hosts(fleet)
"""

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import click

from rollout.errors import UsageProblem
from rollout.inventory.hosts import resolve
from rollout.inventory.model import Inventory
from rollout.inventory.selection import choose, unmatched
from rollout.inventory.sources import load_inventory
from rollout.inventory.vault import Vault, vault_of
from rollout.plan.playbook import Playbook
from rollout.settings import Host, Secret

Command = Callable[..., Any]


@dataclass(frozen=True)
class FleetOptions:
    """Which hosts are meant: `sources` as typed, Ansible's pattern `limit` (empty for none), exact `names`."""

    sources: tuple[str, ...] = ()
    limit: str = ""
    names: tuple[str, ...] = ()
    vault: Vault = field(default_factory=Vault)

    @property
    def given(self) -> bool:
        """Whether an inventory was named at all; `apply` goes by the plan file when none was."""
        return bool(self.sources)


def fleet_options(function: Command) -> Command:
    """Add INVENTORY, -i, --limit, --host and the vault's options, given to the command as one `fleet: FleetOptions`."""

    @wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        named = given.pop("inventory")
        typed = ((named,) if named else ()) + given.pop("more_inventories")
        vault = _vault(given.pop("vault_files"), given.pop("vault_ids"), given.pop("ask_vault"))
        fleet = FleetOptions(typed or _from_environment(), given.pop("limit"), given.pop("names"), vault)
        return function(*args, fleet=fleet, **given)

    return decorated(wrapper, _FLEET)


def decorated(command: Command, options: Iterable[Callable[[Command], Command]]) -> Command:
    """Add options to a command; `--help` shows them in the order given."""
    for decorate in reversed(tuple(options)):
        command = decorate(command)
    return command


def _vault(files: tuple[str, ...], identities: tuple[str, ...], ask: bool) -> Vault:
    """Gather the vault's passwords; one is asked for on the terminal if wanted."""
    typed = Secret(click.prompt("Vault password", hide_input=True, err=True)) if ask else None
    return vault_of(files, identities, typed)


def _from_environment() -> tuple[str, ...]:
    """Read ROLLOUT_INVENTORY; only an inventory on the command line takes its place."""
    source = os.environ.get("ROLLOUT_INVENTORY", "")
    return (source,) if source else ()


def _not_blank(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    """Refuse an empty --limit, as from an unset variable of a script: it would mean all hosts."""
    if value is not None and not value.strip():
        raise click.BadParameter("is empty, and would mean all hosts: leave it out, or write all")
    return value or ""


_FLEET: tuple[Callable[[Command], Command], ...] = (
    click.argument("inventory", required=False),
    click.option(
        "-i",
        "--inventory",
        "more_inventories",
        multiple=True,
        metavar="INVENTORY",
        help="Inventory file, directory, executable or list of hosts `db1,db2,`; repeatable. Also: ROLLOUT_INVENTORY.",
    ),
    click.option(
        "-l", "--limit", callback=_not_blank, metavar="PATTERN", help="Only hosts of this pattern, as Ansible reads it."
    ),
    click.option(
        "--host", "names", multiple=True, metavar="NAME", help="Only the host of exactly this name; repeatable."
    ),
    click.option(
        "--vault-password-file",
        "vault_files",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        envvar="ANSIBLE_VAULT_PASSWORD_FILE",
        show_envvar=True,
        help="File with the password of Ansible Vault, or a program that prints it.",
    ),
    click.option("--vault-id", "vault_ids", multiple=True, metavar="LABEL@FILE", help="The same for one vault id."),
    click.option("--ask-vault-pass", "ask_vault", is_flag=True, help="Ask for the password of Ansible Vault."),
)

forks_option = click.option(
    "-f", "--forks", type=click.IntRange(min=1), default=20, show_default=True, help="Hosts worked on at the same time."
)
state_option = click.option(
    "--state-dir",
    "state",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".rollout"),
    envvar="ROLLOUT_STATE",
    show_default=True,
    show_envvar=True,
    help="Folder of plans, journals and reports.",
)
events_option = click.option("--events", metavar="FILE", help="Write events as NDJSON, `-` for stdout.")
progress_option = click.option("--no-progress", is_flag=True, help="Plain lines, no spinner.")
hooks_option = click.option(
    "--skip-hooks", default="", metavar="REASON", help="Run no hooks; the reason stands in the journal."
)
lock_option = click.option(
    "--take-over-lock", default="", metavar="RUN", help="Take the lock over from a run that is dead."
)
patience_option = click.option(
    "--patience",
    "patience_seconds",
    type=click.FloatRange(min=0),
    default=300.0,
    show_default=True,
    help="Seconds that a host may be out of reach before it is given up; what runs there goes on by itself.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout, nothing else.")


def read_inventory(fleet: FleetOptions, playbook: Playbook | None = None) -> Inventory:
    """Read the inventories that were named. Raises `UsageProblem` when none was, `ConfigProblem` for mistakes."""
    if not fleet.given:
        raise UsageProblem(
            "no inventory was named", hint="name one as `rollout COMMAND inventory.yml`, or set ROLLOUT_INVENTORY"
        )
    return load_inventory(fleet.sources, fleet.vault, playbook.file if playbook else None)


def select_names(fleet: FleetOptions, inventory: Inventory, pattern: str = "") -> list[str]:
    """Name the hosts that were asked for, in order; terms of --limit that match nothing are warned of on stderr."""
    for term in unmatched(inventory, fleet.limit) if fleet.limit else ():
        click.echo(f"rollout: --limit: '{term}' matches no host and no group", err=True)
    return choose(inventory, pattern=pattern, limit=fleet.limit, names=fleet.names)


def select_hosts(fleet: FleetOptions, playbook: Playbook | None = None) -> list[Host]:
    """Resolve the hosts that were asked for, in order, with the `hosts`, `vars` and `order` of a playbook if any.

    Raises `UsageProblem` or `ConfigProblem`, with all mistakes at once.
    """
    inventory = read_inventory(fleet, playbook)
    if playbook is None:
        return resolve(inventory, select_names(fleet, inventory), fleet.vault)
    names = playbook.in_order(select_names(fleet, inventory, playbook.hosts))
    return resolve(inventory, names, fleet.vault, playbook.variables)


def select_hosts_of(fleet: FleetOptions, playbook: Playbook, planned: Collection[str]) -> list[Host]:
    """Resolve the hosts that were asked for, whatever the playbook's `hosts` say; its `vars` hold for those `planned`.

    Raises `UsageProblem` or `ConfigProblem`, with all mistakes at once.
    """
    inventory = read_inventory(fleet, playbook)
    names = select_names(fleet, inventory)
    theirs = resolve(inventory, [name for name in names if name in planned], fleet.vault, playbook.variables)
    others = resolve(inventory, [name for name in names if name not in planned], fleet.vault)
    found = {host.name: host for host in (*theirs, *others)}
    return [found[name] for name in names]
