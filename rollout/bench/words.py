"""A measurement in words: tables of text, for terminals and reports alike. Pure."""

import json
from collections.abc import Iterable, Sequence

from rollout.bench.compare import difference
from rollout.bench.store import Measurement, Part, Result

MIB = 2**20
LABELS = {
    "start_bytes": "memory at start",
    "peak_bytes": "memory at peak",
    "rest_bytes": "memory at rest",
    "kept_bytes": "kept above the start",
    "swap_bytes": "swapped out, most",
    "held_bytes": "heap and arenas at rest",
    "heap_bytes": "of that the heap",
    "arenas_bytes": "of that the arenas",
    "regions": "mapped regions",
    "descents": "descents under load",
    "iteration_seconds": "seconds an iteration",
    "tmp_on_disk": "tmp tables on disk",
    "memory_used_bytes": "Memory_used",
    "pool_pages": "pages in the pool",
}
# The published run, one run each (10.11, 4 cores, 7.5 GB, pool 1 GB): figures as its authors gave them, in MB.
PUBLISHED = {
    "start_bytes": (293.5, 300.4),
    "peak_bytes": (1098.7, 712.6),
    "rest_bytes": (1098.7, 506.9),
    "kept_bytes": (805.3, 206.6),
    "regions": (280.0, 251.0),
    "iteration_seconds": (12.068, 11.982),
}


def result_lines(result: Result) -> list[str]:
    """Return a result as lines: a table, then what has to be known to read it, then how to repeat it."""
    lines = [f"{result.kind} on {result.host}, run {result.run_id}", ""]
    lines += table(*_memory_table(result)) if result.kind == "memory" else table(*_part_table(result))
    lines += ["", *(f"{part.label}: {_facts(part)}" for part in result.parts if part.facts), *result.remarks]
    about = {name: value for name, value in result.about.items() if name not in ("table", "queries", "script")}
    return [*lines, f"in this order: {', '.join(result.order)}", f"to repeat it: {json.dumps(about, sort_keys=True)}"]


def _memory_table(result: Result) -> tuple[list[str], list[list[str]]]:
    labels = [part.label for part in result.parts]
    comparing = labels == ["glibc", "jemalloc"]
    heading = ["", *labels, *(["difference", "published: glibc", "jemalloc"] if comparing else [])]
    rows = []
    for name in dict.fromkeys(one.name for part in result.parts for one in part.measurements):
        found = [part.named(name) for part in result.parts]
        row = [LABELS.get(name, name), *("?" if one is None else shown(one) for one in found)]
        first, second = found[0], found[-1]
        if comparing and first and second:
            row += [_told(first, second), *published(name)]
        rows.append(row)
    return heading, rows


def published(name: str) -> list[str]:
    """Return the two cells of the published run, empty where it gave no such figure."""
    if name not in PUBLISHED:
        return ["", ""]
    return [f"{value:g}{' MB' if name.endswith('bytes') else ''}" for value in PUBLISHED[name]]


def _facts(part: Part) -> str:
    return ", ".join(f"{name} {value}" for name, value in part.facts.items())


def _part_table(result: Result) -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(one.name for part in result.parts for one in part.measurements))
    rows = []
    for part in result.parts:
        found = [part.named(name) for name in names]
        rows.append([part.label, *("-" if one is None else shown(one) for one in found)])
    return ["case", *names], rows


def shown(measurement: Measurement) -> str:
    """Return the mean of the runs, and from where to where they lie when there are several."""
    values = measurement.values
    mean = quantity(measurement.mean, measurement.unit)
    if len(values) < 2:
        return mean
    return f"{mean} ({quantity(min(values), measurement.unit)}..{quantity(max(values), measurement.unit)})"


def quantity(value: float, unit: str) -> str:
    """Return a number with its unit; bytes as MiB."""
    if unit == "bytes":
        return f"{value / MIB:,.1f} MiB"
    if unit == "share":
        return f"{value:.4f}"
    number = f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.4g}"
    return f"{number} {unit}".rstrip()


def _told(first: Measurement, second: Measurement) -> str:
    found = difference(first.values, second.values)
    change = "" if found.change is None else f"{100 * found.change:+.0f} %"
    noise = "" if found.noise is None else f", noise {100 * found.noise:.0f} %"
    verdict = f" ({found.verdict})" if found.verdict not in ("more", "less") else ""
    return f"{change}{noise}{verdict}".strip(", ")


def diff_lines(before: Result, after: Result) -> list[str]:
    """Compare two results part by part; what stands in only one of them is said, not left out."""
    lines = [f"from {before.run_id} ({_versions(before)}) to {after.run_id} ({_versions(after)})"]
    if before.kind != after.kind:
        return [*lines, f"they measure different things: {before.kind} and {after.kind}"]
    lines += [*_load_from(before, after), *_settings(before, after), *_pools(before, after)]
    rows = []
    for part in before.parts:
        other = after.part(part.label)
        if other is None:
            lines.append(f"{part.label} was measured in the first run only")
            continue
        for one in part.measurements:
            again = other.named(one.name)
            if again is not None:
                rows.append([part.label, LABELS.get(one.name, one.name), shown(one), shown(again), _told(one, again)])
    lines += [
        f"{part.label} was measured in the second run only" for part in after.parts if not before.part(part.label)
    ]
    lines.append("what else changed between the two measurements, a neighbour's load for one, is in no noise below")
    return [*lines, "", *table(["", "", "first", "second", "difference"], rows)]


def _versions(result: Result) -> str:
    return str(result.about.get("server", "?"))


def _load_from(before: Result, after: Result) -> list[str]:
    """Warn when the loads of two results came from different places; before there was a choice it was the host."""
    places = [str(one.about.get("load_from", "host")) for one in (before, after)]
    if before.kind != "lru" or places[0] == places[1]:
        return []
    return [
        f"the load came from the {places[0]} in the first and from the {places[1]} in the second: queries a second and "
        "latencies cannot be compared, for one of them holds the network"
    ]


def _settings(before: Result, after: Result) -> list[str]:
    names = sorted({*before.about, *after.about} - {"table", "queries", "script", "memory", "load_from"})
    pairs = ((name, before.about.get(name), after.about.get(name)) for name in names)
    return [f"{name} differs: {first} and {second}" for name, first, second in pairs if first != second]


def _pools(before: Result, after: Result) -> list[str]:
    """Warn where the pools held other pages: what moves is a matter of what is listed beside the table that is read."""
    name = "pages in the pool"
    both = ((part, after.part(part.label)) for part in before.parts)
    held = ((part.label, part.facts.get(name), other.facts.get(name)) for part, other in both if other)
    return [
        f"{label}: {name} {first} and {second}; promotions follow from that too, as the simulated ones show"
        for label, first, second in held
        if first != second
    ]


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return an aligned table as lines."""
    cells = [list(heading), *([*row, *[""] * (len(heading) - len(row))] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heading))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
