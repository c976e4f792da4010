"""`Facts`: all that one probe found out about one host, as frozen values.

Each fact is `Known[...]`: the value, or `Unknown` with its reason. `None` means known not to be there. Units stand in
the names; byte counts are ints, times are seconds as floats save where systemd's own microseconds are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from rollout.facts.unknown import Known, Unknown, blank
from rollout.versions import ServerVersion

PackageManager = Literal["apt", "dnf", "zypper"]
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
class PackageSource:
    """One place that offers a version: a repository line, or `/var/lib/dpkg/status` (which offers nothing)."""

    priority: int
    location: str
    origin: str = ""
    label: str = ""
    suite: str = ""
    codename: str = ""
    site: str = ""

    @property
    def is_repository(self) -> bool:
        """Whether the version can be fetched from here."""
        return bool(self.location) and self.location != "/var/lib/dpkg/status"


@dataclass(frozen=True)
class PackageVersion:
    """One version of a package and the places that offer it; `priority` is the pin of the version itself."""

    version: str
    priority: int
    sources: tuple[PackageSource, ...]

    @property
    def repositories(self) -> tuple[PackageSource, ...]:
        """The places from which this very version can be fetched now."""
        return tuple(source for source in self.sources if source.is_repository)


@dataclass(frozen=True)
class Package:
    """One package that matters here, installed or not. `versions` runs from newest to oldest."""

    name: str
    architecture: Known[str]
    installed: str | None
    status: str = ""  # dpkg's "want error state", such as "install ok installed"; "installed" for rpm
    source: str = ""  # source package; source rpm
    vendor: str = ""  # rpm only
    automatic: Known[bool] = False
    held: Known[bool] = False
    candidate: Known[str | None] = None
    versions: Known[tuple[PackageVersion, ...]] = ()

    @property
    def healthy(self) -> bool:
        """Whether it is installed whole, or not at all."""
        return self.installed is None or self.status.split()[-2:] == ["ok", "installed"] or self.status == "installed"

    def version(self, version: str) -> PackageVersion | None:
        """Return the row of that version in the version table, None where it is in no list (or the table unknown)."""
        rows = self.versions if isinstance(self.versions, tuple) else ()
        return next((row for row in rows if row.version == version), None)

    @property
    def installed_from(self) -> tuple[PackageSource, ...]:
        """Repositories that offer the installed version, from its own line; empty means the origin is unknown."""
        row = self.version(self.installed) if self.installed else None
        return row.repositories if row else ()


@dataclass(frozen=True)
class LockHolder:
    """Who holds a lock of the package system."""

    path: str
    pid: int
    command: str


@dataclass(frozen=True)
class ListRefresh:
    """A refresh of package lists into a private directory; `messages` are its W:, E: and Err: lines as printed."""

    exit_status: int
    messages: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every list is fresh: apt ends with 0 on stale ones too, so its messages decide."""
        return self.exit_status == 0 and not self.messages


@dataclass(frozen=True)
class Packages:
    """The package system. `items` holds every installed sibling of the server, the backup tool and jemalloc."""

    manager: Known[PackageManager | None]
    manager_version: Known[str]
    architecture: Known[str]  # the manager's own name for it: amd64, x86_64
    items: Known[tuple[Package, ...]]
    refresh: Known[ListRefresh | None]  # None: not asked for, versions come from the host's own lists
    lists_age_seconds: Known[float | None]
    audit: Known[tuple[str, ...]]  # lines of dpkg --audit; packages in a broken state
    holds: Known[tuple[str, ...]]  # every held package of the host; versionlock entries for dnf
    pins: Known[tuple[str, ...]]
    excludes: Known[tuple[str, ...]]  # dnf only
    lock_holders: Known[tuple[LockHolder, ...]]
    needrestart: Known[str | None]  # installed version
    unattended_upgrades: Known[bool]  # installed and switched on
    changed_files: Known[tuple[str, ...]]  # dpkg -V / rpm -V of the packages that own the unit and the binary

    def named(self, name: str) -> Package | None:
        """Return the package of that name; None where it is neither installed nor offered (or nothing is known)."""
        items = self.items if isinstance(self.items, tuple) else ()
        return next((item for item in items if item.name == name), None)

    @property
    def siblings(self) -> tuple[Package, ...]:
        """Installed packages that must move with the server in one transaction."""
        items = self.items if isinstance(self.items, tuple) else ()
        return tuple(item for item in items if item.installed is not None and "jemalloc" not in item.name)


@dataclass(frozen=True)
class UnitFile:
    """A file that systemd reads for the unit, with its whole content."""

    path: str
    content: Known[str]


@dataclass(frozen=True)
class EnvironmentFile:
    """An EnvironmentFile= of the unit: only what bears on the allocator is read from it."""

    path: str
    optional: bool
    exists: Known[bool]
    preload: Known[str | None]
    malloc_conf: Known[str | None]


@dataclass(frozen=True)
class Unit:
    """The systemd unit of the server, by its true `id`. `main_pid` is None where nothing runs."""

    id: str
    names: tuple[str, ...]
    load_state: str
    active_state: str
    sub_state: str
    unit_file_state: str
    main_pid: int | None
    invocation_id: str
    n_restarts: int
    need_daemon_reload: bool
    start_monotonic_usec: int
    result: str
    exec_main_status: int
    user: str
    timeout_start_usec: int | None  # None: infinity
    timeout_stop_usec: int | None
    triggered_by: tuple[str, ...]
    fragment: UnitFile
    drop_ins: tuple[UnitFile, ...]
    environment: Known[Mapping[str, str]]  # Environment= of fragment and drop-ins, merged as systemd does
    environment_files: tuple[EnvironmentFile, ...]
    properties: Mapping[str, str]  # every property that was asked for, as printed


@dataclass(frozen=True)
class OtherServer:
    """A mariadbd or mysqld process that is not the unit's; `container` when it lives in another PID namespace."""

    pid: int
    executable: str
    unit: str
    container: bool


@dataclass(frozen=True)
class Server:
    """The database server itself. `running` is what answers on the unit's socket, `on_disk` the file's version."""

    running: Known[ServerVersion | None]  # None: known to be down
    on_disk: Known[ServerVersion | None]
    client: Known[ServerVersion | None]
    backup_tool: Known[ServerVersion | None]
    version_comment: Known[str | None]
    executable: Known[str | None]  # real path of /proc/MainPID/exe, or of the file the unit starts
    executable_deleted: Known[bool]
    executable_package: Known[str | None]  # package that owns that path; None: no package
    capabilities: Known[str]  # getcap of the binary, empty: none
    datadir: Known[str | None]
    socket: Known[str | None]
    port: Known[int | None]
    server_uid: Known[str | None]
    uptime_seconds: Known[float | None]
    version_option: Known[str | None]  # an option `version=` in the files: it makes VERSION() lie
    variables: Known[Mapping[str, str]]  # SHOW GLOBAL VARIABLES, secrets left out
    status: Known[Mapping[str, str]]  # SHOW GLOBAL STATUS
    plugins: Known[tuple[str, ...]]  # active ones
    schemas: Known[Mapping[str, int]]  # name -> number of tables
    xa_prepared: Known[int]
    longest_transaction_seconds: Known[float | None]  # None: no transaction is open
    login: Known[str]  # how the probe got in: "socket" or "defaults file"


@dataclass(frozen=True)
class MappedLibrary:
    """A library in the process's maps by its real path; `deleted` when its file was replaced since."""

    path: str
    deleted: bool


@dataclass(frozen=True)
class Preload:
    """One place that asks for LD_PRELOAD, and the value as it stands there."""

    source: str
    value: str


@dataclass(frozen=True)
class Library:
    """A jemalloc library of an installed package: real path and ELF machine such as `x86_64`."""

    package: str
    path: str  # as the package lists it
    real_path: str
    elf_machine: str
    elf_class: int  # 32 or 64


@dataclass(frozen=True)
class Allocator:
    """Which malloc the server uses: what it says, what is mapped, and who asked for it."""

    version_malloc_library: Known[str | None]
    mapped: Known[tuple[MappedLibrary, ...]]  # jemalloc, tcmalloc, mimalloc in /proc/MainPID/maps
    environ_preload: Known[str | None]  # LD_PRELOAD in /proc/MainPID/environ: asked for, no proof
    environ_malloc_conf: Known[str | None]
    preloads: Known[tuple[Preload, ...]]  # fragment, drop-ins, EnvironmentFiles, manager, /etc/ld.so.preload
    libraries: Known[tuple[Library, ...]]
    server_elf_machine: Known[str]
    selinux_domain: Known[str | None]  # /proc/MainPID/attr/current


@dataclass(frozen=True)
class Memory:
    """The server process's memory in bytes. `arena_bytes`: Rss of glibc's arenas, told by 64 MiB alignment."""

    rss_bytes: Known[int]
    rss_peak_bytes: Known[int]
    swap_bytes: Known[int]
    heap_bytes: Known[int]
    arena_bytes: Known[int]
    arenas: Known[int]
    lazy_free_bytes: Known[int]
    mapped_regions: Known[int]
    memory_used_bytes: Known[int]  # the server's own Memory_used
    threads: Known[int]
    cpu_seconds: Known[float]  # user and system, since the start
    voluntary_switches: Known[int]  # of the threads that live, summed
    involuntary_switches: Known[int]


@dataclass(frozen=True)
class Pool:
    """The InnoDB buffer pool: settings and counters since the server started (pages, counts)."""

    size_bytes: Known[int]
    page_size_bytes: Known[int]
    instances: Known[int]
    pages_total: Known[int]
    pages_data: Known[int]
    pages_free: Known[int]
    pages_dirty: Known[int]
    pages_old: Known[int]
    pages_misc: Known[int]
    read_requests: Known[int]
    reads: Known[int]
    read_ahead: Known[int]
    pages_made_young: Known[int]
    pages_made_not_young: Known[int]
    pages_lru_flushed: Known[int]
    wait_free: Known[int]
    old_blocks_pct: Known[int]
    old_blocks_time_ms: Known[int]
    lru_scan_depth: Known[int]
    max_dirty_pages_pct: Known[float]
    fast_shutdown: Known[int]
    load_status: Known[str]
    dump_status: Known[str]
    load_incomplete: Known[bool]
    dump_pct: Known[int]
    clock_started: Known[bool]  # whether the first eviction has set the freed-page clock going
    data_bytes: Known[int]  # data and indexes of all InnoDB tables, by the server's statistics


@dataclass(frozen=True)
class Workload:
    """What the server is asked to do: settings that cost memory, and counters since the start.

    `monotonic_seconds` is the host's clock at the moment of the counters: two probes give rates.
    """

    monotonic_seconds: Known[float]
    questions: Known[int]
    commands: Known[Mapping[str, int]]  # Com_select, …, as named by the server
    handlers: Known[Mapping[str, int]]
    threads_running: Known[int]
    threads_connected: Known[int]
    max_connections: Known[int]
    max_used_connections: Known[int]
    tmp_table_size_bytes: Known[int]
    max_heap_table_size_bytes: Known[int]
    sort_buffer_size_bytes: Known[int]
    join_buffer_size_bytes: Known[int]
    created_tmp_tables: Known[int]
    created_tmp_disk_tables: Known[int]
    sorts: Known[Mapping[str, int]]
    client_connections: Known[int]  # sessions of others than the probe and the server's own threads


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
class Channel:
    """One replication channel of a replica; `seconds_behind` None: the server says NULL."""

    name: str
    source_host: str
    source_port: int
    io_running: str
    sql_running: str
    seconds_behind: int | None
    using_gtid: str
    last_error: str
    source_server_id: int | None = None  # None: the server names none (never connected)


@dataclass(frozen=True)
class Galera:
    """The wsrep state of a cluster node."""

    state: str
    ready: bool
    connected: bool
    cluster_status: str
    cluster_size: int
    cluster_uuid: str
    provider_version: str


@dataclass(frozen=True)
class Replication:
    """Where this server stands in its topology."""

    server_id: Known[int]
    read_only: Known[bool]
    channels: Known[tuple[Channel, ...]]
    replicas: Known[tuple[str, ...]]  # host names or addresses of connected replicas
    galera: Known[Galera | None]
    gtid_current_pos: Known[str]


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


@dataclass(frozen=True)
class Facts:
    """One host at one moment (`taken_at`, UTC, the controller's clock)."""

    host: str
    taken_at: datetime
    seconds: float  # how long the round trip took
    system: System
    packages: Packages
    unit: Known[Unit | None]  # None: systemd knows no unit of a database server
    other_servers: Known[tuple[OtherServer, ...]]
    server: Server
    allocator: Allocator
    memory: Memory
    pool: Pool
    workload: Workload
    storage: Storage
    replication: Replication
    trail: Trail = field(default_factory=lambda: blank(Trail, "the probe did not look"))
    notes: tuple[str, ...] = field(default=())  # what a person should know of how the probe went
