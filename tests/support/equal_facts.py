"""The facts of two hosts beside each other, field by field: what must differ between two that are alike, and why."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts

COUNTED, MOMENT, RANDOM, PROCESS = "counted since the start", "of one moment", "random", "a process number"
# Facts that differ between two hosts that are alike: their dotted names as globs, each with the reason.
MUST_DIFFER: Mapping[str, str] = {
    "host": "its name in the inventory",
    "taken_at": "the moment of the look",
    "seconds": "how long the look took",
    "system.hostname": "its own name",
    "system.addresses": "its own addresses",
    "system.boot_id": RANDOM,
    "system.clock_offset_seconds": "measured, to parts of a second",
    "system.ram_available_bytes": MOMENT,
    "system.swap_free_bytes": MOMENT,
    "packages.lists_age_seconds": "the age of a file at the moment of the look",
    "unit.main_pid": PROCESS,
    "unit.invocation_id": RANDOM,
    "unit.start_monotonic_usec": "the moment of the start",
    "unit.properties.MainPID": PROCESS,
    "unit.properties.InvocationID": RANDOM,
    "unit.properties.ExecMainStartTimestampMonotonic": "the moment of the start",
    "unit.properties.ExecStart": "tells the moment and the process number of the last start",
    "server.server_uid": "random, made with the data directory",
    "server.uptime_seconds": MOMENT,
    "server.variables.hostname": "its own name",
    "server.variables.*log*_file": "named after the host",
    "server.variables.wsrep_node_name": "its own name",
    "server.variables.report_host": "its own address",
    "server.variables.server_id": "its own number",
    "replication.server_id": "its own number",
    "server.variables.server_uid": "random, made with the data directory",
    "server.status.*": COUNTED,
    "memory.*": MOMENT,
    "pool.pages_*": "counted since the start, or of one moment; their sum, pages_total, is not among them",
    "pool.read*": COUNTED,
    "pool.load_status": "tells the moment of the load",
    "workload.monotonic_seconds": "the host's clock",
    "workload.questions": COUNTED,
    "workload.commands.*": COUNTED,
    "workload.handlers.*": COUNTED,
    "workload.threads_running": MOMENT,
    "workload.at_work*": MOMENT,
    "workload.threads_connected": MOMENT,
    "workload.max_used_connections": COUNTED,
    "workload.created_tmp_tables": COUNTED,
    "storage.*.device": "a number of the file system's",
    "storage.*.inode": "a number of the file system's",
    "storage.*.free_bytes": MOMENT,
    "trail.invocations": "random at each start",
}
KEPT = ("pool.pages_total",)
WRAPS = "unknown.pool.pages_misc"  # a count that the server lets fall below zero now and then, and that is unknown then
NO_ORDER = ("unit.names", "unit.properties.Names")  # systemd tells a unit's names in any order
ABSENT = "(not there)"


def differing(plain: Facts, other: Facts) -> dict[str, tuple[Any, Any]]:
    """Return each field that differs and is not named above: its dotted name to its value here and there.

    A field that is there on one of the two only always counts, whatever its name.
    """
    here, there = fields_of(plain), fields_of(other)
    pairs = {name: (here.get(name, ABSENT), there.get(name, ABSENT)) for name in sorted({*here, *there} - {WRAPS})}
    return {
        name: pair for name, pair in pairs.items() if pair[0] != pair[1] and (ABSENT in pair or not _must_differ(name))
    }


def named_in_vain(facts: Facts) -> list[str]:
    """Return the names above that no field of a host bears: a field of another name would be let through in time."""
    names = fields_of(facts)
    return [pattern for pattern in MUST_DIFFER if not any(fnmatchcase(name, pattern) for name in names)]


def fields_of(facts: Facts) -> dict[str, Any]:
    """Return each field of the facts by its dotted name, as JSON has it; what has no order is sorted."""
    found = dict(_leaves(facts_to_json(facts)))
    for name in NO_ORDER:
        value = found.get(name)
        found[name] = sorted(value.split() if isinstance(value, str) else value or ())
    return found


def _must_differ(name: str) -> bool:
    return name not in KEPT and any(fnmatchcase(name, pattern) for pattern in MUST_DIFFER)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each field by its dotted name; a list without mappings in it is one field."""
    inner: Mapping[Any, Any] = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        inner = dict(enumerate(value))
    if not inner:
        yield name, value
    for key, entry in inner.items():
        yield from _leaves(entry, f"{name}.{key}" if name else str(key))
