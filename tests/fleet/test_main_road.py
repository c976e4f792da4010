"""The main road on real hosts: plan, apply, verify, roll back, and nothing left that was not there before."""

import json
from pathlib import Path

import pytest
from product import Product
from undo_law import differences, snapshot, table_checksums

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STATE = "systemctl show mariadb -p InvocationID -p MainPID --value | tr '\\n' ' '"
# What was acknowledged is read first: the writer goes on, and a row of a moment later would look lost.
LOST = """sort /var/lib/rollout-demo-writer/acknowledged >/tmp/acknowledged
mariadb -N -e 'SELECT number FROM rollout_demo_writer.written' | sort >/tmp/stored
comm -23 /tmp/acknowledged /tmp/stored | grep -c . || :
wc -l </tmp/acknowledged; rm /tmp/stored /tmp/acknowledged"""


@pytest.fixture
def product(fleet: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product, with the newer release published."""
    fleet.publish()
    return Product(fleet.inventory, tmp_path / "state")


def run_id(product: Product) -> str:
    """Name the last run."""
    return str(product.run("status", "--json").json["run_id"])


def test_one_host_goes_up_proves_it_and_comes_back(fleet: Rehearsal, product: Product) -> None:
    """Apply and rollback of one host: exact versions, both proofs of the allocator, one start, and the undo law."""
    fleet.dirty("db1")
    before = snapshot(fleet, "db1")
    others = {name: fleet.text(name, STATE) for name in ("db2", "db3")}
    fleet.text("db1", "systemctl start rollout-demo-writer")
    tables = table_checksums(fleet, "db1")
    product.plan()
    applied = product.run("apply", "--host", "db1", "--yes", "--json").json["hosts"][0]
    assert applied["status"] == "changed", applied
    assert applied["restarts"] == 1
    assert 0 < applied["downtime_seconds"] < 300

    plan = json.loads((product.state / "plan.json").read_text())
    packages = next(change for change in plan["hosts"][0]["changes"] if change["kind"] == "packages")
    assert len(packages["after"]) > 5
    for name, version in packages["after"].items():
        assert fleet.text("db1", f"dpkg-query -W -f '${{Version}}' {name}") == version
    assert fleet.text("db1", "mariadb -N -e 'SELECT @@version_malloc_library'").startswith("jemalloc")
    assert int(fleet.text("db1", "grep -c /libjemalloc.so.2 /proc/$(systemctl show -p MainPID --value mariadb)/maps"))
    target = plan["hosts"][0]["version"]["target"]
    assert fleet.text("db1", "mariadb -N -e 'SELECT VERSION()'").startswith(f"{target}-MariaDB")
    assert table_checksums(fleet, "db1") == tables
    lost, acknowledged = map(int, fleet.text("db1", LOST).split())
    assert lost == 0
    assert acknowledged > 20
    assert {name: fleet.text(name, STATE) for name in others} == others

    product.run("verify", str(fleet.inventory), "--host", "db1")
    fleet.text("db1", "systemctl stop rollout-demo-writer")
    taken_back = product.run("rollback", "--host", "db1", "--json").json["hosts"][0]
    assert taken_back["status"] == "rolled_back"
    after = snapshot(fleet, "db1")
    assert len(after) > 2500
    assert differences(before, after) == []
    again = product.run("rollback", "--host", "db1", "--json").json["hosts"][0]
    assert again["status"] == "ok"
    assert "already" in again["error"]


def test_undo_by_hand_on_the_host_needs_nothing_of_ours(fleet: Rehearsal, product: Product) -> None:
    """`sh undo.sh` in the record's folder takes the host back, by the same law."""
    fleet.dirty("db2")
    before = snapshot(fleet, "db2")
    product.plan("--host", "db2")
    product.run("apply", "--yes")
    assert product.run("apply", "--yes", "--json").json["hosts"][0]["status"] == "ok"
    record = f"/var/lib/rollout/{run_id(product)}"
    first = product.run("history", "--json").json["runs"][0]["run_id"]
    fleet.text("db2", f"sh {record.replace(run_id(product), first)}/undo.sh")
    assert differences(before, snapshot(fleet, "db2")) == []


def test_a_plan_and_a_check_change_nothing(fleet: Rehearsal, product: Product) -> None:
    """Not a file, not a mark, not a start of the unit; lists and packages are fetched privately and go again."""
    fleet.dirty("db3")
    fleet.text("db3", "mkdir -p -m 0700 /var/lib/rollout")
    before, state = snapshot(fleet, "db3"), fleet.text("db3", STATE)
    product.plan("--host", "db3")
    tried = product.run("apply", "--check", "--json").json["hosts"][0]["preflight"]
    assert {"download", "simulate", "new_binary", "preload"} <= {entry["id"] for entry in tried}
    assert {entry["status"] for entry in tried} == {"pass"}
    after = snapshot(fleet, "db3")
    watched = ("/etc/", "/var/lib/dpkg/", "/var/lib/apt/", "/var/lib/rollout", "/usr/")
    changed = [key for key in {*before, *after} if before.get(key) != after.get(key) and key[1].startswith(watched)]
    assert changed == []
    assert fleet.text("db3", STATE) == state


def test_a_release_that_is_not_published_leaves_jemalloc_alone_to_go(fleet: Rehearsal, tmp_path: Path) -> None:
    """`fix: not_published`, the allocator changes, one restart, and back."""
    fleet.dirty("db3")
    before = snapshot(fleet, "db3")
    product = Product(fleet.inventory, tmp_path / "state")
    row = product.plan("--host", "db3", "--json").json["hosts"][0]
    assert row["version"]["fix"] == "not_published"
    assert [change["kind"] for change in row["changes"]] == ["allocator"]
    assert "fix_not_published" in {finding["code"] for finding in row["warnings"]}
    applied = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert (applied["status"], applied["restarts"]) == ("changed", 1)
    assert product.run("rollback", "--host", "db3", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert differences(before, snapshot(fleet, "db3")) == []


def test_a_host_that_moved_since_the_plan_is_not_touched(fleet: Rehearsal, product: Product) -> None:
    """Stale: exit 3, no new start of the unit, the lock given back."""
    fleet.dirty("db1")
    product.plan("--host", "db1")
    fleet.text("db1", "apt-mark hold mariadb-server")
    state = fleet.text("db1", STATE)
    ended = product.run("apply", "--yes", "--json", expect=None)
    assert ended.json["hosts"][0]["status"] == "stale"
    assert fleet.text("db1", STATE) == state
    assert fleet.text("db1", "ls -A /var/lib/rollout") == ""


def test_nothing_is_executed_below_run(fleet: Rehearsal, product: Product) -> None:
    """Many hosts mount /run without the right to execute: preflight passes there, and leaves no trial behind."""
    fleet.dirty("db3")
    fleet.text("db3", "mount --bind /run /run && mount -o remount,bind,noexec /run")
    fleet.text("db3", "cp /bin/true /run/true; ! /run/true 2>/dev/null")
    product.plan("--host", "db3")
    tried = product.run("apply", "--check", "--json").json["hosts"][0]["preflight"]
    assert {"new_binary", "installed_binary", "preload"} <= {entry["id"] for entry in tried}
    assert [entry for entry in tried if entry["status"] != "pass"] == []
    assert fleet.text("db3", "ls -A /var/lib /usr/local/lib /opt | grep -c rollout-trial || :") == "0"
