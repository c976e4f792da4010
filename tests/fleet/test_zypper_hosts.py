"""Hosts with a real zypper over MariaDB's RPMs: the whole road there and back, and what libzypp's orders do to a plan.

Seconds: about 60 for the road, 10 for the refusals, 60 for the locks (two cores; on the tree of test_rpm_hosts.py).
"""

from pathlib import Path

import pytest
import yaml
from product import Product
from rpm_road import BUILD, STARTED, VERSION, findings, the_whole_road

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

FOREIGN = BUILD.replace("/etc/yum.repos.d", "/etc/zypp/repos.d")
MARKS = "cat /var/lib/zypp/AutoInstalled /etc/zypp/locks"


@pytest.fixture
def product(suse: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product, with the newer release published."""
    suse.publish()
    return Product(suse.inventory, tmp_path / "state")


def test_the_whole_road_on_a_host_of_zypper(suse: Rehearsal, product: Product) -> None:
    """One restart for both changes, the undo law, a lock of somebody's on other packages and zypper's marks kept."""
    suse.dirty("db1")
    # A package that came by itself, so that zypper has marks to lose.
    suse.text("db1", "zypper -n addlock 'kernel*' galera-4; echo MariaDB-shared >/var/lib/zypp/AutoInstalled")
    marks = suse.text("db1", MARKS)
    facts = product.run("facts", str(suse.inventory), "--json").json["hosts"][0]["facts"]
    assert (facts["packages"]["manager"], sorted(facts["packages"]["holds"])) == ("zypper", ["galera-4", "kernel*"])
    print(the_whole_road(suse, product, ("/var/lib/zypp/", "/var/cache/zypp")))
    assert suse.text("db1", MARKS) == marks
    assert suse.text("db1", "cat /run/zypp.pid 2>/dev/null; zypper -n --no-refresh locks | grep -c kernel") == "1"


def test_what_zypper_is_told_blocks_and_nothing_is_touched(suse: Rehearsal, product: Product) -> None:
    """L22, L24, L30: a lock, a repository that is gone, another vendor, jemalloc in no repository; locks stay."""
    suse.dirty("db1")
    started = suse.text("db1", STARTED)
    suse.text("db1", "zypper -n addlock 'MariaDB-s*'")
    ran = product.plan(expect=None)
    held = "held: MariaDB-shared MariaDB-server; a hold is an order: lift it (zypper removelock) or leave it"
    assert f"db1: BLOCKED held: {held}" in ran.err + ran.out
    suse.text("db1", "zypper -n removelock 'MariaDB-s*'; sed -i s/enabled=1/enabled=0/ /etc/zypp/repos.d/extra.repo")
    missing = findings(product.plan("--json", expect=None), "blockers")
    assert missing == {"library_unavailable": "libjemalloc2 is in no enabled repository; none is added"}

    suse.text("db1", "printf '[bad]\\nname=bad\\nbaseurl=file:///nowhere\\ngpgcheck=0\\n' >/etc/zypp/repos.d/bad.repo")
    stale = findings(product.plan("--json", expect=None), "blockers")
    assert "Skipping repository 'bad'" in stale["refresh_failed"]

    suse.unpublish()
    newer = suse.lab.base.record.new.split("-")[0]
    suse.text("db1", f"rm /etc/zypp/repos.d/bad.repo; {FOREIGN.replace('VERSION', newer)}")
    warned = findings(product.plan("--json", "--playbook", "lru-fix", expect=None), "warnings")
    assert "appstream (AlmaLinux), another origin: not taken" in warned["other_origin_newer"]
    assert suse.text("db1", STARTED) == started
    assert suse.text("db1", VERSION + "MariaDB-server") == suse.lab.base.record.old


def test_a_lock_of_libzypp_is_named_and_waited_for(suse: Rehearsal, product: Product) -> None:
    """L33: a zypper that works on the host is named by the facts, and waited for before anything is stopped."""
    suse.dirty("db1")
    product.plan()
    suse.text("db1", "systemd-run -q --unit=busy sh -c 'sleep 1000 | zypper -n shell'; sleep 2")
    held = product.run("facts", str(suse.inventory), "--json").json["hosts"][0]["facts"]["packages"]["lock_holders"]
    assert [entry["path"] for entry in held] == ["/run/zypp.pid"]
    assert "zypper -n shell" in held[0]["command"]
    suse.text("db1", "systemd-run -q --on-active=8 --timer-property=AccuracySec=100ms systemctl kill -s KILL busy")
    tried = product.run("apply", "--check", "--json").json["hosts"][0]["preflight"]
    assert {entry["id"]: entry["status"] for entry in tried}["lock"] == "pass"
    assert suse.text("db1", "systemctl is-active busy || :") == "failed"


def test_a_lock_that_comes_after_preflight_is_obeyed(suse: Rehearsal, product: Product, tmp_path: Path) -> None:
    """zypper is asked once more right before the transaction: taken back, the server never stopped, the lock stays."""
    suse.dirty("db1")
    started = suse.text("db1", STARTED)
    playbook = tmp_path / "locked.yml"
    lock = {"where": "host", "command": ["zypper", "-n", "addlock", "MariaDB-server"]}
    playbook.write_text(yaml.safe_dump({"name": "locked", "changes": ["packages"], "hooks": {"drain": lock}}))
    product.plan("--playbook", str(playbook))
    applied = product.run("apply", "--yes", "--json", "--skip-backup", "a rehearsal", expect=4).json["hosts"][0]
    assert applied["status"] == "recovered", applied
    assert suse.text("db1", "grep -rh 'zypper refuses' /var/lib/rollout --include=*.log").endswith("exit status 4")
    assert suse.text("db1", STARTED) == started
    assert suse.text("db1", VERSION + "MariaDB-server") == suse.lab.base.record.old
    assert "MariaDB-server" in suse.text("db1", "cat /etc/zypp/locks")
