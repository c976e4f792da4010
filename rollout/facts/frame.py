"""The frame of a probe's output: bytes in, named answers out.

    rollout-probe 1 MARK
    MARK begin NAME ARGUMENT
    … what the command printed, any bytes at all …
    MARK err EXIT-STATUS
    … what it complained of …
    MARK end
    …
    MARK end-of-probe

MARK is random for each probe, so no file, package name or database row can pass for a frame.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from rollout.facts.unknown import Known, Unknown

R = TypeVar("R")
S = TypeVar("S")

_FIRST = re.compile(rb"rollout-probe 1 (--[0-9a-f]{8,})\n")
NOT_FOUND = 127
TIMED_OUT = 124


class FrameProblem(ValueError):
    """The bytes are no output of a probe, or end before it did; the message says which."""


@dataclass(frozen=True)
class Answer:
    """What one command of the probe printed, its exit status and what it complained of."""

    name: str
    argument: str
    output: bytes
    status: int
    complaint: str

    @property
    def printed(self) -> str:
        """The output as text, whatever the exit status; bytes that are no UTF-8 become replacement characters."""
        return self.output.decode("utf-8", "replace").rstrip("\n")

    @property
    def text(self) -> Known[str]:
        """The output of a command that ended with 0, else unknown with what it complained of."""
        return self.printed if self.status == 0 else Unknown(self.failure)

    @property
    def whole(self) -> Known[str]:
        """The output to its last byte, final line ends included: for files that are compared with what they must be."""
        return self.output.decode("utf-8", "replace") if self.status == 0 else Unknown(self.failure)

    @property
    def failure(self) -> str:
        """Why the command gave no answer, in a sentence."""
        last = self.complaint.splitlines()[-1].strip() if self.complaint else "it said nothing"
        if self.status == NOT_FOUND:
            return f"a program is not on this host ({last})"
        if self.status == TIMED_OUT:
            return f"{self.name}: no answer in time"
        return f"{self.name}: exit status {self.status} ({last})"


@dataclass(frozen=True)
class Answers:
    """All answers of one probe. `mark` is the probe's own."""

    mark: str
    rows: tuple[Answer, ...]

    def all(self, name: str) -> tuple[Answer, ...]:
        """Return every answer of that name, in order."""
        return tuple(row for row in self.rows if row.name == name)

    def first(self, name: str) -> Answer | None:
        """Return the answer of that name; None when the probe did not ask."""
        return next(iter(self.all(name)), None)

    def text(self, name: str, *, otherwise: str = "") -> Known[str]:
        """Return the text of an answer; where the probe had no cause to ask, unknown for the reason `otherwise`."""
        answer = self.first(name)
        return answer.text if answer else Unknown(otherwise or f"{name}: the probe did not ask for it")


def parse_frames(raw: bytes) -> Answers:
    """Take the output of a probe apart; raises FrameProblem when it is none or was cut off."""
    first = _FIRST.match(raw)
    if first is None:
        raise FrameProblem("this is no output of a probe: the first line does not say rollout-probe 1")
    mark = first[1]
    if not raw.endswith(mark + b" end-of-probe\n"):
        raise FrameProblem(f"the output of the probe is cut off after {len(raw)} bytes")
    framed = re.compile(
        mark + rb" begin (\S+) ?([^\n]*)\n(.*?)\n" + mark + rb" err (\d+)\n(.*?)\n" + mark + rb" end\n", re.DOTALL
    )
    return Answers(mark.decode(), tuple(map(_answer, framed.finditer(raw))))


def _answer(found: re.Match[bytes]) -> Answer:
    name, argument, output, status, complaint = found.groups()
    words = [part.decode("utf-8", "replace") for part in (name, argument, complaint)]
    return Answer(words[0], words[1], output, int(status), words[2].strip())


def read(value: Known[S], convert: Callable[[S], R]) -> Known[R]:
    """Convert a known value; what `convert` cannot make sense of is unknown, with the text itself as the reason."""
    if isinstance(value, Unknown):
        return value
    try:
        return convert(value)
    except (ValueError, LookupError) as problem:
        return Unknown(f"{str(value)[:80]!r} makes no sense ({problem})")


def lines(text: str) -> tuple[str, ...]:
    """Return the lines that hold something."""
    return tuple(line for line in text.splitlines() if line.strip())


def assignments(rows: Iterable[str]) -> dict[str, str]:
    """Read NAME=VALUE lines; quotes around a value are taken off."""
    pairs = (row.partition("=") for row in rows if "=" in row)
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
