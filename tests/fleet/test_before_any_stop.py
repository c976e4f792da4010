"""What would go wrong at the restart is found while the server serves, and told in words that say what to do."""

from pathlib import Path

import pytest
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STARTED = "systemctl show mariadb -p InvocationID --value"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get install -qq -y libjemalloc2 >/dev/null"
OPTIONS = "cat >/etc/mysql/mariadb.conf.d/99-late.cnf <<'END'\n[mariadbd]\n{line}\nEND"


@pytest.fixture
def product(fleet: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product, with the newer release published, and db1 to be broken."""
    fleet.publish()
    fleet.dirty("db1")
    return Product(fleet.inventory, tmp_path / "state")


def tried(product: Product, *, expect: int | None = None) -> dict[str, str]:
    """Try out what preflight tries: each id to its verdict and what was seen."""
    product.plan("--host", "db1")
    rows = product.run("apply", "--check", "--json", expect=expect).json["hosts"][0]["preflight"]
    return {row["id"]: f"{row['status']}: {row['seen']}" for row in rows}


def blockers(product: Product) -> dict[str, str]:
    """Plan, and return the blockers of the host."""
    row = product.plan("--host", "db1", "--json").json["hosts"][0]
    return {found["code"]: found["message"] for found in row["blockers"]}


def test_an_option_that_the_new_server_refuses(fleet: Rehearsal, product: Product) -> None:
    """The new binary reads the files and names the option; nothing is stopped, and the run says why."""
    fleet.text("db1", OPTIONS.format(line="innodb_no_such_option=1"))
    started = fleet.text("db1", STARTED)
    product.plan("--host", "db1")
    row = product.run("apply", "--yes", "--json", expect=4).json["hosts"][0]
    assert row["status"] == "failed"
    assert "new_binary: the new server: exit status 7" in row["error"]
    assert "unknown variable 'innodb_no_such_option=1'" in row["error"]
    assert fleet.text("db1", STARTED) == started


def test_variables_that_the_restart_changes_are_told_before_it(fleet: Rehearsal, product: Product) -> None:
    """Set at run time only, and changed in a file since the start: in --check, in the run's words and its journal."""
    fleet.text("db1", "mariadb -e \"SET GLOBAL max_connections=222; SET GLOBAL optimizer_switch='mrr=on'\"")
    fleet.text("db1", OPTIONS.format(line="innodb_io_capacity_max=2500"))
    expected = (
        "innodb_io_capacity_max becomes 2500, is 2000 now (the option files were changed since the start); "
        "max_connections becomes 151, is 222 now (set at run time, and the option files say otherwise); "
        "optimizer_switch becomes mrr=off, is mrr=on now (set at run time, and the option files say otherwise)"
    )
    assert tried(product, expect=0)["variables"] == f"warn: {expected}"
    ran = product.run("apply", "--yes", "--no-progress", "--skip-backup", "a rehearsal")
    assert expected in ran.err
    lines = ran.err.splitlines()
    told = next(number for number, line in enumerate(lines) if expected in line)
    assert told < next(number for number, line in enumerate(lines) if "db1: change done" in line)
    journal = max(product.state.glob("runs/*/journal.jsonl")).read_text()
    assert "max_connections becomes 151, is 222 now" in journal
    assert fleet.text("db1", "mariadb -N -e 'SELECT @@max_connections, @@innodb_io_capacity_max'") == "151\t2500"


def test_a_library_that_is_not_there(fleet: Rehearsal, product: Product) -> None:
    """Its package is installed and the file is gone: a blocker of the plan."""
    fleet.text("db1", f"apt-get -qq update; {INSTALL}; rm {LIBRARY}")
    found = blockers(product)["library_broken"]
    assert found.startswith("libjemalloc2 ")
    assert found.endswith("but its library is missing, or is no ELF file: reinstall the package")


def test_a_library_that_is_no_elf_file(fleet: Rehearsal, product: Product) -> None:
    """Overwritten after the plan it makes the host stale, and before one it is a blocker."""
    fleet.text("db1", f"apt-get -qq update; {INSTALL}")
    product.plan("--host", "db1")
    fleet.text("db1", f"printf 'no library, and long enough to be looked at as one: 0123456789\\n' >{LIBRARY}")
    row = product.run("apply", "--check", "--json", expect=1).json["hosts"][0]["preflight"][0]
    assert row["id"] == "plan"
    assert "library_broken" in row["seen"]
    assert "library_broken" in blockers(product)


def test_a_library_of_another_machine(fleet: Rehearsal, product: Product) -> None:
    """e_machine of an ELF file stands in its bytes 18 and 19; 183 is AArch64: a blocker that names both."""
    fleet.text("db1", f"apt-get -qq update; {INSTALL}; printf '\\267' | dd of={LIBRARY} bs=1 seek=18 conv=notrunc")
    assert f"{LIBRARY} is for aarch64: reinstall the package" in blockers(product)["library_broken"]


def test_a_binary_with_file_capabilities(fleet: Rehearsal, product: Product) -> None:
    """Secure execution drops LD_PRELOAD without a word: a blocker; set after the plan, the host is stale."""
    product.plan("--host", "db1")
    fleet.text("db1", "setcap cap_dac_override=ep /usr/sbin/mariadbd")
    started = fleet.text("db1", STARTED)
    row = product.run("apply", "--yes", "--json", expect=None).json["hosts"][0]
    assert row["status"] == "stale"
    assert "cap_dac_override=ep: file capabilities mean secure execution" in row["error"]
    assert "secure_execution" in blockers(product)
    assert fleet.text("db1", STARTED) == started


@pytest.mark.parametrize("away", ["stop", "disable"])
def test_a_host_whose_server_was_stopped_or_disabled_is_so_afterwards(
    fleet: Rehearsal, product: Product, away: str
) -> None:
    """Changed and taken back, with active state and enablement as they were at each step."""
    state = "systemctl is-active mariadb; systemctl is-enabled mariadb; systemctl show mariadb -p NRestarts --value"
    words = {"stop": "systemctl stop mariadb.socket mariadb-extra.socket mariadb 2>/dev/null; :"}
    fleet.text("db1", words.get(away, "systemctl -q disable mariadb"))
    before = fleet.shell("db1", state).stdout
    product.plan("--host", "db1")
    row = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert row["status"] == "changed", row
    assert fleet.shell("db1", state).stdout == before
    assert product.run("rollback", "--host", "db1", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert fleet.shell("db1", state).stdout == before


def test_the_node_of_a_cluster_is_asked_and_not_started_twice(galera: Rehearsal, tmp_path: Path) -> None:
    """Its service has a word on its command line: a second server would take the running one's write-set cache."""
    galera.publish()
    assert "--wsrep_start_position" in galera.text("db1", "tr '\\0' ' ' </proc/$(pgrep -x mariadbd)/cmdline")
    head = "head -c 1024 /var/lib/mysql/galera.cache | sha256sum"
    before = galera.text("db1", head)
    product = Product(galera.inventory, tmp_path / "state")
    product.plan("--host", "db1")
    product.run("apply", "--check", "--host", "db1", expect=None)
    assert galera.text("db1", head) == before
