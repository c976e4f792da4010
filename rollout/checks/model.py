"""The values of this room: what is expected of a host, and what a check found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown
from rollout.versions import FIX_RELEASES, Release

Status = Literal["pass", "fail", "warn", "skip"]
_WORST_FIRST: tuple[Status, ...] = ("fail", "warn", "pass", "skip")


@dataclass(frozen=True)
class CheckResult:
    """What one check found on one host.

    `expected` and `found` are short texts for people. `evidence` holds what was asked on the host (`$ command`) and
    what it answered. `cause` is a code of `rollout explain` where the reason is known by name, else empty.
    """

    id: str
    status: Status
    expected: str
    found: str
    evidence: str = ""
    cause: str = ""


@dataclass(frozen=True)
class DropIn:
    """The drop-in that is ours: its path on the host and its exact content."""

    path: str
    content: str


@dataclass(frozen=True)
class Expectation:
    """What a host must be like. `None` means that nothing is asked for: the check is then skipped, and says so.

    `version` is the upstream version that must run, such as `11.8.10`; with `exact` no later one of its series will
    do. `packages` maps package names to the exact versions that a plan gave them. `releases` is the table of fix
    releases by series. `library` is the path of the jemalloc library that must be loaded. `active` is whether the
    unit must run. `invocations` is how often the unit must have been started since the facts before. `backup` is the
    folder of this run's backup on the host.
    """

    version: str | None = None
    exact: bool = False
    packages: Mapping[str, str] | None = None
    releases: Mapping[str, Release] = field(default_factory=lambda: FIX_RELEASES)
    library: str | None = None
    drop_in: DropIn | None = None
    active: bool = True
    invocations: int | None = None
    backup: str | None = None


@dataclass(frozen=True)
class Situation:
    """What every check is given: the facts now, the facts before the change (or none), and what is expected."""

    after: Facts
    before: Facts | None
    expected: Expectation


@dataclass(frozen=True)
class Judgement:
    """A `CheckResult` that does not yet bear its id."""

    status: Status
    expected: str
    found: str
    evidence: str = ""
    cause: str = ""


def held(holds: bool, expected: str, found: str, evidence: str = "", cause: str = "") -> Judgement:
    """Judge what is known: pass when it holds, else fail with its cause."""
    return (
        Judgement("pass", expected, found, evidence) if holds else Judgement("fail", expected, found, evidence, cause)
    )


def not_known(expected: str, value: Unknown, status: Literal["fail", "warn"] = "fail") -> Judgement:
    """Judge what nobody could find out: never a pass."""
    return Judgement(status, expected, f"not known: {value.reason}", cause="not_known")


def first_unknown(*values: object) -> Unknown | None:
    """Return the first of the values that is unknown."""
    return next((value for value in values if isinstance(value, Unknown)), None)


def skipped(expected: str, why: str) -> Judgement:
    """Say that there is nothing to check here, and why."""
    return Judgement("skip", expected, why)


def asked(command: str, answer: object) -> str:
    """Write one piece of evidence: the command as it is typed on the host, and the answer below it."""
    return f"$ {command}\n{answer}"


def worst(results: Iterable[CheckResult]) -> Status:
    """Return the status of a host: the worst of its checks; `skip` when nothing was checked."""
    seen = {result.status for result in results}
    return next((status for status in _WORST_FIRST if status in seen), "skip")


@dataclass(frozen=True)
class HostResults:
    """The results of one host, in the order of the checks."""

    name: str
    results: tuple[CheckResult, ...]

    @property
    def status(self) -> Status:
        """The worst of its checks."""
        return worst(self.results)
