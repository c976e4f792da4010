"""Predicted beside measured: what came of a prediction once the change was made. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from rollout.prediction.measured import Measured, Pair, measured
from rollout.prediction.model import Note, Prediction
from rollout.prediction.ranges import Range

# A pool that holds less than this of what it held is still warming up.
_WARM_SHARE = 0.9
# Rates of queries further apart than this make two loads of it.
_SAME_LOAD = (0.8, 1.25)
# More misses than before: by this much of a read, and by this factor.
MISS_MARGIN = 0.002
MISS_FACTOR = 1.1
_HIT_RATIO_WITHIN = 0.01
_LATENCY_WITHIN = 0.25


@dataclass(frozen=True)
class Row:
    """One figure. `within` tells whether the measurement lies in what was predicted; None: it cannot be said."""

    name: str
    predicted: Range | None
    before: float | None
    after: float | None
    within: bool | None
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """All figures of one host, and what has to be known to read them."""

    host: str
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the form that a run directory keeps."""
        document: dict[str, Any] = TypeAdapter(Comparison).dump_python(self, mode="json")
        return document


def comparison_from_json(document: dict[str, Any]) -> Comparison:
    """Turn the form of `to_json` into a comparison again."""
    return TypeAdapter(Comparison).validate_python(document)


def compare(prediction: Prediction, before: Pair, after: Pair) -> Comparison:
    """Put a prediction beside what was measured by the same two probes before the change and after the soak."""
    then, now = measured(before), measured(after)
    notes = tuple(_notes(then, now))
    cold = any(note.code == "pool_still_cold" for note in notes)
    other_load = any(note.code == "load_differs" for note in notes)
    return Comparison(prediction.host, tuple(_rows(prediction, then, now, cold, other_load)), notes)


def _notes(then: Measured, now: Measured) -> Iterator[Note]:
    yield Note("made_young_changed", "pages made young are not compared: the fix counts them elsewhere")
    if then.data_pages and now.data_pages is not None and now.data_pages < _WARM_SHARE * then.data_pages:
        share = now.data_pages / then.data_pages
        yield Note("pool_still_cold", f"not comparable: pool still cold ({share:.0%} of the data pages it had)")
        return
    if then.questions_per_second and now.questions_per_second is not None:
        ratio = now.questions_per_second / then.questions_per_second
        if not _SAME_LOAD[0] <= ratio <= _SAME_LOAD[1]:
            yield Note("load_differs", f"the host serves {ratio:.2f} times the queries a second that it served before")
    if then.hit_ratio is not None and now.hit_ratio is not None:
        missed, misses = 1 - then.hit_ratio, 1 - now.hit_ratio
        if misses > missed + MISS_MARGIN and misses > missed * MISS_FACTOR:
            yield Note("miss_ratio_worse", f"{misses:.2%} of the reads miss, {missed:.2%} did before")


def _rows(prediction: Prediction, then: Measured, now: Measured, cold: bool, other_load: bool) -> Iterator[Row]:
    yield _memory(prediction, then, now, cold)
    hit = prediction.hit_ratio.after
    around = None if hit is None else Range(hit - _HIT_RATIO_WITHIN, hit, hit + _HIT_RATIO_WITHIN)
    yield _row("hit_ratio", around, then.hit_ratio, now.hit_ratio, "pool still cold" if cold else "")
    late = prediction.latency_ms.after
    span = None if late is None else Range(late * (1 - _LATENCY_WITHIN), late, late * (1 + _LATENCY_WITHIN))
    why = "pool still cold" if cold else "another load" if other_load else ""
    yield _row("latency_ms", span, then.latency_ms, now.latency_ms, why)
    for name in ("cpu_us_per_query", "switches_per_query", "questions_per_second"):
        yield Row(name, None, getattr(then, name), getattr(now, name), None, "measured only")
    yield Row(
        "promotions_per_read", None, then.promotions_per_read, now.promotions_per_read, None, "counted elsewhere since"
    )


def _memory(prediction: Prediction, then: Measured, now: Measured, cold: bool) -> Row:
    saving, start = prediction.memory.saving_bytes, then.memory_bytes
    left = None if saving is None or start is None else saving.mapped(lambda each: start - each)
    return _row("memory_bytes", left, start, now.memory_bytes, "pool still cold" if cold else "")


def _row(name: str, predicted: Range | None, before: float | None, after: float | None, incomparable: str) -> Row:
    if predicted is None or after is None or incomparable:
        return Row(name, predicted, before, after, None, incomparable or "not known on both sides")
    return Row(name, predicted, before, after, predicted.low <= after <= predicted.high)


@dataclass(frozen=True)
class Tally:
    """Past predictions of one figure: of `judged` ones, `within` their range; mean relative error of the middle."""

    name: str
    judged: int
    within: int
    mean_relative_error: float | None


def tally(comparisons: Iterable[Comparison]) -> tuple[Tally, ...]:
    """Count over past runs; for showing, and used for nothing else."""
    rows = [row for comparison in comparisons for row in comparison.rows if row.within is not None]
    names = dict.fromkeys(row.name for row in rows)
    return tuple(_tallied(name, [row for row in rows if row.name == name]) for name in names)


def _tallied(name: str, rows: list[Row]) -> Tally:
    errors = [abs(row.after - row.predicted.mid) / row.after for row in rows if row.predicted and row.after]
    mean = sum(errors) / len(errors) if errors else None
    return Tally(name, len(rows), sum(row.within is True for row in rows), mean)
