"""Queries a second, and the gain of the fix, over threads and over cores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rollout.prediction.described import Counters, Inputs, choices, solve
from rollout.prediction.mutex_cost import ASSUMED, measured
from rollout.prediction.ranges import Range
from rollout.prediction.workload import DescribedWorkload, PolicyName

SHOWN: tuple[PolicyName, ...] = ("mariadb-10.4", "mariadb-10.5", "mariadb-fix")


@dataclass(frozen=True)
class Point:
    """One place on a curve: `at` threads or cores."""

    at: int
    queries_per_second: dict[PolicyName, Range]
    gain: Range

    def to_json(self, over: str) -> dict[str, Any]:
        """Return the point with its place under the key `over`."""
        speeds = {name: speed.to_json(5) for name, speed in self.queries_per_second.items()}
        return {over: self.at, "queries_per_second": speeds, "gain": self.gain.to_json()}


@dataclass(frozen=True)
class Curve:
    """Points in rising order."""

    over: Literal["threads", "cores"]
    points: tuple[Point, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the points."""
        return [point.to_json(self.over) for point in self.points]


def doubling(upto: int) -> list[int]:
    """Return 1, 2, 4 and so on below `upto`, then `upto` and twice that."""
    powers = [2**power for power in range(upto.bit_length()) if 2**power < upto]
    return [*powers, upto, 2 * upto]


def over_threads(work: DescribedWorkload, counters: Counters, threads: Sequence[int] = ()) -> Curve:
    """Return the curve over the given numbers of threads (all else equal)."""
    places = sorted(set(threads)) or doubling(work.threads)
    solved = {
        (policy, choice): solve(work, policy, choice, counters, places[-1])
        for policy in SHOWN
        for choice in _choices(work)
    }
    speeds = [{key: steady[place - 1].queries_per_second for key, steady in solved.items()} for place in places]
    return Curve("threads", tuple(_point(place, each) for place, each in zip(places, speeds, strict=True)))


def over_cores(work: DescribedWorkload, counters: Counters, cores: Sequence[int] = ()) -> Curve:
    """Return the curve over the given numbers of cores, with the workload's threads."""
    places = sorted(set(cores)) or doubling(work.cores)
    return Curve("cores", tuple(_point(place, _on(work, counters, place)) for place in places))


def _on(work: DescribedWorkload, counters: Counters, cores: int) -> dict[tuple[PolicyName, Inputs], float]:
    machine = work.model_copy(update={"cores": cores})
    return {
        (policy, choice): solve(machine, policy, choice, counters, work.threads)[-1].queries_per_second
        for policy in SHOWN
        for choice in _choices(work)
    }


def _choices(work: DescribedWorkload) -> Iterable[Inputs]:
    return choices(work, measured(*work.mutex_us) if work.mutex_us else ASSUMED)


def _point(place: int, speeds: dict[tuple[PolicyName, Inputs], float]) -> Point:
    by_policy = {policy: [speed for (name, _), speed in speeds.items() if name == policy] for policy in SHOWN}
    gains = [after / before for before, after in zip(by_policy["mariadb-10.5"], by_policy["mariadb-fix"], strict=True)]
    ranges = {policy: Range.around(values[0], values) for policy, values in by_policy.items()}
    return Point(place, ranges, Range.around(gains[0], gains))
