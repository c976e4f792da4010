"""Hosts are joined into a graph by what they say, and whatever does not fit is named."""

from dataclasses import replace

import pytest
from hosts_of_a_fleet import UUID, channel, cluster, codes, facts, graph, node, one, tree

from rollout.facts.unknown import Unknown
from rollout.plan.member import Member, member, without_port
from rollout.settings import Connection, Host


def test_replicas_are_joined_by_address_and_by_name() -> None:
    """A tree of four is found from the replicas' own channels, without a finding."""
    found = graph(*tree())
    assert [(link.replica, link.primary, link.joined_by) for link in found.links] == [
        ("db2", "db1", "address"),
        ("db3", "db1", "address"),
        ("db4", "db3", "address"),
    ]
    assert found.replicas_of("db1") == ("db2", "db3")
    assert codes(found) == []


def test_both_channels_of_a_multi_source_replica_are_found() -> None:
    """A replica of two primaries has two links, each with the name of its channel."""
    both = (channel("10.0.0.1", 1, "sales"), channel("10.0.0.2", 2, "stock"))
    found = graph(one("a", 1), one("b", 2), one("r", 3, channels=both))
    assert [(link.channel.name, link.primary) for link in found.links] == [("sales", "a"), ("stock", "b")]


def test_an_address_that_nobody_has_is_joined_by_a_server_id_of_its_own() -> None:
    """Behind a proxy or a DNS alias the server id joins, and the plan says that it was the server id alone."""
    found = graph(one("a", 41), one("r", 2, channels=(channel("db-vip.example.com", 41),)))
    assert [(link.primary, link.joined_by) for link in found.links] == [("a", "server id")]
    assert codes(found) == ["joined_by_server_id"]


def test_the_default_server_id_joins_nothing_by_itself() -> None:
    """Server id 1 is every fresh server's: an unrelated host with it is not taken for the primary."""
    found = graph(one("a", 1), one("r", 2, channels=(channel("192.0.2.9", 1),)))
    assert [(link.primary, link.source) for link in found.links] == [(None, "192.0.2.9:3306")]
    assert codes(found) == ["primary_outside_inventory"]
    assert "192.0.2.9:3306 (server id 1)" in found.findings[0].message


def test_the_default_server_id_joins_when_the_primary_sees_the_replica() -> None:
    """Server id 1 is enough where that host has a replica connected from this one's address."""
    found = graph(one("a", 1, replicas=("10.0.0.2:3333",)), one("r", 2, channels=(channel("vip", 1),)))
    assert [link.primary for link in found.links] == ["a"]


def test_a_server_id_that_two_hosts_share_joins_nothing() -> None:
    """Two hosts with the server id that the replica names: no guess."""
    found = graph(one("a", 7), replace(one("b", 8), server_id=7), one("r", 2, channels=(channel("vip", 7),)))
    assert [link.primary for link in found.links] == [None]


def test_two_hosts_at_one_address_are_told_apart_by_server_id() -> None:
    """An address that stands at two hosts (a copied setting) is settled by the server id."""
    twin = replace(one("b", 8), addresses=frozenset({"10.0.0.7"}))
    found = graph(one("a", 7), twin, one("r", 2, channels=(channel("10.0.0.7", 8),)))
    assert [link.primary for link in found.links] == ["b"]


def test_an_address_with_another_server_id_behind_it_is_a_blocker() -> None:
    """The replica follows an address of ours, but its primary calls itself otherwise."""
    found = graph(one("a", 1), one("r", 2, channels=(channel("10.0.0.1", 99),)))
    assert codes(found) == ["primary_identity_differs"]
    assert found.findings[0].hosts == ("r", "a")


def test_instances_on_one_machine_are_told_apart_by_port() -> None:
    """A replica that follows 127.0.0.1:3307 follows the other instance of its own machine."""
    first = replace(one("m3306", 1), addresses=frozenset({"10.0.0.1"}))
    second = replace(one("m3307", 2), addresses=frozenset({"10.0.0.1"}), port=3307)
    third = replace(
        one("m3308", 3, channels=(channel("127.0.0.1", 2, port=3307),)), addresses=frozenset({"10.0.0.1"}), port=3308
    )
    assert [link.primary for link in graph(first, second, third).links] == ["m3307"]


def test_a_channel_through_a_tunnel_is_outside() -> None:
    """A loopback address with no other instance on the machine leads nowhere that we know."""
    found = graph(one("a", 5), one("r", 2, channels=(channel("localhost", None, port=13306),)))
    assert codes(found) == ["primary_outside_inventory"]


def test_a_replica_that_the_inventory_does_not_hold_is_a_blocker_of_its_primary() -> None:
    """A connected replica from a strange address is named: nobody can say which version it runs."""
    found = graph(one("a", 1, replicas=("10.0.0.2:50000", "192.0.2.44:50001")), one("r", 2))
    assert codes(found) == ["replica_outside_inventory"]
    assert found.findings[0].severity == "blocker"
    assert "192.0.2.44" in found.findings[0].message
    assert "10.0.0.2" not in found.findings[0].message


def test_one_server_under_two_names_is_a_blocker() -> None:
    """Two rows of the inventory that lead to one server would change it twice at once."""
    first = one("a", 1)
    found = graph(first, replace(first, name="alias-of-a"))
    assert codes(found) == ["same_server_twice"]
    assert found.findings[0].hosts == ("a", "alias-of-a")


def test_a_cluster_is_joined_by_its_state_uuid() -> None:
    """Three nodes with one uuid are a cluster, another uuid is another cluster."""
    other = one("x", 30, galera=node(size=1, uuid="other"))
    found = graph(*cluster(), other)
    assert [(one.uuid, one.nodes) for one in found.clusters] == [(UUID, ("g1", "g2", "g3")), ("other", ("x",))]
    assert codes(found) == ["cluster_of_one"]


def test_nodes_outside_the_inventory_are_named_by_address() -> None:
    """The cluster says that it has three nodes, the inventory holds two: the third's address is named."""
    first, second, _third = (replace(some, peers=("10.0.0.11", "10.0.0.12", "10.0.0.13")) for some in cluster())
    found = graph(first, second)
    assert codes(found) == ["cluster_node_outside_inventory"]
    assert "10.0.0.13" in found.findings[0].message


@pytest.mark.parametrize(
    ("state", "status"), [("Donor/Desynced", "Primary"), ("Joined", "Primary"), ("Synced", "non-Primary")]
)
def test_a_cluster_with_a_node_that_is_not_synced_is_blocked_whole(state: str, status: str) -> None:
    """A donor, a joiner or a split component keeps every node of the cluster from being changed."""
    first, second, third = cluster()
    found = graph(first, second, replace(third, galera=node(state=state, status=status)))
    assert codes(found) == ["cluster_not_synced"]
    assert found.findings[0].hosts == ("g1", "g2", "g3")


def test_a_host_that_could_not_be_reached_has_no_known_place() -> None:
    """Without facts nothing is guessed: the host is blocked, and its neighbours still find it by its address."""
    lost = member(Host("a", Connection(address="10.0.0.1")), None)
    found = graph(lost, one("r", 2, channels=(channel("10.0.0.1", 1),)))
    assert [(one.code, one.severity, one.hosts) for one in found.findings] == [("place_unknown", "blocker", ("a",))]
    assert found.replicas_of("a") == ("r",)


def test_an_unknown_replication_state_is_not_taken_for_none() -> None:
    """`SHOW ALL REPLICAS STATUS` was refused: the host is blocked with the server's own words."""
    found = graph(one("a", 1, channels=Unknown("ERROR 1227 (42000): Access denied")))
    assert codes(found) == ["place_unknown"]
    assert "Access denied" in found.findings[0].message


def test_a_stopped_server_is_a_warning() -> None:
    """A server known to be down follows nobody now; the plan says that it was not asked."""
    known = facts("a", 1, channels=Unknown("the server is not running"))
    stopped = member(Host("a", Connection()), replace(known, server=replace(known.server, running=None)))
    assert [(one.code, one.severity) for one in graph(stopped).findings] == [("place_unknown_stopped", "warning")]


def test_no_hosts_are_an_empty_topology() -> None:
    """An empty fleet is no error."""
    found = graph()
    assert (found.members, found.links, found.clusters, found.findings) == ({}, (), (), ())


def test_addresses_of_a_member_come_from_inventory_and_host() -> None:
    """Name, connection address, host name, interfaces and report_host are addresses; wildcards and loopback are not."""
    known = facts("db1", 1)
    variables = {"report_host": "DB1.example.com", "bind_address": "0.0.0.0", "hostname": "localhost"}  # noqa: S104
    server = replace(known.server, variables=variables, status={"wsrep_incoming_addresses": "10.0.0.2:3306,AUTO,"})
    found = member(Host("db1", Connection(address="db1-ssh.example.com")), replace(known, server=server))
    assert found.addresses == {"db1", "db1-ssh.example.com", "10.0.0.1", "db1.example.com"}
    assert found.peers == ("10.0.0.2",)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.0.0.7:53422", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.7"),
        ("[2001:db8::1]:3306", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("DB7.example.com:1", "db7.example.com"),
        ("", ""),
    ],
)
def test_ports_are_taken_off_addresses(address: str, expected: str) -> None:
    """Addresses of version 4 and 6 and names lose their port and nothing else."""
    assert without_port(address) == expected


def test_a_bare_member_needs_only_a_name() -> None:
    """Unknown is the default of everything: nothing is joined by two unknowns."""
    assert graph(Member("a"), Member("b")).links == ()
