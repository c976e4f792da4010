"""The arms of a comparison: what the server is started with in each, and in which order they take their turns."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rollout.changes.render import quote_assignment
from rollout.errors import UsageProblem

AllocatorChoice = Literal["found", "glibc", "jemalloc"]
_CHOICES: tuple[AllocatorChoice, ...] = ("found", "glibc", "jemalloc")
_CPUS = re.compile(r"\d+(-\d+)?( \d+(-\d+)?)*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Arm:
    """One way to start the server. `label` is what the user wrote; `cpus` as systemd's CPUAffinity= takes them."""

    label: str
    allocator: AllocatorChoice
    environment: Mapping[str, str] = field(default_factory=dict)
    cpus: str = ""


AS_FOUND = Arm("found", "found")


def parse_arm(text: str) -> Arm:
    """Read `ALLOCATOR[,cpus=0-1][,NAME=VALUE...]`, such as `glibc,cpus=0` or `glibc,MALLOC_ARENA_MAX=2`.

    Raises `UsageProblem`.
    """
    choice, *parts = text.split(",")
    known = next((name for name in _CHOICES if name == choice), None)
    if known is None:
        raise UsageProblem(f"--arm {text}: the allocator is one of {', '.join(_CHOICES)}")
    environment, cpus = {}, ""
    for part in parts:
        name, equals, value = part.partition("=")
        if name == "cpus" and _CPUS.fullmatch(value):
            cpus = value
        elif equals and _NAME.fullmatch(name) and name not in ("LD_PRELOAD", "cpus"):
            environment[name] = value
        else:
            raise UsageProblem(f"--arm {text}: {part!r} is neither cpus=0-1 nor NAME=VALUE")
    return Arm(text, known, environment, cpus)


def turns(arms: Sequence[Arm], pairs: int) -> tuple[Arm, ...]:
    """Return the arms in the order of their runs: forward, backward, forward: A B B A A B for two arms, three pairs.

    What drifts with time (a machine that warms up, a neighbour) falls on both arms alike.
    """
    order: list[Arm] = []
    for number in range(pairs):
        order += arms if number % 2 == 0 else tuple(reversed(arms))
    return tuple(order)


def drop_in(arm: Arm, library: str) -> str:
    """Return the runtime drop-in of an arm, empty where the server is started as it was found.

    It stands below /run, so that a host which goes down in the middle comes up as it was.
    """
    lines = [f"CPUAffinity={arm.cpus}"] if arm.cpus else []
    assignments = [f"{name}={value}" for name, value in sorted(arm.environment.items())]
    if arm.allocator == "jemalloc":
        assignments.insert(0, f"LD_PRELOAD={library}")
    lines += [f"Environment={quote_assignment(one)}" for one in assignments]
    if arm.allocator == "glibc":
        lines.append("UnsetEnvironment=LD_PRELOAD MALLOC_CONF")
    head = "# Written by rollout bench; removed at its end.\n[Service]\n"
    return head + "\n".join(lines) + "\n" if lines else ""


def needs_library(arms: Sequence[Arm]) -> bool:
    """Whether any arm is started with jemalloc."""
    return any(arm.allocator == "jemalloc" for arm in arms)


def words(parts: Sequence[str]) -> str:
    """Return a command line as a person would type it."""
    return shlex.join(parts)
