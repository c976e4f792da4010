"""Facts of many hosts as rows for a table: a few words a cell, `?` where something is unknown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rollout.facts.model import Allocator, Facts, Server, Unit
from rollout.facts.unknown import Known, Unknown
from rollout.settings import FixRelease
from rollout.versions import FixStatus, ServerVersion, fix_releases, fix_status, parse_package_version

V = TypeVar("V")

COLUMNS = ("host", "system", "server", "LRU fix", "unit", "allocator", "pool", "RSS", "offered", "topology")


def row(facts: Facts, releases: dict[str, FixRelease]) -> tuple[str, ...]:
    """Return the cells of one host, in the order of COLUMNS; `releases` are its own `rollout_fix_releases`."""
    newest = offered(facts)
    return (
        facts.host,
        f"{_cell(facts.system.os_id, str)} {_cell(facts.system.os_version, str)}",
        _server(facts.server),
        fix_of(facts, releases).replace("_", " "),
        _cell(facts.unit, _unit),
        _allocator(facts.allocator),
        _cell(facts.pool.size_bytes, mebibytes),
        _cell(facts.memory.rss_bytes, mebibytes),
        "?" if newest is None else ".".join(map(str, max(newest))) if newest else "nothing",
        _topology(facts),
    )


def fix_of(facts: Facts, releases: dict[str, FixRelease]) -> FixStatus:
    """Tell where the running server (of one that is down, its file) stands with regard to the fix."""
    version = facts.server.on_disk if facts.server.running is None else facts.server.running
    if version is None or isinstance(version, Unknown):
        return "unknown"
    return fix_status(version, offered(facts), fix_releases(releases))


def offered(facts: Facts) -> Sequence[tuple[int, int, int]] | None:
    """Return the upstream versions of the server's package that repositories offer; None where that is unknown."""
    package = facts.packages.named("mariadb-server") or facts.packages.named("MariaDB-server")
    if package is None or isinstance(package.versions, Unknown):
        return None
    numbers = (parse_package_version(version.version) for version in package.versions if version.repositories)
    return [found.upstream for found in numbers if found]


def mebibytes(size: int) -> str:
    """Show bytes in MiB, or GiB from ten of them on."""
    mebi = size / 1024**2
    return f"{mebi / 1024:.1f} GiB" if mebi >= 10 * 1024 else f"{mebi:.0f} MiB"


def _cell(value: Known[V], show: Callable[[V], str]) -> str:
    return "?" if isinstance(value, Unknown) else show(value)


def _server(server: Server) -> str:
    running, on_disk = _cell(server.running, _version), _cell(server.on_disk, _version)
    return running if running == on_disk else f"{running} (file: {on_disk})"


def _version(version: ServerVersion | None) -> str:
    if version is None:
        return "none"
    return str(version) if version.flavour == "mariadb" else f"{version.flavour} {version}"


def _unit(unit: Unit | None) -> str:
    if unit is None:
        return "none"
    name = unit.id.removesuffix(".service")
    return unit.active_state if name == "mariadb" else f"{name} {unit.active_state}"


def _allocator(allocator: Allocator) -> str:
    said = _cell(allocator.version_malloc_library, lambda text: "-" if text is None else text.partition("-")[0])
    mapped = _cell(allocator.mapped, lambda rows: ", ".join(row.path.rpartition("/")[2] for row in rows))
    return f"{said} ({mapped})" if mapped else said


def _topology(facts: Facts) -> str:
    topology = facts.replication
    galera = _cell(topology.galera, lambda node: f"galera of {node.cluster_size}, {node.state}" if node else "")
    sources = _cell(topology.channels, lambda rows: ", ".join(f"replica of {row.source_host}" for row in rows))
    replicas = _cell(topology.replicas, lambda rows: f"source of {len(rows)}" if rows else "")
    return ", ".join(dict.fromkeys(word for word in (galera, sources, replicas) if word)) or "-"
