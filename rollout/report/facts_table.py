"""Facts of many hosts as rows for a table: a few words a cell, `?` where something is unknown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rollout.facts.model import Allocator, Facts, Server, Unit
from rollout.facts.unknown import Known, Unknown
from rollout.settings import FixRelease
from rollout.versions import FixStatus, fix_releases, fix_status, parse_package_version

V = TypeVar("V")

COLUMNS = ("host", "system", "server", "LRU fix", "unit", "allocator", "pool", "process", "packages", "replication")


def row(facts: Facts, releases: dict[str, FixRelease]) -> tuple[str, ...]:
    """Return the cells of one host, in the order of COLUMNS; `releases` are its own `rollout_fix_releases`."""
    return (
        facts.host,
        f"{_cell(facts.system.os_id, str)} {_cell(facts.system.os_version, str)}",
        _server(facts.server),
        fix_of(facts, releases).replace("_", " "),
        _cell(facts.unit, _unit),
        _allocator(facts.allocator),
        _pool(facts),
        f"{_cell(facts.memory.rss_bytes, mebibytes)} + {_cell(facts.memory.swap_bytes, mebibytes)} swap",
        _packages(facts),
        _replication(facts),
    )


def fix_of(facts: Facts, releases: dict[str, FixRelease]) -> FixStatus:
    """Tell where the running server (of one that is down, its file) stands with regard to the fix."""
    version = facts.server.running or facts.server.on_disk
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
    running = _cell(server.running, lambda version: f"{version.flavour} {version}" if version else "down")
    on_disk = _cell(server.on_disk, lambda version: str(version) if version else "no file")
    return running if running.endswith(f" {on_disk}") else f"{running} (on disk {on_disk})"


def _unit(unit: Unit | None) -> str:
    if unit is None:
        return "none"
    return f"{unit.id.removesuffix('.service')} {unit.active_state}, {unit.unit_file_state}"


def _allocator(allocator: Allocator) -> str:
    word = _cell(allocator.version_malloc_library, lambda text: "-" if text is None else " ".join(text.split()[:2]))
    mapped = _cell(allocator.mapped, lambda rows: ", ".join(row.path.rpartition("/")[2] for row in rows))
    return f"{word.partition('-')[0] or word} ({mapped})" if mapped else word


def _pool(facts: Facts) -> str:
    pool = facts.pool
    if isinstance(pool.pages_data, Unknown) or isinstance(pool.page_size_bytes, Unknown):
        return _cell(pool.size_bytes, mebibytes)
    return f"{_cell(pool.size_bytes, mebibytes)}, {mebibytes(pool.pages_data * pool.page_size_bytes)} of data"


def _packages(facts: Facts) -> str:
    if isinstance(facts.packages.items, Unknown):
        return "?"
    newest = [number for number in offered(facts) or ()]
    best = f", offered {'.'.join(map(str, max(newest)))}" if newest else ""
    held = sum(1 for item in facts.packages.siblings if item.held is True)
    return (
        f"{_cell(facts.packages.manager, str)}: {len(facts.packages.siblings)}{best}{f', {held} held' if held else ''}"
    )


def _replication(facts: Facts) -> str:
    topology = facts.replication
    galera = _cell(topology.galera, lambda node: f"galera {node.state} {node.cluster_size}" if node else "")
    sources = _cell(topology.channels, lambda rows: ", ".join(f"of {row.source_host}" for row in rows))
    replicas = _cell(topology.replicas, lambda rows: f"{len(rows)} replicas" if rows else "")
    return ", ".join(dict.fromkeys(word for word in (galera, sources, replicas) if word)) or "-"
