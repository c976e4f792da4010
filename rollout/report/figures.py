"""The figures of a host before and after its change, beside what was predicted: texts with their units."""

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown
from rollout.prediction.compare import Comparison, Row
from rollout.report.model import Figure

_LABELS = {
    "memory_bytes": "memory of the process",
    "latency_ms": "latency, ms",
    "cpu_us_per_query": "CPU a query, µs",
    "switches_per_query": "voluntary switches a query",
    "questions_per_second": "questions a second",
    "promotions_per_read": "promotions a read",
}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def figures(before: Facts | None, after: Facts | None, prediction: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Set the facts side by side; nothing where one of them is missing."""
    return () if before is None or after is None else tuple(_rows(before, after, prediction))


def compared(comparison: Comparison) -> tuple[Figure, ...]:
    """Show what the engine measured by the same two probes before the change and after the soak."""
    return tuple(_compared(row) for row in comparison.rows)


def _compared(row: Row) -> Figure:
    predicted = (
        f"{_quantity(row.name, row.predicted.low)} to {_quantity(row.name, row.predicted.high)}"
        if row.predicted
        else ""
    )
    judged = {True: "as predicted", False: "not as predicted", None: ""}[row.within]
    remark = "; ".join(text for text in (judged, row.remark) if text)
    before, after = _quantity(row.name, row.before), _quantity(row.name, row.after)
    return Figure(_LABELS.get(row.name, row.name.replace("_", " ")), before, after, predicted, remark)


def _quantity(name: str, value: float | None) -> str:
    if value is None:
        return "?"
    if name.endswith("_bytes"):
        return _bytes(round(value))
    return f"{value:.2%}" if name.endswith("_ratio") else f"{value:,.4g}"


def _rows(before: Facts, after: Facts, prediction: Mapping[str, Any]) -> Iterator[Figure]:
    then, now = before.memory, after.memory
    saved = _memory(then.rss_bytes, prediction.get("rss_saving_bytes"))
    remark = "a fresh process starts small: compare again later"
    yield Figure("resident memory", _bytes(then.rss_bytes), _bytes(now.rss_bytes), saved, remark)
    yield Figure("swapped out", _bytes(then.swap_bytes), _bytes(now.swap_bytes))
    yield Figure("allocated by the server", _bytes(then.memory_used_bytes), _bytes(now.memory_used_bytes))
    yield Figure("data pages in the pool", _count(before.pool.pages_data), _count(after.pool.pages_data))
    clients = (before.workload.client_connections, after.workload.client_connections)
    yield Figure("client connections", _count(clients[0]), _count(clients[1]))


def _memory(now: Known[int], saving: Mapping[str, float] | None) -> str:
    if isinstance(now, Unknown) or not saving:
        return ""
    low, high = (_bytes(round(now - saving[end])) for end in ("high", "low"))
    return f"{low} to {high}"


def _bytes(value: Known[int]) -> str:
    if isinstance(value, Unknown):
        return "?"
    size, unit = float(value), 0
    while abs(size) >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"


def _count(value: Known[int]) -> str:
    return "?" if isinstance(value, Unknown) else f"{value:,}"
