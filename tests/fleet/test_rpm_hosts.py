"""Hosts of the rpm world, for real: dnf and rpm, MariaDB's RPMs with their scriptlets, the whole road there and back.

Seconds: about 100 for the road, 20 for the refusals, 40 for the failed start (two cores; the base tree comes on top).
"""

from pathlib import Path

import pytest
from product import Product
from rpm_road import BUILD, STARTED, VERSION, findings, the_whole_road

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

ENABLE_EXTRA = "sed -i s/enabled=0/enabled=1/ /etc/yum.repos.d/extra.repo"


@pytest.fixture
def product(rpm: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product, with the newer release published."""
    rpm.publish()
    return Product(rpm.inventory, tmp_path / "state")


def test_the_whole_road_on_an_rpm_host(rpm: Rehearsal, product: Product) -> None:
    """Plan, apply with one restart for both changes, verify, rollback, and the undo law."""
    rpm.dirty("db1")
    rpm.text("db1", ENABLE_EXTRA)
    print(the_whole_road(rpm, product, ("/var/lib/dnf/", "/var/cache/dnf")))


def test_what_dnf_hides_is_named_and_nothing_is_touched(rpm: Rehearsal, product: Product) -> None:
    """L22, L24, L63: a versionlock, an exclude, an enabled module, another vendor, jemalloc that no repository has."""
    rpm.dirty("db1")
    started = rpm.text("db1", STARTED)
    missing = findings(product.plan("--json", expect=None), "blockers")
    assert missing == {"library_unavailable": "jemalloc is in no enabled repository; none is added"}

    rpm.text("db1", f"{ENABLE_EXTRA}; mkdir -p /etc/dnf/plugins /etc/dnf/modules.d")
    rpm.text("db1", "echo 'MariaDB-server-0:10.11.*' >/etc/dnf/plugins/versionlock.list")
    held = findings(product.plan("--json", expect=None), "blockers")
    assert held == {"held": "held: MariaDB-server; a hold is an order: lift it (dnf versionlock delete) or leave it"}

    rpm.text("db1", "rm /etc/dnf/plugins/versionlock.list; echo 'excludepkgs=MariaDB-s*' >>/etc/dnf/dnf.conf")
    hidden = findings(product.plan("--json", expect=None), "blockers")
    assert hidden["excluded"].startswith("`excludepkgs=MariaDB-s*` hides MariaDB-server MariaDB-shared;")

    rpm.text("db1", "sed -i /excludepkgs/d /etc/dnf/dnf.conf")
    rpm.text(
        "db1", "printf '[mariadb]\\nname=mariadb\\nstream=10.11\\nstate=enabled\\n' >/etc/dnf/modules.d/mariadb.module"
    )
    filtered = findings(product.plan("--json", expect=None), "blockers")
    assert "mariadb:10.11 is enabled" in filtered["module_filtering"]

    rpm.unpublish()
    newer = rpm.lab.base.record.new.split("-")[0]
    rpm.text("db1", f"rm /etc/dnf/modules.d/mariadb.module; {BUILD.replace('VERSION', newer)}")
    warned = findings(product.plan("--json"), "warnings")
    assert {"fix_not_published", "other_origin_newer"} <= set(warned)
    assert "appstream (AlmaLinux), another origin: not taken" in warned["other_origin_newer"]
    assert rpm.text("db1", STARTED) == started
    assert rpm.text("db1", VERSION + "MariaDB-server") == rpm.lab.base.record.old


def test_a_failed_start_that_the_scriptlet_hides_is_seen_and_taken_back(rpm: Rehearsal, product: Product) -> None:
    """L37: dnf ends with 0 and says nothing; the host is recovered at the old version, its server up."""
    rpm.dirty("db1")
    rpm.text("db1", ENABLE_EXTRA)
    old = rpm.lab.base.record.old
    # The old program has its own number in it, the new one does not: only the old one may start.
    refuse = f"ExecStartPre=/usr/bin/grep -qa {old.split('-')[0]}-MariaDB /usr/sbin/mariadbd"
    folder = "/etc/systemd/system/mariadb.service.d"
    rpm.shell("db1", f"mkdir -p {folder}; cat >{folder}/old-only.conf", f"[Service]\n{refuse}\n".encode())
    rpm.text("db1", "systemctl daemon-reload")
    product.plan()
    applied = product.run("apply", "--yes", "--json", "--skip-backup", "a rehearsal", expect=4).json["hosts"][0]
    assert applied["status"] == "recovered", applied
    assert "taken back" in applied["error"]
    assert rpm.text("db1", VERSION + "MariaDB-server") == old
    assert (
        rpm.text("db1", "systemctl is-active mariadb; mariadb -N -e 'SELECT @@version_malloc_library'")
        == "active\nsystem"
    )
