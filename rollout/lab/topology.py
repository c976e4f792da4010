"""How the hosts of a fleet hang together: alone, in a replication tree, in a cluster, mixed, or hard to reach."""

import shlex
from collections.abc import Sequence

from rollout.lab.hard import KINDS, PASSWORD, hard
from rollout.lab.layout import Topology, Wiring
from rollout.lab.profile import HostProfile
from rollout.lab.tools import FILES

# How many hosts a topology has; None: as many as are asked for.
SIZES: dict[Topology, int | None] = {"standalone": None, "replication": 4, "galera": 3, "mixed": 9, "hard": len(KINDS)}
OPTIONS = "etc/mysql/mariadb.conf.d/91-topology.cnf"
# The place in the tree from which each replica replicates: two on the primary, one on the first replica.
SOURCES = (None, 0, 0, 1)


def profiles(topology: Topology, wires: Sequence[Wiring], *, writer: bool) -> tuple[HostProfile, ...]:
    """Return the profile of each host, in the order of `wires`."""
    if topology == "replication":
        return _tree(wires, writer)
    if topology == "galera":
        return _cluster(wires, writer)
    if topology == "mixed":
        return (*_alone(wires[:2], writer), *_tree(wires[2:6], writer), *_cluster(wires[6:], writer))
    if topology == "hard":
        return hard(wires)
    return _alone(wires, writer)


def _alone(wires: Sequence[Wiring], writer: bool) -> tuple[HostProfile, ...]:
    """Return plain hosts; the second one of a fleet cannot resolve its own name, as many real ones cannot."""
    return tuple(HostProfile(knows_own_name=wire.host != "db2", writer=writer) for wire in wires)


def _tree(wires: Sequence[Wiring], writer: bool) -> tuple[HostProfile, ...]:
    """Return a primary, two replicas, and a replica of the first replica."""
    return tuple(_member(wires, index, writer) for index in range(len(wires)))


def _member(wires: Sequence[Wiring], index: int, writer: bool) -> HostProfile:
    options = "[mariadbd]\nbind-address=0.0.0.0\nlog_bin=mariadb-bin\nlog_slave_updates=1\ngtid_strict_mode=1\n"
    above = SOURCES[index]
    if above is None:
        join = _script("join-primary.sh", PASSWORD)
        return HostProfile(group="replication", writer=writer, files={OPTIONS: options}, join=join)
    source = wires[above]
    return HostProfile(
        group="replication",
        writer=False,
        files={OPTIONS: f"{options}read_only=1\n"},
        join=_script("join-replica.sh", PASSWORD, source.address),
        source=source.host,
    )


def _cluster(wires: Sequence[Wiring], writer: bool) -> tuple[HostProfile, ...]:
    """Return the nodes of one Galera cluster; the writer runs on the first."""
    addresses = [wire.address for wire in wires]
    return tuple(
        HostProfile(
            group="galera",
            writer=writer and wire == wires[0],
            join=_script("join-cluster.sh", wire.host, wire.address, ",".join(addresses)),
        )
        for wire in wires
    )


def _script(name: str, *arguments: str) -> str:
    """Return a script with its arguments set."""
    return f"set -- {shlex.join(arguments)}\n{(FILES / name).read_text()}"
