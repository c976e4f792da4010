"""How two rows of runs compare: the difference of their means, the noise, and whether one can be told from the other.

Runs of one kind scatter; a difference within that scatter names no winner. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """From `before` to `after`, means; `change` and `noise` are shares of `before` (None where it is 0)."""

    before: float
    after: float
    change: float | None
    noise: float | None
    verdict: str  # `more`, `less`, `within the noise`, or `one run each: noise unknown`


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two rows of runs; the noise is the wider spread of the two rows, half of it on each side.

    Told apart are rows that do not overlap and whose means lie further apart than the noise.
    """
    first, second = _mean(before), _mean(after)
    change = (second - first) / first if first else None
    if len(before) < 2 or len(after) < 2:
        return Difference(first, second, change, None, "one run each: noise unknown")
    spread = max(max(before) - min(before), max(after) - min(after))
    noise = spread / abs(first) if first else None
    apart = max(before) < min(after) or max(after) < min(before)
    if not apart or abs(second - first) <= spread:
        return Difference(first, second, change, noise, "within the noise")
    return Difference(first, second, change, noise, "more" if second > first else "less")


def paired_spread(values: Sequence[float]) -> float | None:
    """Return the widest relative difference within neighbouring pairs of equal runs; None for fewer than two."""
    pairs = zip(values[::2], values[1::2], strict=False)
    shares = [abs(one - other) / ((one + other) / 2) for one, other in pairs if one + other]
    return max(shares, default=None)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
