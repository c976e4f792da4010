"""How large a memory bench is: what was asked for, or what fits the host, and the arithmetic that proves it fits."""

from dataclasses import asdict, dataclass
from typing import Any

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown

MIB = 2**20
ROW_BYTES = 360  # of the generated table in a tmp table, a sort or a pool page: 64 + 192 characters and their heads
THREAD_BYTES = 4 * MIB  # stack that is touched, network buffers, caches of a connection
# Two quiet cores sort and join 60,000 for 24 clients in five seconds: two rounds of six iterations take a minute.
ROWS_A_CORE = 30_000
POOL_SHARE_FREE = 0.1  # of the memory of the host that must be left over, always


@dataclass(frozen=True)
class Sizes:
    """What one memory run does. Times are seconds, sizes bytes; `session` is set in the load's own sessions only."""

    rows: int
    clients: int
    rounds: int
    iterations: int
    rest_seconds: int
    tmp_table_bytes: int
    seed: int = 1
    session: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the sizes as they are kept."""
        return asdict(self)


@dataclass(frozen=True)
class Asked:
    """The sizes that the user named; None is left to the program."""

    rows: int | None = None
    clients: int | None = None
    rounds: int | None = None
    iterations: int | None = None
    rest_seconds: int | None = None
    tmp_table_bytes: int | None = None
    seed: int = 1
    session: tuple[str, ...] = ()


# The published run (10.11, 4 cores, 7.5 GB): four rounds of 25 iterations, then a minute at rest.
PUBLISHED = Asked(rows=300_000, clients=24, rounds=4, iterations=25, rest_seconds=60, tmp_table_bytes=128 * MIB)


@dataclass(frozen=True)
class Need:
    """The most that a run can take, against what is there; all bytes."""

    per_client: int
    clients: int
    table: int
    available: int
    kept_free: int
    bound: str = ""  # what bounds `available`, where it is not the memory of the host

    @property
    def whole(self) -> int:
        """The most that all clients and the table take."""
        return self.per_client * self.clients + self.table

    @property
    def fits(self) -> bool:
        """Whether what has to stay free stays free."""
        return self.whole <= self.available - self.kept_free

    def told(self) -> str:
        """Return the arithmetic in words."""
        return (
            f"{self.clients} clients x {_mib(self.per_client)} + {_mib(self.table)} of the table in the pool = "
            f"{_mib(self.whole)}; available {_mib(self.available)}{self.bound} less {_mib(self.kept_free)} that stay "
            f"free = {_mib(self.available - self.kept_free)}"
        )


def _mib(size: int) -> str:
    return f"{size / MIB:,.0f} MiB"


def _limit(facts: Facts) -> tuple[int, str] | None:
    """Return the lowest limit that the server's unit sets on its memory, and its name; None where there is none.

    At MemoryHigh the kernel makes the process swap, at MemoryMax it kills it (systemd.resource-control(5)).
    """
    unit = facts.unit
    shown = {} if isinstance(unit, Unknown) or unit is None else unit.properties
    found = [(int(shown[name]), name) for name in ("MemoryHigh", "MemoryMax") if shown.get(name, "").isdigit()]
    return min(found, default=None)


def need(sizes: Sizes, facts: Facts) -> Need | str:
    """Return what a run of these sizes can take at most; a sentence where a fact for it is unknown. Pure.

    A client runs one query at a time, which holds at most two tmp tables or sorts of the whole table (each bounded by
    tmp_table_size, beyond which it goes to disk), its sort buffer and two join buffers.
    """
    available, ram = facts.system.ram_available_bytes, facts.system.ram_bytes
    sort, join = facts.workload.sort_buffer_size_bytes, facts.workload.join_buffer_size_bytes
    limit, rss = _limit(facts), facts.memory.rss_bytes
    for value in (available, ram, sort, join, *([rss] if limit else [])):
        if isinstance(value, Unknown):
            return f"the memory that a run needs cannot be worked out: {value.reason}"
    data = sizes.rows * ROW_BYTES
    per_client = 2 * min(sizes.tmp_table_bytes, data) + _known(sort) + 2 * _known(join) + THREAD_BYTES
    table = min(data, _known(facts.pool.size_bytes))
    free = Need(per_client, sizes.clients, table, _known(available), round(POOL_SHARE_FREE * _known(ram)))
    if limit is None:
        return free
    left = max(0, limit[0] - _known(rss))
    bound = f" below the {limit[1]} of its unit"
    within = Need(per_client, sizes.clients, table, left, round(POOL_SHARE_FREE * limit[0]), bound)
    return min(free, within, key=lambda one: one.available - one.kept_free)


def chosen(asked: Asked, facts: Facts) -> Sizes:
    """Return the sizes of a run: what was asked for, and else what a host of this memory carries. Pure.

    Rows are as many as the cores turn over in under three minutes, 60,000 at most, and are halved until the run needs
    less than half of what is available; clients are at most half of max_connections.
    """
    most = max(1, _known(facts.workload.max_connections) // 2)
    sizes = Sizes(
        rows=asked.rows or min(60_000, ROWS_A_CORE * max(1, _known(facts.system.cores))),
        clients=asked.clients or min(24, most),
        rounds=asked.rounds or 2,
        iterations=asked.iterations or 6,
        rest_seconds=30 if asked.rest_seconds is None else asked.rest_seconds,
        tmp_table_bytes=asked.tmp_table_bytes or min(128 * MIB, max(16 * MIB, _known(facts.system.ram_bytes) // 64)),
        seed=asked.seed,
        session=asked.session,
    )
    while asked.rows is None and sizes.rows > 1000 and not _half_fits(sizes, facts):
        sizes = Sizes(**{**sizes.to_json(), "rows": sizes.rows // 2})
    return sizes


def too_many_clients(sizes: Sizes, facts: Facts) -> str:
    """Return a sentence when the load would take more than half of the server's connections; empty when not."""
    most = _known(facts.workload.max_connections)
    if sizes.clients * 2 <= most:
        return ""
    return f"{sizes.clients} clients are more than half of max_connections ({most}): name fewer with --clients"


def _half_fits(sizes: Sizes, facts: Facts) -> bool:
    found = need(sizes, facts)
    return isinstance(found, str) or found.whole * 2 <= found.available - found.kept_free


def _known(value: Known[int]) -> int:
    return 0 if isinstance(value, Unknown) else value
