"""The inventory and the known_hosts file that a fleet writes for `rollout`, for Ansible and for ssh."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import yaml

from rollout.lab.base import BaseRecord, series, upstream
from rollout.lab.layout import Place, Wiring
from rollout.lab.profile import HostProfile
from rollout.lab.seed import host_key
from rollout.settings import Connection, FixRelease, Host, Secret, Settings
from rollout.versions import FIX_RELEASES, parse_upstream

USER = "admin"
SOAK_SECONDS = 1.0  # a rehearsal does not wait two minutes a host


def write_known_hosts(place: Place, fleet: Sequence[Wiring]) -> None:
    """Write the host keys, under the address of each host."""
    lines = [f"{host.address} {host_key(place, host)}\n" for host in fleet]
    place.known_hosts.write_text("".join(lines))


def write_inventory(place: Place, fleet: Sequence[Wiring], profiles: Sequence[HostProfile], base: BaseRecord) -> None:
    """Write the inventory, as Ansible writes one in YAML."""
    fix = fix_releases(base)
    groups: dict[str, dict[str, dict[str, dict[str, str]]]] = {}
    for host, profile in zip(fleet, profiles, strict=True):
        groups.setdefault(profile.group, {"hosts": {}})["hosts"][host.host] = _variables(host, profile)
    content = {
        "all": {
            "vars": {
                "ansible_user": USER,
                "ansible_ssh_private_key_file": str(place.key.absolute()),
                "ansible_ssh_common_args": " ".join(_ssh_options(place.known_hosts)),
                "ansible_become": True,
                "rollout_fix_releases": {name: release.model_dump() for name, release in fix.items()},
                "rollout_soak_seconds": SOAK_SECONDS,
                "rollout_bench": True,
                "rollout_bench_restart": True,
            },
            "children": {"databases": {"children": groups}},
        }
    }
    head = "# Written by `rollout lab up`; `rollout lab down` removes it.\n"
    place.inventory.write_text(head + yaml.safe_dump(content, sort_keys=False, width=1000))


def _variables(host: Wiring, profile: HostProfile) -> dict[str, str]:
    """Return the connection variables in which a host differs from the others."""
    variables = {"ansible_host": host.address}
    if profile.become_password:
        variables["ansible_become_password"] = profile.become_password
    if profile.bastion:
        variables["ansible_ssh_extra_args"] = f"-o ProxyJump={USER}@{profile.bastion}"
    return variables


def fix_releases(base: BaseRecord) -> dict[str, FixRelease]:
    """Return the release to go to; where it carries no fix it is a rehearsal, and nothing is promised for speed."""
    version, known = upstream(base.new), FIX_RELEASES.get(series(base.new))
    carries = not base.stand_in and known is not None and parse_upstream(version) >= parse_upstream(known.version)
    return {series(base.new): FixRelease(version=version, carries_lru_fix=carries)}


def host_value(place: Place, host: Wiring, profile: HostProfile, base: BaseRecord) -> Host:
    """Return the same host as the value that all rooms take."""
    connection = Connection(
        address=host.address,
        user=USER,
        private_key_file=place.key.absolute(),
        become=True,
        become_password=Secret(profile.become_password) if profile.become_password else None,
        proxy_jump=f"{USER}@{profile.bastion}" if profile.bastion else None,
        known_hosts_file=place.known_hosts.absolute(),
    )
    settings = Settings(fix_releases=fix_releases(base), soak_seconds=SOAK_SECONDS, bench=True, bench_restart=True)
    return Host(name=host.host, connection=connection, settings=settings, groups=("all", "databases", profile.group))


def ssh_words(place: Place, host: Wiring, profile: HostProfile) -> list[str]:
    """Return the command line that opens a shell on a host."""
    words = ["ssh", *_ssh_options(place.known_hosts), "-i", str(place.key.absolute())]
    if profile.bastion:
        hop = [*words, "-W", "%h:%p", f"{USER}@{profile.bastion}"]
        words += ["-o", f"ProxyCommand={shlex.join(hop)}"]
    return [*words, f"{USER}@{host.address}"]


def _ssh_options(known_hosts: Path) -> list[str]:
    return ["-o", f"UserKnownHostsFile={known_hosts.absolute()}", "-o", "StrictHostKeyChecking=yes"]
