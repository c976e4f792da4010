"""A described workload under every policy: queries a second, latency, mutex utilisation, with the range of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rollout.prediction.mutex_cost import ASSUMED, MutexCost, measured
from rollout.prediction.queueing import Steady, on_cores, one_mutex, populations
from rollout.prediction.ranges import Range, significant
from rollout.prediction.rule import Operations, unread_shares
from rollout.prediction.workload import POLICIES, DescribedWorkload, PolicyName

Counters = Callable[[DescribedWorkload, PolicyName, float], Operations]

# Names of the uncertain inputs as the driver of a range, with what a reader needs to know of them.
INPUTS: Mapping[str, str] = {
    "mutex_us": "time of one mutex operation when threads wait for it (s)",
    "mutex_alone_us": "time of one mutex operation when nobody waits (s0)",
    "unread_bytes": "share of listed pages that no query touches (u)",
    "none": "no input changes the gain by more than a thousandth",
}


@dataclass(frozen=True)
class Inputs:
    """One choice of the inputs that are not known exactly: s0 and s in microseconds, unread share of the list."""

    alone_us: float
    waited_us: float
    unread_share: float


@dataclass(frozen=True)
class Forecast:
    """One policy: the likeliest choice of inputs, and the range over all choices."""

    queries_per_second: Range
    latency_ms: Range
    mutex_utilisation: Range
    operations: Operations

    def to_json(self) -> dict[str, Any]:
        """Return the form of `predict --json`."""
        return {
            "queries_per_second": self.queries_per_second.to_json(5),
            "latency_ms": self.latency_ms.to_json(),
            "promotions_per_query": significant(self.operations.promotions),
            "mutex_operations_per_query": significant(self.operations.mutex),
            "mutex_utilisation": self.mutex_utilisation.to_json(),
            "hit_ratio": significant(self.operations.hit_ratio, 6),
        }


@dataclass(frozen=True)
class DescribedPrediction:
    """All policies for one workload. `driver` is the key in `INPUTS` that moves the gain of the fix most."""

    work: DescribedWorkload
    cost: MutexCost
    policies: Mapping[PolicyName, Forecast]
    gain: Range
    driver: str

    def to_json(self) -> dict[str, Any]:
        """Return the document of `predict --json`, without its curves."""
        return {
            "schema": 1,
            "name": self.work.name,
            "policies": {name: forecast.to_json() for name, forecast in self.policies.items()},
            "gain_of_the_fix": self.gain.to_json(),
            "driver": self.driver,
            "driver_meaning": INPUTS[self.driver],
            "mutex_cost": {
                "waited_us": self.cost.waited_us.to_json(),
                "alone_us": self.cost.alone_us.to_json(),
                "source": self.cost.source,
            },
        }


def predict_described(work: DescribedWorkload, counters: Counters) -> DescribedPrediction:
    """Predict every policy for `work`; `counters` gives operations a query (see `counters.operations`)."""
    cost = measured(*work.mutex_us) if work.mutex_us else ASSUMED
    policies = {policy: _forecast(work, policy, cost, counters) for policy in POLICIES}
    mid, *ends = (gain(work, choice, counters) for choice in choices(work, cost))
    return DescribedPrediction(work, cost, policies, Range.around(mid, ends), _driver(work, cost, counters, mid))


def choices(work: DescribedWorkload, cost: MutexCost) -> list[Inputs]:
    """Return the likeliest inputs, then those with the cheapest and with the dearest mutex.

    A query's rate falls with each operation's time and with each operation, and operations fall with the unread
    share: so these two hold the range of everything.
    """
    unread = unread_shares(work)
    return [
        Inputs(cost.alone_us.mid, cost.waited_us.mid, unread.mid),
        Inputs(cost.alone_us.low, cost.waited_us.low, unread.high),
        Inputs(cost.alone_us.high, cost.waited_us.high, unread.low),
    ]


def solve(
    work: DescribedWorkload, policy: PolicyName, choice: Inputs, counters: Counters, threads: int
) -> list[Steady]:
    """Solve the network of one policy for 1 to `threads` threads."""
    operations = counters(work, policy, choice.unread_share)
    misses = work.leaf_reads_per_query * (1 - operations.hit_ratio)
    think_us = work.think_us(policy) + misses * work.read_us
    # A thread that holds the mutex is on a core too: the operations' own time counts there as well.
    busy_us = (work.cpu_us_per_query or work.think_us(policy)) + operations.mutex * choice.alone_us
    instances = work.instances if policy == "mariadb-10.4" else 1
    return populations(
        threads,
        on_cores(think_us * 1e-6, busy_us * 1e-6, work.cores),
        one_mutex(operations.mutex, choice.alone_us * 1e-6, choice.waited_us * 1e-6, instances),
    )


def gain(work: DescribedWorkload, choice: Inputs, counters: Counters) -> float:
    """Return queries a second with the fix over those of 10.5 to 11.8.9, at the workload's threads."""
    before, after = (
        solve(work, policy, choice, counters, work.threads)[-1].queries_per_second
        for policy in ("mariadb-10.5", "mariadb-fix")
    )
    return after / before


def _forecast(work: DescribedWorkload, policy: PolicyName, cost: MutexCost, counters: Counters) -> Forecast:
    middle, *others = choices(work, cost)
    likeliest = solve(work, policy, middle, counters, work.threads)[-1]
    rest = [solve(work, policy, choice, counters, work.threads)[-1] for choice in others]
    return Forecast(
        queries_per_second=Range.around(likeliest.queries_per_second, (each.queries_per_second for each in rest)),
        latency_ms=Range.around(likeliest.latency_seconds * 1e3, (each.latency_seconds * 1e3 for each in rest)),
        mutex_utilisation=Range.around(likeliest.mutex_utilisation, (each.mutex_utilisation for each in rest)),
        operations=counters(work, policy, middle.unread_share),
    )


def _driver(work: DescribedWorkload, cost: MutexCost, counters: Counters, likeliest: float) -> str:
    """Name the input that spreads the gain most when it alone leaves its likeliest value."""
    middle, unread = choices(work, cost)[0], unread_shares(work)
    ends = {
        "mutex_us": [replace(middle, waited_us=end) for end in (cost.waited_us.low, cost.waited_us.high)],
        "mutex_alone_us": [replace(middle, alone_us=end) for end in (cost.alone_us.low, cost.alone_us.high)],
        "unread_bytes": [replace(middle, unread_share=end) for end in (unread.low, unread.high)],
    }
    spreads = {name: abs(gain(work, low, counters) - gain(work, high, counters)) for name, (low, high) in ends.items()}
    widest = max(spreads, key=lambda name: spreads[name])
    return widest if spreads[widest] > likeliest / 1000 else "none"
