"""`bench memory`: the published jemalloc measurement, composed for one host, and its figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rollout import __version__
from rollout.bench.arms import Arm, drop_in, needs_library, turns
from rollout.bench.load import Load, Seen, schema_of, script, scripts_file
from rollout.bench.samples import MemoryRun, figures, read_run
from rollout.bench.sizes import Asked, Need, Sizes, chosen, need, too_many_clients
from rollout.bench.store import Measurement, Part, Result
from rollout.changes.allocator import PACKAGES
from rollout.engine.steps import HostRun
from rollout.errors import WrongState
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or

GUARD_SHARE = 0.06  # of the memory: with less than that available the load is ended
_UNITS = {"regions": "", "descents": "", "pool_pages": "pages", "iteration_seconds": "s", "tmp_on_disk": "share"}


@dataclass(frozen=True)
class MemoryPlan:
    """What the user asked for: sizes, arms, how often each takes its turn, and whether the server is restarted."""

    asked: Asked
    arms: tuple[Arm, ...]
    pairs: int
    restart: bool = True

    def compose(self, seen: Seen) -> Load:
        """Return the load for a host; raises `WrongState` with every reason against it, arithmetic included."""
        sizes = chosen(self.asked, seen.facts)
        room = need(sizes, seen.facts)
        library, fetched, missing = _library(seen) if needs_library(self.arms) else ("", False, "")
        reasons = [missing, too_many_clients(sizes, seen.facts), *_room(room, sizes)]
        if not seen.slap:
            reasons.append("mariadb-slap is not there (Debian has it in mariadb-client)")
        told = [reason for reason in reasons if reason]
        if told:
            raise WrongState(seen.facts.host, "no load is put on it: " + "; ".join(told))
        order = turns(self.arms, self.pairs)
        numbers = {arm.label: number for number, arm in enumerate(self.arms, 1)}
        middle = script(
            "memory",
            slap=seen.slap,
            init=_session(sizes),
            fetch_library=fetched,
            library_package=PACKAGES["apt"],
            library=library,
            restart=self.restart,
            turns=[(number, numbers[arm.label]) for number, arm in enumerate(order, 1)],
            **{name: getattr(sizes, name) for name in ("rows", "clients", "rounds", "iterations", "rest_seconds")},
        )
        guard = round(GUARD_SHARE * known_or(seen.facts.system.ram_bytes, 0) / 1024)
        files = {
            "table.sql": script_sql(sizes),
            "load.sql": scripts_file("load.sql"),
            "sample.sh": script("sample", login=seen.login, socket=seen.socket, guard_kib=guard),
            **{f"arm-{numbers[arm.label]}.conf": drop_in(arm, library) for arm in self.arms},
        }
        summary = f"{sizes.clients} clients on {sizes.rows:,} rows, {len(order)} runs of {', '.join(numbers)}"
        return Load(
            "memory",
            summary,
            schema_of(seen.run_id),
            middle,
            files,
            library_tree=_tree(seen) if fetched else "",
            seconds=3600.0 * len(order),
            about=_about(seen, sizes, self, room),
        )

    def read(self, run: HostRun, seen: Seen, load: Load) -> Result:
        """Return the figures of the runs whose files were brought home."""
        order = [arm.label for arm in turns(self.arms, self.pairs)]
        runs = read_runs(run.folder / "raw", order)
        return Result(
            kind="memory",
            host=run.name,
            run_id=run.run_id,
            about=load.about,
            order=tuple(order),
            parts=tuple(_part(arm.label, [one for one in runs if one.arm == arm.label]) for arm in self.arms),
            remarks=tuple(_remarks(seen, self)),
        )


def read_runs(raw: Path, order: Sequence[str]) -> list[MemoryRun]:
    """Read all runs of a measurement from the files of its host."""
    return [read_run(raw, number, label) for number, label in enumerate(order, 1)]


def script_sql(sizes: Sizes) -> str:
    """Return the statements that make the table: the same rows for the same seed."""
    return scripts_file("table.sql").replace("@SEED@", str(sizes.seed)).replace("@ROWS@", str(sizes.rows))


def _session(sizes: Sizes) -> str:
    settings = [
        f"tmp_table_size={sizes.tmp_table_bytes}",
        f"max_heap_table_size={sizes.tmp_table_bytes}",
        "group_concat_max_len=1048576",
        *sizes.session,
    ]
    return f"SET SESSION {', '.join(settings)}"


def _room(room: Need | str, sizes: Sizes) -> list[str]:
    if isinstance(room, str):
        return [room]
    if room.fits:
        return []
    return [f"too little memory for {sizes.rows:,} rows: {room.told()}; name fewer --rows or --clients"]


def _library(seen: Seen) -> tuple[str, bool, str]:
    """Return jemalloc's path, whether it is unpacked for this run alone, and why there is none (empty: there is)."""
    facts = seen.facts
    machine = facts.allocator.server_elf_machine
    for entry in known_or(facts.allocator.libraries, ()):
        if entry.elf_machine == machine:
            return entry.path, False, ""
    triplet = facts.system.triplet
    if facts.packages.manager != "apt" or isinstance(triplet, Unknown) or triplet is None:
        return "", False, "jemalloc is not installed, and only on hosts with apt it is unpacked for the run alone"
    return f"{_tree(seen)}/usr/lib/{triplet}/libjemalloc.so.2", True, ""


def _tree(seen: Seen) -> str:
    return f"/var/lib/rollout-bench-{seen.run_id}"  # not below the run's folder, which only root may enter


def _part(label: str, runs: Sequence[MemoryRun]) -> Part:
    rows = [figures(one) for one in runs]
    names = [name for name in rows[0] if all(name in row for row in rows)]
    measured = tuple(
        Measurement(name=name, values=tuple(row[name] for row in rows), unit=_UNITS.get(name, "bytes"))
        for name in names
    )
    return Part(label=label, measurements=measured, facts={"allocator": runs[0].allocator})


def _remarks(seen: Seen, plan: MemoryPlan) -> list[str]:
    said = [
        f"{known_or(seen.facts.system.cores, 0)} cores, {known_or(seen.facts.system.ram_bytes, 0) / 2**30:.1f} GiB, "
        f"pool {known_or(seen.facts.pool.size_bytes, 0) / 2**20:,.0f} MiB, max_connections "
        f"{known_or(seen.facts.workload.max_connections, 0)}",
        "Memory_used and pool pages are counters of the whole server; memory is the process's resident and swapped-out",
    ]
    if seen.questions_per_second:
        said.append(f"before the load others asked {seen.questions_per_second:.1f} questions a second")
    if not plan.restart:
        said.append("the server was not restarted: the first run starts from what it held already")
    return said


def _about(seen: Seen, sizes: Sizes, plan: MemoryPlan, room: Need | str) -> dict[str, Any]:
    facts = seen.facts
    return {
        "program": __version__,
        "sizes": sizes.to_json(),
        "arms": [arm.label for arm in plan.arms],
        "pairs": plan.pairs,
        "restart": plan.restart,
        "memory": room if isinstance(room, str) else room.told(),
        "table": script_sql(sizes),
        "queries": scripts_file("load.sql"),
        "session": _session(sizes),
        "client": seen.slap,
        **versions(facts),
    }


def versions(facts: Facts) -> dict[str, Any]:
    """Return what the measurement was made on."""
    system = facts.system
    known = {
        "server": facts.server.running,
        "glibc": system.glibc,
        "kernel": system.kernel,
        "cores": system.cores,
        "ram_bytes": system.ram_bytes,
        "pool_bytes": facts.pool.size_bytes,
        "max_connections": facts.workload.max_connections,
        "transparent_hugepage": system.transparent_hugepage,
    }
    return {name: None if isinstance(value, Unknown) else _plain(value) for name, value in known.items()}


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | str) else str(value)
