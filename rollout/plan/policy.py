"""The policy of a run as one value: how it grows from a canary to the fleet, and how many failures it endures."""

import re
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

# A number of hosts, or a share of all hosts of the run such as "25%".
WaveSize: TypeAlias = int | str

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def _wave_size(entry: object) -> WaveSize:
    if isinstance(entry, bool) or not isinstance(entry, int | str):
        raise ValueError(f"{entry!r} is no wave size: write a number of hosts, or a percentage such as '25%'")
    text = str(entry).strip()
    if text.isdecimal() and int(text) > 0:
        return int(text)
    percent = _PERCENT.fullmatch(text)
    if percent and 0 < Fraction(percent[1]) <= 100:
        return f"{percent[1]}%"
    raise ValueError(f"{text!r} is no wave size: write 1 or more hosts, or more than 0% and at most 100%")


def _wave_sizes(entry: object) -> object:
    """Turn what a person writes (5, '25%', '1,5,25%', a list) into a list of sizes."""
    if isinstance(entry, str):
        entry = entry.split(",")
    entries = list(entry) if isinstance(entry, list | tuple) else [entry]
    if not entries:
        raise ValueError("an empty list of wave sizes: write at least one")
    return tuple(_wave_size(each) for each in entries)


def _canary(entry: object) -> object:
    """Turn '2' into a number and 'db1,db2' into names, as they come from a command line."""
    if not isinstance(entry, str):
        return entry
    return int(entry) if entry.strip().isdecimal() else tuple(name.strip() for name in entry.split(","))


class Policy(BaseModel):
    """How a run walks through its hosts. The defaults are those of somebody who trusts nothing.

    The failure budget is one for the whole run. A run goes on while the failures do not *exceed* it, so that a budget
    used up exactly does not stop it; where both limits are given, the tighter one holds; where none is, it is zero.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    canary: Annotated[
        Annotated[int, Field(ge=0, strict=True)] | tuple[str, ...],
        BeforeValidator(_canary),
        Field(description="hosts of the first wave: how many, or which; 0 for none"),
    ] = 1
    serial: Annotated[
        tuple[WaveSize, ...],
        BeforeValidator(_wave_sizes),
        Field(description="hosts of each wave after the canary, as number or percentage; the last size repeats"),
    ] = ("5%", "10%", "25%")
    max_failures: int | None = Field(default=None, ge=0, description="hosts that may fail before the run stops")
    max_fail_percentage: float | None = Field(default=None, ge=0, le=100, description="the same, as a share of the run")
    on_failure: Literal["stop", "roll_back"] = Field(
        default="stop", description="once the budget is exceeded: leave the changed hosts changed, or take them back"
    )
    whole_wave_stops: bool = Field(
        default=True, description="a wave of two or more hosts that fails whole ends the run whatever the budget says"
    )
    at_once: Literal["budget", "wave"] = Field(
        default="budget",
        description="hosts that run at the same time: no more than may still fail (at least one), or the whole wave",
    )
    replicas_together: bool = Field(default=False, description="let replicas of one primary be down at the same time")
    skip_blocked: bool = Field(default=False, description="pass over blocked hosts instead of stopping at them")
    pause_between: bool = Field(default=False, description="ask a person before each wave but the first")
    stop_for_switchover: bool = Field(default=False, description="stop before a primary, so that it can be switched")


def wave_hosts(size: WaveSize, total: int) -> int:
    """Return how many of `total` hosts a wave of `size` takes: percentages are of all hosts and round down, at least 1.

    The share is exact (29 % of 100 hosts is 29; in binary floating point it would be 28).
    """
    if isinstance(size, int):
        return size
    return max(1, int(Fraction(size.rstrip("%")) * total / 100))


def failure_budget(policy: Policy, total: int) -> int:
    """Return how many of `total` hosts may fail before the run stops; a percentage rounds down."""
    limits = []
    if policy.max_failures is not None:
        limits.append(policy.max_failures)
    if policy.max_fail_percentage is not None:
        limits.append(int(Fraction(str(policy.max_fail_percentage)) * total / 100))
    return min(limits, default=0)
