"""`bench lru`: reads that move pages in the LRU list, in memory and beyond it, composed for one host."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import Any, Literal, get_args

from rollout import __version__
from rollout.bench.controller import ControllerLoad, listens_at
from rollout.bench.load import SCRIPTS, Load, Seen, schema_of, script, scripts_file
from rollout.bench.lru_figures import beside_simulator, case_part, leaves_of
from rollout.bench.memory import versions
from rollout.bench.store import Part, Result
from rollout.engine.steps import HostRun
from rollout.errors import WrongState
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.live import policy_of
from rollout.settings import Secret, Settings

Shape = Literal["points", "covering", "lookup", "range"]
Access = Literal["uniform", "pareto", "hot"]
ROW_BYTES = 240  # in the table; the index adds 15 or so
INDEX_BYTES = 15
LUA = "lru.lua"
INSTALL = "install Debian's package sysbench"
LoadFrom = Literal["auto", "host", "controller"]
QUIET_SECONDS = 60  # without a word from the controller that gives the load, and the host ends it
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
    load_from: LoadFrom = "auto"

    def compose(self, seen: Seen) -> Load:
        """Return the load for a host; raises `WrongState` with every reason against it."""
        reasons = list(self._against(seen))
        if reasons:
            raise WrongState(seen.facts.host, "no load is put on it: " + "; ".join(reasons))
        rows = self.rows(seen)
        groups = [(table, rows[table], turns) for table in GROUPS if (turns := self._turns(table, rows[table]))]
        where = self.placed(seen)
        middle = script("lru", sysbench=seen.sysbench, load_from=where, quiet_seconds=QUIET_SECONDS, groups=groups)
        files = {f"{table}.sql": _table(table, rows[table], self.seed) for table, _, _ in groups}
        driver = self._driver(seen, rows) if where == "controller" else None
        files.update({"account.sql": driver.account_sql} if driver else {"lru.lua": scripts_file(LUA)})
        summary = f"{len(self.cases)} cases, {2 * self.pairs} times {self.seconds} s each, {self.threads} threads"
        seconds = 3600.0 + 2.0 * len(self.order()) * (self.seconds + self.warm_seconds)
        about = self._about(seen)
        return Load("lru", summary, schema_of(seen.run_id), middle, files, seconds=seconds, about=about, driver=driver)

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
            remarks=tuple(_remarks(seen, self.placed(seen))),
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
        return beside_simulator(part, raw, numbers, count, facts=seen.facts, policy=policy, list_rows=self.list_rows)

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

    def placed(self, seen: Seen) -> Literal["host", "controller"]:
        """Return where sysbench runs: on the host where it can, unless something else was asked for."""
        if self.load_from != "auto":
            return self.load_from
        on_host = bool(seen.sysbench) and seen.login == "--no-defaults"
        return "host" if on_host or not seen.sysbench_here else "controller"

    def arguments(self, number: int, case: Case, rows: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the arguments of sysbench for the warming up of one measurement, and for the measurement itself.

        Every start has a seed of its own: with the same one a measurement would read what its warming up has read.
        """
        seed = (1000 * self.seed + 2 * number) % 2**31
        common = (
            *("--db-driver=mysql", "--events=0", "--histogram", f"--threads={self.threads}"),
            *(f"--target={case.table}", f"--table-size={rows}", f"--shape={case.shape}", f"--access={case.access}"),
            f"--list={self.list_rows}",
        )
        warm = (f"--time={self.warm_seconds}", f"--rand-seed={max(seed, 1)}", *common)
        return warm, (f"--time={self.seconds}", f"--rand-seed={seed + 1}", *common)

    def _turns(self, table: str, rows: int) -> list[tuple[int, str, tuple[str, ...], tuple[str, ...]]]:
        return [
            (number, f"{case.shape} {case.access} on {table}", *self.arguments(number, case, rows))
            for number, case in self.order()
            if case.table == table
        ]

    def _driver(self, seen: Seen, rows: dict[str, int]) -> ControllerLoad:
        runs = [words for number, case in self.order() for words in self.arguments(number, case, rows[case.table])]
        return ControllerLoad(
            sysbench=seen.sysbench_here,
            script=SCRIPTS / LUA,
            runs=tuple(runs),
            address=listens_at(seen.bind_address),
            port=seen.port,
            schema=schema_of(seen.run_id),
            password=Secret(secrets.token_hex(24)),
        )

    def _against(self, seen: Seen) -> Iterator[str]:
        facts, rows = seen.facts, self.rows(seen)
        if isinstance(facts.pool.size_bytes, Unknown):
            yield f"the size of the buffer pool cannot be told: {facts.pool.size_bytes.reason}"
        yield from self._without_client(seen)
        if self.threads * 2 > known_or(facts.workload.max_connections, 0):
            yield f"{self.threads} threads are more than half of max_connections"
        tables = {case.table for case in self.cases}
        wanted = round(sum(rows[table] * (ROW_BYTES + INDEX_BYTES) * 1.5 for table in tables))
        datadir = known_or(facts.storage.datadir, None)
        if datadir and wanted * 2 > datadir.free_bytes:
            free = datadir.free_bytes / 2**30
            yield f"the tables need {wanted / 2**30:.1f} GiB, more than half of the {free:.1f} GiB free in the datadir"

    def _without_client(self, seen: Seen) -> Iterator[str]:
        """Yield why sysbench cannot ask the server from where it would run."""
        if self.load_from == "auto" and not seen.sysbench and not seen.sysbench_here:
            yield f"sysbench is not there, neither on {seen.facts.host} nor on the controller: {INSTALL} on one of them"
        elif self.placed(seen) == "host":
            if not seen.sysbench:
                yield f"sysbench is not there: {INSTALL} on {seen.facts.host}, or name --load-from controller"
            if seen.login != "--no-defaults":
                yield (
                    "sysbench on the host logs in as root over the socket, and this host has another login: "
                    "name --load-from controller"
                )
        elif not seen.sysbench_here:
            yield f"sysbench is not on the controller: {INSTALL} there, or name --load-from host"
        elif not seen.port:
            yield (
                "the server listens on no port that could be found (skip_networking?), and a load from the controller "
                f"goes there: {INSTALL} on {seen.facts.host}"
            )

    def _about(self, seen: Seen) -> dict[str, Any]:
        pool = seen.facts.pool
        return {
            "program": __version__,
            "cases": [[case.table, case.shape, case.access] for case in self.cases],
            **{name: getattr(self, name) for name in ("pairs", "threads", "seconds", "warm_seconds", "list_rows")},
            **{name: getattr(self, name) for name in ("memory_share", "larger", "seed")},
            "rows": self.rows(seen),
            "load_from": self.placed(seen),
            "sysbench": seen.sysbench if self.placed(seen) == "host" else seen.sysbench_here,
            "script": scripts_file(LUA),
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


def _remarks(seen: Seen, load_from: str) -> Iterator[str]:
    if load_from == "controller":
        yield "the load came from the controller, through SSH: queries a second and latencies hold the way to the host"
    yield (
        "queries a second and latencies are the client's own; CPU and context switches are the server process's; hit "
        "ratio and promotions are counters of the whole server, which other traffic moves as well"
    )
    yield f"before the load others asked {seen.questions_per_second or 0:.1f} questions a second"
