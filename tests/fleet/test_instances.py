"""Several servers on one host, and a server that is stopped: one row each, and never another one changed along.

Seconds: about 240 on two idle cores.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from product import Product, Ran
from undo_law import differences, snapshot

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
STARTED_BY = "systemctl show mariadb@{} -p Environment --value"
ALLOCATOR = "mariadb -S /run/mysqld/{}.sock -N -e 'SELECT @@version_malloc_library'"
SHARED = "/etc/systemd/system/mariadb@.service.d/00-rollout-allocator.conf"
# A table in each instance, and the client's own socket for the snapshot, which asks one server.
TABLES = """cat >/etc/mysql/mariadb.conf.d/99-client.cnf <<'END'
[client]
socket=/run/mysqld/s1.sock
END
for i in s1 s2; do
  mariadb -S /run/mysqld/$i.sock -e 'CREATE DATABASE shop; CREATE TABLE shop.t (a INT); INSERT shop.t VALUES (1), (2)'
done"""
# An instance that does not start with any preload.
FRAGILE = """mkdir -p /etc/systemd/system/mariadb@s2.service.d
cat >/etc/systemd/system/mariadb@s2.service.d/fragile.conf <<'END'
[Service]
ExecStartPre=/bin/sh -c 'test -z "$$LD_PRELOAD"'
END
systemctl daemon-reload"""


def rows(fleet: Rehearsal, tmp_path: Path, **settings: str) -> Path:
    """Write an inventory in which each instance of db1 is a row of its own."""
    content = yaml.safe_load(fleet.inventory.read_text())
    variables = content["all"]["children"]["databases"]["children"]["standalone"]["hosts"]["db1"]
    hosts = {f"db1-{name}": {**variables, "rollout_unit": f"mariadb@{name}", **settings} for name in ("s1", "s2")}
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


def without_datadirs(state: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Leave out what the two servers write into their data directories: their tables are compared by checksum."""
    return {(kind, name): value for (kind, name), value in state.items() if not name.startswith("/srv/")}


def allocators(fleet: Rehearsal) -> list[str]:
    """Return the first word of what each of the two servers says of its allocator."""
    return [fleet.text("db1", ALLOCATOR.format(name)).split()[0] for name in ("s1", "s2")]


def only(ran: Ran) -> Any:
    """Return the one row of a run."""
    (row,) = ran.json["hosts"]
    return row


def checks(ran: Ran, wanted: Iterable[str]) -> set[str]:
    """Return how the checks of those names came out, over all rows."""
    return {check["status"] for row in ran.json["hosts"] for check in row["checks"] if check["id"] in wanted}


def apply_to(product: Product, name: str) -> Ran:
    """Apply the saved plan to one row."""
    return product.run("apply", "--host", name, "--yes", "--json", "--skip-backup", "a rehearsal", expect=None)


def test_a_library_is_not_removed_from_under_another_server(fleet: Rehearsal, tmp_path: Path) -> None:
    """The row that brought the package goes back last; one with a drop-in of its own is well without that of all."""
    fleet.dirty("db1")
    fleet.text("db1", INSTANCES)
    own = Product(rows(fleet, tmp_path), tmp_path / "state")
    own.plan("--playbook", "jemalloc")
    assert only(apply_to(own, "db1-s2"))["status"] == "changed"
    product = Product(rows(fleet, tmp_path, rollout_drop_in="template"), tmp_path / "state")
    product.plan("--playbook", "jemalloc")
    assert only(apply_to(product, "db1-s1"))["status"] == "changed"
    refused = only(product.run("rollback", "--host", "db1-s2", "--json", expect=3))
    assert "libjemalloc.so.2: mariadb@s1.service (run " in refused["error"]
    assert allocators(fleet) == ["jemalloc", "jemalloc"]
    for name, left in (("db1-s1", ["system", "jemalloc"]), ("db1-s2", ["system", "system"])):
        assert only(product.run("rollback", "--host", name, "--json"))["status"] == "rolled_back"
        assert allocators(fleet) == left
    assert fleet.text("db1", "dpkg -s libjemalloc2 >/dev/null 2>&1 || echo gone") == "gone"


def test_one_drop_in_for_all_instances(fleet: Rehearsal, tmp_path: Path) -> None:
    """Row by row there, the last changed first back; the file goes with the row that wrote it, and only as the last."""
    fleet.dirty("db1")
    fleet.text("db1", INSTANCES)
    fleet.text("db1", TABLES)
    before = without_datadirs(snapshot(fleet, "db1"))
    product = Product(rows(fleet, tmp_path, rollout_drop_in="template"), tmp_path / "state")
    planned = product.plan("--playbook", "jemalloc", "--json").json["hosts"]
    warned = [next(one["message"] for one in row["warnings"] if one["code"] == "drop_in_shared") for row in planned]
    for message, other in zip(warned, ("s2", "s1"), strict=True):
        assert f"running now: mariadb@{other}.service" in message

    second = fleet.text("db1", STARTED.format("s2"))
    assert only(apply_to(product, "db1-s1"))["status"] == "changed"
    assert allocators(fleet) == ["jemalloc", "system"]
    assert fleet.text("db1", STARTED.format("s2")) == second
    assert "LD_PRELOAD" in fleet.text("db1", STARTED_BY.format("s2"))  # at its next start, as the plan said
    stale = only(apply_to(product, "db1-s2"))
    assert stale["status"] == "stale"
    assert "whose drop-in is there" in stale["error"]

    product.plan("--playbook", "jemalloc")
    assert only(apply_to(product, "db1-s2"))["status"] == "changed"
    assert allocators(fleet) == ["jemalloc", "jemalloc"]
    verified = product.run("verify", str(product.inventory), "--playbook", "jemalloc", "--json", expect=None)
    wanted = ("drop_in_content", "drop_in_wins", "allocator_reported", "allocator_mapped", "daemon_reload")
    assert checks(verified, wanted) == {"pass"}

    first = fleet.text("db1", STARTED.format("s1"))
    refused = product.run("rollback", "--host", "db1-s1", "--json", expect=3)
    assert "mariadb@s2.service (run " in only(refused)["error"]
    assert only(product.run("rollback", "--host", "db1-s2", "--json"))["status"] == "rolled_back"
    assert allocators(fleet) == ["jemalloc", "system"]
    assert fleet.text("db1", STARTED.format("s1")) == first
    assert fleet.text("db1", f"ls {SHARED} /run/systemd/system.control 2>/dev/null || :") == SHARED
    assert "LD_PRELOAD" in fleet.text("db1", STARTED_BY.format("s2"))
    assert only(product.run("rollback", "--host", "db1-s1", "--json"))["status"] == "rolled_back"
    assert allocators(fleet) == ["system", "system"]
    assert differences(before, without_datadirs(snapshot(fleet, "db1"))) == []


def test_a_failure_of_the_second_instance_takes_nothing_from_the_first(fleet: Rehearsal, tmp_path: Path) -> None:
    """The file goes with a writer that fails, and stays beside one that fails later; who took it up alone is told."""
    fleet.dirty("db1")
    fleet.text("db1", f"apt-get install -y -q libjemalloc2 && {INSTANCES}\n{FRAGILE}")
    product = Product(rows(fleet, tmp_path, rollout_drop_in="template"), tmp_path / "state")
    product.plan("--playbook", "jemalloc")
    assert only(apply_to(product, "db1-s2"))["status"] == "recovered"
    assert allocators(fleet) == ["system", "system"]
    assert fleet.text("db1", f"ls -d {SHARED.rpartition('/')[0]} 2>/dev/null || echo gone") == "gone"
    assert only(apply_to(product, "db1-s1"))["status"] == "changed"
    first = fleet.text("db1", STARTED.format("s1"))
    product.plan("--playbook", "jemalloc")
    failed = only(apply_to(product, "db1-s2"))
    assert failed["status"] == "recovered", failed
    assert allocators(fleet) == ["jemalloc", "system"]
    assert fleet.text("db1", STARTED.format("s1")) == first
    assert fleet.text("db1", f"ls {SHARED} /run/systemd/system.control 2>/dev/null || :") == SHARED

    fleet.text("db1", "rm /etc/systemd/system/mariadb@s2.service.d/fragile.conf; systemctl daemon-reload")
    fleet.text("db1", "systemctl restart mariadb@s2")
    second = fleet.text("db1", STARTED.format("s2"))
    refused = product.run("rollback", "--host", "db1-s1", "--json", expect=3)
    assert "mariadb@s2.service (runs with it)" in only(refused)["error"]
    assert allocators(fleet) == ["jemalloc", "jemalloc"]
    taken = only(product.run("rollback", "--host", "db1-s1", "--accept-drift", "--json"))
    assert taken["status"] == "rolled_back"
    assert fleet.text("db1", f"ls {SHARED} 2>/dev/null || echo gone") == "gone"
    assert fleet.text("db1", STARTED.format("s2")) == second
    beside = only(product.plan("--playbook", "jemalloc", "--host", "db1-s2", "--json"))
    assert [(one["code"], "its next start is without it" in one["message"]) for one in beside["warnings"]] == [
        ("allocator_kept", True)
    ]
    fleet.text("db1", "systemctl restart mariadb@s2")
    assert allocators(fleet) == ["system", "system"]
