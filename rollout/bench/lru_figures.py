"""Figures of one case of an LRU bench, from the client's own report and the counters before and after. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rollout.bench.compare import paired_spread
from rollout.bench.simulated import Pace, uniform_points
from rollout.bench.store import Measurement, Part
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or

_POOL = "Innodb_buffer_pool_"
_BAR = re.compile(r"^\s*([0-9.]+) \|\**\s+(\d+)$")
_QUERIES = re.compile(r"^\s+total:\s+(\d+)$", re.MULTILINE)
_PACE = re.compile(r"^pace (\d+) (\d+)$", re.MULTILINE)
_TIME = re.compile(r"^\s+total time:\s+([0-9.]+)s$", re.MULTILINE)


def case_part(label: str, raw: Path, numbers: Sequence[int], *, list_rows: int) -> Part:
    """Return the measurements of a case, each with a value for every time that it was measured."""
    found = [_one(raw, number, list_rows) for number in numbers]
    measured = [
        Measurement(name=name, values=tuple(row[name] for row in found), unit="share" if name in _SHARES else "")
        for name in found[0]
        if all(name in row for row in found)
    ]
    spread = paired_spread(measured[0].values)
    last = _counters(raw / f"after-{numbers[-1]}")
    facts = {
        "spread of pairs": "unknown" if spread is None else f"{100 * spread:.1f} %",
        "pages in the pool": f"{last[_POOL + 'pages_data']:.0f} of {last[_POOL + 'pages_total']:.0f}",
    }
    return Part(label=label, measurements=tuple(measured), facts=facts)


def leaves_of(raw: Path, table: str) -> dict[str, int]:
    """Return the leaf pages of each index of a table, by the server's statistics."""
    rows = (line.split("\t") for line in (raw / f"leaves-{table}").read_text().splitlines())
    return {name: int(count) for name, count in rows}


def beside_simulator(
    part: Part, raw: Path, numbers: Sequence[int], leaves: int, *, facts: Facts, policy: str, list_rows: int
) -> Part:
    """Put what the simulator says of the same pool, pages and settings beside uniform reads by primary key.

    Each run is simulated with its own pace, by tenths of a second, and with the rest between its warming up and itself:
    beyond memory a page stays for about as long as innodb_old_blocks_time, so that every halt makes pages old enough.
    """
    pool = facts.pool
    settings = tuple(known_or(one, 0) for one in (pool.old_blocks_pct, pool.old_blocks_time_ms, pool.lru_scan_depth))
    if not all(settings[::2]):
        return part
    found = []
    for number in numbers:
        after = _counters(raw / f"after-{number}")
        one = uniform_points(
            policy,
            leaves=leaves,
            listed=max(int(after[_POOL + "pages_data"]), leaves),
            frames=int(after[_POOL + "pages_total"]),
            warm=pace_of((raw / f"warm-{number}").read_text(), list_rows),
            measured=pace_of((raw / f"sysbench-{number}").read_text(), list_rows),
            settings=(settings[0], settings[1], settings[2]),
        )
        found.append(one)
    columns = {
        "simulated promotions a row": tuple(one.promotions for one in found),
        "simulated misses a row": tuple(1 - one.hit_ratio for one in found),
    }
    said = [Measurement(name=name, values=values, unit="share", note=policy) for name, values in columns.items()]
    return part.model_copy(update={"measurements": (*part.measurements, *said)})


_SHARES = ("promotions a row", "hit ratio", "misses a row")


def _one(raw: Path, number: int, list_rows: int) -> dict[str, float]:
    said = (raw / f"sysbench-{number}").read_text()
    before, after = (_counters(raw / f"{moment}-{number}") for moment in ("before", "after"))
    rose = {name: after[name] - before[name] for name in after if name in before}
    total, seconds = _number(_QUERIES, said), _number(_TIME, said)
    ticks = float((raw / "ticks").read_text())
    found = {
        "queries/s": total / seconds,
        **{f"p{share} ms": percentile(said, share / 100) for share in (50, 95, 99)},
        "promotions a row": rose[_POOL + "pages_made_young"] / (total * list_rows),
        "switches a query": _switches(before, after) / total,
        "CPU us a query": rose["cpu_ticks"] / ticks / total * 1e6,
        "others' share": max(0.0, 1 - total / rose["Questions"]),
    }
    asked = rose[_POOL + "read_requests"]
    if asked > 0:  # the counter stands still on some releases: then there is no ratio
        found["hit ratio"] = max(0.0, 1 - rose[_POOL + "reads"] / asked)
        found["misses a row"] = rose[_POOL + "reads"] / (total * list_rows)
        found["page reads a row"] = asked / (total * list_rows)
    return found


def percentile(said: str, share: float) -> float:
    """Return a percentile in ms from the histogram that sysbench prints (its bars stand for a range of 1.5 %)."""
    bars = [(float(row[1]), int(row[2])) for row in map(_BAR.match, said.splitlines()) if row]
    left = share * sum(count for _, count in bars)
    for value, count in bars:
        left -= count
        if left <= 0:
            return value
    return bars[-1][0]


def pace_of(said: str, list_rows: int) -> Pace:
    """Return the rows that all threads read in each tenth of a second, in order; tenths without any are left out."""
    queries = Counter[int]()
    for tenth, count in _PACE.findall(said):
        queries[int(tenth)] += int(count)
    return tuple((tenth, count * list_rows) for tenth, count in sorted(queries.items()))


def _counters(path: Path) -> Mapping[str, float]:
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return {name: float(value) for name, value in rows}


def _switches(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """Return the context switches of the threads that live at the end; those of a thread that ended are lost."""
    return sum(count - before.get(name, 0.0) for name, count in after.items() if name.startswith("task "))


def _number(pattern: re.Pattern[str], said: str) -> float:
    found = pattern.search(said)
    if not found:
        raise ValueError("sysbench's report is not what it should be")
    return float(found[1])
