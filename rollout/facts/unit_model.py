"""Facts of the systemd unit, and of the allocator that its environment asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from rollout.facts.unknown import Known


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
