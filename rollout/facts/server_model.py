"""Facts of the database server: versions, memory, buffer pool, workload, replication."""

from collections.abc import Mapping
from dataclasses import dataclass

from rollout.facts.unknown import Known
from rollout.versions import ServerVersion


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

    `monotonic_seconds` is the host's clock at the moment of the counters: two probes give rates. `at_work` holds
    several looks at Threads_running, some 30 ms apart, none where they failed; the probe itself is one in each.
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
    at_work: tuple[int, ...] = ()


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
