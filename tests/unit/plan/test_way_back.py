"""The way back across hosts: primaries first, and nobody below its primary or out of its cluster."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hosts_of_a_fleet import channel, facts, node

from rollout.changes.model import Change
from rollout.engine.loop import roll_back_hosts
from rollout.engine.run_folder import OpenRun, RunFolder
from rollout.engine.steps import Options
from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown
from rollout.journal import Event
from rollout.plan.model import HostPlan, Plan, PlaybookPart, VersionRow
from rollout.plan.way_back import Reached, Recorded, Seen, WayBack, way_back
from rollout.settings import Connection, Host
from rollout.versions import parse_server_version, parse_upstream

PACKAGES = Change("packages", "up", {}, {}, "the LRU fix", "true", "true")


def plan(before: str, target: str, waves: tuple[tuple[str, ...], ...], **hosts: Facts) -> Plan:
    """Make a plan that takes every host from `before` to `target`."""
    version = VersionRow(flavour="mariadb", running=before, target=target)
    return Plan(
        schema=1,
        plan_id="p1",
        created_at="2026-11-30T10:00:00+00:00",
        program_version="0.1.0",
        playbook=PlaybookPart(name="fix", source="fix.yml", changes=("packages",)),
        inventory_sources=(),
        inventory={name: {"address": f"10.0.0.{number}"} for number, name in enumerate(hosts, 1)},
        waves=waves,
        hosts=tuple(HostPlan(name=name, status="change", version=version, changes=(PACKAGES,)) for name in hosts),
        facts={name: json.loads(json.dumps(facts_to_json(one))) for name, one in hosts.items()},
    ).sealed()


CHAIN = plan(
    "11.8.9",
    "11.8.10",
    (("db3",), ("db2",), ("db1",)),
    db1=facts("db1", 1),
    db2=facts("db2", 2, channels=(channel("10.0.0.1", 1),)),
    db3=facts("db3", 3, channels=(channel("10.0.0.2", 2),)),
)
ROLL = (("g1",), ("g2",), ("g3",))
ALL = ("db1", "db2", "db3")


def back_from(
    made: Plan | None,
    names: tuple[str, ...],
    done: tuple[str, ...],
    seen: Mapping[str, Facts] = MappingProxyType({}),
    **records: Recorded,
) -> WayBack:
    """Order `names` of an inventory that has the plan's hosts and these."""
    inventory = {**dict.fromkeys(made.inventory if made else ()), **dict.fromkeys(names), **seen}
    hosts = {name: Host(name, Connection(address=f"10.0.0.{name[-1]}")) for name in inventory}
    return way_back(made, hosts, names, Reached(done), Seen(seen, records))


def nodes(running: str) -> dict[str, Facts]:
    """Make a cluster of three as it was before its run."""
    known = {f"g{number}": facts(f"g{number}", number, galera=node()) for number in (1, 2, 3)}
    said = parse_server_version(f"{running}-MariaDB")
    return {name: replace(one, server=replace(one.server, running=said)) for name, one in known.items()}


def test_primaries_go_back_first() -> None:
    """The whole tree goes back from its root, so that no replica is older than its primary at any time."""
    back = back_from(CHAIN, ("db3", "db1", "db2"), ALL)
    assert (back.waves, back.refused) == ((("db1",), ("db2",), ("db3",)), {})


def test_a_replica_stays_where_its_primary_stays() -> None:
    """Taken back without its primary a replica would be older, and its own replica stays with it."""
    back = back_from(CHAIN, ("db2", "db3"), ALL)
    assert back.waves == ()
    assert sorted(back.refused) == ["db2", "db3"]
    assert back.refused["db2"].startswith("replica_would_be_older: db2 would run 11.8.9, older than its primary db1")


def test_a_primary_may_go_back_alone() -> None:
    """A replica newer than its primary is allowed."""
    assert back_from(CHAIN, ("db1",), ALL).waves == (("db1",),)


@pytest.mark.parametrize("done", [("db3",), ()])
def test_a_run_that_ended_half_way_goes_back_whole(done: tuple[str, ...]) -> None:
    """A host whose change did not come to its end is never refused, nor is a replica whose primary was not begun."""
    assert back_from(CHAIN, ("db2", "db3"), done).waves == (("db2",), ("db3",))


def test_a_replica_stays_below_a_primary_whose_change_has_no_known_end() -> None:
    """The run lost sight of db1 in the midst of its change: that may have ended, so what was planned tells nothing."""
    hosts = {name: Host(name, Connection(address=f"10.0.0.{name[-1]}")) for name in ALL}
    seen = Seen(silent={"db1": "no route to host"})
    back = way_back(CHAIN, hosts, ("db2", "db3"), Reached({"db2", "db3"}, {"db1"}), seen)
    assert (back.waves, sorted(back.refused)) == ((), ["db2", "db3"])
    assert back.refused["db2"].startswith("primary_release_unknown: db2 would run 11.8.9, and what its primary db1")
    assert "(no route to host)" in back.refused["db2"]


def test_nodes_of_a_cluster_stay_once_the_protocol_was_raised() -> None:
    """All three nodes went across 11.8.6: none goes back, and each is told why."""
    whole = plan("11.8.5", "11.8.10", ROLL, **nodes("11.8.5"))
    back = back_from(whole, ("g1", "g2", "g3"), ("g1", "g2", "g3"))
    assert back.waves == ()
    assert sorted(back.refused) == ["g1", "g2", "g3"]
    assert all(reason.startswith("galera_protocol_raised: 11.8.6") for reason in back.refused.values())
    assert back_from(whole, ("g1", "g2"), ("g1", "g2")).waves == (("g2",), ("g1",))  # the third runs the old one


def test_nodes_go_back_where_no_raise_lies_between() -> None:
    """From 11.8.10 to 11.8.9 the nodes go back one after another."""
    whole = plan("11.8.9", "11.8.10", ROLL, **nodes("11.8.9"))
    assert back_from(whole, ("g1", "g2", "g3"), ("g1", "g2", "g3")).waves == (("g3",), ("g2",), ("g1",))


@pytest.mark.parametrize("kept", [{}, {"db1": {"unknown": {}}, "db2": {}}])
def test_a_plan_without_usable_facts_still_orders(kept: dict[str, Any]) -> None:
    """Facts are not in the digest: where they are gone or of another form, the waves stand in the plan."""
    bare = CHAIN.model_copy(update={"facts": kept})
    assert back_from(bare, ALL, ALL).waves == (("db1",), ("db2",), ("db3",))


def test_hosts_that_the_plan_does_not_know_are_taken_back_too() -> None:
    """A host that came into the inventory later has a record of its own, or none."""
    assert back_from(CHAIN, ("new", "db1"), ALL).waves == (("new",), ("db1",))


def at(release: str, name: str, number: int, **replication: Any) -> dict[str, Facts]:
    """Make the facts of a host that runs a release."""
    known = facts(name, number, **replication)
    return {name: replace(known, server=replace(known.server, running=parse_server_version(f"{release}-MariaDB")))}


NEW_PRIMARY = at("11.8.10", "db1", 1)
NEW_REPLICA = at("11.8.10", "db2", 2, channels=(channel("10.0.0.1", 1),))
OLD = Recorded("1", parse_upstream("11.8.9"))
ONLY_PRIMARY = plan("11.8.9", "11.8.10", (("db1",),), db1=facts("db1", 1))


@pytest.mark.parametrize("made", [None, ONLY_PRIMARY])
def test_a_replica_of_another_run_stays_below_no_newer_primary(made: Plan | None) -> None:
    """Canary first, the primary by a later run: what runs now counts, not what the last plan or no plan knows."""
    back = back_from(made, ("db2",), ("db1",), NEW_PRIMARY | NEW_REPLICA, db2=OLD)
    assert back.waves == ()
    assert back.refused["db2"].startswith("replica_would_be_older: db2 would run 11.8.9, older than its primary db1")


@pytest.mark.parametrize("made", [None, ONLY_PRIMARY])
@pytest.mark.parametrize("names", [("db1", "db2"), ("db2", "db1")])
def test_a_primary_goes_first_whichever_runs_changed_the_two(made: Plan | None, names: tuple[str, ...]) -> None:
    """Neither the inventory's order nor a plan that knows only one of them may put the replica first."""
    later = replace(OLD, run_id="2")
    back = back_from(made, names, ("db1",), NEW_PRIMARY | NEW_REPLICA, db1=OLD, db2=later)
    assert (back.waves, back.refused) == ((("db1",), ("db2",)), {})
    assert list(back.kept_waiting(("db2",), {"db1": "failed"})) == ["db2"]


def test_a_primary_that_somebody_took_back_by_hand_holds_nobody() -> None:
    """The plan says 11.8.10 for it; it runs 11.8.9."""
    seen = at("11.8.9", "db1", 1) | NEW_REPLICA
    back = back_from(CHAIN, ("db2",), ALL, seen, db2=OLD)
    assert (back.waves, back.refused) == ((("db2",),), {})


def test_a_change_that_did_not_come_to_its_end_goes_back_below_any_primary() -> None:
    """Its host named a record, and no release that it would rest at."""
    back = back_from(CHAIN, ("db2",), ALL, NEW_PRIMARY, db2=Recorded("1"))
    assert back.waves == (("db2",),)


@pytest.mark.parametrize(
    ("there", "who"),
    [
        ({"db1": facts("db1", 9)}, "db1 (10.0.0.1:3306)"),
        ({}, "10.0.0.1:3306, which is not in the inventory,"),
    ],
)
def test_a_replica_of_a_primary_that_cannot_be_asked_stays(there: dict[str, Facts], who: str) -> None:
    """Nobody knows whether it would be older, be the primary in the inventory or not; a person may take it on them."""
    silent = {name: replace(one, server=replace(one.server, running=Unknown("no"))) for name, one in there.items()}
    back = back_from(None, ("db2",), (), NEW_REPLICA | silent, db2=OLD)
    told = f"db2 would run 11.8.9, and what its primary {who} runs is not known"
    assert (back.waves, told in back.refused["db2"]) == ((), True)
    hosts = {name: Host(name, Connection(address=f"10.0.0.{name[-1]}")) for name in (*there, "db2")}
    seen = Seen(NEW_REPLICA | silent, {"db2": OLD})
    assert way_back(None, hosts, ("db2",), Reached(), seen, accept_unknown=True).waves == (("db2",),)


def test_a_replica_whose_silent_primary_is_to_go_back_too_waits_for_it() -> None:
    """How that comes out decides."""
    seen = Seen(NEW_REPLICA, {"db2": OLD}, {"db1": "no route to host"})
    hosts = {name: Host(name, Connection(address=f"10.0.0.{name[-1]}")) for name in ("db1", "db2")}
    back = way_back(None, hosts, ("db1", "db2"), Reached(), seen)
    assert (back.waves, back.refused) == ((("db1",), ("db2",)), {})
    assert list(back.kept_waiting(("db2",), {"db1": "unreachable"})) == ["db2"]


def test_what_was_changed_last_goes_back_first() -> None:
    """Rows that share a drop-in need that; hosts of one run keep the waves of its plan, and their width."""
    whole = plan("11.8.9", "11.8.10", (("g1",), ("g2", "g3")), **nodes("11.8.9"))
    records = {"new": Recorded("2"), "g1": Recorded("3"), "g2": Recorded("1"), "g3": Recorded("1")}
    back = back_from(whole, ("g1", "g2", "g3", "new"), (), **records)
    assert back.waves == (("g1",), ("new",), ("g3", "g2"))


def test_a_ring_goes_back_one_after_another() -> None:
    """Two hosts that replicate from each other have no first one, and neither is lost."""
    one = at("11.8.10", "db1", 1, channels=(channel("10.0.0.2", 2),))
    back = back_from(None, ("db1", "db2"), (), one | NEW_REPLICA, db1=OLD, db2=OLD)
    assert sorted(name for wave in back.waves for name in wave) + sorted(back.refused) == ["db1", "db2"]


def test_a_node_knows_the_others_of_its_cluster() -> None:
    """They are asked right before it goes down; hosts that are not taken back are among them."""
    seen = nodes("11.8.10")
    back = back_from(None, ("g1",), (), seen, g1=OLD)
    assert (back.waves, back.peers["g1"]) == ((("g1",),), frozenset({"g2", "g3"}))


def test_a_replica_waits_for_a_primary_that_could_not_be_taken_back() -> None:
    """The primary's rollback failed, so that it still runs the newer release: its replica keeps that, too."""
    back = back_from(CHAIN.model_copy(update={"primaries": {"db1": ("db2",), "db2": ("db3",)}}), ALL, ALL)
    assert back.kept_waiting(("db2",), {"db1": "rolled_back"}) == {}
    assert back.kept_waiting(("db2",), {"db1": "failed"}) == {"db2": "its primary was not taken back: db1"}
    assert list(back.kept_waiting(("db3",), {"db1": "failed", "db2": "skipped"})) == ["db3"]


def test_without_a_plan_hosts_go_back_one_at_a_time() -> None:
    """Another controller has the inventory alone: its order, turned round."""
    assert back_from(None, ("db1", "db2"), ()).waves == (("db2",), ("db1",))


def test_a_rollback_that_is_refused_is_told_and_touches_nothing(tmp_path: Path) -> None:
    """Nothing is left to take back: every host ends as blocked with the reason, and no connection is opened."""
    events: list[Event] = []
    run = OpenRun(RunFolder(tmp_path / "runs" / "2"), events.append)
    back = back_from(CHAIN, ("db2", "db3"), ALL)
    result = roll_back_hosts({name: Host(name, Connection()) for name in ("db2", "db3")}, back, run, Options(), "")
    run.close()
    assert result.exit_code == 1
    assert {name: outcome.status for name, outcome in result.outcomes.items()} == {"db2": "blocked", "db3": "blocked"}
    assert [event.event for event in events] == ["run_started", "finished", "finished", "run_ended"]
