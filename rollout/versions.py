"""Versions of MariaDB servers: what the wild strings mean, how they compare, and which release carries the LRU fix.

Only upstream numbers are compared here. The order of whole package versions (epochs, `~`, distribution suffixes) is
asked of dpkg or rpm on the host: the same upstream sorts differently from one repository to the next.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Flavour = Literal["mariadb", "mariadb-enterprise", "mysql", "percona"]
FixStatus = Literal["present", "available", "not_published", "no_fix_in_series", "rehearsal", "unknown"]
Upstream: TypeAlias = tuple[int, int, int]

# The number that counts stands immediately before `-MariaDB`: fake prefixes (5.5.5-), paths and protocol numbers lose.
_MARIADB = re.compile(r"(?<![\d.])(\d+)\.(\d+)\.(\d+)(?:-(\d+))?-MariaDB(.*)", re.IGNORECASE)
# MySQL's programs print `Ver 8.0.29` or, before 8.0, `Ver 14.14 Distrib 5.7.42`; its SELECT VERSION() starts with it.
_MYSQL = re.compile(r"(?:^|\bDistrib |\bVer )(\d+)\.(\d+)\.(\d+)(-\d+)?(?=[-,\s.+]|$)", re.MULTILINE)
_PACKAGE = re.compile(r"(?:(\d+):)?(\d+)\.(\d+)\.(\d+)(?:[._](\d+)\b)?(?!\d)(.*)")
_BUILDER = re.compile(r" from ([A-Z]\w+)|\((Ubuntu|Debian)\b")


@dataclass(frozen=True)
class ServerVersion:
    """One version as a program printed it.

    `upstream` is (major, minor, patch); `enterprise` is the fourth number of an Enterprise build and None elsewhere.
    `distribution` is the one that says it built the server, empty where the string names none.
    """

    flavour: Flavour
    upstream: Upstream
    raw: str
    enterprise: int | None = None
    distribution: str = ""

    @property
    def series(self) -> str:
        """Major and minor, such as `11.8`."""
        return series_of(self.upstream)

    @property
    def is_mariadb(self) -> bool:
        """Whether this is a community or Enterprise MariaDB; anything else is refused."""
        return self.flavour in ("mariadb", "mariadb-enterprise")

    def __str__(self) -> str:
        text = ".".join(map(str, self.upstream))
        return text if self.enterprise is None else f"{text}-{self.enterprise}"


@dataclass(frozen=True)
class PackageServerVersion:
    """The numbers inside a deb or rpm version of a server package; `build` is what follows them."""

    epoch: int
    upstream: Upstream
    enterprise: int | None
    build: str


@dataclass(frozen=True)
class KnownChange:
    """Something that a release of a series changed and that a rollout may trip over.

    `code` is known to `rollout explain`. `mended` is the release of the series that took the trouble away again.
    """

    release: Upstream
    code: str
    topic: Literal["galera", "replication", "unit", "selinux", "memory"]
    text: str
    mended: Upstream | None = None


class Release(Protocol):
    """The release to which a series is taken; `settings.FixRelease` is one."""

    @property
    def version(self) -> str:
        """Upstream version, such as 11.8.10."""

    @property
    def carries_lru_fix(self) -> bool:
        """False for a rehearsal: the road is exercised, the fix is not."""


@dataclass(frozen=True)
class LruFix:
    """The first release of a series that carries the fix of the InnoDB LRU."""

    version: str
    carries_lru_fix: bool = True


# MariaDB's release notes of 11.8.10, 12.3.4 and 13.1.2. Later releases of a series carry it too (>=, never ==).
FIX_RELEASES: Mapping[str, Release] = {
    "11.8": LruFix("11.8.10"),
    "12.3": LruFix("12.3.4"),
    "13.1": LruFix("13.1.2"),
}

_PRESSURE = "memory-pressure events no longer empty the buffer pool (MDEV-34863)"
_CAPABILITIES = "capabilities of the unit changed; an old systemd ends the start with status 218 (MDEV-36591)"
_PROTOCOL = "once every node runs it, a single node cannot go back (GCS protocol)"
_GTID = "a replica that comes from before 12.3 loses its GTID mode (MDEV-39788, mended in 12.3.3)"
_PRIVATE_DEVICES = "PrivateDevices=false is gone from the unit: raw devices need an override"
_SELINUX = "the separate package mysql-selinux is needed on the RHEL family"
_HARDENING = "ProtectControlGroups and more hardening in the unit (MDEV-39057)"
_SCRIPTS = "cluster scripts moved to the package mariadb-server-galera"

# From MariaDB's release notes of the releases named.
KNOWN_CHANGES = (
    KnownChange((10, 11, 12), "memory_pressure", "memory", _PRESSURE),
    KnownChange((11, 8, 2), "memory_pressure", "memory", _PRESSURE),
    KnownChange((10, 11, 12), "unit_capabilities", "unit", _CAPABILITIES),
    KnownChange((11, 4, 6), "unit_capabilities", "unit", _CAPABILITIES),
    KnownChange((11, 8, 2), "unit_capabilities", "unit", _CAPABILITIES),
    KnownChange((11, 8, 4), "unit_private_devices", "unit", _PRIVATE_DEVICES),
    KnownChange((11, 8, 4), "selinux_package", "selinux", _SELINUX),
    KnownChange((11, 8, 4), "galera_protocol", "galera", _PROTOCOL),
    KnownChange((11, 8, 6), "galera_protocol", "galera", _PROTOCOL),
    KnownChange((11, 8, 7), "unit_hardening", "unit", _HARDENING),
    KnownChange((12, 3, 1), "galera_dependency", "galera", "the server no longer depends on the Galera provider"),
    KnownChange((12, 3, 2), "galera_scripts", "galera", _SCRIPTS),
    KnownChange((12, 3, 2), "mysqld_opts", "unit", "MYSQLD_OPTS is deprecated"),
    KnownChange((12, 3, 2), "replica_gtid", "replication", _GTID, mended=(12, 3, 3)),
)


def series_of(upstream: Upstream) -> str:
    """Return the series of a release: (11, 8, 9) is of `11.8`."""
    return f"{upstream[0]}.{upstream[1]}"


def parse_upstream(text: str) -> Upstream:
    """Read `11.8.10`, or a distribution's `11.8.9+ds`; raises ValueError on anything else."""
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:[+~-].*)?", text.strip())
    if numbers is None:
        raise ValueError(f"{text!r} is no release: expected three numbers such as 11.8.10")
    return int(numbers[1]), int(numbers[2]), int(numbers[3])


def parse_server_version(text: str) -> ServerVersion | None:
    """Read what `mariadb --version`, `mariadbd --version`, `mariadb-backup --version` or `SELECT VERSION()` printed.

    Decided by content and never by the program's name; warning lines before the value do not matter. None when there
    is no version in the text.
    """
    found = _MARIADB.search(text)
    if found is not None:
        return _mariadb(found, text)
    found = _MYSQL.search(text)
    if found is None:
        return None
    percona = "percona" in text.lower() or re.fullmatch(r"[\d.]+-\d+(\.\d+)?(-log|-debug)?", text.strip()) is not None
    upstream = int(found[1]), int(found[2]), int(found[3])
    return ServerVersion("percona" if percona else "mysql", upstream, text.strip())


def _mariadb(found: re.Match[str], text: str) -> ServerVersion:
    enterprise = None if found[4] is None else int(found[4])
    flavour: Flavour = "mariadb-enterprise" if enterprise is not None or "enterprise" in found[5] else "mariadb"
    builder = _BUILDER.search(found[5])
    distribution = (builder[1] or builder[2]) if builder else ""
    upstream = int(found[1]), int(found[2]), int(found[3])
    return ServerVersion(flavour, upstream, text.strip(), enterprise, distribution)


def parse_package_version(text: str) -> PackageServerVersion | None:
    """Read the numbers of a deb or rpm version such as `1:11.8.9+maria~ubu2404`; None where there are none.

    Enterprise builds put a fourth number after a dot (deb) or an underscore (rpm).
    """
    found = _PACKAGE.fullmatch(text.strip())
    if found is None:
        return None
    upstream = int(found[2]), int(found[3]), int(found[4])
    enterprise = None if found[5] is None else int(found[5])
    return PackageServerVersion(int(found[1] or 0), upstream, enterprise, found[6])


def fix_releases(extra: Mapping[str, Release] | None = None) -> Mapping[str, Release]:
    """Return the table of fix releases by series, with a host's own `rollout_fix_releases` laid over it."""
    return {**FIX_RELEASES, **(extra or {})}


def fix_status(
    version: ServerVersion, offered: Iterable[Upstream] | None, releases: Mapping[str, Release] = FIX_RELEASES
) -> FixStatus:
    """Tell where a server stands with regard to the fix.

    `offered` are the upstream versions that the host's own origin offers, None where that is unknown; `releases` comes
    from `fix_releases`. What an Enterprise build contains cannot be told from its number, so it is `unknown`; and so
    is a series younger than the table.
    """
    if version.flavour != "mariadb":
        return "unknown"
    release = releases.get(version.series)
    if release is None:
        newest = max(parse_upstream(entry.version)[:2] for entry in FIX_RELEASES.values())
        return "no_fix_in_series" if version.upstream[:2] < newest else "unknown"
    wanted = parse_upstream(release.version)
    if version.upstream >= wanted:
        return "present" if release.carries_lru_fix else "rehearsal"
    if offered is None:
        return "unknown"
    if not any(series_of(upstream) == version.series and upstream >= wanted for upstream in offered):
        return "not_published"
    return "available" if release.carries_lru_fix else "rehearsal"


def known_changes(before: Upstream, after: Upstream) -> tuple[KnownChange, ...]:
    """Return what the releases of the same series after `before`, up to and with `after`, are known to change.

    What a release on the way broke and `after` has mended is left out: nobody runs that release.
    """
    return tuple(
        change
        for change in KNOWN_CHANGES
        if change.release[:2] == after[:2]
        and before < change.release <= after
        and (change.mended is None or after < change.mended)
    )
