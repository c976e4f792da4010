"""The 11.8 road on trixie: real 11.8.9, then the stand-in of 11.8.10 is published, and back again."""

from pathlib import Path

import pytest
from product import Product
from undo_law import differences, snapshot

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet


def test_not_published_and_then_the_full_road_and_back(trixie: Rehearsal, tmp_path: Path) -> None:
    """11.8.9: not published, jemalloc alone is planned; published: 11.8.10 and jemalloc, one start, the undo law."""
    fleet = trixie
    fleet.dirty("db1")
    product = Product(fleet.inventory, tmp_path / "state")
    row = product.plan("--json").json["hosts"][0]
    assert (row["version"]["running"], row["version"]["fix"]) == ("11.8.9", "not_published")
    assert [change["kind"] for change in row["changes"]] == ["allocator"]

    fleet.publish()
    before = snapshot(fleet, "db1")
    row = product.plan("--json").json["hosts"][0]
    assert (row["version"]["target"], row["version"]["fix"]) == ("11.8.10", "rehearsal")
    applied = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert (applied["status"], applied["restarts"]) == ("changed", 1), applied
    assert fleet.text("db1", "mariadb -N -e 'SELECT VERSION()'").startswith("11.8.10-MariaDB")
    assert fleet.text("db1", "mariadbd --no-defaults --version").split("Ver ")[1].startswith("11.8.10-MariaDB")
    taken_back = product.run("rollback", "--host", "db1", "--json").json["hosts"][0]
    assert taken_back["status"] == "rolled_back"
    assert fleet.text("db1", "mariadb -N -e 'SELECT VERSION()'").startswith("11.8.9-MariaDB")
    assert differences(before, snapshot(fleet, "db1")) == []
