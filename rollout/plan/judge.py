"""When a run goes on, pauses, stops or goes back: one pure function over where its hosts stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from rollout.plan.policy import Policy, failure_budget
from rollout.plan.waves import NO_CONSTRAINTS, Constraints, Waves

Action = Literal["continue", "stop", "pause", "roll_back"]

# Words of a host's status (see `docs/cli.md`). Every other word is a failure: what nobody foresaw never passes for
# success, and `unreachable`, `stale` and `unknown` count like `failed`.
DONE = frozenset({"changed", "ok"})
PASSED_OVER = frozenset({"blocked", "skipped"})
NO_FAILURE = DONE | PASSED_OVER | {"pending"}


@dataclass(frozen=True)
class Standing:
    """Where a run stands, at any moment at which a host could be started.

    `statuses` holds the last word on each host that was begun or decided on; a host without one is `pending`.
    `running` are the hosts at work now, whatever their status says. `failed_gates` are hosts that were changed and
    whose health gate then failed. `confirmed` counts the waves after which a person said yes to go on. `shut` are the
    hosts that may not be begun at this time of day, each with the sentence that says when they may.
    """

    waves: Waves
    statuses: Mapping[str, str] = field(default_factory=dict)
    running: frozenset[str] = frozenset()
    failed_gates: frozenset[str] = frozenset()
    constraints: Constraints = NO_CONSTRAINTS
    abort_requested: bool = False
    confirmed: int = 0
    shut: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """All hosts of the run, in order."""
        return tuple(host for wave in self.waves for host in wave)

    def open(self, host: str) -> bool:
        """Whether nothing was begun or decided on the host yet."""
        return host not in self.running and self.statuses.get(host, "pending") == "pending"

    @cached_property
    def passed_over(self) -> frozenset[str]:
        """The hosts that were left alone on purpose."""
        return frozenset(host for host in self.hosts if self.statuses.get(host) in PASSED_OVER) - self.running

    @cached_property
    def failed(self) -> frozenset[str]:
        """The hosts that count against the failure budget."""
        known = {host for host in self.hosts if self.statuses.get(host, "pending") not in NO_FAILURE}
        return frozenset(known | self.failed_gates) - self.running

    @property
    def failures(self) -> tuple[str, ...]:
        """The hosts that count against the failure budget, in the order of the run."""
        return tuple(host for host in self.hosts if host in self.failed)


@dataclass(frozen=True)
class Decision:
    """What the engine does next and why; `code` is known to `rollout explain`.

    `start` are the hosts to start now beside those that run, empty when a running one must end first. `held_back`
    maps hosts of the run that must not be started to the reason: they end as `skipped`.
    """

    action: Action
    code: str
    reason: str
    start: tuple[str, ...] = ()
    held_back: Mapping[str, str] = field(default_factory=dict)


def judge(policy: Policy, state: Standing) -> Decision:
    """Decide what comes next. To be asked before each start and after each end of a host.

    Running hosts are always finished, whatever the decision. A wave is over when none of its hosts runs or is left,
    and only then does the next begin.
    """
    stop = _reason_to_stop(policy, state)
    if stop is not None:
        return stop
    held = held_back(state)
    number = _current_wave(state, held)
    if number is None:
        return Decision("continue", "nothing_left", "no host of the run is left to change", held_back=held)
    left = tuple(host for host in state.waves[number] if state.open(host) and host not in held)
    ready = tuple(host for host in left if host not in state.shut)
    if left and not ready and not state.running:
        reason = "; ".join(f"{host}: {state.shut[host]}" for host in left)
        return Decision("stop", "window_closed", reason, held_back=held)
    wait = _switchover(policy, state, ready) or _pause(policy, state, number, ready)
    return replace(wait, held_back=held) if wait else _go_on(policy, state, ready, held)


def held_back(state: Standing) -> dict[str, str]:
    """Return the hosts not begun that must not be started, each with the reason, in the order of the run.

    A primary waits for every replica of the run to be changed, else it would be newer than its replica; a cluster (and
    any other one-at-a-time group) is left alone once one of its hosts has failed.
    """
    held: dict[str, str] = {}
    if not state.failed | state.passed_over:
        return held
    broken = [group for group in state.constraints.one_at_a_time if group & state.failed]
    for host in state.hosts:
        if state.open(host):
            reason = _left_behind(host, state, held) or _broken_group(host, state, broken)
            if reason:
                held[host] = reason
    return held


def _reason_to_stop(policy: Policy, state: Standing) -> Decision | None:
    if state.abort_requested:
        return Decision("stop", "run_aborted", "abort was asked for: running hosts are finished, no other is started")
    blocked = sorted(host for host in state.passed_over if state.statuses[host] == "blocked")
    if blocked and not policy.skip_blocked:
        reason = f"blocked, and blocked hosts are not to be skipped: {_names(blocked)}"
        return Decision("stop", "host_blocked", reason)
    return _too_many_failures(policy, state)


def _too_many_failures(policy: Policy, state: Standing) -> Decision | None:
    if not state.failed:
        return None
    failures, total = state.failures, len(state.hosts)
    budget = failure_budget(policy, total)
    canaries = [host for wave in state.waves[:1] for host in wave if host in state.failed]
    if policy.canary and canaries:
        return Decision(policy.on_failure, "canary_failed", f"failed in the canary wave: {_names(canaries)}")
    if len(failures) > budget:
        reason = f"{len(failures)} of {total} hosts failed, at most {budget} may: {_names(failures)}"
        return Decision(policy.on_failure, "budget_exceeded", reason)
    whole = next((wave for wave in state.waves if _failed_whole(wave, state)), None)
    if whole and policy.whole_wave_stops:
        return Decision(policy.on_failure, "wave_failed_whole", f"a whole wave failed: {_names(whole)}")
    return None


def _failed_whole(wave: tuple[str, ...], state: Standing) -> bool:
    """Whether every host of the wave that was tried has failed, and there were at least two.

    A wave of one host is left to the budget, else `serial: 1` would end at the first failure whatever the budget is.
    """
    tried = [host for host in wave if host not in state.passed_over]
    return len(tried) > 1 and state.failed.issuperset(tried)


def _current_wave(state: Standing, held: Mapping[str, str]) -> int | None:
    """Return the number (from 0) of the first wave that is not over, None when all are."""
    for number, wave in enumerate(state.waves):
        if any(host in state.running or (state.open(host) and host not in held) for host in wave):
            return number
    return None


def _switchover(policy: Policy, state: Standing, ready: tuple[str, ...]) -> Decision | None:
    for host in ready:
        replicas = state.constraints.primaries.get(host)
        if policy.stop_for_switchover and replicas:
            reason = f"{host} is the primary of {_names(sorted(replicas))}: switch over, then plan again"
            return Decision("stop", "switchover_needed", reason)
    return None


def _pause(policy: Policy, state: Standing, number: int, ready: tuple[str, ...]) -> Decision | None:
    begun = any(not state.open(host) and host not in state.passed_over for host in state.waves[number])
    if not policy.pause_between or begun or number <= state.confirmed:
        return None
    done = f"{number} of {len(state.waves)} waves are done"
    return Decision("pause", "pause_between", f"{done}, next: {_names(ready)}")


def _go_on(policy: Policy, state: Standing, ready: tuple[str, ...], held: Mapping[str, str]) -> Decision:
    left = failure_budget(policy, len(state.hosts)) - len(state.failed)
    at_once = len(ready) if policy.at_once == "wave" else max(0, max(1, left) - len(state.running))
    start = ready[:at_once]
    if state.failed and not left:
        return Decision("continue", "budget_used_up", "the next failure ends the run", start, held)
    return Decision("continue", "within_budget", f"{len(state.failed)} failed, {left} more may", start, held)


def _left_behind(host: str, state: Standing, held: Mapping[str, str]) -> str:
    """Say which hosts had to be changed before this one and will not be, empty when there are none."""
    lost = held.keys() | state.failed | state.passed_over
    missing = sorted(state.constraints.after.get(host, frozenset()) & lost)
    return f"had to be changed before it, and was not: {_names(missing)}" if missing else ""


def _broken_group(host: str, state: Standing, broken: Sequence[frozenset[str]]) -> str:
    nodes = sorted({node for group in broken if host in group for node in group & state.failed})
    return f"no second host is put at risk after the failure of {_names(nodes)}" if nodes else ""


def _names(hosts: Sequence[str]) -> str:
    shown = ", ".join(hosts[:5])
    return shown if len(hosts) <= 5 else f"{shown} and {len(hosts) - 5} more"
