"""A host that still runs 11.8.9 under glibc, with 11.8.10 in the repository that it came from."""

from dataclasses import replace

from healthy_host import WELL, unit

from rollout.facts.model import Facts, Package, PackageSource, PackageVersion
from rollout.versions import parse_server_version

REPOSITORY = PackageSource(500, "https://deb.example/repo trixie/main amd64 Packages", "MariaDB", codename="trixie")
STATUS = PackageSource(100, "/var/lib/dpkg/status")
OLD, NEW = "1:11.8.9+maria~deb13", "1:11.8.10+maria~deb13"


def offered(name: str, installed: str | None, *versions: str, origin: PackageSource = REPOSITORY) -> Package:
    """Make a package that `origin` offers in `versions`, newest first."""
    rows = tuple(PackageVersion(version, 500, (origin,)) for version in versions)
    status = "install ok installed" if installed else ""
    return Package(name, "amd64", installed, status, "mariadb", candidate=versions[0], versions=rows)


JEMALLOC = offered("libjemalloc2", None, "5.3.0-3")


def old_host(*items: Package) -> Facts:
    """Make the facts of the host; without `items` it has a server and a client, both to be had at 11.8.10."""
    items = items or (offered("mariadb-server", OLD, NEW, OLD), offered("mariadb-client", OLD, NEW, OLD), JEMALLOC)
    before = replace(unit(), drop_ins=(), environment={})
    said = parse_server_version("11.8.9-MariaDB-deb13")
    return replace(
        WELL,
        unit=before,
        system=replace(WELL.system, init="systemd", triplet="x86_64-linux-gnu", transparent_hugepage="madvise"),
        server=replace(WELL.server, running=said, on_disk=said, client=said, executable_package="mariadb-server"),
        packages=replace(WELL.packages, items=items, refresh=None),
        allocator=replace(
            WELL.allocator,
            version_malloc_library="system",
            mapped=(),
            environ_preload=None,
            preloads=(),
            libraries=(),
            server_elf_machine="x86_64",
        ),
    )
