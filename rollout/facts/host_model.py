"""Facts of the machine: the system, its file systems, and what was left behind on it."""

from dataclasses import dataclass

from rollout.facts.unknown import Known, Unknown

_NOT_ASKED = Unknown("this recording is older than the question")


@dataclass(frozen=True)
class System:
    """The machine under the server. `triplet` is Debian's multiarch name, None where the family has none."""

    os_id: Known[str]  # debian, ubuntu, rocky, …
    os_like: Known[str]
    os_version: Known[str]
    codename: Known[str | None]
    kernel: Known[str]
    architecture: Known[str]  # uname -m
    triplet: Known[str | None]
    glibc: Known[str]
    page_size_bytes: Known[int]
    cores: Known[int]
    ram_bytes: Known[int]
    ram_available_bytes: Known[int]
    swap_total_bytes: Known[int]
    swap_free_bytes: Known[int]
    transparent_hugepage: Known[str]  # always, madvise or never
    selinux: Known[str | None]
    apparmor: Known[str | None]
    init: Known[str]  # name of process 1
    systemd_version: Known[int]
    boot_id: Known[str]
    hostname: Known[str]
    clock_offset_seconds: Known[float]  # host minus controller, half of the round trip taken off
    privileged: Known[bool]  # whether the probe ran as root
    addresses: Known[tuple[str, ...]] = _NOT_ASKED  # of its interfaces, loopback left out


@dataclass(frozen=True)
class PathFacts:
    """A path and the file system under it."""

    path: str
    exists: bool
    device: int | None
    inode: int | None
    filesystem: str  # type: ext4, xfs, tmpfs, …
    mount_point: str
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Storage:
    """Places that must have room, and the identity of the data."""

    datadir: Known[PathFacts | None]
    ibdata1: Known[PathFacts | None]
    mysql_schema: Known[PathFacts | None]
    log_group_home: Known[PathFacts | None]
    tmpdir: Known[PathFacts | None]
    var_lib_mysql: Known[PathFacts]
    package_cache: Known[PathFacts]
    backup_directory: Known[PathFacts]
    run_directory: Known[PathFacts]  # /var/lib/rollout
    moved_datadirs: Known[tuple[str, ...]]  # /var/lib/mysql-*: what a cross-series downgrade leaves
    datadir_bytes: Known[int | None]  # taken by the files, with --deep


@dataclass(frozen=True)
class KeptBackup:
    """One backup below the backup directory; `checkpoints` is mariadb-backup's file of that name, empty for none."""

    path: str
    prepared: bool
    size_bytes: int
    checkpoints: str = ""


@dataclass(frozen=True)
class Trail:
    """What the server and the program left behind on the host: logs, starts, backups, and who reads the LRU's counters.

    `error_lines` and `loader_lines` are since the running server's start (the newest ones where there are many).
    """

    error_lines: Known[tuple[str, ...]]  # lines with [ERROR] of the error log and of the unit's journal
    loader_lines: Known[tuple[str, ...]]  # complaints of ld.so in the unit's journal
    invocations: Known[tuple[str, ...]]  # invocation ids of the unit in this boot's journal, oldest first
    backups: Known[tuple[KeptBackup, ...]]
    monitoring: Known[tuple[str, ...]]  # files and statement digests that read FREE_PAGE_CLOCK or pages made young
