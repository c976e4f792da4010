"""A host that is not there: a state and a function that answers scripts, and failures on cue.

The answering function is pure, so a test can look at the state after each script, and a lost connection can be
lost before the host did anything or after it did everything, which are the two cases that a caller must tell apart
by looking again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from rollout.errors import CommandFailed, PrivilegeRefused, Unreachable
from rollout.remote.framing import OUTPUT_LIMIT_BYTES
from rollout.remote.transport import Result

State = TypeVar("State")


@dataclass(frozen=True)
class Call:
    """One script as the host got it; `number` counts from 1."""

    number: int
    script: str
    stdin: bytes
    privileged: bool

    @property
    def marker(self) -> str:
        """The first line, by which scripts of ours can be told apart."""
        return self.script.partition("\n")[0].strip()


@dataclass(frozen=True)
class Answer:
    """What the host says to one script."""

    exit_status: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0


class Failure(Enum):
    """What goes wrong with one script."""

    LOST_BEFORE = "the connection is lost and the host did nothing"
    LOST_AFTER = "the host did everything and the connection is lost before it says so"
    TIMEOUT = "the host did everything and does not end in time"
    SUDO_REFUSED = "sudo refuses"


Respond = Callable[[State, Call], tuple[State, Answer]]
Cue = Callable[[Call], Failure | None]


def never(call: Call) -> None:
    """Let nothing go wrong."""


def on_call(number: int, failure: Failure) -> Cue:
    """Return a cue that lets the `number`-th script of the session fail."""
    return lambda call: failure if call.number == number else None


class FakeTransport(Generic[State]):
    """A transport to a host that consists of `state` and `respond`; `calls` keeps every script that it got."""

    def __init__(
        self,
        host_name: str,
        state: State,
        respond: Respond[State],
        *,
        cue: Cue = never,
        output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    ) -> None:
        self.state = state
        self.calls: list[Call] = []
        self._host_name = host_name
        self._respond = respond
        self._cue = cue
        self._output_limit_bytes = output_limit_bytes

    def run(self, script: str, stdin: bytes = b"", *, timeout_seconds: float = 60.0, privileged: bool = True) -> Result:
        """Let the state answer `script`; see `Transport.run`."""
        call = Call(len(self.calls) + 1, script, stdin, privileged)
        self.calls.append(call)
        failure = self._cue(call)
        if failure is Failure.LOST_BEFORE:
            raise Unreachable(self._host_name, "the connection was lost before the script had started")
        if failure is Failure.SUDO_REFUSED and privileged:
            raise PrivilegeRefused(self._host_name, "sudo did not start a shell as root")
        self.state, answer = self._respond(self.state, call)
        if failure is Failure.LOST_AFTER:
            raise Unreachable(self._host_name, "the connection was lost while a script was running")
        if failure is Failure.TIMEOUT or answer.seconds > timeout_seconds:
            raise Unreachable(self._host_name, f"no end within {timeout_seconds:g} s while a script was running")
        if max(len(answer.stdout), len(answer.stderr)) > self._output_limit_bytes:
            raise CommandFailed(self._host_name, f"a script wrote more than {self._output_limit_bytes} bytes")
        return Result(self._host_name, answer.exit_status, answer.stdout, answer.stderr, answer.seconds)

    def close(self) -> None:
        """Do nothing: there is no connection."""
