"""The plug is pulled: status tells the truth, resume ends well, rollback ends at the start, no data is lost."""

import time
from pathlib import Path

import pytest
from cutting import eventually, kill, wait_for_line
from product import Product
from undo_law import differences, snapshot, table_checksums

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

# The moment of the cut: the host's phase, and whether it has begun or ended. `settle` lets the packages move a while.
MOMENTS = {
    "in-preflight": ("phase_started", "preflight", 2.0),
    "in-backup": ("phase_started", "backup", 1.0),
    "after-undo-record": ("phase_ended", "way_back", 0.0),
    "in-packages": ("phase_started", "change", 4.0),
    "before-proof": ("phase_ended", "change", 0.0),
}

# Killed while packages move is tried on every run of the tests; the other moments are cells of the long matrix.
CELLS = [pytest.param(name, marks=[pytest.mark.matrix] * (name != "in-packages")) for name in MOMENTS]


def product_for(fleet: Rehearsal, tmp_path: Path, host: str) -> Product:
    """Give a test the product with a plan for one host, and the newer release published."""
    fleet.publish()
    fleet.dirty(host)
    product = Product(fleet.inventory, tmp_path / "state")
    product.plan("--host", host)
    return product


def cut(product: Product, host: str, moment: str) -> None:
    """Begin an apply and kill the controller at that moment."""
    event, phase, settle_seconds = MOMENTS[moment]
    process = product.start("apply", "--yes", "--json")
    wait_for_line(product, process, host, event, phase)
    time.sleep(settle_seconds)
    kill(process)


def status_of(product: Product, host: str) -> str:
    """Ask `rollout status` for the host."""
    rows = product.run("status", "--json").json["hosts"]
    return next(str(row["status"]) for row in rows if row["name"] == host)


@pytest.mark.parametrize("moment", CELLS)
def test_a_killed_controller_resumes(fleet: Rehearsal, tmp_path: Path, moment: str) -> None:
    """Killed with SIGKILL: the host is `unknown`, `--resume` finishes it with one start, every table is as it was."""
    product = product_for(fleet, tmp_path, "db1")
    tables = table_checksums(fleet, "db1")
    cut(product, "db1", moment)
    assert status_of(product, "db1") == "unknown"
    resumed = product.run("apply", "--resume", "--yes", "--json").json["hosts"][0]
    assert (resumed["status"], resumed["restarts"]) == ("changed", 1)
    assert table_checksums(fleet, "db1") == tables
    assert fleet.text("db1", "ls /var/lib/rollout/lock 2>/dev/null || echo free") == "free"


@pytest.mark.parametrize("moment", CELLS)
def test_a_killed_controller_goes_back(fleet: Rehearsal, tmp_path: Path, moment: str) -> None:
    """Killed with SIGKILL: `rollback` brings the host to where it started, by the undo law."""
    before = snapshot(fleet, "db2")
    product = product_for(fleet, tmp_path, "db2")
    cut(product, "db2", moment)
    taken_back = product.run("rollback", "--host", "db2", "--json").json["hosts"][0]
    assert taken_back["status"] == "rolled_back"
    assert differences(before, snapshot(fleet, "db2")) == []
    assert fleet.text("db2", "ls /var/lib/rollout/lock 2>/dev/null || echo free") == "free"


def test_a_network_that_comes_back_is_taken_up_again(fleet: Rehearsal, tmp_path: Path) -> None:
    """Cut for five seconds while packages move: the controller attaches again, and nothing is started twice."""
    product = product_for(fleet, tmp_path, "db3")
    process = product.start("apply", "--yes", "--json")
    wait_for_line(product, process, "db3", "phase_started", "change")
    time.sleep(2)
    fleet.lab.cut_network("db3")
    time.sleep(5)
    fleet.lab.restore_network("db3")
    out, complaint = process.communicate(timeout=600)
    assert process.returncode == 0, complaint
    assert '"changed"' in out
    assert fleet.text("db3", "ls -d /var/lib/rollout/*/run-do-* | grep -c started") == "1"


def test_a_network_that_stays_away_leaves_the_truth(fleet: Rehearsal, tmp_path: Path) -> None:
    """Cut for good: `unknown` after the operator's patience; do.sh ends by itself, and resume finds it done."""
    product = product_for(fleet, tmp_path, "db3")
    process = product.start("apply", "--yes", "--json", "--patience", "5")
    wait_for_line(product, process, "db3", "phase_started", "change")
    fleet.lab.cut_network("db3")
    process.communicate(timeout=600)
    assert process.returncode != 0
    assert status_of(product, "db3") == "unknown"
    fleet.lab.restore_network("db3")
    resumed = product.run("apply", "--resume", "--yes", "--json").json["hosts"][0]
    assert (resumed["status"], resumed["restarts"]) == ("changed", 1)


def test_a_host_that_reboots_in_the_package_phase_is_finished(fleet: Rehearsal, tmp_path: Path) -> None:
    """The unit vanishes with the host; the change is begun again after the boot and ends well."""
    product = product_for(fleet, tmp_path, "db1")
    tables = table_checksums(fleet, "db1")
    process = product.start("apply", "--yes", "--json")
    wait_for_line(product, process, "db1", "phase_started", "change")
    time.sleep(4)
    fleet.lab.reboot("db1")
    out, complaint = process.communicate(timeout=600)
    assert process.returncode == 0, complaint + out
    assert '"changed"' in out
    assert table_checksums(fleet, "db1") == tables


def test_a_server_that_does_not_start_is_brought_back_by_itself(fleet: Rehearsal, tmp_path: Path) -> None:
    """The start fails after the upgrade: packages and drop-in go back, the server answers, the run stops."""
    before = snapshot(fleet, "db2")
    product = product_for(fleet, tmp_path, "db2")
    target = product.plan("--host", "db2", "--json").json["hosts"][0]["changes"][1]["after"]["mariadb-server"]
    unit_file = f"[Service]\nExecStartPre=/bin/sh -c '! dpkg-query -W mariadb-server | grep -qF \"{target}\"'\n"
    fleet.shell("db2", "mkdir -p /run/systemd/system/mariadb.service.d")
    fleet.shell("db2", "cat >/run/systemd/system/mariadb.service.d/break.conf", unit_file.encode())
    fleet.text("db2", "systemctl daemon-reload")
    product.plan("--host", "db2")
    ended = product.run("apply", "--yes", "--json", expect=None)
    row = ended.json["hosts"][0]
    assert (row["status"], ended.code) == ("recovered", 4)
    assert fleet.text("db2", "mariadb -N -e 'SELECT 1'") == "1"
    fleet.text("db2", "rm -r /run/systemd/system/mariadb.service.d; systemctl daemon-reload")
    assert differences(before, snapshot(fleet, "db2")) == []


def test_two_operators_on_one_host(fleet: Rehearsal, tmp_path: Path) -> None:
    """One runs; the other ends with 6 and is told who holds the host, and touches nothing."""
    product = product_for(fleet, tmp_path, "db1")
    other = Product(fleet.inventory, tmp_path / "other")
    other.plan("--host", "db1")
    process = product.start("apply", "--yes", "--json")
    wait_for_line(product, process, "db1", "phase_ended", "lock")
    refused = other.run("apply", "--yes", "--json", expect=None)
    assert refused.code == 6
    assert refused.json["hosts"][0]["status"] == "blocked"
    assert "held by run" in refused.json["hosts"][0]["error"]
    out, complaint = process.communicate(timeout=600)
    assert process.returncode == 0, complaint
    assert '"changed"' in out


FILL = """folder={folder} room_kib={room_kib}
mkdir -p $folder /tmp/kept && cp -a $folder/. /tmp/kept/
mount -t tmpfs -o size=$(( $(du -sk /tmp/kept | cut -f 1) + room_kib ))k none $folder
cp -a /tmp/kept/. $folder/ && rm -r /tmp/kept"""


def test_a_disk_that_fills_up_at_unpack_is_no_loss(fleet: Rehearsal, tmp_path: Path) -> None:
    """dpkg runs out of room: the change is taken back on the host, and the server answers at its old version."""
    product = product_for(fleet, tmp_path, "db3")
    tables = table_checksums(fleet, "db3")
    fleet.text("db3", FILL.format(folder="/usr/share/mysql", room_kib=256))
    ended = product.run("apply", "--yes", "--json", expect=None)
    fleet.text("db3", "umount /usr/share/mysql")
    row = ended.json["hosts"][0]
    assert row["status"] == "recovered", row["error"] + fleet.text("db3", "cat /var/lib/rollout/*/run-do-1.log")
    eventually(lambda: fleet.shell("db3", "mariadb -N -e 'SELECT 1'").returncode == 0)
    assert table_checksums(fleet, "db3") == tables


def test_a_disk_that_fills_up_at_the_backup_stops_before_any_change(fleet: Rehearsal, tmp_path: Path) -> None:
    """The backup fails: `failed`, the server untouched, the lock given back."""
    product = product_for(fleet, tmp_path, "db3")
    started = fleet.text("db3", "systemctl show mariadb -p InvocationID --value")
    fleet.text("db3", FILL.format(folder="/var/backups/rollout", room_kib=20_000))
    ended = product.run("apply", "--yes", "--json", expect=None)
    row = ended.json["hosts"][0]
    assert row["status"] == "failed"
    assert "space" in row["error"] or "backup" in row["error"]
    assert fleet.text("db3", "systemctl show mariadb -p InvocationID --value") == started
    assert fleet.text("db3", "ls /var/lib/rollout/lock 2>/dev/null || echo free") == "free"
