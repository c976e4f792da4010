"""Facts of the package system: packages, their versions and who offers them, holds, locks."""

from dataclasses import dataclass
from typing import Literal

from rollout.facts.unknown import Known, Unknown

PackageManager = Literal["apt", "dnf", "zypper"]
_NOT_ASKED = Unknown("the probe did not ask for it")  # a plan of an earlier version of this program


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
    """A refresh of package lists into a private directory; `messages` are its complaints as printed."""

    exit_status: int
    messages: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every list is fresh: apt and dnf end with 0 on stale ones too, so their messages decide."""
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
    holds: Known[
        tuple[str, ...]
    ]  # every held package of the host; versionlock entries for dnf, locked names and patterns for zypper
    pins: Known[tuple[str, ...]]
    excludes: Known[tuple[str, ...]]  # dnf only: the lines as they stand
    lock_holders: Known[tuple[LockHolder, ...]]
    needrestart: Known[str | None]  # installed version
    unattended_upgrades: Known[bool]  # installed and switched on
    changed_files: Known[tuple[str, ...]]  # dpkg -V / rpm -V of the packages that own the unit and the binary
    modules: Known[tuple[str, ...]] = (
        _NOT_ASKED  # dnf only: enabled streams of the database's modules, as `mariadb:10.11`
    )
    offered_libraries: Known[tuple[str, ...]] = (
        _NOT_ASKED  # rpm only: files of a jemalloc that is offered and not installed
    )

    def named(self, name: str) -> Package | None:
        """Return the package of that name; None where it is neither installed nor offered (or nothing is known)."""
        items = self.items if isinstance(self.items, tuple) else ()
        return next((item for item in items if item.name == name), None)

    @property
    def siblings(self) -> tuple[Package, ...]:
        """Installed packages that must move with the server in one transaction."""
        items = self.items if isinstance(self.items, tuple) else ()
        return tuple(item for item in items if item.installed is not None and "jemalloc" not in item.name)
