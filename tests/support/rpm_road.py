"""The road there and back on a host of rpm's, whichever package manager it has, and what refusals there need."""

import json

from product import Product, Ran
from undo_law import differences, snapshot, table_checksums

from rollout.lab.rehearsal import Rehearsal

VERSION = "rpm -q --qf '%{VERSION}-%{RELEASE}' "
STARTED = "systemctl show mariadb -p InvocationID --value"
# A build of another vendor, VERSION of it, in a repository of its own.
BUILD = """mkdir -p /tmp/b && cd /tmp/b && cat >one.spec <<'SPEC'
Name: mariadb-server
Epoch: 3
Version: VERSION
Release: 1.el9
Summary: the distribution's own build
License: GPLv2
Vendor: AlmaLinux
AutoReqProv: no
%description
Of another vendor.
%files
SPEC
rpmbuild -bb --quiet --define '_topdir /tmp/b' --define '_rpmdir /tmp/b' one.spec && createrepo_c -q /tmp/b
printf '[appstream]\\nname=appstream\\nbaseurl=file:///tmp/b\\ngpgcheck=0\\n' >/etc/yum.repos.d/appstream.repo
"""


def findings(ran: Ran, kind: str) -> dict[str, str]:
    """Return the findings of the only host of a plan, code to message."""
    row = ran.json["hosts"][0]
    return {finding["code"]: finding["message"] for finding in row[kind]}


def the_whole_road(fleet: Rehearsal, product: Product, of_the_manager: tuple[str, ...]) -> str:
    """Plan, apply with one restart for both changes, verify, roll back: the host is as it was, and its tables.

    A plan changes nothing below /etc, /usr, rpm's database or `of_the_manager`. Returns the downtime both ways.
    """
    fleet.text("db1", "mkdir -p -m 0700 /var/lib/rollout")
    before, tables = snapshot(fleet, "db1"), table_checksums(fleet, "db1")
    row = product.plan("--json").json["hosts"][0]
    assert row["status"] == "change", row
    watched = ("/etc/", "/var/lib/rpm/", "/var/lib/rollout", "/usr/", *of_the_manager)
    seen = snapshot(fleet, "db1")
    assert [key for key in before | seen if before.get(key) != seen.get(key) and key[1].startswith(watched)] == []

    applied = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert (applied["status"], applied["restarts"]) == ("changed", 1), applied
    plan = json.loads((product.state / "plan.json").read_text())
    packages = next(change for change in plan["hosts"][0]["changes"] if change["kind"] == "packages")
    assert len(packages["after"]) == 9
    for name, version in packages["after"].items():
        assert fleet.text("db1", VERSION + name) == version
    assert fleet.text("db1", "mariadb -N -e 'SELECT @@version_malloc_library'").startswith("jemalloc")
    target = plan["hosts"][0]["version"]["target"]
    assert fleet.text("db1", "mariadb -N -e 'SELECT VERSION()'").startswith(f"{target}-MariaDB")
    assert table_checksums(fleet, "db1") == tables
    product.run("verify", str(fleet.inventory))

    taken_back = product.run("rollback", "--host", "db1", "--json").json["hosts"][0]
    assert (taken_back["status"], taken_back["restarts"]) == ("rolled_back", 1)
    assert differences(before, snapshot(fleet, "db1")) == []
    return f"{applied['downtime_seconds']} s there, {taken_back['downtime_seconds']} s back"
