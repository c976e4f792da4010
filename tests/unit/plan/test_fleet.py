"""The fleet's part of a plan, from facts to waves and findings."""

from typing import Any

from hosts_of_a_fleet import channel, facts, node

from rollout.cli.options import FleetOptions, select_hosts
from rollout.facts.model import Facts
from rollout.plan.drawing import draw
from rollout.plan.fleet import FleetOrder, fleet_order
from rollout.plan.policy import Policy
from rollout.remote import open_transport
from rollout.remote.probing import look_at
from rollout.resources import shipped
from rollout.settings import Connection, Host

TO = (11, 8, 10)


def order(policy: Policy, without_target: tuple[str, ...] = (), **hosts: Facts | None) -> FleetOrder:
    """Order hosts given as name=facts (None: not reached), in this order."""
    known = {name: each for name, each in hosts.items() if each is not None}
    targets = {name: TO for name in known if name not in without_target}
    rows = [Host(name, Connection(address=f"10.0.0.{number}")) for number, name in enumerate(hosts, 1)]
    return fleet_order(policy, rows, known, targets)


def chain(**leaf: Any) -> dict[str, Facts]:
    """Make a primary, a replica, and a replica of the replica."""
    return {
        "db1": facts("db1", 1, replicas=("10.0.0.2",)),
        "db2": facts("db2", 2, replicas=("10.0.0.3",), channels=(channel("10.0.0.1", 1),)),
        "db3": facts("db3", 3, **{"channels": (channel("10.0.0.2", 2),), **leaf}),
    }


def test_a_chain_is_ordered_from_its_leaf() -> None:
    """The inventory lists the primary first; the waves go leaf, middle, primary, and nothing has to be said."""
    found = order(Policy(), **chain())
    assert found.waves == (("db3",), ("db2",), ("db1",))
    assert found.findings == ()


def test_a_blocked_leaf_blocks_everything_above_it() -> None:
    """The leaf has no target, being blocked: its primary is blocked, and the one above that."""
    found = order(Policy(), without_target=("db3",), **chain())
    assert [(one.code, one.hosts) for one in found.findings] == [
        ("replica_would_be_older", ("db2",)),
        ("replica_would_be_older", ("db1",)),
    ]


def test_a_cluster_that_is_not_synced_blocks_the_primary_of_its_node() -> None:
    """A finding of the topology blocks nodes, and through them what they follow."""
    hosts = {
        "p": facts("p", 1),
        "g1": facts("g1", 2, galera=node(size=2), channels=(channel("10.0.0.1", 1),)),
        "g2": facts("g2", 3, galera=node(size=2, state="Donor/Desynced")),
    }
    found = order(Policy(), **hosts)
    assert [one.code for one in found.of("g1")] == ["cluster_not_synced"]
    assert [one.code for one in found.of("p")] == ["replica_would_be_older"]


def test_a_replica_that_could_not_be_reached_blocks_its_primary() -> None:
    """The primary sees it connected; nobody knows its version."""
    primary = facts("db1", 1, replicas=("10.0.0.2",))
    found = order(Policy(), db1=primary, db2=None)
    assert [(one.code, one.severity, one.hosts) for one in found.findings] == [
        ("place_unknown", "blocker", ("db2",)),
        ("replica_not_asked", "blocker", ("db1",)),
    ]


def test_the_recorded_fleet_that_ships_is_joined_by_what_real_servers_said() -> None:
    """A source and its replica on bookworm and two hosts of their own, whose server ids are 1 and 2 as well."""
    hosts = select_hosts(FleetOptions((str(shipped("inventories") / "example"),)))
    known = {}
    for host in hosts:
        transport = open_transport(host)
        known[host.name] = look_at(transport, host).facts
        transport.close()
    found = fleet_order(Policy(), hosts, known, {})
    assert found.waves == (("db2",), ("db1",), ("db3",), ("db4",))
    assert found.findings == ()
    assert draw(found.graph).splitlines() == [
        "db1  10.11.18",
        "└─ db2  10.11.18  read-only  0 s behind",
        "db3  11.8.9",
        "db4  11.8.9",
    ]


def test_no_hosts_have_no_waves() -> None:
    """An empty run is ordered too."""
    found = order(Policy())
    assert (found.waves, found.findings) == ((), ())
