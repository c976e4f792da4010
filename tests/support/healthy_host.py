"""A host on which all is well after a rollout to 11.8.10 and jemalloc, and what was expected of it."""

from dataclasses import replace
from datetime import UTC, datetime

from rollout.checks.model import DropIn, Expectation
from rollout.facts.model import (
    Allocator,
    Facts,
    KeptBackup,
    Library,
    MappedLibrary,
    Memory,
    Package,
    Packages,
    PathFacts,
    Pool,
    Preload,
    Replication,
    Server,
    Storage,
    System,
    Trail,
    Unit,
    UnitFile,
    Workload,
)
from rollout.facts.unknown import blank
from rollout.versions import parse_server_version

LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
OURS = "/etc/systemd/system/mariadb.service.d/zz-rollout-allocator.conf"
CONTENT = f'# Written by rollout; removed by `rollout rollback`.\n[Service]\nEnvironment="LD_PRELOAD={LIBRARY}"\n'
BACKUP = "/var/backups/rollout/20261130-1"


def path(name: str, inode: int) -> PathFacts:
    """Make the facts of a path on one file system."""
    return PathFacts(name, True, 2049, inode, "ext4", "/", 10**11, 5 * 10**10)


def package(name: str, version: str = "1:11.8.10+maria~deb13", status: str = "install ok installed") -> Package:
    """Make an installed package."""
    return Package(name, "amd64", version, status, "mariadb")


def unit() -> Unit:
    """Make the running unit, with our drop-in."""
    return Unit(
        id="mariadb.service",
        names=("mariadb.service", "mysql.service"),
        load_state="loaded",
        active_state="active",
        sub_state="running",
        unit_file_state="enabled",
        main_pid=812,
        invocation_id="bb",
        n_restarts=0,
        need_daemon_reload=False,
        start_monotonic_usec=5_000_000,
        result="success",
        exec_main_status=0,
        user="mysql",
        timeout_start_usec=900_000_000,
        timeout_stop_usec=900_000_000,
        triggered_by=(),
        fragment=UnitFile("/usr/lib/systemd/system/mariadb.service", "[Service]\n"),
        drop_ins=(UnitFile(OURS, CONTENT),),
        environment={"LD_PRELOAD": LIBRARY},
        environment_files=(),
        properties={},
    )


def _server() -> Server:
    said = parse_server_version("11.8.10-MariaDB-deb13")
    disk = parse_server_version("mariadbd  Ver 11.8.10-MariaDB-deb13 for debian-linux-gnu on x86_64")
    client = parse_server_version("mariadb from 11.8.10-MariaDB, client 15.2 for debian-linux-gnu (x86_64)")
    return replace(
        blank(Server, "not asked"),
        running=said,
        on_disk=disk,
        client=client,
        executable="/usr/sbin/mariadbd",
        executable_deleted=False,
        capabilities="",
        version_option=None,
        variables={"performance_schema": "ON"},
        schemas={"shop": 12, "mysql": 31, "sys": 101},
    )


def _well() -> Facts:
    return Facts(
        host="db1",
        taken_at=datetime(2026, 11, 30, 10, 0, tzinfo=UTC),
        seconds=0.8,
        system=replace(blank(System, "not asked"), page_size_bytes=4096, privileged=True),
        packages=replace(
            blank(Packages, "not asked"),
            manager="apt",
            items=(package("mariadb-server"), package("mariadb-client"), package("galera-4", "26.4.23-deb13")),
            audit=(),
            unattended_upgrades=False,
        ),
        unit=unit(),
        other_servers=(),
        server=_server(),
        allocator=replace(
            blank(Allocator, "not asked"),
            version_malloc_library="jemalloc 5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c",
            mapped=(MappedLibrary(LIBRARY, False),),
            environ_preload=LIBRARY,
            preloads=(Preload(OURS, LIBRARY),),
            libraries=(Library("libjemalloc2", LIBRARY, LIBRARY, "x86_64", 64),),
        ),
        memory=blank(Memory, "not asked"),
        pool=replace(blank(Pool, "not asked"), old_blocks_pct=37, old_blocks_time_ms=1000),
        workload=blank(Workload, "not asked"),
        storage=replace(
            blank(Storage, "not asked"),
            datadir=path("/var/lib/mysql", 11),
            ibdata1=path("/var/lib/mysql/ibdata1", 12),
            mysql_schema=path("/var/lib/mysql/mysql", 13),
            moved_datadirs=(),
        ),
        replication=replace(blank(Replication, "not asked"), channels=(), galera=None),
        trail=Trail(
            error_lines=(),
            loader_lines=(),
            invocations=("aa", "bb"),
            backups=(KeptBackup(BACKUP, True, 10**8, "backup_type = full-prepared"),),
            monitoring=(),
        ),
    )


# After the rollout, before it, and what the plan says.
WELL = _well()
EARLIER = replace(WELL, unit=replace(unit(), invocation_id="aa"))
EXPECTED = Expectation(
    version="11.8.10",
    packages={"mariadb-server": "1:11.8.10+maria~deb13", "mariadb-client": "1:11.8.10+maria~deb13"},
    library=LIBRARY,
    drop_in=DropIn(OURS, CONTENT),
    invocations=1,
    backup=BACKUP,
)
