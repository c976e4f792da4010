"""Rates from the counters of two probes, or from one probe since the server's start; and what is doubtful in them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.prediction.model import Note

# Below this uptime a pool is cold and a mean since the start says nothing.
YOUNG_SECONDS = 300.0
# Below this distance of the probes the probes themselves are most of what is seen.
SHORTEST_SAMPLE_SECONDS = 1.0
_SELECTS = ("Com_select",)
_WRITES = (
    *("Com_insert", "Com_insert_select", "Com_update", "Com_update_multi"),
    *("Com_delete", "Com_delete_multi", "Com_replace", "Com_replace_select", "Com_load"),
)
_BY_KEY = ("Handler_read_key",)
_IN_ORDER = ("Handler_read_next", "Handler_read_prev")


@dataclass(frozen=True)
class Rates:
    """What happened a second, over `seconds`. `running` is the mean number of statements at work, the probe's left out.

    `running_seen` is how many were seen at work in all looks together, and `looks` how many looks there were: the
    fewer, the more of `running` is chance. `since_start` says that there was one probe and the rates are means over the
    server's life. `doubts` that forbid any conclusion stand in `fatal`.
    """

    seconds: float
    since_start: bool
    questions: Known[float]
    selects: Known[float]
    writes: Known[float]
    read_requests: Known[float]
    reads: Known[float]
    read_ahead: Known[float]
    made_young: Known[float]
    made_not_young: Known[float]
    cpu_seconds: Known[float]
    voluntary_switches: Known[float]
    rows_by_key: Known[float]
    rows_in_order: Known[float]
    running: Known[float]
    running_seen: int = 0
    looks: int = 0
    fatal: tuple[Note, ...] = ()
    doubts: tuple[Note, ...] = ()


def rates(first: Facts, second: Facts | None) -> Rates:
    """Return the rates between the probes; unknown counters stay unknown, broken ones become it, with a note."""
    last = second or first
    seconds = _seconds(first, second)

    def rate(read: Counter) -> Known[float]:
        return _rate(read(first) if second else 0.0, read(last), seconds)

    requests, reads, made_young = rate(_requests), rate(_reads), rate(lambda facts: facts.pool.pages_made_young)
    broken = _broken(last, requests, reads, made_young)
    looks = _looks(first, second)
    return Rates(
        seconds=known_or(seconds, 0.0),
        since_start=second is None,
        questions=rate(lambda facts: facts.workload.questions),
        selects=rate(lambda facts: _added(facts.workload.commands, _SELECTS)),
        writes=rate(lambda facts: _added(facts.workload.commands, _WRITES)),
        read_requests=Unknown(broken.message) if broken else requests,
        reads=reads,
        read_ahead=rate(lambda facts: facts.pool.read_ahead),
        made_young=made_young,
        made_not_young=rate(lambda facts: facts.pool.pages_made_not_young),
        cpu_seconds=rate(lambda facts: facts.memory.cpu_seconds),
        voluntary_switches=rate(lambda facts: facts.memory.voluntary_switches),
        rows_by_key=rate(lambda facts: _added(facts.workload.handlers, _BY_KEY)),
        rows_in_order=rate(lambda facts: _added(facts.workload.handlers, _IN_ORDER)),
        running=sum(looks) / len(looks) if looks else Unknown("Threads_running could not be read"),
        running_seen=sum(looks),
        looks=len(looks),
        fatal=_fatal(first, last, seconds),
        doubts=tuple(note for note in (broken, None if second else _SINGLE) if note),
    )


Counter = Callable[[Facts], Known[float]]
_SINGLE = Note("no_second_probe", "one probe: rates are means since the server's start, busy hours are higher")


def _requests(facts: Facts) -> Known[float]:
    return facts.pool.read_requests


def _reads(facts: Facts) -> Known[float]:
    return facts.pool.reads


def _added(counters: Known[Mapping[str, int]], names: tuple[str, ...]) -> Known[float]:
    """Add up counters of a family by their names; one that is not in it has counted nothing."""
    return counters if isinstance(counters, Unknown) else sum(counters.get(name, 0) for name in names)


def _seconds(first: Facts, second: Facts | None) -> Known[float]:
    if second is None:
        uptime = first.server.uptime_seconds
        return Unknown("the server is down") if uptime is None else uptime
    start, end = first.workload.monotonic_seconds, second.workload.monotonic_seconds
    if isinstance(start, Unknown):
        return start
    return end if isinstance(end, Unknown) else end - start


def _rate(start: Known[float], end: Known[float], seconds: Known[float]) -> Known[float]:
    for value in (start, end, seconds):
        if isinstance(value, Unknown):
            return value
    grown, passed = float(known_or(end, 0.0)) - known_or(start, 0.0), known_or(seconds, 0.0)
    if grown < 0:
        return Unknown("the counter fell between the two probes")
    return grown / passed if passed > 0 else Unknown("no time passed between the two probes")


def _looks(first: Facts, second: Facts | None) -> list[int]:
    """Return the statements at work at each look of the probes; the probe itself is one of them and left out."""
    each = (_at_work(facts) for facts in (first, second) if facts)
    return [max(0, count - 1) for counts in each for count in counts]


def _at_work(facts: Facts) -> tuple[int, ...]:
    """Return the several looks of a probe, or the one that stands among the counters."""
    one = facts.workload.threads_running
    return facts.workload.at_work or (() if isinstance(one, Unknown) else (one,))


def _broken(last: Facts, requests: Known[float], reads: Known[float], made_young: Known[float]) -> Note | None:
    """Tell whether the counter of read requests is one that does not count (MDEV-32920)."""
    total, pages = known_or(last.pool.read_requests, None), known_or(last.pool.reads, None)
    if total is None or pages is None:
        return None
    asked, read, moved = (known_or(value, 0.0) for value in (requests, reads, made_young))
    if total < pages or asked < read or (asked == 0 and moved > 0) or total == 0:
        return Note(
            "counter_broken",
            f"Innodb_buffer_pool_read_requests is broken on this release: {total} requests beside {pages} pages read",
        )
    return None


def _fatal(first: Facts, last: Facts, seconds: Known[float]) -> tuple[Note, ...]:
    uptime, before = known_or(last.server.uptime_seconds, None), known_or(first.server.uptime_seconds, None)
    if uptime is None:
        return (Note("counters_unknown", "the server's status could not be read: " + _why(last)),)
    if before is not None and uptime < before:
        return (Note("counter_reset", "the server restarted between the two probes"),)
    if uptime < YOUNG_SECONDS:
        return (Note("server_young", f"the server has been up for {uptime:.0f} s only: its counters say nothing yet"),)
    if known_or(seconds, 0.0) < SHORTEST_SAMPLE_SECONDS:
        return (Note("counters_unknown", "the two probes are less than a second apart"),)
    return ()


def _why(facts: Facts) -> str:
    uptime = facts.server.uptime_seconds
    return uptime.reason if isinstance(uptime, Unknown) else "it is down"


def missed_on_demand(seen: Rates, facts: Facts) -> float | None:
    """Return the pages read on demand a second; from 10.5 on the counter of reads has the read-ahead in it."""
    reads, ahead, version = known_or(seen.reads, None), known_or(seen.read_ahead, None), facts.server.running
    if reads is None or isinstance(version, Unknown) or version is None:
        return None
    if version.upstream[:2] < (10, 5):
        return reads
    return None if ahead is None else max(0.0, reads - ahead)
