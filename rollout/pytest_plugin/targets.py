"""Which hosts pytest is to check, and the way to each: our own connections, or one of testinfra's backends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pytest
import testinfra

from rollout.changes.model import Kind
from rollout.inventory.hosts import resolve
from rollout.inventory.selection import choose
from rollout.inventory.sources import load_inventory
from rollout.plan.playbook import Playbook, find_playbook, load_playbook
from rollout.pytest_plugin.backend import SCHEME, BackendTransport
from rollout.remote import open_transport
from rollout.remote.transport import Transport
from rollout.settings import Connection, Host


@dataclass(frozen=True)
class Target:
    """One host to check, and how to open the way to it."""

    host: Host
    connect: Callable[[], Transport]


@dataclass(frozen=True)
class Targets:
    """All hosts of a session by name, and the changes that their checks are about."""

    by_name: Mapping[str, Target]
    kinds: tuple[Kind, ...]


def find_targets(config: pytest.Config) -> Targets:
    """Read the options. Raises `UsageProblem` or `ConfigProblem`; empty where no option of ours was given."""
    inventory: Sequence[str] = config.getoption("rollout_inventory")
    playbook = load_playbook(find_playbook(config.getoption("rollout_playbook")))
    hosts = _of_inventory(inventory, config.getoption("rollout_limit"), playbook) if inventory else []
    if config.getoption("rollout_checks") and config.getoption("hosts"):
        return Targets(_of_testinfra(config, {host.name: host for host in hosts}), playbook.changes)
    return Targets({host.name: Target(host, partial(open_transport, host)) for host in hosts}, playbook.changes)


def _of_inventory(sources: Sequence[str], limit: str, playbook: Playbook) -> list[Host]:
    inventory = load_inventory(sources, playbook=playbook.file)
    names = playbook.in_order(choose(inventory, pattern=playbook.hosts, limit=limit))
    return resolve(inventory, names, extra=playbook.variables)


def _of_testinfra(config: pytest.Config, known: Mapping[str, Host]) -> dict[str, Target]:
    """Take the hosts of `--hosts`; their settings come from the inventory's host of that name or address, if any."""
    by_address = {host.connection.address: host for host in known.values()}
    words = (
        *("connection", "ssh_config", "ssh_identity_file", "ssh_extra_args"),
        *("sudo", "sudo_user", "ansible_inventory", "force_ansible"),
    )
    options = {name: config.getoption(name) for name in words}
    targets = {}
    for backend in testinfra.get_hosts(config.getoption("hosts").split(","), **options):
        name = backend.backend.get_hostname()
        host = known.get(name) or by_address.get(name) or Host(name, Connection())
        targets[host.name] = Target(host, partial(BackendTransport, host.name, backend.run))
    return targets


def hostspecs(targets: Targets) -> str:
    """Name the targets as testinfra's `--hosts` takes them, over our own connections."""
    return ",".join(f"{SCHEME}://{name}" for name in targets.by_name)
