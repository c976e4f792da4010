"""What a run came to, host by host, and the exit code that says so."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rollout.errors import (
    CommandFailed,
    HostProblem,
    Locked,
    PrivilegeRefused,
    RollbackIncomplete,
    RolloutError,
    StalePlan,
    StoppedByPolicy,
    Unreachable,
    UsageProblem,
)
from rollout.journal import Status

# The graver a code, the earlier it stands: a run ends with the gravest of its hosts' codes.
GRAVITY = (
    RollbackIncomplete.exit_code,
    Locked.exit_code,
    StoppedByPolicy.exit_code,
    StalePlan.exit_code,
    UsageProblem.exit_code,
    HostProblem.exit_code,
    0,
)


@dataclass(frozen=True)
class Outcome:
    """How one host came out of a run."""

    status: Status
    error: str = ""
    restarts: int = 0
    downtime_seconds: float | None = None
    exit_code: int = 0
    gate_closed: bool = False  # changed, and then its health gate or a hook failed

    def with_trouble(self, told: str) -> "Outcome":
        """Return this outcome with something that went wrong beside it: no other host follows this one lightly."""
        words = "; ".join(part for part in (self.error, told) if part)
        return replace(self, error=words, exit_code=self.exit_code or 1, gate_closed=True)


def of_error(error: RolloutError, *, change_began: bool) -> Outcome:
    """Name the outcome of an error.

    Once the change began, a host that is out of reach, makes no sense or is held by somebody else is `unknown`: do.sh
    goes on, and resume has to find out how it ended.
    """
    # The host's name stands beside it wherever an outcome is shown.
    message = error.reason if isinstance(error, HostProblem) else error.message
    told = " ".join(part for part in (message, error.hint) if part)
    if change_began and isinstance(error, (Unreachable, CommandFailed, PrivilegeRefused, Locked)):
        return Outcome("unknown", told, exit_code=error.exit_code)
    if isinstance(error, Unreachable):
        return Outcome("unreachable", told, exit_code=error.exit_code)
    if isinstance(error, StalePlan):
        return Outcome("stale", told, exit_code=error.exit_code)
    if isinstance(error, Locked):
        return Outcome("blocked", told, exit_code=error.exit_code)
    return Outcome("failed", told, exit_code=error.exit_code)


def gravest(codes: Iterable[int]) -> int:
    """Return the exit code of a run from those of its hosts; that of no host is 0."""
    return min(codes, key=GRAVITY.index, default=0)
