"""The order that a topology demands, and what speaks against it."""

from dataclasses import replace

from hosts_of_a_fleet import channel, cluster, codes, graph, one, tree, version

from rollout.plan.judge import Standing, judge
from rollout.plan.member import Member
from rollout.plan.order import constraints, order_findings
from rollout.plan.policy import Policy
from rollout.plan.waves import backwards, waves

TO = (11, 8, 10)


def test_leaves_first_and_the_primary_last() -> None:
    """The inventory lists the primary first; the order is leaf, replicas one at a time, primary."""
    order = constraints(graph(*tree()))
    planned = waves(Policy(canary=0, serial=("100%",)), ("db1", "db2", "db3", "db4"), order)
    assert planned == (("db2", "db4"), ("db3",), ("db1",))
    assert backwards(planned) == (("db1",), ("db3",), ("db4", "db2"))


def test_replicas_of_one_primary_go_one_at_a_time_unless_asked() -> None:
    """Two replicas of one primary are down together only where the policy says so."""
    primary, *replicas = one("p", 1), *(one(f"r{n}", n, channels=(channel("10.0.0.1", 1),)) for n in (2, 3))
    found = graph(primary, *replicas)
    policy = Policy(canary=0, serial=(9,))
    assert waves(policy, tuple(found.members), constraints(found)) == (("r2",), ("r3",), ("p",))
    together = constraints(found, replicas_together=True)
    assert waves(policy, tuple(found.members), together) == (("r2", "r3"), ("p",))


def test_a_mixed_fleet_of_stand_alone_hosts_a_tree_and_a_cluster() -> None:
    """Nobody writes the order down: cluster nodes and trees are slowed, hosts on their own fill the waves."""
    found = graph(*tree(), *cluster(), one("s1", 21), one("s2", 22))
    planned = waves(Policy(canary=1, serial=(3,)), tuple(found.members), constraints(found))
    assert planned == (("db2",), ("db4", "g1", "s1"), ("db3", "g2", "s2"), ("db1", "g3"))


def test_a_replica_of_a_cluster_comes_before_all_of_its_nodes() -> None:
    """A replica follows one node, and may be pointed at any other: it goes first."""
    replica = one("r", 40, channels=(channel("10.0.0.12", 12),))
    order = constraints(graph(*cluster(), replica))
    assert {node: sorted(before) for node, before in order.after.items()} == {"g1": ["r"], "g2": ["r"], "g3": ["r"]}


def ring(first_read_only: bool, second_read_only: bool) -> list[Member]:
    """Make two servers that replicate from each other."""
    return [
        one("a", 1, read_only=first_read_only, channels=(channel("10.0.0.2", 2),)),
        one("b", 2, read_only=second_read_only, channels=(channel("10.0.0.1", 1),)),
    ]


def test_a_ring_with_one_writer_goes_writer_last() -> None:
    """Of an active and a passive primary the passive one goes first, whatever the inventory's order."""
    found = graph(*ring(False, True))
    assert waves(Policy(), ("a", "b"), constraints(found)) == (("b",), ("a",))
    assert [(one.code, one.severity) for one in order_findings(found, {})] == [
        ("replication_ring_read_only", "warning")
    ]


def test_a_ring_with_two_writers_is_a_blocker() -> None:
    """No order keeps both as new as their primary: both are blocked and named."""
    found = order_findings(graph(*ring(False, False)), {"a": TO, "b": TO})
    assert [(one.code, one.severity, one.hosts) for one in found] == [("replication_cycle", "blocker", ("a", "b"))]


def test_an_unknown_read_only_counts_as_a_writer() -> None:
    """Unknown is not read-only."""
    first, second = ring(True, True)
    assert [one.code for one in order_findings(graph(replace(first, read_only=None), second), {})] == [
        "replication_ring_read_only"
    ]
    assert [
        one.code for one in order_findings(graph(replace(first, read_only=None), replace(second, read_only=None)), {})
    ] == ["replication_cycle"]


def test_clusters_that_replicate_from_each_other_are_a_cycle() -> None:
    """A cycle through two clusters is found although no host follows itself."""
    here, there = cluster(), [replace(some, name=f"h{number}") for number, some in enumerate(cluster(), 1)]
    there = [
        replace(some, addresses=frozenset({f"10.0.1.{n}"}), server_id=50 + n, server_uid=f"far{n}", galera=None)
        for n, some in enumerate(there, 1)
    ]
    here[0] = replace(here[0], channels=(channel("10.0.1.1", 51),))
    there[0] = replace(there[0], channels=(channel("10.0.0.12", 12),))
    found = order_findings(graph(*here, *there), {})
    assert [(one.code, one.hosts) for one in found] == [("replication_cycle", ("g1", "h1"))]


def test_a_primary_is_blocked_while_its_replica_stays_behind() -> None:
    """With a limit that leaves a replica out, the primary would be newer than it: a blocker on the primary."""
    found = order_findings(graph(*tree()), {"db1": TO, "db2": TO})
    assert [(one.code, one.hosts) for one in found] == [("replica_would_be_older", ("db1",))]
    assert found[0].message == "db1 would run 11.8.10 while its replica db3 runs 11.8.9: change it first"


def test_a_replica_is_not_taken_back_below_its_primary() -> None:
    """All run 11.8.10; the rollback of one replica alone would leave it older than its primary: a blocker on it."""
    new = graph(*(version(some, "11.8.10-MariaDB") for some in tree()))
    back = (11, 8, 9)
    found = order_findings(new, {"db4": back})
    assert [(one.code, one.severity, one.hosts) for one in found] == [("replica_would_be_older", "blocker", ("db4",))]
    assert "take the primary back first" in found[0].message
    assert order_findings(new, {"db1": back}) == ()
    assert order_findings(new, dict.fromkeys(("db1", "db2", "db3", "db4"), back)) == ()


def test_replicas_alone_may_be_changed() -> None:
    """A replica newer than its primary is what the manual allows."""
    assert order_findings(graph(*tree()), {"db2": TO, "db4": TO}) == ()


def test_a_replica_of_unknown_version_blocks_its_primary() -> None:
    """What nobody knows is not taken for new enough."""
    primary, replica, *rest = tree()
    found = order_findings(graph(primary, replace(replica, version=None), *rest), {"db1": TO, "db3": TO, "db4": TO})
    assert [(one.code, one.hosts) for one in found] == [("replica_would_be_older", ("db1",))]
    assert "unknown version" in found[0].message


def test_a_replica_that_is_older_already_is_a_warning() -> None:
    """An order that was broken before the run is said, not repaired in silence."""
    primary, replica, *rest = tree()
    found = order_findings(
        graph(version(primary, "11.8.10-MariaDB"), replica, *rest), {"db2": TO, "db3": TO, "db4": TO}
    )
    assert found == ()
    found = order_findings(graph(version(primary, "11.8.10-MariaDB"), replica), {})
    assert [(one.code, one.hosts) for one in found] == [("replica_is_older", ("db2",))]


def test_patch_releases_are_compared_as_numbers() -> None:
    """11.8.10 is newer than 11.8.9, which no comparison of texts knows."""
    primary, replica = tree()[:2]
    found = graph(version(primary, "11.8.9-MariaDB"), version(replica, "11.8.10-MariaDB"))
    assert order_findings(found, {"db1": TO}) == ()


def test_a_failed_replica_keeps_its_tree_as_it_is() -> None:
    """Within the budget the run goes on elsewhere; the primary and the second replica stay untouched."""
    found = graph(*tree(), one("s1", 21))
    planned = waves(Policy(canary=0, serial=(1,)), tuple(found.members), constraints(found))
    state = Standing(waves=planned, statuses={"db2": "failed"}, constraints=constraints(found))
    decision = judge(Policy(canary=0, max_failures=3), state)
    assert sorted(decision.held_back) == ["db1", "db3"]
    assert decision.start == ("db4",)


def test_a_topology_without_findings_has_none_on_order() -> None:
    """A healthy mixed fleet that is taken whole has nothing to say."""
    found = graph(*tree(), *cluster())
    assert codes(found) == []
    assert order_findings(found, dict.fromkeys(found.members, TO)) == ()
