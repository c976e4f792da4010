"""Predicted beside measured: what came of a prediction once the change was made. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from rollout.prediction.measured import Measured, Pair, measured
from rollout.prediction.memory import noticeable_bytes
from rollout.prediction.model import Note, Prediction
from rollout.prediction.ranges import Range
from rollout.prediction.sizes import shown_bytes

# A pool that holds less than this of what it held is still warming up; below the second its misses may be that.
_WARM_SHARE, _FULL_SHARE = 0.9, 0.98
# Rates of queries further apart than this make two loads of it.
_SAME_LOAD = (0.8, 1.25)
# More misses than before: by this much of a read and this factor, or where few missed by these.
MISS_MARGINS = ((0.002, 1.1), (0.0005, 1.5))
# What was predicted of misses holds within a quarter, of latency too; two hundredths of a point are chance.
_MISSES_WITHIN, _MISSES_CHANCE = 0.25, 0.0002
_LATENCY_WITHIN = 0.25
# So many statements seen at work, in all looks of a sample, tell their mean to an eighth.
_ENOUGH_SEEN = 64
# What an allocator keeps grows with time and with the connections that were open at once: an hour, or as long as
# before, and most of the connections are taken as enough (an assumption).
_SETTLED_SECONDS, _PEAK_SHARE = 3600.0, 0.8
# A range whose ends are further apart than this factor says little when it holds.
_WIDE = 3.0


@dataclass(frozen=True)
class Row:
    """One figure. `within` tells whether the measurement lies in what was predicted; None: it cannot be said.

    `error` is how far the middle was off, as a share of what was at stake: the bytes that were to come back, the
    misses, the latency. `wide` marks a range so wide that it hardly could fail.
    """

    name: str
    predicted: Range | None
    before: float | None
    after: float | None
    within: bool | None
    remark: str = ""
    error: float | None = None
    wide: bool = False


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
    return Comparison(prediction.host, tuple(_rows(prediction, then, now)), tuple(_notes(then, now)))


def _notes(then: Measured, now: Measured) -> Iterator[Note]:
    yield Note("made_young_changed", "pages made young are not compared: the fix counts them elsewhere")
    if now.broken or then.broken:
        yield Note("counters_unknown", f"not comparable: {now.broken or then.broken}")
    if _young(then, now):
        yield Note("memory_young", f"memory is not comparable yet: {_young(then, now)}")
    if _cold(then, now):
        yield Note("pool_still_cold", f"not comparable: {_cold(then, now)}")
        return
    if load := _other_load(then, now):
        yield Note("load_differs", load)
    if then.hit_ratio is not None and now.hit_ratio is not None and not _filling(then, now):
        missed, misses = 1 - then.hit_ratio, 1 - now.hit_ratio
        if any(misses > missed + margin and misses > missed * factor for margin, factor in MISS_MARGINS):
            yield Note("miss_ratio_worse", f"{misses:.2%} of the reads miss, {missed:.2%} did before")


def _cold(then: Measured, now: Measured) -> str:
    """Say why the pool is not as it was; empty where it is, or where nobody knew how it was."""
    if not then.data_pages:
        return ""
    if now.data_pages is None:
        return "how many pages the pool holds is not known"
    share = now.data_pages / then.data_pages
    return "" if share >= _WARM_SHARE else f"pool still cold ({share:.0%} of the data pages it had)"


def _filling(then: Measured, now: Measured) -> bool:
    return bool(then.data_pages) and (now.data_pages or 0) < _FULL_SHARE * (then.data_pages or 0)


def _other_load(then: Measured, now: Measured) -> str:
    if then.questions_per_second is None or now.questions_per_second is None:
        return ""
    if not then.questions_per_second:
        return "the host served no queries before" if now.questions_per_second else ""
    ratio = now.questions_per_second / then.questions_per_second
    same = _SAME_LOAD[0] <= ratio <= _SAME_LOAD[1]
    return "" if same else f"the host serves {ratio:.2f} times the queries a second that it served before"


def _young(then: Measured, now: Measured) -> str:
    """Say why a fresh process has not shown yet what its allocator keeps; empty where it has."""
    up, before = now.uptime_seconds, then.uptime_seconds
    if up is None or before is None:
        return "how long the server has been up is not known"
    if up < min(before, _SETTLED_SECONDS):
        return f"the server has been up for {up:,.0f} s, {before:,.0f} s before"
    peak, old_peak = now.peak_connections, then.peak_connections
    if peak is None or old_peak is None:
        return "how many connections were open at once is not known"
    few = peak < _PEAK_SHARE * old_peak
    return f"at most {peak:.0f} connections were open at once, {old_peak:.0f} before" if few else ""


def _rows(prediction: Prediction, then: Measured, now: Measured) -> Iterator[Row]:
    broken, cold = (now.broken or then.broken) and "no rates", _cold(then, now)
    yield _memory(prediction, then, now, cold or _young(then, now))
    yield _hits(prediction, then, now, broken or cold or ("pool still filling" if _filling(then, now) else ""))
    few = min(then.running_seen, now.running_seen)
    chance = f"only {few} statements were seen at work" if few < _ENOUGH_SEEN else ""
    yield _latency(prediction, then, now, broken or cold or ("another load" if _other_load(then, now) else chance))
    for name in ("cpu_us_per_query", "switches_per_query", "questions_per_second"):
        yield Row(name, None, getattr(then, name), getattr(now, name), None, "measured only")
    yield Row(
        "promotions_per_read", None, then.promotions_per_read, now.promotions_per_read, None, "counted elsewhere since"
    )


def _memory(prediction: Prediction, then: Measured, now: Measured, incomparable: str) -> Row:
    """Judge the memory with as many pages in the pool as before; no saving predicted means none to be noticed."""
    saving, start, end = prediction.memory.saving_bytes, then.memory_bytes, now.memory_bytes
    if saving is None or start is None:
        return Row("memory_bytes", None, start, end, None, incomparable or "not known on both sides")
    noticeable = noticeable_bytes(start)
    none = saving.high < noticeable
    left = Range(start - noticeable, start - saving.mid, start + noticeable) if none else saving.mapped(start.__sub__)
    gone = ((then.data_pages or 0) - (now.data_pages or 0)) * (now.page_bytes or 0)
    if abs(gone) > (left.high - left.low) / 2:
        incomparable = incomparable or f"the pool holds {shown_bytes(abs(gone))} {'less' if gone > 0 else 'more'}"
    if end is None or incomparable:
        return Row("memory_bytes", left, start, end, None, incomparable or "not known on both sides")
    like = end + gone
    remark = f"{shown_bytes(like)} with as many pages in the pool as before" if gone else ""
    error = None if none else abs(like - left.mid) / saving.mid
    wide = not none and saving.high > _WIDE * saving.low
    return Row("memory_bytes", left, start, end, left.low <= like <= left.high, remark, error, wide)


def _hits(prediction: Prediction, then: Measured, now: Measured, incomparable: str) -> Row:
    """Judge the hit ratio by the misses: of 0.9999 and 0.999 the second is ten times the work of the disk."""
    hit, found = prediction.hit_ratio.after, now.hit_ratio
    misses = None if hit is None else 1 - hit
    if hit is None or misses is None:
        return Row("hit_ratio", None, then.hit_ratio, found, None, incomparable or "not known on both sides")
    off = max(_MISSES_CHANCE, _MISSES_WITHIN * misses)
    span = Range(hit - off, hit, min(1.0, hit + off))
    if found is None or incomparable:
        return Row("hit_ratio", span, then.hit_ratio, found, None, incomparable or "not known on both sides")
    error = abs(1 - found - misses) / misses if misses > _MISSES_CHANCE else None
    return Row("hit_ratio", span, then.hit_ratio, found, span.low <= found <= span.high, "", error)


def _latency(prediction: Prediction, then: Measured, now: Measured, incomparable: str) -> Row:
    late, found = prediction.latency_ms.after, now.latency_ms
    span = None if late is None else Range(late * (1 - _LATENCY_WITHIN), late, late * (1 + _LATENCY_WITHIN))
    if span is None or found is None or incomparable:
        return Row("latency_ms", span, then.latency_ms, found, None, incomparable or "not known on both sides")
    error = abs(found - span.mid) / span.mid if span.mid else None
    return Row("latency_ms", span, then.latency_ms, found, span.low <= found <= span.high, "", error)


@dataclass(frozen=True)
class Tally:
    """Past predictions of one figure: of `judged` ones, `within` their range; mean error of the middle (see `Row`).

    `wide` counts those among `within` whose range was so wide that holding says little.
    """

    name: str
    judged: int
    within: int
    wide: int
    mean_relative_error: float | None


def tally(comparisons: Iterable[Comparison]) -> tuple[Tally, ...]:
    """Count over past runs; for showing, and used for nothing else."""
    rows = [row for comparison in comparisons for row in comparison.rows if row.within is not None]
    names = dict.fromkeys(row.name for row in rows)
    return tuple(_tallied(name, [row for row in rows if row.name == name]) for name in names)


def _tallied(name: str, rows: list[Row]) -> Tally:
    errors = [row.error for row in rows if row.error is not None]
    held = [row for row in rows if row.within]
    mean = sum(errors) / len(errors) if errors else None
    return Tally(name, len(rows), len(held), sum(row.wide for row in held), mean)
