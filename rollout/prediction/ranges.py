"""A figure that is not known exactly: the lowest, the likeliest and the highest value."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Three values in rising order. The ends are what the inputs allow, no confidence interval."""

    low: float
    mid: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.mid <= self.high:
            raise ValueError(f"a range rises from low to high, not {self.low}, {self.mid}, {self.high}")

    @classmethod
    def exactly(cls, value: float) -> "Range":
        """Return a range of one value."""
        return cls(value, value, value)

    @classmethod
    def around(cls, mid: float, others: Iterable[float]) -> "Range":
        """Return the range that spans `mid` and all `others`."""
        values = (mid, *others)
        return cls(min(values), mid, max(values))

    def mapped(self, change: Callable[[float], float]) -> "Range":
        """Return the range of a monotonous function of this one; a falling function swaps the ends."""
        ends = (change(self.low), change(self.high))
        return Range(min(ends), change(self.mid), max(ends))

    def to_json(self, digits: int = 4) -> dict[str, float]:
        """Return the three values, rounded to `digits` significant digits."""
        return {name: significant(value, digits) for name, value in vars(self).items()}


def significant(value: float, digits: int = 4) -> float:
    """Round to significant digits, so that 20326.17 and 0.00131 are both shown as far as they are known."""
    return float(f"{value:.{digits}g}")
