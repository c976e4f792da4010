"""The way back across hosts that hang together, from a controller that knows nothing but the inventory.

Seconds: about 250 on two idle cores.
"""

import json
from pathlib import Path

import pytest
from by_hand import INSTALLED, installed
from cutting import eventually
from product import Product
from trial import SWING

from rollout.engine.run_folder import RunFolder
from rollout.journal import read
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STARTED = "systemctl show mariadb -p InvocationID --value"
BEHIND = "mariadb -e 'SHOW SLAVE STATUS\\G' | sed -n 's/.*Slave_SQL_Running: //p'"
GOES_BACK = "name: fix\nchanges: [packages]\nphases: []\ncanary: 1\nserial: [1]\non_failure: roll_back\n"
SIZE = "mariadb -NBe \"SHOW STATUS LIKE 'wsrep_cluster_size'\" | cut -f2"


def changed(product: Product, *names: str) -> None:
    """Take hosts to the newer release."""
    hosts = [word for name in names for word in ("--host", name)]
    product.plan("--playbook", "lru-fix", expect=None)
    rows = product.run("apply", *hosts, "--yes", "--json", "--skip-backup", "a rehearsal").json["hosts"]
    assert [row["status"] for row in rows] == ["changed"] * len(names), rows


def phases(state: Path, phase: str) -> list[str]:
    """Name the hosts in the order in which the last run went through a phase."""
    (*_, last) = sorted((state / "runs").iterdir())
    ended = [event for event in read(RunFolder(last).journal_path) if event.event == "phase_ended"]
    return [event.host for event in ended if event.data["phase"] == phase]


def test_a_replica_and_its_primary_changed_from_two_places(replication: Rehearsal, tmp_path: Path) -> None:
    """The replica alone is refused, the primary's release being newer; together the primary goes first."""
    names = ("db2", "db4")
    for name in names:
        replication.dirty(name)
    replication.publish()
    changed(Product(replication.inventory, tmp_path / "one"), "db4")
    changed(Product(replication.inventory, tmp_path / "two"), "db2")
    record = replication.lab.base.record

    third = Product(replication.inventory, tmp_path / "three")
    inventory = str(replication.inventory)
    refused = third.run("rollback", inventory, "--host", "db4", "--json", expect=1).json["hosts"][0]
    assert refused["status"] == "blocked"
    assert "older than its primary db2" in refused["error"]
    assert replication.text("db4", INSTALLED) == record.new

    first = Product(replication.inventory, tmp_path / "one")  # it has changed db4 alone, and its plan has both
    ran = first.run("rollback", inventory, "--host", "db4", "--host", "db2", "--json")
    assert {row["name"]: row["status"] for row in ran.json["hosts"]} == dict.fromkeys(names, "rolled_back")
    assert phases(tmp_path / "one", "take_back") == ["db2", "db4"]
    assert [replication.text(name, INSTALLED) for name in names] == [record.old, record.old]
    assert [replication.text(name, BEHIND) for name in names] == ["Yes", "Yes"]


def test_a_replica_that_was_taken_back_since_the_plan(replication: Rehearsal, tmp_path: Path) -> None:
    """The plan saw it at the newer release, so its primary could be changed; right before that it is asked again."""
    for name in ("db2", "db4"):
        replication.dirty(name)
    replication.publish()
    record = replication.lab.base.record
    installed(replication, "db4", record.new)
    product = Product(replication.inventory, tmp_path / "state")
    planned = product.plan("--playbook", "lru-fix", "--json", expect=None).json["hosts"]
    assert {row["name"]: row["status"] for row in planned}["db4"] == "ok"
    installed(replication, "db4", record.old)
    started = replication.text("db2", STARTED)
    words = ("apply", "--host", "db2", "--yes", "--json", "--skip-backup", "a rehearsal")
    row = product.run(*words, expect=4).json["hosts"][0]
    assert row["status"] == "failed"
    assert "and its replica db4 runs 10." in row["error"], row
    assert (replication.text("db2", INSTALLED), replication.text("db2", STARTED)) == (record.old, started)


def test_a_run_that_goes_back_leaves_a_replica_whose_primary_was_lost(replication: Rehearsal, tmp_path: Path) -> None:
    """The primary's cable is out while its packages move: it ends newer, so the replica is not taken back below it."""
    names = ("db2", "db4")
    for name in names:
        replication.dirty(name)
    replication.publish()
    playbook = tmp_path / "playbook.yml"
    playbook.write_text(GOES_BACK)
    product = Product(replication.inventory, tmp_path / "state")
    product.plan("--playbook", str(playbook), expect=None)
    hosts = [word for name in names for word in ("--host", name)]
    process = product.start("apply", *hosts, "--yes", "--json", "--patience", "5", "--skip-backup", "a rehearsal")
    eventually(lambda: replication.shell("db2", SWING["change"]).returncode == 0, 240)
    replication.lab.cut_network("db2")
    out, complaint = process.communicate(timeout=600)
    replication.lab.restore_network("db2")
    rows = {row["name"]: row for row in json.loads(out)["hosts"]}
    assert (process.returncode, rows["db2"]["status"], rows["db4"]["status"]) == (4, "unknown", "changed"), complaint
    assert "not taken back: primary_release_unknown: db4 would run" in rows["db4"]["error"]

    record = replication.lab.base.record
    eventually(lambda: replication.text("db2", INSTALLED) == record.new, 120)
    assert replication.text("db4", INSTALLED) == record.new
    # The server started while the cable was out, so its error log may tell of a lost primary: then both are taken back.
    ended = product.run("apply", "--resume", "--yes", "--json", expect=None)
    rows = {row["name"]: row["status"] for row in ended.json["hosts"]}
    assert rows in (dict.fromkeys(names, "changed"), {"db2": "recovered", "db4": "rolled_back"}), ended.err
    both = record.new if rows["db2"] == "changed" else record.old
    assert [replication.text(name, INSTALLED) for name in names] == [both, both]
    assert replication.text("db4", BEHIND) == "Yes"


def test_a_cluster_goes_back_node_by_node(galera: Rehearsal, tmp_path: Path) -> None:
    """Each node waits until the others are Synced, also those that are not taken back; the cluster is whole after."""
    names = ("db1", "db2")
    for name in (*names, "db3"):
        galera.dirty(name)
    galera.publish()
    changed(Product(galera.inventory, tmp_path / "one"), *names)
    other = Product(galera.inventory, tmp_path / "two")
    hosts = [word for name in names for word in ("--host", name)]

    galera.text("db3", "mariadb -e 'SET GLOBAL wsrep_desync=ON'")
    inventory = tmp_path / "impatient.yml"
    inventory.write_text("all:\n  vars: {rollout_settle_seconds: 1}\n")
    asked = ("-i", str(galera.inventory), "-i", str(inventory))
    waited = other.run("rollback", *asked, "--host", "db1", "--json", expect=None).json["hosts"][0]
    assert (waited["status"], "db3 is Donor/Desynced" in waited["error"]) == ("failed", True), waited
    assert galera.text("db1", INSTALLED) == galera.lab.base.record.new

    galera.text("db3", "mariadb -e 'SET GLOBAL wsrep_desync=OFF'")
    rows = other.run("rollback", str(galera.inventory), *hosts, "--json").json["hosts"]
    assert {row["name"]: row["status"] for row in rows} == dict.fromkeys(names, "rolled_back")
    assert phases(tmp_path / "two", "peers") == ["db2", "db1"]
    assert [galera.text(name, INSTALLED) for name in names] == [galera.lab.base.record.old] * 2
    assert galera.text("db3", SIZE) == "3"
