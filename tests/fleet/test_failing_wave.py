"""A host fails in the second of four waves, under three policies; and a run that stopped goes on where it has to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import bring_up, put_back
from product import Product

from rollout.lab.fleet import Fleet
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet
BROKEN = "/etc/mysql/mariadb.conf.d/99-broken.cnf"
PLAYBOOK = "name: one at a time\nchanges: [allocator]\nphases: []\ncanary: 1\nserial: [1]\n"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up four hosts that stand alone."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "w", hosts=4)


@pytest.fixture
def broken(four: Fleet) -> Iterator[Rehearsal]:
    """Give a test the four hosts, with an option in db2's files that no server takes."""
    for fleet in put_back(four):
        for host in fleet.hosts:
            fleet.dirty(host.name)
        fleet.text("db2", f"printf '[mariadbd]\\nno-such-option=1\\n' >{BROKEN}")
        yield fleet


def planned(fleet: Rehearsal, folder: Path, policy: str = "") -> Product:
    """Plan all four hosts under a policy, and return the product to apply it with."""
    product = Product(fleet.inventory, folder / "state")
    playbook = folder / "playbook.yml"
    playbook.write_text(PLAYBOOK + policy)
    assert product.plan("--playbook", str(playbook), "--json").json["waves"] == [["db1"], ["db2"], ["db3"], ["db4"]]
    return product


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """Return how each host came out."""
    return {host["name"]: host["status"] for host in document["hosts"]}


def preloads(fleet: Rehearsal) -> list[str]:
    """Return the hosts whose server maps jemalloc."""
    maps = "grep -c jemalloc /proc/$(systemctl show -P MainPID mariadb)/maps || :"
    return [host.name for host in fleet.hosts if fleet.text(host.name, maps) != "0"]


def test_a_run_stops_and_then_goes_on_with_what_is_left(broken: Rehearsal, tmp_path: Path) -> None:
    """Nobody may fail: db3 and db4 are not begun, exit 4; mended and resumed, db1 is not touched again."""
    product = planned(broken, tmp_path)
    stopped = product.run("apply", "--yes", "--json", expect=4).json
    assert statuses(stopped) == {"db1": "changed", "db2": "failed", "db3": "pending", "db4": "pending"}
    assert stopped["stopped"].startswith("budget_exceeded"), stopped["stopped"]
    assert "no-such-option" in next(host for host in stopped["hosts"] if host["name"] == "db2")["error"]
    assert preloads(broken) == ["db1"]

    before = broken.text("db1", "systemctl show -P InvocationID mariadb")
    broken.text("db2", f"rm {BROKEN}")
    resumed = product.run("apply", "--resume", "--yes", "--json").json
    assert statuses(resumed) == {"db1": "changed", "db2": "changed", "db3": "changed", "db4": "changed"}
    assert preloads(broken) == ["db1", "db2", "db3", "db4"]
    assert broken.text("db1", "systemctl show -P InvocationID mariadb") == before
    assert resumed["run_id"] == stopped["run_id"]


def test_a_run_goes_on_within_its_budget(broken: Rehearsal, tmp_path: Path) -> None:
    """One may fail: the three others are changed, and exit 1 says that one was not."""
    document = planned(broken, tmp_path, "max_failures: 1\n").run("apply", "--yes", "--json", expect=1).json
    assert statuses(document) == {"db1": "changed", "db2": "failed", "db3": "changed", "db4": "changed"}
    assert (document["stopped"], preloads(broken)) == ("", ["db1", "db3", "db4"])


def test_a_run_takes_back_what_it_did(broken: Rehearsal, tmp_path: Path) -> None:
    """On failure roll back: db1 is as before, db3 and db4 are not begun, exit 4."""
    document = planned(broken, tmp_path, "on_failure: roll_back\n").run("apply", "--yes", "--json", expect=4).json
    assert statuses(document) == {"db1": "rolled_back", "db2": "failed", "db3": "pending", "db4": "pending"}
    assert preloads(broken) == []
