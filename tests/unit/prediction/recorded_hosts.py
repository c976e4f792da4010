"""Hosts as two probes ten seconds apart saw them: sets of facts with what the prediction needs, all else unknown."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_type_hints

from rollout.facts.model import Facts, PathFacts
from rollout.facts.unknown import Unknown, blank
from rollout.versions import ServerVersion, parse_server_version

GIB = 2**30
DOMAINS = ("system", "packages", "server", "allocator", "memory", "pool", "workload", "storage", "replication", "trail")
SAMPLE_SECONDS = 10
Pair = tuple[Facts, Facts]


def version(text: str) -> ServerVersion:
    """Read a version that is one."""
    found = parse_server_version(f"{text}-MariaDB")
    assert found is not None
    return found


def dark() -> Facts:
    """Facts in which nothing is known."""
    hints = get_type_hints(Facts)
    return Facts(
        host="db1",
        taken_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        seconds=0.5,
        unit=Unknown("nobody looked"),
        other_servers=Unknown("nobody looked"),
        **{name: blank(hints[name], "nobody looked") for name in DOMAINS},
    )


def with_facts(facts: Facts, **domains: dict[str, Any]) -> Facts:
    """Return facts with some fields of some domains replaced."""
    return replace(facts, **{name: replace(getattr(facts, name), **fields) for name, fields in domains.items()})


def later(facts: Facts, seconds: float = SAMPLE_SECONDS, **grown: dict[str, float]) -> Facts:
    """Return the second probe: counters grown by so much a second, clock and uptime moved on."""
    moved = {
        name: {field: getattr(getattr(facts, name), field) + round(rate * seconds) for field, rate in fields.items()}
        for name, fields in grown.items()
    }
    moved.setdefault("workload", {})["monotonic_seconds"] = facts.workload.monotonic_seconds + seconds
    return with_facts(facts, **moved, server={"uptime_seconds": facts.server.uptime_seconds + seconds})


def busy(selects: float, writes: float = 0.0) -> Any:
    """Return how `commands` grow; used through `with_commands`."""
    return {"Com_select": selects, "Com_update": writes}


def with_commands(first: Facts, second: Facts, rates: dict[str, float]) -> Pair:
    """Let the counters of statements grow by so many a second between the probes."""
    start = dict.fromkeys(rates, 10**6)
    end = {name: 10**6 + round(rate * SAMPLE_SECONDS) for name, rate in rates.items()}
    return with_facts(first, workload={"commands": start}), with_facts(second, workload={"commands": end})


def quiet(text: str = "11.8.9", pool: int = 4 * GIB) -> Facts:
    """A healthy host with nothing to do: 8 cores, a pool that is half full, small arenas, days of uptime."""
    frames = pool // 16384
    return with_facts(
        dark(),
        system={"cores": 8, "ram_bytes": 16 * GIB, "transparent_hugepage": "madvise"},
        server={"running": version(text), "uptime_seconds": 10 * 86400.0},
        allocator={"version_malloc_library": "system"},
        memory={
            "rss_bytes": pool // 2 + 300 * 2**20,
            "swap_bytes": 0,
            "heap_bytes": 30 * 2**20,
            "arena_bytes": 20 * 2**20,
            "cpu_seconds": 50_000.0,
            "voluntary_switches": 10**6,
        },
        pool={
            "size_bytes": pool,
            "page_size_bytes": 16384,
            "instances": 1,
            "pages_total": frames,
            "pages_data": frames // 2,
            "pages_free": frames // 2,
            "pages_old": frames // 6,
            "read_requests": 10**9,
            "reads": 10**5,
            "read_ahead": 10**4,
            "pages_made_young": 10**7,
            "pages_made_not_young": 10**7,
            "old_blocks_pct": 37,
            "old_blocks_time_ms": 1000,
            "lru_scan_depth": 1536,
            "max_dirty_pages_pct": 90.0,
            "clock_started": True,
            "data_bytes": pool // 3,
        },
        workload={
            "monotonic_seconds": 900_000.0,
            "questions": 10**8,
            "commands": {},
            "threads_running": 1,
            "max_connections": 500,
            "max_used_connections": 200,
            "tmp_table_size_bytes": 16 * 2**20,
        },
        storage={"datadir": PathFacts("/var/lib/mysql", True, 1, 2, "ext4", "/", 10**12, 5 * 10**11)},
    )


def ten_php_workers() -> Pair:
    """Ten PHP workers and 2 GB of data: 150 queries a second of 30 leaf reads each."""
    first = with_facts(
        quiet(), workload={"max_used_connections": 11, "threads_running": 2}, pool={"data_bytes": 2 * GIB}
    )
    second = later(
        first,
        pool={"read_requests": 13_500, "pages_made_young": 1_660, "reads": 0, "read_ahead": 0},
        workload={"questions": 150},
        memory={"cpu_seconds": 0.15},
    )
    return with_commands(first, second, busy(145, 5))


def idle() -> Pair:
    """A host that serves a query every other second, most of them from its monitoring."""
    second = later(quiet(), pool={"read_requests": 3}, workload={"questions": 0.5}, memory={"cpu_seconds": 0.01})
    return with_commands(quiet(), second, busy(0.5))


def just_started() -> Pair:
    """A server 30 s after its start."""
    first = with_facts(quiet(), server={"uptime_seconds": 20.0})
    return first, later(first, pool={"read_requests": 50_000, "reads": 900}, workload={"questions": 900})


def requests_stuck_at_zero() -> Pair:
    """Read requests at 0 beside 33,094 pages read, as in a public report of MDEV-32920."""
    first = with_facts(quiet("11.8.2"), pool={"read_requests": 0, "reads": 33_094})
    second = later(first, pool={"pages_made_young": 900}, workload={"questions": 2_000}, memory={"cpu_seconds": 1.5})
    return with_commands(first, second, busy(1_900, 100))


def disk_bound_writer() -> Pair:
    """A full pool, 60 % writes, a page read for every second query."""
    first = with_facts(quiet(), pool={"pages_free": 1_200}, workload={"threads_running": 12})
    second = later(
        first,
        pool={"read_requests": 90_000, "reads": 2_500, "read_ahead": 100, "pages_made_young": 3_000},
        workload={"questions": 5_000},
        memory={"cpu_seconds": 2.0},
    )
    return with_commands(first, second, busy(2_000, 3_000))


def pool_is_all() -> Pair:
    """A 10.11 whose 96 GiB pool is nearly all of its memory."""
    first = with_facts(
        quiet("10.11.18", 96 * GIB),
        memory={"rss_bytes": 97 * GIB, "heap_bytes": 200 * 2**20, "arena_bytes": 300 * 2**20},
    )
    second = later(first, pool={"read_requests": 9_000}, workload={"questions": 800}, memory={"cpu_seconds": 0.3})
    return with_commands(first, second, busy(800))


def has_jemalloc() -> Pair:
    """A 10.11 that runs with jemalloc already."""
    library = "jemalloc 5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c"
    first = with_facts(quiet("10.11.18"), allocator={"version_malloc_library": library})
    return first, later(first, pool={"read_requests": 9_000}, workload={"questions": 800}, memory={"cpu_seconds": 0.3})


def old_clock_at_zero() -> Pair:
    """A 10.4 that serves 20,000 queries a second from memory and has evicted nothing yet."""
    first = with_facts(
        quiet("10.4.34"), pool={"clock_started": False, "instances": 8, "pages_made_young": 0}, system={"cores": 64}
    )
    second = later(first, pool={"read_requests": 600_000}, workload={"questions": 20_000}, memory={"cpu_seconds": 14.0})
    return with_commands(first, second, busy(20_000))


def large_in_memory() -> Pair:
    """64 cores, all in memory, 200,000 point reads a second in 10,000 statements of 20 keys each."""
    first = with_facts(
        quiet("11.8.9", 100 * GIB),
        system={"cores": 64, "ram_bytes": 256 * GIB},
        workload={"max_used_connections": 400, "threads_running": 3},
    )
    second = later(
        first,
        pool={"read_requests": 600_000, "pages_made_young": 73_800, "reads": 0, "read_ahead": 0},
        workload={"questions": 10_000},
        memory={"cpu_seconds": 1.7},
    )
    return with_commands(first, second, busy(10_000))
