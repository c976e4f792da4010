"""What two probes of a host measured: the figures that stand beside a prediction afterwards."""

from dataclasses import dataclass

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, known_or
from rollout.prediction.rates import Rates, missed_on_demand, rates

Pair = tuple[Facts, Facts]
# A server that is young has rates all the same: these were measured between two probes.
_NO_RATES = ("counter_reset", "counters_unknown")


@dataclass(frozen=True)
class Measured:
    """Figures of one host over one sample; None is not known. Latency is by Little's law from Threads_running.

    `running_seen` is how many statements were seen at work in all looks, `peak_connections` the most that were open at
    once since the start of the server, `broken` why there are no rates, "" where there are.
    """

    questions_per_second: float | None
    latency_ms: float | None
    cpu_us_per_query: float | None
    switches_per_query: float | None
    hit_ratio: float | None
    promotions_per_read: float | None
    memory_bytes: float | None
    read_requests: float | None
    reads: float | None
    data_pages: float | None
    page_bytes: float | None
    seconds: float
    running_seen: int
    uptime_seconds: float | None
    peak_connections: float | None
    broken: str


def measured(pair: Pair) -> Measured:
    """Return the figures of two probes; memory and pages are those of the second."""
    first, second = pair
    seen = rates(first, second)
    memory = second.memory
    rss, swap = known_or(memory.rss_bytes, None), known_or(memory.swap_bytes, None)
    return Measured(
        questions_per_second=_number(seen.questions),
        latency_ms=_each(seen.running, seen.questions, 1e3),
        cpu_us_per_query=_each(seen.cpu_seconds, seen.questions, 1e6),
        switches_per_query=_each(seen.voluntary_switches, seen.questions),
        hit_ratio=hit_ratio(seen, second),
        promotions_per_read=_each(seen.made_young, seen.read_requests),
        memory_bytes=None if rss is None or swap is None else float(rss + swap),
        read_requests=_number(seen.read_requests, seen.seconds),
        reads=_number(seen.reads, seen.seconds),
        data_pages=_number(second.pool.pages_data),
        page_bytes=_number(second.pool.page_size_bytes),
        seconds=seen.seconds,
        running_seen=seen.running_seen,
        uptime_seconds=_number(second.server.uptime_seconds),
        peak_connections=_number(second.workload.max_used_connections),
        broken=next((note.message for note in seen.fatal if note.code in _NO_RATES), ""),
    )


def hit_ratio(seen: Rates, facts: Facts) -> float | None:
    """Return the share of read requests that found their page; None where a counter is unknown, broken or still."""
    missed, asked = missed_on_demand(seen, facts), known_or(seen.read_requests, 0.0)
    return max(0.0, 1 - missed / asked) if missed is not None and asked else None


def _each(amount: Known[float], queries: Known[float], factor: float = 1.0) -> float | None:
    top, bottom = known_or(amount, None), known_or(queries, 0.0)
    return top / bottom * factor if top is not None and bottom else None


def _number(value: Known[float] | Known[int] | None, factor: float = 1.0) -> float | None:
    number = known_or(value, None)
    return None if number is None else number * factor
