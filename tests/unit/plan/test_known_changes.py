"""Known changes of releases: said to the hosts that they bear on, and only to those."""

from dataclasses import replace

import pytest
from hosts_of_a_fleet import channel, cluster, facts, graph, node, version

from rollout.facts.model import Facts, Package
from rollout.facts.unknown import Unknown
from rollout.plan.codes import CODES
from rollout.plan.known_changes import BEARS_ON, change_findings, rollback_findings
from rollout.versions import KNOWN_CHANGES, parse_server_version, parse_upstream


def running(said: str, **replication: object) -> Facts:
    """Make a host of that version on which nothing of a special kind is installed."""
    known = facts("db1", 1, **replication)
    return replace(
        known,
        unit=None,
        packages=replace(known.packages, items=()),
        system=replace(known.system, systemd_version=252, selinux=None),
        server=replace(known.server, running=parse_server_version(f"{said}-MariaDB")),
    )


def found(known: Facts, target: str) -> list[str]:
    """Name what the way to `target` changes for a host."""
    return [one.code for one in change_findings(known, parse_upstream(target))]


@pytest.mark.parametrize(
    ("said", "target", "expected"),
    [
        ("11.8.9", "11.8.10", []),
        ("11.8.3", "11.8.10", ["unit_hardening"]),
        ("11.8.1", "11.8.10", ["memory_pressure", "unit_hardening"]),
        ("11.8.10", "11.8.10", []),
        ("10.11.11", "10.11.18", ["memory_pressure"]),
        ("12.3.1", "12.3.4", []),
    ],
)
def test_a_host_on_its_own_hears_what_bears_on_it(said: str, target: str, expected: list[str]) -> None:
    """No cluster, no replica, no SELinux, a new systemd: only the general changes are left."""
    assert found(running(said), target) == expected


def test_a_node_hears_of_the_protocol_once() -> None:
    """11.8.4 and 11.8.6 both raised it: one finding says so."""
    assert found(running("11.8.3", galera=node()), "11.8.10") == ["galera_protocol", "unit_hardening"]
    assert found(running("11.8.9", galera=node()), "11.8.10") == []


@pytest.mark.parametrize("name", ["mariadb-server-galera", "MariaDB-server-galera"])
def test_a_node_without_the_cluster_scripts_is_blocked(name: str) -> None:
    """12.3.2 moved them to a package of its own: without it the node would not come back."""
    bare = running("12.3.1", galera=node())
    blocked = change_findings(bare, (12, 3, 4))
    assert [(one.code, one.severity) for one in blocked] == [("galera_scripts", "blocker")]
    with_scripts = replace(bare.packages, items=(Package(name, "amd64", "1:12.3.1", "install ok installed"),))
    assert change_findings(replace(bare, packages=with_scripts), (12, 3, 4)) == ()


def test_a_replica_hears_of_the_lost_gtid_mode_only_where_it_would_meet_it() -> None:
    """12.3.2 loses it, 12.3.3 mends it; a replica without GTID has none to lose."""
    by_gtid = running("12.3.1", channels=(channel("10.0.0.2", 2),))
    assert found(by_gtid, "12.3.2") == ["replica_gtid"]
    assert found(by_gtid, "12.3.4") == []
    assert found(running("12.3.1", channels=(channel("10.0.0.2", 2, using_gtid="No"),)), "12.3.2") == []


def test_a_replica_on_the_release_that_loses_it_is_named() -> None:
    """On 12.3.2 a channel without GTID may have lost it."""
    assert found(running("12.3.2", channels=(channel("10.0.0.2", 2, using_gtid="No"),)), "12.3.4") == [
        "replica_gtid_lost"
    ]


def test_what_is_not_known_is_said_with_its_reason() -> None:
    """An unknown cluster state keeps the finding, and the reason stands in it."""
    doubtful = change_findings(running("11.8.3", galera=Unknown("ERROR 1227: Access denied")), (11, 8, 10))
    assert [one.code for one in doubtful] == ["galera_protocol", "unit_hardening"]
    assert "not known: ERROR 1227: Access denied" in doubtful[0].message


def test_special_hosts_hear_what_bears_on_them() -> None:
    """An old systemd, SELinux and a raw device are each told their change."""
    special = running("11.8.1")
    special = replace(
        special,
        system=replace(special.system, systemd_version=239, selinux="enforcing"),
        server=replace(special.server, variables={"innodb_data_file_path": "/dev/sdb1:10Graw"}),
    )
    assert {"unit_capabilities", "selinux_package", "unit_private_devices"} <= set(found(special, "11.8.10"))


def test_every_known_change_has_its_predicate_and_its_explanation() -> None:
    """A row added to the table of releases cannot be forgotten here."""
    assert {change.code for change in KNOWN_CHANGES} == set(BEARS_ON)
    assert set(BEARS_ON) <= set(CODES)


BACK = {"g1": (11, 8, 3), "g2": (11, 8, 3), "g3": (11, 8, 3)}


def test_rollback_across_a_raised_protocol_is_refused_once_all_nodes_run_it() -> None:
    """All three nodes run 11.8.4: a single node could not join the others again."""
    whole = graph(*(version(some, "11.8.4-MariaDB") for some in cluster()))
    refused = rollback_findings(whole, BACK)
    assert [(one.code, one.severity, one.hosts) for one in refused] == [
        ("galera_protocol_raised", "blocker", ("g1", "g2", "g3"))
    ]
    assert "11.8.4 raised the protocol of the cluster and every node runs it" in refused[0].message


def test_rollback_is_open_until_the_last_node() -> None:
    """Two of three nodes run 11.8.4, the third does not: the raise has not taken effect."""
    first, second, third = cluster()
    mixed = graph(version(first, "11.8.4-MariaDB"), version(second, "11.8.4-MariaDB"), version(third, "11.8.3-MariaDB"))
    assert rollback_findings(mixed, {"g1": (11, 8, 3), "g2": (11, 8, 3)}) == ()


def test_rollback_that_crosses_no_raise_is_allowed() -> None:
    """From 11.8.10 to 11.8.9 the protocol is the same, and 10.11 has nothing to do with 11.8's table."""
    whole = graph(*(version(some, "11.8.10-MariaDB") for some in cluster()))
    assert rollback_findings(whole, dict.fromkeys(BACK, (11, 8, 9))) == ()
    older = graph(*(version(some, "10.11.18-MariaDB") for some in cluster()))
    assert rollback_findings(older, dict.fromkeys(BACK, (10, 11, 11))) == ()


def test_rollback_with_a_node_of_unknown_version_is_refused() -> None:
    """A node that nobody could ask is not taken for an old one."""
    first, second, third = cluster()
    partly = graph(version(first, "11.8.4-MariaDB"), version(second, "11.8.4-MariaDB"), replace(third, version=None))
    assert [one.code for one in rollback_findings(partly, {"g1": (11, 8, 3)})] == ["galera_protocol_raised"]
    assert "as far as is known" in rollback_findings(partly, {"g1": (11, 8, 3)})[0].message


def test_rollback_across_two_raises_is_refused_once() -> None:
    """All nodes run 11.8.10: the newer of the two raises is named, one finding a cluster."""
    whole = graph(*(version(some, "11.8.10-MariaDB") for some in cluster()))
    assert [one.message[:6] for one in rollback_findings(whole, BACK)] == ["11.8.6"]
