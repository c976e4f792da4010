"""How long the server did not answer, as one process on the host saw it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Gaps:
    """Seconds without an answer: the longest gap and their sum."""

    longest_seconds: float
    sum_seconds: float


@dataclass(frozen=True)
class Seen:
    """What the watcher saw: gaps of reads (no query answered) and of writes (not answered, or read-only)."""

    reads: Gaps
    writes: Gaps


def seen(lines: Iterable[str]) -> Seen | None:
    """Read the watcher's file: lines `nanoseconds TAB read|write|none|end`, one for each change of the answer.

    A gap that is open at the last line ends there. None when the watcher saw nothing at all.
    """
    moments = [(int(when) / 1e9, what) for when, _, what in (line.strip().partition("\t") for line in lines) if what]
    if not moments:
        return None
    return Seen(_gaps(_spans(moments, ("none",))), _gaps(_spans(moments, ("none", "read"))))


def _spans(moments: list[tuple[float, str]], down: tuple[str, ...]) -> Iterator[float]:
    since: float | None = None
    for when, what in moments:
        if what in down and since is None:
            since = when
        elif what not in down and since is not None:
            yield when - since
            since = None
    if since is not None:
        yield moments[-1][0] - since


def _gaps(spans: Iterable[float]) -> Gaps:
    all_spans = list(spans)
    return Gaps(round(max(all_spans, default=0.0), 3), round(sum(all_spans), 3))
