"""The plan: a file that a person reads, and the very thing that `apply` runs."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rollout.changes.model import Change, Finding, Kind
from rollout.errors import ConfigProblem, Mistake, StalePlan
from rollout.plan.policy import Policy
from rollout.plan.waves import Constraints
from rollout.settings import HookSet, Host
from rollout.versions import FixStatus

HostStatus = Literal["change", "ok", "blocked", "unreachable"]
SCHEMA = 1


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VersionRow(_Value):
    """The versions of one host; null is unknown or not there, and the host's facts say which."""

    flavour: str | None = None
    running: str | None = None
    on_disk: str | None = None
    client: str | None = None
    series: str | None = None
    target: str | None = None
    fix: FixStatus = "unknown"


class AllocatorRow(_Value):
    """The allocator now, the one aimed at, and the library that must be mapped."""

    running: str | None = None
    target: str | None = None
    library: str | None = None


class SecondsRange(_Value):
    """A range of seconds."""

    low: float
    high: float


class HostPlan(_Value):
    """What is planned for one host. `unit`, `socket` and the like are what its scripts are made with."""

    name: str
    status: HostStatus
    version: VersionRow = VersionRow()
    allocator: AllocatorRow = AllocatorRow()
    changes: tuple[Change, ...] = ()
    restarts: int = 0
    expected_downtime_seconds: SecondsRange | None = None
    expected_downtime_by_stop: Mapping[str, SecondsRange] = Field(default_factory=dict)  # `plain` and `shorter`
    blockers: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    prediction: Mapping[str, Any] | None = None
    hooks: HookSet = HookSet()


class PlaybookPart(_Value):
    """What of the playbook the plan was made with."""

    name: str
    source: str
    changes: tuple[Kind, ...]
    phases: tuple[str, ...] = ("backup", "soak")
    definition: Mapping[str, Any] = Field(default_factory=dict)


class Plan(_Value):
    """The whole plan. `inventory` maps each host to its resolved connection (no secret) and settings.

    `digest` covers all of it but `facts`, which tell what the hosts looked like (JSON of `Facts`, by host).
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    plan_id: str
    digest: str = ""
    created_at: str
    program_version: str
    playbook: PlaybookPart
    inventory_sources: tuple[str, ...]
    inventory: Mapping[str, Mapping[str, Any]]
    policy: Policy = Policy()
    replace_allocator: bool = False  # asked for with the option of `plan`, for all hosts; each host's setting else
    waves: tuple[tuple[str, ...], ...]
    after: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # hosts that must be changed before a host
    one_at_a_time: tuple[tuple[str, ...], ...] = ()  # hosts of which no two may be down together
    primaries: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # replicas by their primary
    hosts: tuple[HostPlan, ...]
    facts: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)

    def host(self, name: str) -> HostPlan | None:
        """Return the row of that host."""
        return next((row for row in self.hosts if row.name == name), None)

    def over(self, hosts: Iterable[Host]) -> list[Host]:
        """Return hosts with what the plan was told for all of them on top of their own settings."""
        return [replacing(host) if self.replace_allocator else host for host in hosts]

    def constraints(self) -> Constraints:
        """Return what the order across hosts must keep to."""
        return Constraints(
            after={name: frozenset(others) for name, others in self.after.items()},
            one_at_a_time=tuple(frozenset(group) for group in self.one_at_a_time),
            primaries={name: frozenset(others) for name, others in self.primaries.items()},
        )

    def sealed(self) -> "Plan":
        """Return the plan with its digest filled in."""
        return self.model_copy(update={"digest": self._compute_digest()})

    def _compute_digest(self) -> str:
        body = self.model_dump(mode="json", by_alias=True, exclude={"digest", "facts"})
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    def to_json(self, *, facts: bool = True) -> dict[str, Any]:
        """Return the plan as values that `json.dumps` takes."""
        left_out = set() if facts else {"facts"}
        return self.model_dump(mode="json", by_alias=True, exclude=left_out)


def replacing(host: Host) -> Host:
    """Return a host on which an allocator that others preload gives way to ours."""
    return replace(host, settings=host.settings.model_copy(update={"replace_allocator": True}))


def load_plan(path: Path) -> Plan:
    """Read a plan file.

    Raises `ConfigProblem` when it is missing, cut off or no plan, `StalePlan` when it was edited after it was made.
    """
    if not path.is_file():
        hint = "Make one with: rollout plan INVENTORY"
        raise ConfigProblem([Mistake(str(path), 0, "there is no plan here")], hint=hint)
    try:
        plan = Plan.model_validate(json.loads(path.read_text()))
    except json.JSONDecodeError as error:
        raise ConfigProblem([Mistake(str(path), error.lineno, "the plan is cut off or is no JSON")]) from error
    except ValidationError as error:
        mistakes = [Mistake(str(path), 0, item["msg"], ".".join(map(str, item["loc"]))) for item in error.errors()]
        raise ConfigProblem(mistakes, hint="Make a fresh plan with: rollout plan INVENTORY") from error
    if plan.digest != plan.sealed().digest:
        hint = "What was reviewed is what runs: make a fresh plan with rollout plan."
        raise StalePlan(f"{path}: the plan was edited after it was made (its digest does not fit)", hint=hint)
    return plan
