"""The judge's table: where a run stands, what is decided, and who is started."""

from typing import Any

import pytest

from rollout.plan.judge import Standing, judge
from rollout.plan.policy import Policy
from rollout.plan.waves import Constraints

WORDS = {
    "c": "changed",
    "o": "ok",
    "f": "failed",
    "e": "recovered",
    "b": "rolled_back",
    "u": "unreachable",
    "s": "stale",
    "B": "blocked",
    "k": "skipped",
    "?": "unknown",
    "!": "a word that nobody foresaw",
    ".": "pending",
    "r": "pending",  # and runs
    "g": "changed",  # and its gate failed
}


def standing(text: str, **more: Any) -> Standing:
    """Read a run from a text: one letter a host (`WORDS`), waves apart by a space; hosts are a, b, c, …"""
    waves: list[tuple[str, ...]] = []
    letters: dict[str, str] = {}
    for wave in text.split():
        names = [chr(ord("a") + len(letters) + index) for index in range(len(wave))]
        letters.update(zip(names, wave, strict=True))
        waves.append(tuple(names))
    return Standing(
        waves=tuple(waves),
        statuses={name: WORDS[letter] for name, letter in letters.items()},
        running=frozenset(name for name, letter in letters.items() if letter == "r"),
        failed_gates=frozenset(name for name, letter in letters.items() if letter == "g"),
        **more,
    )


TEN = {"canary": 0, "max_fail_percentage": 10}
TABLE = [
    # policy, run -> action, code, hosts to start now
    # -- nothing to do
    ({}, "", "continue", "nothing_left", ""),  # zero hosts
    ({}, "c", "continue", "nothing_left", ""),
    ({}, "o oo", "continue", "nothing_left", ""),
    ({}, "k kk", "continue", "nothing_left", ""),  # nobody was tried: nobody failed
    ({"pause_between": True}, "c c", "continue", "nothing_left", ""),  # no question after the last wave
    # -- a run without faults
    ({}, ". .. ...", "continue", "within_budget", "a"),
    ({}, "r .. ...", "continue", "within_budget", ""),  # the wave is not over
    ({}, "c .. ...", "continue", "within_budget", "b"),  # nobody may fail, so one host at a time
    ({"max_failures": 2}, "c ...", "continue", "within_budget", "bc"),  # as many at once as may fail
    ({"max_failures": 2}, "c r..", "continue", "within_budget", "c"),
    ({"max_failures": 2}, "c rr.", "continue", "within_budget", ""),
    ({"max_failures": 9}, "c ...", "continue", "within_budget", "bcd"),
    ({"at_once": "wave"}, "c ... ..", "continue", "within_budget", "bcd"),  # asked for: the whole wave
    # -- the canary
    ({}, "f .. ..", "stop", "canary_failed", ""),
    ({"max_failures": 5}, "f .. ..", "stop", "canary_failed", ""),  # whatever the budget
    ({"max_failures": 5}, "u .. ..", "stop", "canary_failed", ""),  # not there is not well
    ({"canary": 2, "max_failures": 5}, "cf .. ..", "stop", "canary_failed", ""),
    ({"max_failures": 5, "on_failure": "roll_back"}, "g .. ..", "roll_back", "canary_failed", ""),
    ({"canary": 0, "max_failures": 5}, "f .. ..", "continue", "within_budget", "bc"),  # there is no canary
    # -- one global budget
    ({"canary": 0}, "c f . .", "stop", "budget_exceeded", ""),
    ({"canary": 0, "on_failure": "roll_back"}, "c f . .", "roll_back", "budget_exceeded", ""),
    ({"canary": 0, "max_failures": 1}, "c f . .", "continue", "budget_used_up", "c"),  # used up exactly
    ({"canary": 0, "max_failures": 1}, "c f f .", "stop", "budget_exceeded", ""),
    ({"canary": 0, "max_failures": 1}, "f c c f .", "stop", "budget_exceeded", ""),  # over waves, not in each of them
    (
        {"canary": 0, "max_failures": 1},
        "c c f . . . . . . .",
        "continue",
        "budget_used_up",
        "d",
    ),  # serial 1, third of ten
    ({"canary": 0, "max_failures": 0}, "c c f . . . . . . .", "stop", "budget_exceeded", ""),
    ({"canary": 0, "max_failures": 3}, "cf r... ..", "continue", "within_budget", "d"),  # one runs, two may still fail
    # -- percentages of the run: must be exceeded, as in Ansible's manual
    (TEN, "f.........", "continue", "budget_used_up", "b"),  # 10 % of 10 is 1
    (TEN, "ff........", "stop", "budget_exceeded", ""),
    (TEN, "f........", "stop", "budget_exceeded", ""),  # 10 % of 9 rounds down to none
    ({"canary": 0, "max_fail_percentage": 30}, "fff.......", "continue", "budget_used_up", "d"),
    ({"canary": 0, "max_fail_percentage": 30}, "ffff......", "stop", "budget_exceeded", ""),
    ({**TEN, "max_failures": 5}, "ff........", "stop", "budget_exceeded", ""),  # the tighter limit holds
    ({"canary": 0, "max_fail_percentage": 100}, "f f f .", "continue", "within_budget", "d"),
    # -- what counts
    ({"canary": 0, "max_failures": 1}, "c uu .", "stop", "budget_exceeded", ""),  # unreachable
    ({"canary": 0, "max_failures": 1}, "c fu .", "stop", "budget_exceeded", ""),
    ({"canary": 0}, "c e .", "stop", "budget_exceeded", ""),  # recovered: serves, but did not get the change
    ({"canary": 0}, "c b .", "stop", "budget_exceeded", ""),
    ({"canary": 0}, "c s .", "stop", "budget_exceeded", ""),  # stale: nobody reviewed what would happen
    ({"canary": 0}, "c ? .", "stop", "budget_exceeded", ""),
    ({"canary": 0}, "c ! .", "stop", "budget_exceeded", ""),
    ({"canary": 0}, "c g .", "stop", "budget_exceeded", ""),  # the gate of a changed host
    ({"canary": 0}, "c k .", "continue", "within_budget", "c"),  # left alone on purpose
    # -- a wave that fails whole
    ({"canary": 0, "max_failures": 9}, "ff .. ..", "stop", "wave_failed_whole", ""),
    ({"canary": 0, "max_failures": 9}, "cc uf ..", "stop", "wave_failed_whole", ""),
    ({"canary": 0, "max_failures": 9}, "cc uu ..", "stop", "wave_failed_whole", ""),  # unreachable does not slip past
    ({"canary": 0, "max_failures": 9}, "cc kff ..", "stop", "wave_failed_whole", ""),  # whole of what was tried
    ({"canary": 0, "max_failures": 9}, "cc cff ..", "continue", "within_budget", "fg"),
    ({"canary": 0, "max_failures": 9}, "cc ffr ..", "continue", "within_budget", ""),  # not over yet
    ({"canary": 0, "max_failures": 9}, "c f . .", "continue", "within_budget", "c"),  # a wave of one is the budget's
    ({"canary": 0, "max_failures": 9, "whole_wave_stops": False}, "cc ff ..", "continue", "within_budget", "ef"),
    ({"canary": 0, "max_failures": 9, "on_failure": "roll_back"}, "cc ff ..", "roll_back", "wave_failed_whole", ""),
    # -- blocked hosts
    ({}, "B .. ..", "stop", "host_blocked", ""),
    ({}, ". .B ..", "stop", "host_blocked", ""),  # before anything is touched
    ({"skip_blocked": True}, "B .. ..", "continue", "within_budget", "b"),
    ({"skip_blocked": True, "canary": 0, "max_failures": 9}, "BB .. ..", "continue", "within_budget", "cd"),
    # -- pause
    ({"pause_between": True}, ". .. ..", "continue", "within_budget", "a"),  # not before the first
    ({"pause_between": True}, "r .. ..", "continue", "within_budget", ""),
    ({"pause_between": True}, "c .. ..", "pause", "pause_between", ""),
    ({"pause_between": True}, "c c. ..", "continue", "within_budget", "c"),  # within a wave nobody is asked
    ({"pause_between": True}, "f .. ..", "stop", "canary_failed", ""),  # a failure is no question
]


@pytest.mark.parametrize(("policy", "run", "action", "code", "start"), TABLE, ids=str)
def test_table(policy: dict[str, Any], run: str, action: str, code: str, start: str) -> None:
    """Each row of the table is decided as it stands there."""
    decision = judge(Policy.model_validate(policy), standing(run))
    assert (decision.action, decision.code, "".join(decision.start)) == (action, code, start)


def test_the_table_has_at_least_forty_rows() -> None:
    """Nobody takes rows out of the table unseen."""
    assert len(TABLE) >= 40


def test_abort_finishes_what_runs_and_starts_nothing() -> None:
    """Abort stops at any point, before every other reason."""
    decision = judge(Policy(on_failure="roll_back"), standing("c rf .", abort_requested=True))
    assert (decision.action, decision.code, decision.start) == ("stop", "run_aborted", ())


def test_a_confirmed_pause_is_asked_once() -> None:
    """After a person said yes the wave begins, and the next one is asked for again."""
    policy = Policy(pause_between=True)
    assert judge(policy, standing("c .. .", confirmed=1)).start == ("b",)
    assert judge(policy, standing("c cc .", confirmed=1)).action == "pause"


def test_the_reason_names_numbers_and_hosts() -> None:
    """Who reads the reason knows how many failed, how many may, and who."""
    decision = judge(Policy(canary=0, max_failures=1), standing("c fu .."))
    assert decision.reason == "2 of 5 hosts failed, at most 1 may: b, c"


REPLICATION = Constraints(after={"c": frozenset({"a", "b"})}, primaries={"c": frozenset({"a", "b"})})


@pytest.mark.parametrize("bad", ["f", "u", "k", "B"])
def test_a_primary_is_held_back_when_a_replica_was_not_changed(bad: str) -> None:
    """A primary never becomes newer than its replica, whatever kept the replica back."""
    policy = Policy(canary=0, max_failures=5, skip_blocked=True)
    decision = judge(policy, standing(f"c {bad} . .", constraints=REPLICATION))
    assert decision.held_back == {"c": "had to be changed before it, and was not: b"}
    assert decision.start == ("d",)


def test_what_is_held_back_holds_back_what_follows_it() -> None:
    """A failed leaf holds back the replica above it and the primary above that."""
    chain = Constraints(after={"b": frozenset({"a"}), "c": frozenset({"b"})})
    decision = judge(Policy(canary=0, max_failures=1), standing("f . .", constraints=chain))
    assert (decision.code, list(decision.held_back)) == ("nothing_left", ["b", "c"])


def test_a_cluster_is_left_alone_once_a_node_failed() -> None:
    """The second node of a cluster is not put at risk, hosts outside it go on."""
    cluster = Constraints(one_at_a_time=(frozenset("abc"),))
    decision = judge(Policy(canary=0, max_failures=5), standing("f.. ", constraints=cluster))
    assert (decision.code, sorted(decision.held_back)) == ("nothing_left", ["b", "c"])


def test_stop_for_switchover_stops_before_the_primary() -> None:
    """The replicas are done, the primary is next: the run stops and names who replicates from it."""
    policy = Policy(stop_for_switchover=True, pause_between=True)
    assert judge(policy, standing(". . .", constraints=REPLICATION)).start == ("a",)
    decision = judge(policy, standing("c c .", constraints=REPLICATION, confirmed=1))
    assert (decision.action, decision.code) == ("stop", "switchover_needed")
    assert "c is the primary of a, b" in decision.reason


def test_a_host_outside_its_window_is_not_begun() -> None:
    """Others of its wave go first; then the run stops, the wave is not over, and running hosts are waited for."""
    shut = {"b": "its window opens later", "d": "its window opens later"}
    first = judge(Policy(), standing("c .. ..", shut=shut))
    assert (first.action, first.start) == ("continue", ("c",))
    waiting = judge(Policy(), standing("c .r ..", shut=shut))
    assert (waiting.action, waiting.start) == ("continue", ())
    stopped = judge(Policy(), standing("c .c ..", shut=shut))
    assert (stopped.action, stopped.code) == ("stop", "window_closed")
    assert stopped.reason == "b: its window opens later"
    assert judge(Policy(), standing("c cc cc", shut=shut)).code == "nothing_left"
