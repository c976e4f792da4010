"""`Facts`: all that one probe found out about one host, as frozen values.

Each fact is `Known[...]`: the value, or `Unknown` with its reason. `None` means known not to be there. Units stand in
the names; byte counts are ints, times are seconds as floats save where systemd's own microseconds are kept.
"""

from dataclasses import dataclass, field
from datetime import datetime

from rollout.facts.host_model import KeptBackup, PathFacts, Storage, System, Trail
from rollout.facts.package_model import (
    ListRefresh,
    LockHolder,
    Package,
    PackageManager,
    Packages,
    PackageSource,
    PackageVersion,
)
from rollout.facts.server_model import Channel, Galera, Memory, Pool, Replication, Server, Workload
from rollout.facts.unit_model import (
    Allocator,
    EnvironmentFile,
    Library,
    MappedLibrary,
    OtherServer,
    Preload,
    Unit,
    UnitFile,
)
from rollout.facts.unknown import Known, blank

__all__ = [
    "Allocator",
    "Channel",
    "EnvironmentFile",
    "Facts",
    "Galera",
    "KeptBackup",
    "Library",
    "ListRefresh",
    "LockHolder",
    "MappedLibrary",
    "Memory",
    "OtherServer",
    "Package",
    "PackageManager",
    "PackageSource",
    "PackageVersion",
    "Packages",
    "PathFacts",
    "Pool",
    "Preload",
    "Replication",
    "Server",
    "Storage",
    "System",
    "Trail",
    "Unit",
    "UnitFile",
    "Workload",
]


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
