"""How long the server did not answer, as one process on the host saw it."""

from collections.abc import Iterable, Iterator


def longest_gap_seconds(lines: Iterable[str]) -> float | None:
    """Return the longest time in which the server gave less than before; None when it never answered the watcher.

    `lines` are the watcher's file: `nanoseconds TAB read|write|none|end`, one for each change of the answer. For a
    server that took writes at first, one that comes back read-only is not back; a replica, read-only from the start,
    is back when it answers. A gap that is open at the last line ends there.
    """
    moments = [(int(when) / 1e9, what) for when, _, what in (line.strip().partition("\t") for line in lines) if what]
    answers = [what for _, what in moments if what in ("read", "write")]
    if not answers:
        return None
    down = ("none",) if answers[0] == "read" else ("none", "read")
    return round(max(_spans(moments, down), default=0.0), 3)


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
