"""How the hosts of a fleet hang together."""

from pathlib import Path

import pytest

from rollout.lab.layout import FleetRecord, Topology, Wiring, wiring
from rollout.lab.profile import with_sources_reset
from rollout.lab.topology import SIZES, profiles


def wires(count: int) -> list[Wiring]:
    """Return the wiring of a fleet of `count` hosts."""
    record = FleetRecord(name="lab", distro="bookworm", subnet=7, hosts=count, writer=True, base=Path("/base"))
    return [wiring(record, index) for index in range(count)]


@pytest.mark.parametrize(
    ("topology", "groups", "writers"),
    [
        ("standalone", {"standalone": 5}, 5),
        ("replication", {"replication": 4}, 1),
        ("galera", {"galera": 3}, 1),
        ("mixed", {"standalone": 2, "replication": 4, "galera": 3}, 4),
        ("hard", {"hard": 10}, 0),
    ],
)
def test_each_topology_has_its_hosts_and_writes_where_writing_is_allowed(
    topology: Topology, groups: dict[str, int], writers: int
) -> None:
    """Replicas are not written to, and a cluster is written to on one node."""
    made = profiles(topology, wires(SIZES[topology] or 5), writer=True)
    assert {group: sum(profile.group == group for profile in made) for group in groups} == groups
    assert sum(profile.writer for profile in made) == writers
    assert not any(profile.writer for profile in profiles(topology, wires(SIZES[topology] or 5), writer=False))


def test_the_tree_has_a_replica_of_a_replica() -> None:
    """The primary has two replicas, the first of them has one of its own, and each knows its source's address."""
    fleet = wires(4)
    made = profiles("replication", fleet, writer=False)
    assert [profile.source for profile in made] == ["", "db1", "db1", "db2"]
    assert fleet[1].address in made[3].join


@pytest.mark.parametrize(
    ("named", "expected"),
    [({"db1"}, {"db1", "db2", "db3", "db4"}), ({"db2"}, {"db2", "db4"}), ({"db3", "db4"}, {"db3", "db4"})],
)
def test_a_reset_takes_along_those_that_would_be_ahead(named: set[str], expected: set[str]) -> None:
    """Whoever replicates from a reset host, directly or through others, is reset with it; nobody else is."""
    fleet = wires(4)
    made = profiles("replication", fleet, writer=False)
    assert with_sources_reset(named, {wire.host: made[index] for index, wire in enumerate(fleet)}) == expected
