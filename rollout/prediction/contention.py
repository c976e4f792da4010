"""A live host as an open system: how much of `buf_pool.mutex` is used, and what the host could do without that."""

from dataclasses import dataclass
from math import inf, sqrt

from rollout.facts.model import Facts, Pool
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.model import NowAfter
from rollout.prediction.mutex_cost import MutexCost
from rollout.prediction.queueing import on_cores, one_mutex, populations
from rollout.prediction.ranges import Range
from rollout.prediction.rates import Rates
from rollout.prediction.running import RunningPolicy

# A miss takes the mutex to get a frame and to link it; the cleaner gives it back once in 32 evictions (lru.md, 9).
_PER_MISS = 2
_EVICTIONS_PER_ACQUISITION = 32
# A young page is moved once it fell behind a quarter of the young sublist: at most once while a quarter of the young
# sublist's length is evicted. So there are at most four such moves an eviction, and no counter shows them. The list
# moves 0.88 where all pages are read alike, 0.63 with Zipf 0.9 (100,000 pages, a pool of 60,000).
_HIDDEN_MOVES_PER_EVICTION = Range(0, 0.75, 4)
# Means since the start hide the busy hours: what they may be above it.
_BUSY_OVER_MEAN = 3.0
_MOST_WORKERS = 2000
# Looks at the statements at work are counts: two standard deviations, and what none at all in as many looks allows.
_DEVIATIONS, _NONE_SEEN = 2.0, 3.0
_FULL = 1 - 1e-9


@dataclass(frozen=True)
class Load:
    """Operations on the mutex a second, now and after the change, and which input spreads the first most.

    `busier` is how many times as many there may be at the busiest, where the rates are means of a long time.
    """

    now: Range
    after: float
    driver: str
    busier: float = 1.0


@dataclass(frozen=True)
class Contention:
    """What the mutex means here. `capacity_ratio` is None where CPU time a query is not known."""

    utilisation: Range
    capacity_ratio: Range | None
    latency_ms: NowAfter
    driver: str


def evicts(pool: Pool) -> bool:
    """Whether a page has to leave for each one that is read in; not known counts as yes, which is the dearer case."""
    free, depth = known_or(pool.pages_free, 0), known_or(pool.lru_scan_depth, 1536)
    return free <= 2 * depth


def mutex_load(rates: Rates, pool: Pool, policy: RunningPolicy, young_moves: float | None = None) -> Load | None:
    """Return the operations a second on one mutex, or None where page reads are not known.

    `young_moves` is what a fitted simulation found for the moves that no server counts.
    """
    reads = known_or(rates.reads, None)
    if reads is None:
        return None
    evicted = reads if evicts(pool) else 0.0
    rest = _PER_MISS * reads + evicted / _EVICTIONS_PER_ACQUISITION
    moves, driver = _moves(rates, pool, policy, evicted)
    if young_moves is not None and moves is not None:
        moves = Range.around(min(max(moves.low + young_moves, moves.low), moves.high), (moves.low, moves.high))
    if moves is None:
        return None
    instances = known_or(pool.instances, 1) if policy == "mariadb-10.4" else 1
    return Load(
        now=moves.mapped(lambda each: (each + rest) / instances),
        after=rest / instances,
        driver="busy_hours" if rates.since_start else driver,
        busier=_BUSY_OVER_MEAN if rates.since_start else 1.0,
    )


def contention(load: Load, rates: Rates, facts: Facts, cost: MutexCost) -> Contention:
    """Judge a host that serves `load`; latency and capacity need its rate of queries, CPU time, statements at work."""
    busiest = load.now.high * load.busier * cost.waited_us.high * 1e-6
    used = (load.now.low * cost.waited_us.low * 1e-6, load.now.mid * cost.waited_us.mid * 1e-6, busiest)
    utilisation = Range(*(min(1.0, each) for each in used))
    questions, busy = known_or(rates.questions, 0.0), known_or(rates.cpu_seconds, None)
    by_time = (cost.waited_us.high - cost.waited_us.low) / cost.waited_us.mid
    by_load = (load.now.high * load.busier - load.now.low) / load.now.mid if load.now.mid else 0.0
    driver = "mutex_us" if by_time >= by_load else load.driver
    if not questions or not busy or isinstance(rates.running, Unknown):
        return Contention(utilisation, None, NowAfter(None, None), driver)
    query = _Query(questions, busy / questions, _at_work(rates).mapped(lambda each: each / questions))
    return Contention(utilisation, _capacity(load, query, facts, cost), _latency(load, query, cost), driver)


def _at_work(rates: Rates) -> Range:
    """Return the statements at work on the mean, with what chance makes of so many looks."""
    mid, looks = known_or(rates.running, 0.0), max(1, rates.looks)
    if not rates.running_seen:
        return Range(mid, mid, mid + _NONE_SEEN / looks)
    off = _DEVIATIONS * sqrt(rates.running_seen) / looks
    return Range(max(0.0, mid - off), mid, mid + off)


@dataclass(frozen=True)
class _Query:
    """Queries a second, CPU seconds of one, and seconds of one by Little's law, waiting for the mutex included."""

    rate: float
    busy_seconds: float
    seconds: Range


@dataclass(frozen=True)
class _Mutex:
    """Operations a second now, and the microseconds of one, alone and waited for.

    No mutex is held for more than the whole time: what was seen bounds what an operation can take here.
    """

    operations: float
    alone_us: float
    waited_us: float

    @classmethod
    def at(cls, end: str, load: Load, cost: MutexCost) -> "_Mutex":
        """Return one end of the ranges."""
        operations = getattr(load.now, end)
        waited = min(getattr(cost.waited_us, end), 1e6 / operations if operations else inf)
        return cls(operations, min(getattr(cost.alone_us, end), waited), waited)

    def threads(self, operations: float) -> float:
        """Return how many threads are at the mutex on the mean, waiting or holding it, at so many operations a second.

        An open queue (Poisson) whose server takes `alone_us` for one that finds nobody there and `waited_us` else:
        p(n) = p(0) l s0 u ** (n - 1), u = l s, so that the mean is p(0) l s0 / (1 - u) ** 2; endless where u is 1.
        """
        used, alone = operations * self.waited_us * 1e-6, operations * self.alone_us * 1e-6
        if used >= _FULL:
            return inf
        return alone / (1 - used) ** 2 / (1 + alone / (1 - used))


def _moves(rates: Rates, pool: Pool, policy: RunningPolicy, evicted: float) -> tuple[Range | None, str]:
    """Pages moved on hits a second, and the name of what is least known in it."""
    if policy == "mariadb-fix" or (policy == "mariadb-10.4" and known_or(pool.clock_started, None) is False):
        return Range.exactly(0), "none"
    counted, asked = known_or(rates.made_young, None), known_or(rates.read_requests, None)
    if counted is not None:
        return _HIDDEN_MOVES_PER_EVICTION.mapped(lambda each: counted + each * evicted), "moves_of_young_pages"
    if asked is not None:
        return Range(0, asked / 4, asked), "made_young_unknown"
    return None, "made_young_unknown"


def _capacity(load: Load, query: _Query, facts: Facts, cost: MutexCost) -> Range | None:
    """Return the highest rate after over that before, as all workers that were ever there would reach it.

    What a query takes beside the mutex is not seen: it is what is left of its time when its waiting is taken off, and
    never less than its CPU time. Where the mutex is full, all that is no CPU time may be waiting.
    """
    cores = known_or(facts.system.cores, None)
    if cores is None:
        return None
    workers = min(_MOST_WORKERS, max(1, known_or(facts.workload.max_used_connections, _MOST_WORKERS)))

    def ratio(end: str, seconds: float) -> float:
        mutex = _Mutex.at(end, load, cost)
        think = max(query.busy_seconds, seconds - mutex.threads(mutex.operations) / query.rate)
        thinking = on_cores(think, query.busy_seconds, cores)

        def best(operations: float) -> float:
            station = one_mutex(operations / query.rate, mutex.alone_us * 1e-6, mutex.waited_us * 1e-6)
            return populations(workers, thinking, station)[-1].queries_per_second

        return best(load.after) / best(mutex.operations)

    ends = (ratio("low", query.seconds.high), ratio("high", query.seconds.low))
    return Range.around(ratio("mid", query.seconds.mid), ends)


def _latency(load: Load, query: _Query, cost: MutexCost) -> NowAfter:
    """Mean milliseconds of a query now, as seen, and after at the present rate, with less of it at the mutex."""
    mutex, now = _Mutex.at("mid", load, cost), max(query.seconds.mid, query.busy_seconds)
    before, after = (mutex.threads(each) / query.rate for each in (mutex.operations, load.after))
    waited = min(before, now - query.busy_seconds)
    return NowAfter(now * 1e3, (now - max(0.0, waited - after)) * 1e3)
