"""Runs of a thousand hosts with random faults: what a policy promises holds in every one of them."""

import random
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollout.plan.judge import DONE, Action, Standing, judge
from rollout.plan.policy import Policy, failure_budget
from rollout.plan.waves import Constraints, waves

HOSTS = 1000
FAULTS = ("failed", "recovered", "rolled_back", "unreachable", "stale", "unknown", "gate")


@dataclass
class Run:
    """What a simulated run did: who was started, in order, and what was seen on the way."""

    action: Action = "continue"
    started: list[str] = field(default_factory=list)
    together: list[frozenset[str]] = field(default_factory=list)
    failures_at_start: list[tuple[int, int]] = field(default_factory=list)  # failed, running before the start


def fleet(dice: random.Random) -> tuple[tuple[str, ...], Constraints]:
    """Make a mixed fleet: replication trees up to four deep, clusters of three, hosts on their own; shuffled."""
    names = [f"h{number:04}" for number in range(HOSTS)]
    after: dict[str, set[str]] = {}
    clusters = []
    index = 0
    while index < HOSTS:
        kind, size = dice.choice([("tree", dice.randint(2, 12)), ("cluster", 3), ("alone", 1)])
        members = names[index : index + size]
        index += size
        if kind == "cluster":
            clusters.append(frozenset(members))
        for place, member in enumerate(members[1:] if kind == "tree" else [], 1):
            after.setdefault(dice.choice(members[:place]), set()).add(member)
    dice.shuffle(names)
    frozen = {primary: frozenset(replicas) for primary, replicas in after.items()}
    return tuple(names), Constraints(after=frozen, one_at_a_time=tuple(clusters), primaries=frozen)


def simulate(policy: Policy, state: Standing, dice: random.Random, fault_share: float) -> tuple[Run, Standing]:
    """Play the engine: start whom the judge starts, let running hosts end in any order, one at a time."""
    run = Run()
    while True:
        decision = judge(policy, state)
        if decision.action == "pause":
            state = replace(state, confirmed=state.confirmed + 1)
            continue
        if decision.action == "continue" and decision.start:
            for host in decision.start:
                run.started.append(host)
                run.failures_at_start.append((len(state.failed), len(state.running)))
                state = replace(state, running=state.running | {host})
            run.together.append(state.running)
        if not state.running:
            run.action = decision.action
            return run, state
        state = finish(state, dice.choice(sorted(state.running)), dice, fault_share)


def finish(state: Standing, host: str, dice: random.Random, fault_share: float) -> Standing:
    """End one running host, well or with one of the faults."""
    word = dice.choice(FAULTS) if dice.random() < fault_share else dice.choice(("changed", "ok"))
    state = replace(state, running=state.running - {host})
    if word == "gate":
        state = replace(state, failed_gates=state.failed_gates | {host})
    return replace(state, statuses={**state.statuses, host: "changed" if word == "gate" else word})


POLICIES = st.builds(
    Policy,
    canary=st.integers(0, 5),
    serial=st.lists(st.sampled_from([7, 40, "3%", "10%", "25%", "100%"]), min_size=1, max_size=3),
    max_failures=st.none() | st.integers(0, 60),
    max_fail_percentage=st.none() | st.floats(0, 8),
    on_failure=st.sampled_from(["stop", "roll_back"]),
    whole_wave_stops=st.booleans(),
    pause_between=st.booleans(),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(policy=POLICIES, seed=st.integers(0, 2**32), fault_share=st.sampled_from([0.0, 0.002, 0.02, 0.1, 1.0]))
def test_promises_hold_in_a_thousand_hosts_with_random_faults(policy: Policy, seed: int, fault_share: float) -> None:
    """The budget is never exceeded, no primary goes before its replicas, no cluster has two nodes down at once."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable die, no secret
    hosts, constraints = fleet(dice)
    planned = waves(policy, hosts, constraints)
    assert sorted(host for wave in planned for host in wave) == sorted(hosts)
    run, end = simulate(policy, Standing(waves=planned, constraints=constraints), dice, fault_share)

    budget = failure_budget(policy, HOSTS)
    # Nobody is started after the budget is exceeded, nor so that those that run could exceed it: only a host that
    # runs alone can be the one that ends the run.
    assert all(failed <= budget for failed, _ in run.failures_at_start)
    assert all(failed + running < budget or running == 0 for failed, running in run.failures_at_start)
    assert len(end.failed) <= budget + 1
    assert len(run.started) == len(set(run.started))
    for cluster in constraints.one_at_a_time:
        assert all(len(cluster & down) <= 1 for down in run.together)
        assert len(cluster & end.failed) <= 1
    place = {host: number for number, host in enumerate(run.started)}
    for primary, replicas in constraints.after.items():
        if primary in place:
            assert all(end.statuses.get(replica) in DONE and place[replica] < place[primary] for replica in replicas)
    if fault_share == 0:
        assert (run.action, len(run.started)) == ("continue", HOSTS)
    if fault_share == 1:
        assert run.action == policy.on_failure
