"""`bench lru`: reads that move pages in the LRU list, in memory and beyond it, composed for one host."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import Any, Literal, get_args

from rollout import __version__
from rollout.bench.load import Load, Seen, schema_of, script, scripts_file
from rollout.bench.lru_figures import beside_simulator, case_part, leaves_of
from rollout.bench.memory import versions
from rollout.bench.store import Part, Result
from rollout.engine.steps import HostRun
from rollout.errors import WrongState
from rollout.facts.unknown import known_or
from rollout.prediction.live import policy_of
from rollout.settings import Settings

Shape = Literal["points", "covering", "lookup", "range"]
Access = Literal["uniform", "pareto", "hot"]
ROW_BYTES = 240  # in the table; the index adds 15 or so
INDEX_BYTES = 15
GROUPS = ("small", "large")  # tables: in memory, and larger than it


@dataclass(frozen=True)
class Case:
    """What is asked, how the rows are chosen, and of which table: `small` fits into the pool, `large` does not."""

    table: str
    shape: Shape
    access: Access

    @property
    def label(self) -> str:
        """The name of the case in tables and charts."""
        where = "in memory" if self.table == "small" else "beyond memory"
        return f"{self.shape} {self.access} {where}"


EVERY_CASE = tuple(
    Case(table, shape, access) for table in GROUPS for shape in get_args(Shape) for access in get_args(Access)
)
CASES = (
    Case("small", "points", "uniform"),
    Case("small", "covering", "uniform"),
    Case("small", "lookup", "uniform"),
    Case("small", "range", "uniform"),
    Case("small", "points", "pareto"),
    Case("small", "points", "hot"),
    Case("large", "points", "uniform"),
    Case("large", "points", "pareto"),
    Case("large", "points", "hot"),
    Case("large", "range", "uniform"),
)


@dataclass(frozen=True)
class LruPlan:
    """What the user asked for. `pairs` is how often each case is measured, twice each; seconds of one measurement."""

    cases: tuple[Case, ...] = CASES
    pairs: int = 2
    threads: int = 4
    seconds: int = 20
    warm_seconds: int = 10
    list_rows: int = 100
    memory_share: float = 0.6  # of the pool that the small table takes
    larger: float = 1.5  # times the pool that the large table takes
    seed: int = 1

    def compose(self, seen: Seen) -> Load:
        """Return the load for a host; raises `WrongState` with every reason against it."""
        reasons = list(self._against(seen))
        if reasons:
            raise WrongState(seen.facts.host, "no load is put on it: " + "; ".join(reasons))
        rows = self.rows(seen)
        groups = [(table, rows[table], self._turns(table)) for table in GROUPS if self._turns(table)]
        middle = script(
            "lru",
            sysbench=seen.sysbench,
            threads=self.threads,
            seconds=self.seconds,
            warm_seconds=self.warm_seconds,
            seed=self.seed,
            list=self.list_rows,
            groups=groups,
        )
        files = {f"{table}.sql": _table(table, rows[table], self.seed) for table, _, _ in groups}
        files["lru.lua"] = scripts_file("lru.lua")
        summary = f"{len(self.cases)} cases, {2 * self.pairs} times {self.seconds} s each, {self.threads} threads"
        seconds = 3600.0 + 2.0 * len(self.order()) * (self.seconds + self.warm_seconds)
        return Load("lru", summary, schema_of(seen.run_id), middle, files, seconds=seconds, about=self._about(seen))

    def read(self, run: HostRun, seen: Seen, load: Load) -> Result:
        """Return the figures of all cases from the files that were brought home."""
        order, raw = self.order(), run.folder / "raw"
        parts = [self._part(case, raw, order, seen, run.host.settings) for case in self.cases]
        return Result(
            kind="lru",
            host=run.name,
            run_id=run.run_id,
            about=load.about,
            order=tuple(case.label for _, case in order),
            parts=tuple(parts),
            remarks=tuple(_remarks(seen)),
        )

    def _part(self, case: Case, raw: Path, order: Sequence[tuple[int, Case]], seen: Seen, settings: Settings) -> Part:
        numbers, rows = [number for number, one in order if one == case], self.rows(seen)[case.table]
        measured = case_part(case.label, raw, numbers, list_rows=self.list_rows)
        leaves = leaves_of(raw, case.table)
        facts = {**measured.facts, "rows": str(rows), **{f"leaves of {name}": str(n) for name, n in leaves.items()}}
        part = measured.model_copy(update={"facts": facts})
        policy = policy_of(seen.facts, settings)
        if policy is None or (case.shape, case.access) != ("points", "uniform"):
            return part
        count = leaves["PRIMARY"]
        return beside_simulator(part, raw, numbers, count, facts=seen.facts, policy=policy, timing=self)

    def rows(self, seen: Seen) -> dict[str, int]:
        """Return the rows of each table, by the pool of the host."""
        pool = known_or(seen.facts.pool.size_bytes, 0)
        shares = {"small": self.memory_share, "large": self.larger}
        return {table: int(pool * share / (ROW_BYTES + INDEX_BYTES)) for table, share in shares.items()}

    def order(self) -> list[tuple[int, Case]]:
        """Return all measurements in their order, numbered: table by table, its cases forward and backward."""
        found: list[tuple[int, Case]] = []
        for table in GROUPS:
            cases = [case for case in self.cases if case.table == table]
            for turn in range(2 * self.pairs):
                found += [(0, case) for case in (cases if turn % 2 == 0 else reversed(cases))]
        return [(number, case) for number, (_, case) in enumerate(found, 1)]

    def _turns(self, table: str) -> list[tuple[int, Shape, Access]]:
        return [(number, case.shape, case.access) for number, case in self.order() if case.table == table]

    def _against(self, seen: Seen) -> Iterator[str]:
        facts, rows = seen.facts, self.rows(seen)
        if not seen.sysbench:
            yield "sysbench is not there (Debian's package sysbench)"
        if seen.login != "--no-defaults":
            yield "sysbench logs in as root over the socket, and this host has rollout_defaults_file instead"
        if self.threads * 2 > known_or(facts.workload.max_connections, 0):
            yield f"{self.threads} threads are more than half of max_connections"
        tables = {case.table for case in self.cases}
        wanted = round(sum(rows[table] * (ROW_BYTES + INDEX_BYTES) * 1.5 for table in tables))
        datadir = known_or(facts.storage.datadir, None)
        if datadir and wanted * 2 > datadir.free_bytes:
            free = datadir.free_bytes / 2**30
            yield f"the tables need {wanted / 2**30:.1f} GiB, more than half of the {free:.1f} GiB free in the datadir"

    def _about(self, seen: Seen) -> dict[str, Any]:
        pool = seen.facts.pool
        return {
            "program": __version__,
            "cases": [[case.table, case.shape, case.access] for case in self.cases],
            **{name: getattr(self, name) for name in ("pairs", "threads", "seconds", "warm_seconds", "list_rows")},
            **{name: getattr(self, name) for name in ("memory_share", "larger", "seed")},
            "rows": self.rows(seen),
            "sysbench": seen.sysbench,
            "script": scripts_file("lru.lua"),
            "old_blocks_time_ms": known_or(pool.old_blocks_time_ms, None),
            "old_blocks_pct": known_or(pool.old_blocks_pct, None),
            "lru_scan_depth": known_or(pool.lru_scan_depth, None),
            **versions(seen.facts),
        }


def _table(table: str, rows: int, seed: int) -> str:
    stride = next(number for number in range(round(rows * 0.618), 2 * rows) if gcd(number, rows) == 1)
    text = scripts_file("lru.sql")
    for name, value in {"SEED": seed, "TABLE": table, "ROWS": rows, "STRIDE": stride}.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _remarks(seen: Seen) -> Iterator[str]:
    yield (
        "queries a second and latencies are the client's own; CPU and context switches are the server process's; hit "
        "ratio and promotions are counters of the whole server, which other traffic moves as well"
    )
    yield f"before the load others asked {seen.questions_per_second or 0:.1f} questions a second"
