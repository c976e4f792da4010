"""One root error that carries an exit code, and its few leaves.

The exit codes are the ones that scripts build on (see `docs/cli.md`). Three things that other tools mix up are
kept apart: the way to the host is broken (`Unreachable`), a command on the host failed (`CommandFailed`), and the
host answers but is not as it must be (`WrongState`).
"""

from collections.abc import Iterable
from dataclasses import dataclass


class RolloutError(Exception):
    """What went wrong, where, and what to do; `exit_code` is what the program ends with."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageProblem(RolloutError):
    """The command line asks for something that cannot be (an unknown host, no terminal and no `--yes`)."""

    exit_code = 2


@dataclass(frozen=True)
class Mistake:
    """One mistake in a file: where it stands and what is wrong. `line` counts from 1, 0 means the whole file."""

    file: str
    line: int
    message: str
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.path + ': ' if self.path else ''}{self.message}"


class ConfigProblem(RolloutError):
    """All mistakes of the files that were read, at once, in the order in which they stand there."""

    exit_code = 2

    def __init__(self, mistakes: Iterable[Mistake], *, hint: str = "") -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)), hint=hint)


class HostProblem(RolloutError):
    """A fault of one host: `host` names it and stands before the message, which is `reason` without it."""

    def __init__(self, host: str, message: str, *, hint: str = "") -> None:
        super().__init__(f"{host}: {message}", hint=hint)
        self.host = host
        self.reason = message


class Unreachable(HostProblem):
    """The way to the host is broken: refused, timed out, host key, authentication, connection lost."""


class PrivilegeRefused(HostProblem):
    """The host answers, and does not let the login user become root: sudo refused, is absent, or wants a password."""


class CommandFailed(HostProblem):
    """A command ran on the host and failed."""


class WrongState(HostProblem):
    """The host answers, and is not as it must be."""


class LabProblem(RolloutError):
    """The rehearsal fleet cannot be built, or is not as it must be."""


class StalePlan(RolloutError):
    """The plan no longer fits the host or the files, or a file that undo would touch was changed since."""

    exit_code = 3


class StoppedByPolicy(RolloutError):
    """A gate or the failure budget stopped the run."""

    exit_code = 4


class RollbackIncomplete(RolloutError):
    """The way back ended before the host was as it had been."""

    exit_code = 5


class Locked(HostProblem):
    """Another run holds the host."""

    exit_code = 6
