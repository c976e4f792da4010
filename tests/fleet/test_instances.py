"""Several servers on one host, and a server that is stopped: one row each, and never another one changed along.

Seconds: about 90 on two idle cores.
"""

from pathlib import Path

import pytest
import yaml
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

INSTANCES = """systemctl disable --now mariadb.socket mariadb >/dev/null 2>&1
for i in s1 s2; do
  cat >>/etc/mysql/mariadb.conf.d/99-instances.cnf <<CNF
[mysqld.$i]
datadir=/srv/$i
socket=/run/mysqld/$i.sock
pid-file=/run/mysqld/$i.pid
port=1330${i#s}
server_id=${i#s}
CNF
  mkdir -p /srv/$i && chown mysql /srv/$i
  mariadb-install-db --user=mysql --datadir=/srv/$i --skip-test-db >/dev/null 2>&1
  install -d -o mysql /run/mysqld
  systemctl start mariadb@$i
done"""
STARTED = "systemctl show mariadb@{} -p InvocationID --value"
ALLOCATOR = "mariadb -S /run/mysqld/{}.sock -N -e 'SELECT @@version_malloc_library'"


def rows(fleet: Rehearsal, tmp_path: Path) -> Path:
    """Write an inventory in which each instance of db1 is a row of its own."""
    content = yaml.safe_load(fleet.inventory.read_text())
    variables = content["all"]["children"]["databases"]["children"]["standalone"]["hosts"]["db1"]
    hosts = {f"db1-{name}": {**variables, "rollout_unit": f"mariadb@{name}"} for name in ("s1", "s2")}
    path = tmp_path / "inventory.yml"
    path.write_text(yaml.safe_dump({"all": {"vars": content["all"]["vars"], "hosts": hosts}}))
    return path


def test_two_instances_of_one_host(fleet: Rehearsal, tmp_path: Path) -> None:
    """Packages are refused for either; jemalloc goes to the one that is named, and comes back; the other runs on."""
    fleet.dirty("db1")
    fleet.publish()
    fleet.text("db1", INSTANCES)
    product = Product(rows(fleet, tmp_path), tmp_path / "state")
    both = product.plan("--json", expect=None).json["hosts"]
    assert [row["status"] for row in both] == ["blocked", "blocked"]
    for row, other in zip(both, ("s2", "s1"), strict=True):
        messages = {finding["code"]: finding["message"] for finding in row["blockers"]}
        assert f"mariadb@{other}.service" in messages["server_beside"]

    first, second = (fleet.text("db1", STARTED.format(name)) for name in ("s1", "s2"))
    planned = product.plan("--playbook", "jemalloc", "--json").json["hosts"]
    assert [(row["status"], row["restarts"]) for row in planned] == [("change", 1), ("change", 1)]
    applied = product.run("apply", "--host", "db1-s2", "--yes", "--json", "--skip-backup", "a rehearsal").json["hosts"]
    assert [(row["name"], row["status"], row["restarts"]) for row in applied] == [("db1-s2", "changed", 1)]
    assert fleet.text("db1", ALLOCATOR.format("s2")).startswith("jemalloc")
    assert fleet.text("db1", ALLOCATOR.format("s1")) == "system"
    assert fleet.text("db1", STARTED.format("s1")) == first
    assert fleet.text("db1", STARTED.format("s2")) != second
    assert fleet.text("db1", "ls /etc/systemd/system/mariadb@s2.service.d") == "zz-rollout-allocator.conf"
    assert fleet.text("db1", "ls -d /etc/systemd/system/mariadb@s1.service.d 2>/dev/null || echo none") == "none"

    assert product.run("rollback", "--host", "db1-s2", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert fleet.text("db1", ALLOCATOR.format("s2")) == "system"
    assert fleet.text("db1", STARTED.format("s1")) == first


def test_two_rows_of_one_machine_are_not_changed_in_one_run(fleet: Rehearsal, tmp_path: Path) -> None:
    """The second row of a machine is refused with what to do: its record would stand in the folder of the first."""
    fleet.dirty("db1")
    fleet.text("db1", INSTANCES)
    product = Product(rows(fleet, tmp_path), tmp_path / "state")
    product.plan("--playbook", "jemalloc")
    ran = product.run("apply", "--yes", "--json", "--skip-backup", "a rehearsal", expect=None)
    statuses = {row["name"]: row["status"] for row in ran.json["hosts"]}
    assert statuses["db1-s1"] == "changed"
    assert statuses["db1-s2"] != "changed"
    told = next(row["error"] for row in ran.json["hosts"] if row["name"] == "db1-s2")
    assert "this machine was changed as db1-s1 in the same run" in told
    assert fleet.text("db1", ALLOCATOR.format("s2")) == "system"


def test_a_stopped_server_stays_stopped_there_and_back(fleet: Rehearsal, tmp_path: Path) -> None:
    """New packages and a drop-in, no start, although its socket would start it for whoever asks; and the way back."""
    fleet.dirty("db3")
    fleet.publish()
    fleet.text("db3", "systemctl stop mariadb")
    state = "systemctl is-active mariadb mariadb.socket || :"
    assert fleet.text("db3", state).split() == ["inactive", "active"]
    product = Product(fleet.inventory, tmp_path / "state")
    row = product.plan("--host", "db3", "--json").json["hosts"][0]
    assert (row["status"], row["restarts"]) == ("change", 0)
    applied = product.run("apply", "--yes", "--json", "--skip-backup", "it is stopped").json["hosts"][0]
    assert applied["status"] == "changed", applied
    new = fleet.lab.base.record.new
    assert fleet.text("db3", "dpkg-query -W -f '${Version}' mariadb-server") == new
    assert fleet.text("db3", state).split() == ["inactive", "active"]
    assert product.run("rollback", "--host", "db3", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert fleet.text("db3", "dpkg-query -W -f '${Version}' mariadb-server") == fleet.lab.base.record.old
    assert fleet.text("db3", state).split() == ["inactive", "active"]
