"""Which hosts are asked before a rollback, and what is made of their answers."""

from collections.abc import Callable, Mapping

import pytest
from hosts_of_a_fleet import channel, facts, node

from rollout.engine import lookback
from rollout.engine.rollback import Found, HostRecord, Left, RecordedChange
from rollout.errors import Unreachable
from rollout.facts.model import Facts
from rollout.plan.way_back import Recorded
from rollout.remote.transport import Result
from rollout.settings import Connection, Host

OLDER = RecordedChange(kind="packages", summary="", before={"mariadb-server": "1:11.8.9-1", "galera-4": None}, after={})
ALLOCATOR = RecordedChange(kind="allocator", summary="", before={"running": "system"}, after={})
BACK = Recorded("7", (11, 8, 9))
TREE = {
    "db1": facts("db1", 1),
    "db2": facts("db2", 2, channels=(channel("10.0.0.1", 1),)),
    "db3": facts("db3", 3, channels=(channel("primary.example.org", 1),)),
    "db4": facts("db4", 4),
}


class Asked:
    """Hosts that have `fleet` as their facts; it keeps the names of those that were asked for them."""

    def __init__(self, fleet: Mapping[str, Facts], left: Left) -> None:
        self.fleet, self.left, self.names = fleet, left, list[str]()

    def records(self, host: Host, _ask: Callable[[str], Result]) -> Left:
        """Stand in for the question what runs have left."""
        if host.name not in self.fleet:
            raise Unreachable(host.name, "no answer")
        return self.left

    def look(self, _transport: object, host: Host) -> object:
        """Stand in for the probe."""
        self.names.append(host.name)
        return type("Look", (), {"facts": self.fleet[host.name]})


def left(state: str = "done", change: RecordedChange = OLDER) -> Left:
    """Make what one run has left."""
    return Left((Found(HostRecord(run_id="7", host="h", unit="u", was_active=True, changes=(change,)), state),), "", "")


def asked(
    monkeypatch: pytest.MonkeyPatch, fleet: Mapping[str, Facts], names: tuple[str, ...], left: Left
) -> tuple[list[str], Mapping[str, Recorded]]:
    """Look back on `names`; return the hosts that were asked for facts, and the records."""
    one = Asked(fleet, left)
    monkeypatch.setattr(lookback, "what_is_left", one.records)
    monkeypatch.setattr(lookback, "look_at", one.look)
    hosts = {name: Host(name, Connection(kind="local", address=f"10.0.0.{name[-1]}")) for name in (*fleet, *names)}
    seen = lookback.look_back([hosts[name] for name in names], hosts, "")
    assert sorted(seen.facts) == sorted(one.names)
    return sorted(one.names), seen.records


@pytest.mark.parametrize(
    ("names", "looked"),
    [
        (("db2",), ["db1", "db2"]),  # its primary is known by address
        (("db3",), ["db1", "db2", "db3", "db4"]),  # by a name that only a host itself can own to
        (("db4",), ["db4"]),  # follows nobody
        (("db9", "db2"), ["db1", "db2"]),  # one that does not answer keeps nobody
    ],
)
def test_those_are_asked_on_whom_the_order_hangs(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], looked: list[str]
) -> None:
    """Not a whole inventory of thousands for one host."""
    told, records = asked(monkeypatch, TREE, names, left())
    assert (told, records) == (looked, {name: BACK for name in names if name in TREE})


def test_a_cluster_that_tells_no_addresses_is_sought_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes may announce nothing (AUTO)."""
    fleet = {f"g{number}": facts(f"g{number}", number, galera=node()) for number in (1, 2, 3)}
    assert asked(monkeypatch, fleet, ("g1",), left())[0] == ["g1", "g2", "g3"]


@pytest.mark.parametrize(
    ("found", "record"),
    [
        (left("begun"), Recorded("7")),
        (left(change=ALLOCATOR), Recorded("7")),
        (left("undone"), Recorded()),
        (Left((), "", ""), Recorded()),
    ],
)
def test_nobody_is_probed_where_no_release_changes(
    monkeypatch: pytest.MonkeyPatch, found: Left, record: Recorded
) -> None:
    """A drop-in comes out in any order, and a change that broke off goes back in any case."""
    assert asked(monkeypatch, TREE, ("db2",), found) == ([], {"db2": record})


def test_a_host_alone_in_its_inventory_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its primary may be another inventory's."""
    assert asked(monkeypatch, {"db2": TREE["db2"]}, ("db2",), left()) == (["db2"], {"db2": BACK})
