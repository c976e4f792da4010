"""A live host as an open system: how much of `buf_pool.mutex` is used, and what the host could do without that."""

from dataclasses import dataclass

from rollout.facts.model import Facts, Pool
from rollout.facts.unknown import known_or
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
# sublist's length is evicted. So there are at most four such moves an eviction, and no counter shows them.
_HIDDEN_MOVES_PER_EVICTION = Range(0, 2, 4)
# Means since the start hide the busy hours: what they may be above it.
_BUSY_OVER_MEAN = 3.0
_MOST_WORKERS = 512


@dataclass(frozen=True)
class Load:
    """Operations on the mutex a second, now and after the change, and which input spreads the first most."""

    now: Range
    after: Range
    driver: str


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
    widen = _BUSY_OVER_MEAN if rates.since_start else 1.0
    instances = known_or(pool.instances, 1) if policy == "mariadb-10.4" else 1
    now, after = moves.mapped(lambda each: (each + rest) / instances), rest / instances
    return Load(
        now=Range(now.low, now.mid, now.high * widen),
        after=Range(after, after, after * widen),
        driver="busy_hours" if rates.since_start else driver,
    )


def contention(load: Load, rates: Rates, facts: Facts, cost: MutexCost) -> Contention:
    """Judge a host that serves `load`; latency and capacity need its rate of queries and its CPU time."""
    utilisation = Range(
        load.now.low * cost.waited_us.low * 1e-6,
        load.now.mid * cost.waited_us.mid * 1e-6,
        load.now.high * cost.waited_us.high * 1e-6,
    )
    questions, busy = known_or(rates.questions, 0.0), known_or(rates.cpu_seconds, None)
    by_time = (cost.waited_us.high - cost.waited_us.low) / cost.waited_us.mid
    by_load = (load.now.high - load.now.low) / load.now.mid if load.now.mid else 0.0
    driver = "mutex_us" if by_time >= by_load else load.driver
    if not questions or not busy:
        return Contention(utilisation, None, NowAfter(None, None), driver)
    query = _Query(questions, busy / questions, known_or(rates.running, 0.0) / questions)
    return Contention(utilisation, _capacity(load, query, facts, cost), _latency(load, query, cost), driver)


@dataclass(frozen=True)
class _Query:
    """Queries a second, CPU seconds of one, and seconds of one by Little's law."""

    rate: float
    busy_seconds: float
    seconds: float


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
    """Return the highest rate after over that before, as all workers that were ever there would reach it."""
    cores = known_or(facts.system.cores, None)
    if cores is None:
        return None
    workers = min(_MOST_WORKERS, max(1, known_or(facts.workload.max_used_connections, _MOST_WORKERS)))
    think = on_cores(max(query.seconds, query.busy_seconds), query.busy_seconds, cores)

    def best(operations: float, alone_us: float, waited_us: float) -> float:
        mutex = one_mutex(operations / query.rate, alone_us * 1e-6, waited_us * 1e-6)
        return populations(workers, think, mutex)[-1].queries_per_second

    def ratio(end: str) -> float:
        alone, waited = getattr(cost.alone_us, end), getattr(cost.waited_us, end)
        return best(getattr(load.after, end), alone, waited) / best(getattr(load.now, end), alone, waited)

    return Range.around(ratio("mid"), (ratio("low"), ratio("high")))


def _latency(load: Load, query: _Query, cost: MutexCost) -> NowAfter:
    """Mean milliseconds of a query now and after at the present rate, waiting for the mutex as in an open queue."""
    waits = [_mutex_seconds(each.mid, cost) for each in (load.now, load.after)]
    if waits[0] is None or waits[1] is None:
        return NowAfter(None, None)
    before, after = (seconds / query.rate for seconds in waits if seconds is not None)
    now = max(query.seconds, query.busy_seconds + before)
    return NowAfter(now * 1e3, (now - before + after) * 1e3)


def _mutex_seconds(operations: float, cost: MutexCost) -> float | None:
    """Seconds that all operations of one second spend at the mutex, waiting included; None where it is overloaded."""
    used = operations * cost.waited_us.mid * 1e-6
    if used >= 1:
        return None
    each_us = cost.alone_us.mid * (1 - used) + cost.waited_us.mid * used
    return operations * each_us * 1e-6 / (1 - used)
