"""The topology as a tree for people and as JSON for programs."""

import json
from dataclasses import replace

from hosts_of_a_fleet import channel, cluster, graph, one, tree

from rollout.plan.drawing import draw, topology_json
from rollout.plan.member import Member
from rollout.plan.order import constraints
from rollout.plan.policy import Policy
from rollout.plan.waves import waves


def test_a_mixed_fleet_is_drawn_with_the_wave_of_each_host() -> None:
    """Cluster, tree and hosts on their own, primaries above their replicas, leaves in the earliest waves."""
    found = graph(*tree(), *cluster(), one("s1", 21))
    planned = waves(Policy(canary=1, serial=(3,)), tuple(found.members), constraints(found))
    assert draw(found, planned).splitlines() == [
        "Galera cluster 5c1f7e2a-2b0b-11ef-8d5e-3f2a9c1d0b4e: 3 of 3 nodes",
        "├─ g1  11.8.9  Synced  [wave 2]",
        "├─ g2  11.8.9  Synced  [wave 3]",
        "└─ g3  11.8.9  Synced  [wave 4]",
        "db1  11.8.9  [wave 4]",
        "├─ db2  11.8.9  read-only  [wave 1]  0 s behind",
        "└─ db3  11.8.9  read-only  [wave 3]  0 s behind",
        "   └─ db4  11.8.9  read-only  [wave 2]  7 s behind",
        "s1  11.8.9  [wave 2]",
    ]


def test_a_replica_of_two_primaries_stands_below_both_and_is_followed_once() -> None:
    """The second time it is a pointer to the first, with its own channel."""
    both = (channel("10.0.0.1", 1, "sales"), channel("10.0.0.2", 2, "stock", seconds_behind=None))
    found = graph(
        one("a", 1), one("b", 2), one("r", 3, channels=both), one("leaf", 4, channels=(channel("10.0.0.3", 3),))
    )
    assert draw(found).splitlines() == [
        "a  11.8.9",
        "└─ r  11.8.9  channel sales  0 s behind",
        "   └─ leaf  11.8.9  0 s behind",
        "b  11.8.9",
        "└─ r  11.8.9  channel stock  lag unknown  see above",
    ]


def test_servers_outside_the_inventory_are_drawn() -> None:
    """An unknown primary stands above its replicas, unknown nodes stand in their cluster."""
    first, second, _third = (replace(some, peers=("10.0.0.13",)) for some in cluster())
    stopped = channel("192.0.2.9", 9, io_running="Connecting")
    found = graph(first, second, one("r1", 1, channels=(stopped,)), one("r2", 2, channels=(channel("192.0.2.9", 9),)))
    assert draw(found).splitlines() == [
        "Galera cluster 5c1f7e2a-2b0b-11ef-8d5e-3f2a9c1d0b4e: 2 of 3 nodes",
        "├─ g1  11.8.9  Synced",
        "├─ g2  11.8.9  Synced",
        "└─ 10.0.0.13  not in the inventory",
        "192.0.2.9:3306  not in the inventory",
        "├─ r1  11.8.9  not running (io Connecting, sql Yes)",
        "└─ r2  11.8.9  0 s behind",
    ]


def test_a_ring_is_drawn_once_around() -> None:
    """Two hosts that replicate from each other end in a pointer and not in a loop."""
    ring = graph(one("a", 1, channels=(channel("10.0.0.2", 2),)), one("b", 2, channels=(channel("10.0.0.1", 1),)))
    assert draw(ring).splitlines() == [
        "a  11.8.9",
        "└─ b  11.8.9  0 s behind",
        "   └─ a  11.8.9  0 s behind  see above",
    ]


def test_hosts_of_which_nothing_is_known_are_drawn_as_such() -> None:
    """Unknown is said, and nothing stands in for it."""
    found = graph(Member("a", unknown="it could not be reached"), replace(one("b", 2), down=True))
    assert draw(found).splitlines() == ["a  version unknown  place unknown", "b  11.8.9  stopped"]


def test_every_host_stands_in_the_tree() -> None:
    """Nobody is left out of a large drawing."""
    found = graph(*tree(), *cluster(), *(one(f"s{number}", number) for number in range(20, 60)))
    drawn = draw(found)
    assert all(f"{name}  " in drawn for name in found.members)


def test_what_a_host_sends_cannot_reach_the_terminal() -> None:
    """Control characters in a channel's name or address are shown as escapes."""
    drawn = draw(graph(one("r", 1, channels=(channel("evil\x1b[2Jhost", 9, "name\n\x07"),))))
    assert "\x1b" not in drawn
    assert "\x07" not in drawn
    assert "evil\\x1b[2Jhost:3306" in drawn


def test_json_holds_links_clusters_and_findings() -> None:
    """What the drawing shows, a program can read."""
    found = topology_json(graph(*tree(), *cluster(), one("r", 9, channels=(channel("192.0.2.9", 1),))))
    assert json.loads(json.dumps(found)) == found
    hosts = {host["name"]: host for host in found["hosts"]}
    assert hosts["db1"]["replicas"] == ["db2", "db3"]
    assert hosts["db4"]["channels"] == [
        {
            "name": "",
            "primary": "db3",
            "source": "10.0.0.3:3306",
            "joined_by": "address",
            "using_gtid": "Slave_Pos",
            "seconds_behind": 7,
        }
    ]
    assert hosts["r"]["channels"][0]["primary"] is None
    assert found["clusters"][0]["nodes"] == ["g1", "g2", "g3"]
    assert [finding["code"] for finding in found["findings"]] == ["primary_outside_inventory"]
