"""Where a fleet keeps its things, and the names and addresses that follow from its name."""

import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rollout.errors import UsageProblem

Distro = Literal["bookworm", "trixie", "rpm", "suse"]
Topology = Literal["standalone", "replication", "galera", "mixed", "hard"]
NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
UNNAMEABLE = re.compile(r"[\s:,\\'\"]")
FIRST_HOST = 11  # the addresses below are the controller's and a reserve
MOST_HOSTS = 200


def cache_folder() -> Path:
    """Return the folder of the base trees: `$XDG_CACHE_HOME/rollout`, or `~/.cache/rollout`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "rollout"


def check_name(name: str) -> str:
    """Return `name` when links, folders and hosts can be named after it, else raise `UsageProblem`."""
    if NAME.fullmatch(name):
        return name
    raise UsageProblem(
        f"{name!r} cannot be the name of a fleet",
        hint="a name starts with a lower-case letter and has at most 20 lower-case letters, digits and hyphens",
    )


def check_folder(folder: Path) -> None:
    """Raise `UsageProblem` when the options of mount, nspawn or ssh could not name `folder`."""
    if bad := UNNAMEABLE.search(str(folder)):
        raise UsageProblem(
            f"the folder {folder} has {bad[0]!r} in its name, which options of mount, nspawn and ssh cannot hold",
            hint="choose another with --state-dir, or with XDG_CACHE_HOME for the base trees",
        )


def preferred_subnet(name: str) -> int:
    """Return the third number of 10.77.x.0/24 that a fleet of this name takes when it is free (1 to 254)."""
    return 1 + zlib.crc32(name.encode()) % 254


class FleetRecord(BaseModel):
    """What `fleet.json` says about a fleet; written before the first host is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal[1] = Field(default=1, alias="schema")
    name: str
    distro: Distro
    topology: Topology = "standalone"
    subnet: int = Field(description="third number of 10.77.x.0/24")
    hosts: int
    writer: bool
    base: Path


@dataclass(frozen=True)
class Place:
    """The folders and files of the fleet `name` below the state directory."""

    state: Path
    name: str

    @property
    def folder(self) -> Path:
        """The folder that holds all of the fleet."""
        return self.state.absolute() / "lab" / self.name

    @property
    def record(self) -> Path:
        """The file of the `FleetRecord`."""
        return self.folder / "fleet.json"

    @property
    def inventory(self) -> Path:
        """The inventory, as Ansible writes one."""
        return self.folder / "inventory.yml"

    @property
    def key(self) -> Path:
        """The private key that every host of the fleet lets in."""
        return self.folder / "key"

    @property
    def known_hosts(self) -> Path:
        """The host keys, as ssh reads them."""
        return self.folder / "known_hosts"

    @property
    def repository(self) -> Path:
        """The package repository that the hosts see as /srv/repo."""
        return self.folder / "repository"

    def host(self, host: str) -> Path:
        """Return the folder of one host."""
        return self.folder / "hosts" / host


@dataclass(frozen=True)
class Wiring:
    """Names and addresses of one host: what stands on the controller's side and what the host itself sees."""

    host: str
    address: str
    mac: str
    link: str
    bridge: str
    machine: str


def bridge_name(subnet: int) -> str:
    """Return the name of the bridge of a subnet; link names hold 15 bytes at most."""
    return f"rlab{subnet}"


def controller_address(subnet: int) -> str:
    """Return the address that this machine has in a subnet."""
    return f"10.77.{subnet}.1"


def wiring(record: FleetRecord, index: int) -> Wiring:
    """Return the wiring of host number `index`, which counts from 0."""
    number = FIRST_HOST + index
    bridge = bridge_name(record.subnet)
    return Wiring(
        host=f"db{index + 1}",
        address=f"10.77.{record.subnet}.{number}",
        # Fixed, so that neighbours need not learn a new one after a reset; the first byte says locally administered.
        mac=f"02:77:00:{record.subnet:02x}:00:{number:02x}",
        link=f"{bridge}h{index + 1}",
        bridge=bridge,
        machine=f"{record.name}-db{index + 1}",
    )
