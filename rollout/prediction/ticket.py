"""The text of an upstream report, for a host whose misses rose with the fix."""

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.measured import Measured, Pair, measured

_SETTINGS = (
    *("innodb_buffer_pool_size", "innodb_old_blocks_pct", "innodb_old_blocks_time", "innodb_lru_scan_depth"),
    *("innodb_read_ahead_threshold", "innodb_adaptive_hash_index", "innodb_page_size"),
)


def ticket(before: Pair, after: Pair) -> str:
    """Return the report: versions, settings, and the counters of both sides over the same seconds."""
    then, now = measured(before), measured(after)
    lines = [
        "Buffer pool misses after MDEV-33966 (InnoDB LRU)",
        "",
        f"Before: {_version(before[1])}. After: {_version(after[1])}. The same host, the same clients.",
        "",
        *_settings(after[1]),
        "",
        f"{'':34}{'before':>16}{'after':>16}",
        *(_line(label, name, then, now) for label, name in _FIGURES),
        "",
        "read_requests and reads are the growth of the status variables over the sample; made_young is left out, since",
        "it is counted elsewhere from MDEV-33966 on.",
    ]
    return "\n".join(lines) + "\n"


_FIGURES = (
    ("Innodb_buffer_pool_read_requests", "read_requests"),
    ("Innodb_buffer_pool_reads", "reads"),
    ("hit ratio (demand reads)", "hit_ratio"),
    ("Questions a second", "questions_per_second"),
    ("CPU a query, us", "cpu_us_per_query"),
    ("voluntary switches a query", "switches_per_query"),
    ("Innodb_buffer_pool_pages_data", "data_pages"),
    ("sample, seconds", "seconds"),
)


def _line(label: str, name: str, then: Measured, now: Measured) -> str:
    values = (getattr(side, name) for side in (then, now))
    return f"{label:34}" + "".join(f"{'unknown' if value is None else format(value, ',.10g'):>16}" for value in values)


def _version(facts: Facts) -> str:
    version = facts.server.running
    return "unknown" if isinstance(version, Unknown) or version is None else version.raw


def _settings(facts: Facts) -> list[str]:
    variables = known_or(facts.server.variables, {})
    return [f"{name} = {variables.get(name, 'unknown')}" for name in _SETTINGS]
