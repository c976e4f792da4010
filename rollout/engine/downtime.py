"""How long the server let a client wait, as one process on the host saw it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

HUNDREDTHS = 100


class Question(NamedTuple):
    """When the watcher asked and had its answer, in seconds since the boot; `what` is read, write, none or end."""

    asked: float
    answered: float
    what: str


def longest_gap_seconds(lines: Iterable[str]) -> float | None:
    """Return the longest time in which a client had to wait for the server; None when it never answered the watcher.

    `lines` are the watcher's file: `asked TAB answered TAB read|write|none|end`, in hundredths of a second, one for
    each change of the answer and each slow answer. A gap lasts from the first question that was not answered well to
    the first good answer; a good answer that came late is a gap of its own. For a server that took writes at first,
    one that comes back read-only is not back; a replica, read-only from the start, is back when it answers. A gap that
    is open at the last line ends there.
    """
    questions = [_question(*parts) for parts in (line.strip().split("\t") for line in lines) if len(parts) == 3]
    answers = [question.what for question in questions if question.what in ("read", "write")]
    if not answers:
        return None
    good = ("read", "write") if answers[0] == "read" else ("write",)
    return round(max(_waits(questions, good), default=0.0), 2)


def _question(asked: str, answered: str, what: str) -> Question:
    return Question(int(asked) / HUNDREDTHS, int(answered) / HUNDREDTHS, what)


def _waits(questions: list[Question], good: tuple[str, ...]) -> Iterator[float]:
    since: float | None = None
    for number, (asked, answered, what) in enumerate(questions):
        if what in good:
            # The watcher's first line only says how it found the server.
            if number:
                yield answered - (asked if since is None else since)
            since = None
        elif since is None and what != "end":
            since = asked
    if since is not None:
        yield questions[-1].answered - since
