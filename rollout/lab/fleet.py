"""A rehearsal fleet: bring it up, look at it, put its hosts back, publish a release, take it down."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rollout.errors import UsageProblem
from rollout.lab import ledger
from rollout.lab.base import Base, base_folder, base_for, load
from rollout.lab.cgroups import end_all, groups_of
from rollout.lab.inventory_file import host_value, ssh_words, write_inventory, write_known_hosts
from rollout.lab.layout import (
    Distro,
    FleetRecord,
    Place,
    Topology,
    Wiring,
    bridge_name,
    cache_folder,
    check_folder,
    check_name,
    controller_address,
    wiring,
)
from rollout.lab.limits import check_machine, check_room
from rollout.lab.machine import Machine
from rollout.lab.profile import HostProfile, with_sources_reset
from rollout.lab.repository import write_index
from rollout.lab.rpm import WORLD, as_kind, offers, write_repository
from rollout.lab.seed import make_seed
from rollout.lab.tools import run, succeeds
from rollout.lab.topology import SIZES, profiles
from rollout.settings import Host

DEFAULT_HOSTS = 3


@dataclass(frozen=True)
class Fleet:
    """A fleet that is up, or was; made by `up` or `find`."""

    place: Place
    record: FleetRecord
    base: Base

    @property
    def inventory(self) -> Path:
        """The inventory file."""
        return self.place.inventory

    @property
    def wires(self) -> tuple[Wiring, ...]:
        """The wiring of all hosts, db1 first."""
        return tuple(wiring(self.record, index) for index in range(self.record.hosts))

    @property
    def machines(self) -> tuple[Machine, ...]:
        """All hosts, db1 first."""
        controller = controller_address(self.record.subnet)
        return tuple(
            Machine(self.place, wire, self.base.root, unanswered=controller if profile.bastion else "-")
            for wire, profile in zip(self.wires, self.profiles, strict=True)
        )

    @property
    def profiles(self) -> tuple[HostProfile, ...]:
        """What sets each host apart, db1 first."""
        plain = profiles(self.record.topology, self.wires, writer=self.record.writer)
        return tuple(as_kind(self.record.distro, profile) for profile in plain)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts as the values that every room takes, db1 first."""
        return tuple(self.host(wire.host) for wire in self.wires)

    @property
    def published(self) -> bool:
        """Whether the repository offers the newer release."""
        if self.record.distro in WORLD:
            return offers(self.place.repository, self.base.new)
        return all((self.place.repository / deb.name).exists() for deb in self.base.new.glob("*.deb"))

    def machine(self, name: str) -> Machine:
        """Return one host; raises `UsageProblem` when there is none of this name."""
        for machine in self.machines:
            if machine.wiring.host == name:
                return machine
        names = ", ".join(wire.host for wire in self.wires)
        raise UsageProblem(f"the fleet {self.record.name} has no host {name}", hint=f"it has {names}")

    def host(self, name: str) -> Host:
        """Return one host as the value that every room takes."""
        wire = self.machine(name).wiring
        return host_value(self.place, wire, self.profiles[self.wires.index(wire)], self.base.record)

    def ssh(self, name: str) -> list[str]:
        """Return the command line of ssh to one host."""
        wire = self.machine(name).wiring
        return ssh_words(self.place, wire, self.profiles[self.wires.index(wire)])

    def shell(self, name: str, script: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """Run a script as root inside a host without SSH: it works with the network cut and sshd stopped."""
        return self.machine(name).shell(script, stdin)

    def publish(self) -> None:
        """Put the newer release into the repository, as a distribution does when a fix is out."""
        self._offer(self.base.old, self.base.new)

    def unpublish(self) -> None:
        """Take the newer release out of the repository again."""
        self._offer(self.base.old)

    def _offer(self, *folders: Path) -> None:
        if self.record.distro in WORLD:
            write_repository(self.place.repository, folders)
        else:
            write_index(self.place.repository, folders, codename=self.record.distro)

    def reset(self, *names: str) -> None:
        """Put hosts (all, when none is named) back to their first state and wait until they are up.

        Those that replicate from a host that is reset are reset with it: they are ahead of it.
        """
        every = dict(zip((wire.host for wire in self.wires), self.profiles, strict=True))
        chosen = with_sources_reset({self.machine(name).wiring.host for name in names}, every) or every.keys()
        machines = [machine for machine in self.machines if machine.wiring.host in chosen]
        for machine in machines:
            machine.end()
            machine.forget()
            machine.start()
        for machine in machines:
            machine.discard()
            machine.wait()
        for machine in machines:
            machine.join(every[machine.wiring.host].join)

    def power_off(self, name: str) -> None:
        """Take the power from a host, without a shutdown; what it has written stays."""
        self.machine(name).end()

    def power_on(self, name: str) -> None:
        """Boot a host that is off and wait until it is up."""
        machine = self.machine(name)
        machine.start()
        machine.wait()

    def reboot(self, name: str) -> None:
        """Reboot a host the orderly way and wait until it is up again with another boot id."""
        machine = self.machine(name)
        before = machine.leader()
        machine.shell("systemctl reboot")
        while machine.leader() == before:
            time.sleep(0.02)
        machine.wait()

    def cut_network(self, name: str) -> None:
        """Pull the host's cable: packets are lost, nothing is refused."""
        self.machine(name).link_up(False)

    def restore_network(self, name: str) -> None:
        """Put the host's cable back."""
        self.machine(name).link_up(True)

    def down(self) -> None:
        """Take the fleet down, see `down`."""
        down(self.place)


def up(
    place: Place,
    *,
    hosts: int | None = None,
    distro: Distro | None = None,
    topology: Topology | None = None,
    writer: bool = True,
    publish: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Fleet:
    """Bring up a fleet, or what is missing of it, and wait until every host is up.

    None means as it is already, or else 3 hosts of bookworm that stand alone; other topologies have a size of their
    own. Raises `UsageProblem` when this machine cannot hold
    the fleet or another one is in the way, `LabProblem` when a step fails; calling it again goes on from there.
    """
    check_name(place.name)
    check_machine()
    for folder in (place.folder, cache_folder()):
        check_folder(folder)
    record = _wanted(place, hosts, distro, topology, writer)
    made = (record.base / "base.json").is_file()
    fleet = Fleet(place, record, load(record.base) if made else base_for(record.distro, say))
    _prepare(fleet)
    if publish:
        fleet.publish()
    say(f"Starting {record.hosts} hosts")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Machine.start, fleet.machines))
        list(pool.map(Machine.wait, fleet.machines))
    for machine, profile in zip(fleet.machines, fleet.profiles, strict=True):
        machine.join(profile.join)
    return fleet


def _wanted(
    place: Place, hosts: int | None, distro: Distro | None, topology: Topology | None, writer: bool
) -> FleetRecord:
    """Return the record of the fleet that is there, grown when more hosts are asked for, or a new one; write it."""
    there = _record(place)
    kind: Distro = distro or (there.distro if there else "bookworm")
    shape: Topology = topology or (there.topology if there else "standalone")
    if kind in WORLD and shape != "standalone":
        raise UsageProblem(f"hosts of the rpm world stand alone, and have no topology {shape}", hint="leave it out")
    count = _count(shape, hosts, there)
    if there and ((kind, shape) != (there.distro, there.topology) or count < there.hosts):
        raise UsageProblem(
            f"the fleet {place.name} is there with {there.hosts} hosts of {there.distro}, {there.topology}",
            hint=f"`rollout lab down --name {place.name}` first, or give the new one another --name",
        )
    base = there.base if there and there.base.is_dir() else base_folder(kind)
    check_room(count - (there.hosts if there else 0), folder=place.folder, with_base=not base.is_dir())
    subnet = ledger.claim(place, count)
    place.folder.mkdir(parents=True, exist_ok=True)
    record = FleetRecord(
        name=place.name, distro=kind, topology=shape, subnet=subnet, hosts=count, writer=writer, base=base
    )
    place.record.write_text(record.model_dump_json(by_alias=True, indent=2))
    return record


def _count(shape: Topology, hosts: int | None, there: FleetRecord | None) -> int:
    """Return how many hosts the fleet is to have."""
    size = SIZES[shape]
    if size is None:
        return hosts or (there.hosts if there else DEFAULT_HOSTS)
    if hosts not in (None, size):
        raise UsageProblem(f"the topology {shape} has {size} hosts, not {hosts}", hint="leave --hosts out")
    return size


def _record(place: Place) -> FleetRecord | None:
    return FleetRecord.model_validate_json(place.record.read_bytes()) if place.record.is_file() else None


def _prepare(fleet: Fleet) -> None:
    """Make repository, key, seeds, host keys, inventory and bridge, as far as they are missing."""
    place, record = fleet.place, fleet.record
    if not any((place.repository / index).is_file() for index in ("Release", "repodata/repomd.xml")):
        fleet.unpublish()
    if not place.key.with_suffix(".pub").is_file():
        place.key.unlink(missing_ok=True)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", place.name, "-f", place.key], doing="making a key")
    for wire, profile in zip(fleet.wires, fleet.profiles, strict=True):
        make_seed(place, fleet.base.root, wire, fleet.wires, profile)
    write_known_hosts(place, fleet.wires)
    write_inventory(place, fleet.wires, fleet.profiles, fleet.base.record)
    bridge = bridge_name(record.subnet)
    if not succeeds(["ip", "link", "show", bridge]):
        run(["ip", "link", "add", bridge, "type", "bridge"], doing="making the bridge")
    run(
        ["ip", "address", "replace", f"{controller_address(record.subnet)}/24", "dev", bridge],
        doing="addressing the bridge",
    )
    run(["ip", "link", "set", bridge, "up"], doing="starting the bridge")


def find(place: Place) -> Fleet:
    """Return the fleet at `place`; raises `UsageProblem` when there is none."""
    check_name(place.name)
    record = _record(place)
    if record is None:
        others = sorted(path.parent.name for path in place.folder.parent.glob("*/fleet.json"))
        hint = f"There is {', '.join(others)}: --name {others[0]}" if others else "`rollout lab up --hosts 3` makes one"
        raise UsageProblem(f"there is no fleet named {place.name} in {place.state}", hint=hint)
    return Fleet(place, record, load(record.base))


def _delete_links(bridge: str) -> None:
    """Delete a bridge and the links to its hosts; they outlive a network namespace that is still held."""
    listed = json.loads(run(["ip", "-json", "link"], doing="listing links"))
    names = [entry["ifname"] for entry in listed]
    for name in [name for name in names if name.startswith(f"{bridge}h")] + [bridge]:
        succeeds(["ip", "link", "delete", name])


def down(place: Place) -> bool:
    """End every process of the fleet and remove all that it made; says whether there was anything.

    Works for a fleet that came up only in part, and for one whose folder is gone.
    """
    check_name(place.name)
    check_machine()
    subnet = ledger.subnet_of(place)
    found = place.folder.is_dir() or subnet is not None
    end_all(groups_of(place.name))
    if subnet is not None:
        _delete_links(bridge_name(subnet))
    shutil.rmtree(place.folder, ignore_errors=True)
    for folder in (place.folder.parent, place.state):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    ledger.release(place)
    return found
