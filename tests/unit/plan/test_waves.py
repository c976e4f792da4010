"""The waves of a run: sizes, percentages, canaries, and constraints between hosts."""

import pytest
from pydantic import ValidationError

from rollout.errors import UsageProblem
from rollout.plan.policy import Policy, failure_budget, wave_hosts
from rollout.plan.waves import Constraints, backwards, waves


def hosts(number: int) -> tuple[str, ...]:
    """Name `number` hosts, in the inventory's order."""
    return tuple(f"h{index}" for index in range(1, number + 1))


SIZES = [
    # canary, serial, hosts -> hosts in each wave
    (0, 1, 0, []),  # zero hosts: no wave, and no division by zero
    (1, "25%", 0, []),
    (1, 1, 1, [1]),
    (5, 1, 3, [3]),  # a canary larger than the fleet
    (0, 3, 9, [3, 3, 3]),
    (0, 2, 5, [2, 2, 1]),
    (1, 2, 5, [1, 2, 2]),
    (2, 3, 9, [2, 3, 3, 1]),
    (0, 99, 5, [5]),  # larger than the fleet
    (
        0,
        [1, 5, 10],
        20,
        [1, 5, 10, 4],
    ),  # the worked example of Ansible's manual for `serial` as a list: the last size repeats
    (0, [1, 2], 8, [1, 2, 2, 2, 1]),
    (0, "30%", 10, [3, 3, 3, 1]),  # the same manual: 30 % of 10 hosts
    (0, ["10%", "20%", "100%"], 10, [1, 2, 7]),
    (0, [1, 5, "20%"], 20, [1, 5, 4, 4, 4, 2]),
    (0, "100%", 4, [4]),
    (0, "10%", 4, [1, 1, 1, 1]),  # less than one host is one host, never none and never all
    (0, "33%", 10, [3, 3, 3, 1]),  # rounds down
    (0, "33.4%", 1000, [334, 334, 332]),
    (0, "29%", 100, [29, 29, 29, 13]),  # 28 in binary floating point
    (0, "0.1%", 50, [1] * 50),
    (1, "50%", 11, [1, 5, 5]),  # a share of all hosts, not of those that are left
    (1, ["5%", "10%", "25%"], 1000, [1, 50, 100, 250, 250, 250, 99]),
    (1, "1,25%", 8, [1, 1, 2, 2, 2]),  # as it comes from a command line
]


@pytest.mark.parametrize(("canary", "serial", "number", "expected"), SIZES)
def test_sizes_of_waves(canary: int, serial: object, number: int, expected: list[int]) -> None:
    """Waves have the sizes that canary and serial ask for, and hold every host once, in order."""
    planned = waves(Policy.model_validate({"canary": canary, "serial": serial}), hosts(number))
    assert [len(wave) for wave in planned] == expected
    assert tuple(host for wave in planned for host in wave) == hosts(number)


@pytest.mark.parametrize(
    "serial", [0, -1, "0", "0%", "101%", "ten", "", [], [1, 0], 2.5, True, None, "5%,", "-5%", "1e2%"]
)
def test_a_wave_size_that_means_nothing_is_refused(serial: object) -> None:
    """Zero is refused (Ansible takes 0 as all hosts at once), and so is what is neither number nor percentage."""
    with pytest.raises(ValidationError):
        Policy.model_validate({"serial": serial})


def test_all_mistakes_of_a_policy_are_named_at_once() -> None:
    """A policy with four mistakes reports four."""
    with pytest.raises(ValidationError) as caught:
        Policy.model_validate({"serial": 0, "max_failures": -1, "canary": -2.5, "max_fail_percentage": 101, "retry": 1})
    assert {str(error["loc"][0]) for error in caught.value.errors()} == {
        *("serial", "max_failures", "canary", "max_fail_percentage", "retry"),
    }


@pytest.mark.parametrize(
    ("limits", "total", "expected"),
    [
        ({}, 100, 0),
        ({"max_failures": 3}, 100, 3),
        ({"max_fail_percentage": 10}, 100, 10),
        ({"max_fail_percentage": 30}, 10, 3),
        ({"max_fail_percentage": 29}, 100, 29),  # 28 in binary floating point
        ({"max_fail_percentage": 10}, 9, 0),  # rounds down
        ({"max_fail_percentage": 100}, 7, 7),
        ({"max_failures": 3, "max_fail_percentage": 10}, 20, 2),  # the tighter one
        ({"max_failures": 3, "max_fail_percentage": 10}, 0, 0),
    ],
)
def test_failure_budget(limits: dict[str, float], total: int, expected: int) -> None:
    """The budget is a number of hosts of the whole run; percentages round down and the tighter limit holds."""
    assert failure_budget(Policy.model_validate(limits), total) == expected


def test_wave_hosts_of_nothing() -> None:
    """A percentage of no hosts is still no division by zero."""
    assert wave_hosts("50%", 0) == 1


TREE = Constraints(after={"h1": frozenset({"h2", "h3"}), "h3": frozenset({"h4"})})


def test_a_primary_comes_after_its_replicas() -> None:
    """An inventory that lists the primary first is turned: leaves, then the replica between, then the primary."""
    assert waves(Policy(canary=0, serial=("100%",)), hosts(4), TREE) == (("h2", "h4"), ("h3",), ("h1",))


def test_a_host_that_must_come_before_and_is_not_in_the_run_is_not_waited_for() -> None:
    """With a limit that leaves the replicas out, the primary's wave is found all the same."""
    assert waves(Policy(), ("h1",), TREE) == (("h1",),)


def test_nodes_of_a_cluster_never_share_a_wave() -> None:
    """Three nodes of a cluster take three waves, hosts beside them fill up."""
    cluster = Constraints(one_at_a_time=(frozenset({"h1", "h2", "h3"}),))
    assert waves(Policy(canary=0, serial=(3,)), hosts(6), cluster) == (("h1", "h4", "h5"), ("h2", "h6"), ("h3",))


def test_a_canary_by_name_goes_first() -> None:
    """The named host is the first wave, the others follow in order."""
    assert waves(Policy.model_validate({"canary": "h4", "serial": 2}), hosts(4), TREE) == (
        ("h4",),
        ("h2", "h3"),
        ("h1",),
    )


@pytest.mark.parametrize(
    ("canary", "complaint"),
    [("h1", "h2, h3 must be changed before it"), ("h9", "called h9"), (["h2", "h3"], "h4 must be changed before it")],
)
def test_a_canary_that_cannot_be_first_is_refused(canary: object, complaint: str) -> None:
    """A primary, or a name that is not in the run, is no canary; the message says why."""
    with pytest.raises(UsageProblem, match=complaint):
        waves(Policy.model_validate({"canary": canary}), hosts(4), TREE)


def test_two_nodes_of_a_cluster_are_no_canary() -> None:
    """Canaries that would take two nodes of one cluster down together are refused."""
    with pytest.raises(UsageProblem, match="h2 cannot share"):
        waves(Policy(canary=("h1", "h2")), hosts(3), Constraints(one_at_a_time=(frozenset({"h1", "h2", "h3"}),)))


def test_constraints_that_contradict_each_other_are_named() -> None:
    """A cycle ends in an error with the hosts of it, not in a loop without end."""
    ring = Constraints(after={"h2": frozenset({"h3"}), "h3": frozenset({"h2"})})
    with pytest.raises(UsageProblem, match="no order is possible for h2, h3"):
        waves(Policy(), hosts(3), ring)


def test_a_host_that_is_given_twice_is_changed_once() -> None:
    """A host in two groups of the inventory stands in one wave."""
    assert waves(Policy(canary=0, serial=(9,)), ("h1", "h2", "h1")) == (("h1", "h2"),)


def test_a_rollback_goes_the_other_way() -> None:
    """The last wave comes first, and its last host first."""
    assert backwards((("h4",), ("h2", "h3"), ("h1",))) == (("h1",), ("h3", "h2"), ("h4",))
