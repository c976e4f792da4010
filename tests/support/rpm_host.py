"""An EL host that runs 11.8.9 from MariaDB's own repository, in which several series stand beside each other."""

from dataclasses import replace

from old_host import old_host

from rollout.facts.model import Facts, Package, PackageSource, PackageVersion
from rollout.facts.unknown import Unknown

MAIN = PackageSource(0, "mariadb-main", origin="MariaDB Foundation")
EPEL = PackageSource(0, "epel", origin="Fedora Project")
OLD, NEW = "11.8.9-1.el9", "11.8.10-1.el9"
SERIES = ("13.1.2-1.el9", "12.1.2-1.el9", NEW, OLD)
NOT_TOLD = Unknown("dnf names no candidate without a transaction")


def rpm_package(name: str, installed: str | None, *versions: str, origin: PackageSource = MAIN) -> Package:
    """Make a package that `origin` offers in `versions`, newest first."""
    rows = tuple(PackageVersion(version, 0, (origin,)) for version in versions)
    status, vendor = ("installed", origin.origin) if installed else ("", "")
    return Package(name, "x86_64", installed, status, vendor=vendor, candidate=NOT_TOLD, versions=rows)


def rpm_host(*items: Package, manager: str = "dnf", **packages: object) -> Facts:
    """Make the facts of the host; without `items` it has three packages of MariaDB's and jemalloc on offer."""
    names = ("MariaDB-server", "MariaDB-client", "MariaDB-common")
    items = items or (
        *(rpm_package(name, OLD, *SERIES) for name in names),
        rpm_package("jemalloc", None, "5.3.0-1.el9", origin=EPEL),
    )
    facts = old_host(*items)
    known = {"excludes": (), "modules": (), "offered_libraries": ("/usr/lib64/libjemalloc.so.2",), **packages}
    return replace(
        facts,
        system=replace(facts.system, triplet=None, architecture="x86_64"),
        server=replace(facts.server, executable_package="MariaDB-server"),
        packages=replace(facts.packages, manager=manager, **known),
    )
