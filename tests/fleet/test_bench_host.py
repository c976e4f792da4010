"""Measurements on real hosts: what they find, and that the host is as it was, however they end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cutting import eventually, kill, wait_for_line
from product import Product
from undo_law import differences, snapshot

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

SMALL = ("--rows", "4000", "--clients", "6", "--rounds", "1", "--iterations", "2", "--rest", "5")
LONG = ("--rows", "4000", "--clients", "6", "--rounds", "1", "--iterations", "500", "--rest", "5")
# The list of what a measurement could leave: schemas, users, drop-ins, trees, processes, units, the lock.
LEFT = """mariadb -N -e "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'rollout_bench%'
  UNION SELECT user FROM mysql.global_priv WHERE user LIKE 'rollout_bench%'"
ls -d /run/systemd/system/mariadb.service.d /var/lib/rollout-bench-* /var/lib/rollout/lock 2>/dev/null
systemctl show mariadb -p DropInPaths --value | grep bench
pgrep -fl '[m]ariadb-slap|[s]ysbench|[s]ample.sh'
systemctl list-units --plain --no-legend 'rollout-2*'
mariadb -N -e "SELECT @@version_malloc_library, @@innodb_buffer_pool_dump_at_shutdown"
"""
AS_FOUND = "system\t1"
# As on a terminal, even where the tests run as a job in the background with ctrl-C switched off.
TERMINAL = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
PROGRAM = TERMINAL + "from rollout.cli.app import main; main(sys.argv[1:])"


@pytest.fixture
def product(fleet: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product."""
    return Product(fleet.inventory, tmp_path / "state")


def measure(product: Product, host: str, *words: str) -> tuple[str, ...]:
    """Return the words of a memory bench."""
    return ("bench", "memory", str(product.inventory), "--host", host, "--no-progress", *words)


def started(product: Product, host: str, *words: str) -> "subprocess.Popen[str]":
    """Start a memory bench that ctrl-C reaches, and return once its load is on."""
    return begun(product, host, *measure(product, host, *words))


def begun(product: Product, host: str, *words: str) -> "subprocess.Popen[str]":
    """Start a bench that ctrl-C reaches, and return once its load is on."""
    environment = {**os.environ, "ROLLOUT_STATE": str(product.state)}
    command = [sys.executable, "-c", PROGRAM, *words]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_for_line(product, process, host, "phase_started", "change")
    return process


def under_load(fleet: Rehearsal, host: str) -> bool:
    """Whether mariadb-slap runs on a host."""
    return fleet.shell(host, "pgrep -f '[m]ariadb-slap'").returncode == 0


def state_of(product: Product, host: str) -> str:
    """Return what `rollout status` says of a host."""
    rows = product.run("status", "--json").json["hosts"]
    return next(str(row["status"]) for row in rows if row["name"] == host)


def test_both_allocators_are_measured_and_the_host_is_as_it_was(fleet: Rehearsal, product: Product) -> None:
    """A B: each arm ran with its own allocator; results, picture and report are there; no path of the host differs."""
    fleet.dirty("db1")
    before = snapshot(fleet, "db1")
    chart = product.state.parent / "memory.svg"
    words = measure(product, "db1", *SMALL, "--compare", "--pairs", "1", "--chart", str(chart), "--json")
    document = product.run(*words).json
    assert [part["facts"]["allocator"].split()[0] for part in document["parts"]] == ["system", "jemalloc"]
    for part in document["parts"]:
        values = {row["name"]: row["values"] for row in part["measurements"]}
        assert values["peak_bytes"][0] >= values["start_bytes"][0] > 50 * 2**20
        assert values["kept_bytes"][0] == values["rest_bytes"][0] - values["start_bytes"][0]
    assert (document["order"], document["about"]["sizes"]["rows"]) == (["glibc", "jemalloc"], 4000)
    assert chart.read_text().count("jemalloc") >= 1
    assert fleet.text("db1", LEFT) == AS_FOUND
    assert differences(before, snapshot(fleet, "db1")) == []
    shown = product.run("bench", "show", "--json").json
    assert shown == document
    own = product.run("bench", "diff", document["run_id"], document["run_id"]).out
    assert "noise unknown" in own
    page = product.state.parent / "report.html"
    product.run("report", "--out", str(page))
    assert "<svg" in page.read_text()
    assert "memory at peak" in page.read_text()


def test_ctrl_c_in_the_middle_of_the_load_leaves_nothing(fleet: Rehearsal, product: Product) -> None:
    """The load is ended, the host put back and the lock given back before the program ends with 130."""
    fleet.dirty("db1")
    before = snapshot(fleet, "db1")
    process = started(product, "db1", *LONG, "--compare")
    eventually(lambda: under_load(fleet, "db1"))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert fleet.text("db1", LEFT) == AS_FOUND
    assert differences(before, snapshot(fleet, "db1")) == []
    assert state_of(product, "db1") == "recovered"


@pytest.mark.matrix
def test_a_network_cut_under_the_load_loses_neither_the_load_nor_the_host(fleet: Rehearsal, product: Product) -> None:
    """The load goes on without anybody; when the network is back its results are brought home."""
    fleet.dirty("db1")
    process = started(product, "db1", *SMALL, "--arm", "jemalloc")
    eventually(lambda: under_load(fleet, "db1"))
    fleet.lab.cut_network("db1")
    eventually(lambda: not under_load(fleet, "db1"))
    fleet.lab.restore_network("db1")
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "memory at peak" in out
    assert fleet.text("db1", LEFT) == AS_FOUND


def test_a_killed_controller_leaves_a_host_that_puts_itself_back(fleet: Rehearsal, product: Product) -> None:
    """The load ends by itself and nothing of it stays but the lock, which rollback takes over and gives back."""
    fleet.dirty("db1")
    before = snapshot(fleet, "db1")
    process = started(product, "db1", *SMALL, "--arm", "jemalloc")
    eventually(lambda: under_load(fleet, "db1"))
    kill(process)
    eventually(lambda: fleet.shell("db1", "ls /var/lib/rollout/2*/undone").returncode == 0, seconds=180)
    assert state_of(product, "db1") == "unknown"
    assert "rollout rollback --host db1" in product.run("status").err
    assert fleet.text("db1", LEFT) == f"/var/lib/rollout/lock\n{AS_FOUND}"
    product.run("rollback", str(product.inventory), "--host", "db1", "--yes")
    assert fleet.text("db1", LEFT) == AS_FOUND
    assert differences(before, snapshot(fleet, "db1")) == []


@pytest.mark.matrix
def test_rollback_ends_a_load_that_runs(fleet: Rehearsal, product: Product) -> None:
    """After a killed controller nobody has to wait for the load: rollback ends it and puts the host back."""
    fleet.dirty("db1")
    process = started(product, "db1", *LONG, "--arm", "jemalloc")
    eventually(lambda: under_load(fleet, "db1"))
    kill(process)
    back = product.run("rollback", str(product.inventory), "--host", "db1", "--yes", "--json").json
    assert back["hosts"][0]["status"] == "rolled_back", back
    assert fleet.text("db1", LEFT) == AS_FOUND


@pytest.mark.matrix
def test_a_load_that_takes_too_much_is_ended_on_the_host(fleet: Rehearsal, product: Product) -> None:
    """What the sampler writes when memory runs short ends the load; its words are the reason that is told."""
    fleet.dirty("db3")
    process = started(product, "db3", *LONG, "--arm", "glibc,MALLOC_ARENA_MAX=1")
    eventually(lambda: under_load(fleet, "db3"))
    fleet.text("db3", "echo 'only 5 KiB of memory were left' >$(ls -d /var/lib/rollout/2*)/stop")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "stopped: only 5 KiB of memory were left" in said
    assert fleet.text("db3", LEFT) == AS_FOUND


@pytest.mark.matrix
def test_a_reboot_under_the_load_does_not_begin_it_again(fleet: Rehearsal, product: Product) -> None:
    """The host comes up as it was found, and all that is done then is to drop the schema."""
    fleet.dirty("db3")
    process = started(product, "db3", *LONG, "--arm", "jemalloc")
    eventually(lambda: under_load(fleet, "db3"))
    fleet.lab.reboot("db3")
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "the host went down under the load, and it is not begun again" in said
    assert fleet.text("db3", LEFT) == AS_FOUND
    assert state_of(product, "db3") == "failed"


def from_here(product: Product) -> "subprocess.Popen[str]":
    """Start a long LRU bench on db2, which has no sysbench: its load comes from the controller."""
    words = ("--case", "small:points:uniform", "--seconds", "600", "--memory-share", "0.1")
    return begun(product, "db2", "bench", "lru", str(product.inventory), "--host", "db2", "--no-progress", *words)


def asked_from_here(fleet: Rehearsal) -> bool:
    """Whether the account of a load from the controller has sessions on db2."""
    count = "SELECT COUNT(*) FROM information_schema.processlist WHERE user LIKE 'rollout_bench%'"
    return fleet.text("db2", f'mariadb -N -e "{count}"') != "0"


@pytest.mark.matrix
def test_ctrl_c_under_a_load_from_the_controller_leaves_nothing(fleet: Rehearsal, product: Product) -> None:
    """sysbench is ended here, the account and the schema are gone there."""
    fleet.dirty("db2")
    before = snapshot(fleet, "db2")
    process = from_here(product)
    eventually(lambda: asked_from_here(fleet))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in said) == (130, False), said
    assert fleet.text("db2", LEFT) == AS_FOUND
    assert differences(before, snapshot(fleet, "db2")) == []


@pytest.mark.matrix
def test_a_host_whose_load_has_gone_with_its_controller_puts_itself_back(fleet: Rehearsal, product: Product) -> None:
    """After a minute without a word the host ends what nobody gives any more."""
    fleet.dirty("db2")
    process = from_here(product)
    eventually(lambda: asked_from_here(fleet))
    kill(process)
    eventually(lambda: fleet.shell("db2", "ls /var/lib/rollout/2*/undone").returncode == 0, seconds=180)
    assert fleet.text("db2", LEFT) == f"/var/lib/rollout/lock\n{AS_FOUND}"
    product.run("rollback", str(product.inventory), "--host", "db2", "--yes")
    assert fleet.text("db2", LEFT) == AS_FOUND


def refused(product: Product, *words: str, code: int = 1) -> str:
    """Return what a refused bench says."""
    return product.run(*measure(product, "db2", *words), expect=code).err


def test_what_is_refused_is_refused_with_its_reason(fleet: Rehearsal, product: Product) -> None:
    """Not marked, no restart allowed, too little memory with the arithmetic, too many clients, no client, no rights."""
    fleet.dirty("db2")

    def also(variables: dict[str, object]) -> tuple[str, str]:
        file = product.state.parent / f"more{len(list(product.state.parent.glob('more*')))}.yml"
        file.write_text(json.dumps({"all": {"hosts": {"db2": variables}}}))
        return ("-i", str(file))

    assert "db2 is not marked as a host for measurements" in refused(product, *also({"rollout_bench": False}), code=2)
    assert "may not be restarted" in refused(product, *also({"rollout_bench_restart": False}), code=2)
    said = refused(product, "--rows", "90000000", "--tmp-table-bytes", str(2**32), "--clients", "24")
    assert "too little memory for 90,000,000 rows: 24 clients x 8,198 MiB + 128 MiB" in said
    assert "that stay free" in said
    assert "76 clients are more than half of max_connections (151)" in refused(product, "--clients", "76")
    fleet.text("db2", "systemctl set-property --runtime mariadb MemoryMax=1500M")
    said = refused(product, "--like-published")
    assert "too little memory for 300,000 rows: 24 clients x 212 MiB + 103 MiB of the table in the pool = " in said
    assert "below the MemoryMax of its unit" in said
    fleet.text("db2", "systemctl revert mariadb")
    said = refused(product, *also({"ansible_become": False}))
    assert "we are admin there, and a load needs root" in said
    fleet.text("db2", "mkdir /root/away; mv /usr/bin/mariadb-slap /usr/bin/mysqlslap /root/away")
    assert "mariadb-slap is not there" in refused(product)
    fleet.text("db2", "mv /root/away/* /usr/bin; for n in $(seq 9000); do echo 'select 1;'; done >/root/busy.sql")
    fleet.text("db2", "setsid sh -c 'while :; do mariadb </root/busy.sql; sleep 1; done' >/dev/null 2>&1 </dev/null &")
    assert "questions a second, more than 20: somebody uses it" in refused(product)
    assert fleet.text("db2", "ls -A /var/lib/rollout") == ""
