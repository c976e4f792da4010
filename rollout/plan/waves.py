"""The order across hosts: constraints as a value, and the waves that a policy makes under them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from rollout.errors import UsageProblem
from rollout.plan.policy import Policy, wave_hosts

Waves = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Constraints:
    """What an order must keep to.

    `after` maps a host to those that must be done before it (a primary to its replicas). `one_at_a_time` holds groups
    of which no two hosts may be down together (the nodes of a Galera cluster). `primaries` maps a host to the hosts
    that replicate from it.
    """

    after: Mapping[str, frozenset[str]] = field(default_factory=dict)
    one_at_a_time: tuple[frozenset[str], ...] = ()
    primaries: Mapping[str, frozenset[str]] = field(default_factory=dict)


NO_CONSTRAINTS = Constraints()


def waves(policy: Policy, hosts: Sequence[str], constraints: Constraints = NO_CONSTRAINTS) -> Waves:
    """Return the waves in which `hosts` (in the inventory's order) are changed; together they hold each host once.

    A host stands in a later wave than every host of the run that must come before it, and two hosts of one
    one-at-a-time group never share a wave; so a wave may be smaller than its size, and there may be more of them.

    Raises `UsageProblem` when a canary that was asked for by name cannot be the first, or when the constraints
    contradict each other.
    """
    left = list(dict.fromkeys(hosts))
    total = len(left)
    planned: list[tuple[str, ...]] = []
    if left and policy.canary:
        planned.append(_canaries(policy.canary, left, constraints))
        left = [host for host in left if host not in planned[0]]
    for size in _sizes(policy, total):
        if not left:
            break
        planned.append(_next_wave(left, size, constraints))
        left = [host for host in left if host not in set(planned[-1])]
    return tuple(planned)


def backwards(planned: Waves) -> Waves:
    """Return the waves of a rollback: the last wave first, and within a wave the last host first."""
    return tuple(tuple(reversed(wave)) for wave in reversed(planned))


def _sizes(policy: Policy, total: int) -> Iterator[int]:
    yield from (wave_hosts(size, total) for size in policy.serial)
    yield from repeat(wave_hosts(policy.serial[-1], total))


def _canaries(canary: int | tuple[str, ...], left: list[str], constraints: Constraints) -> tuple[str, ...]:
    if isinstance(canary, int):
        return _next_wave(left, canary, constraints)
    strangers = [name for name in canary if name not in left]
    if strangers:
        raise UsageProblem(f"no host of this run is called {', '.join(strangers)}", hint="The canary must be one.")
    for name in canary:
        before = sorted(constraints.after.get(name, frozenset()) & set(left))
        if before:
            raise UsageProblem(
                f"{name} cannot be a canary: {', '.join(before)} must be changed before it",
                hint="A replica must never be older than its primary. Choose a replica as the canary.",
            )
    wave = _next_wave([host for host in left if host in canary], len(canary), constraints)
    if len(wave) < len(set(canary)):
        rest = sorted(set(canary) - set(wave))
        raise UsageProblem(f"{', '.join(rest)} cannot share the first wave: one node of a cluster at a time")
    return wave


def _next_wave(left: list[str], size: int, constraints: Constraints) -> tuple[str, ...]:
    waiting = set(left)
    groups = [group for group in constraints.one_at_a_time if group & waiting]
    wave: list[str] = []
    taken: set[str] = set()
    for host in left:
        if len(wave) == size:
            break
        if host not in taken and not constraints.after.get(host, frozenset()) & waiting:
            wave.append(host)
            taken.update(*(group for group in groups if host in group))
    if not wave:
        raise UsageProblem(f"no order is possible for {', '.join(left)}: each waits for another of them")
    return tuple(wave)
