"""The health gate: a host after its change against its own baseline."""

from dataclasses import replace
from typing import Any

import pytest
from hosts_of_a_fleet import channel, facts, node

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown
from rollout.plan.codes import CODES
from rollout.plan.gate import Sample, gate, gate_closed, unsynced, why_cold


def sample(
    questions: int = 10_000,
    requests: int = 1_000_000,
    reads: int = 1_000,
    threads: int = 5,
    probe_seconds: tuple[float, ...] = (0.001, 0.002, 0.001),
    **replication: Any,
) -> Sample:
    """Make two probes ten seconds apart: in between `questions` were asked and `reads` of `requests` pages missed."""
    return Sample(
        _probe(100.0, (5_000, 10_000_000, 90_000), threads, replication),
        _probe(110.0, (5_000 + questions, 10_000_000 + requests, 90_000 + reads), threads, replication),
        probe_seconds,
    )


def _probe(at: float, counters: tuple[int, int, int], threads: int, replication: dict[str, Any]) -> Facts:
    """Make a probe `at` seconds of uptime; `counters` are questions, page requests and pages read since the start."""
    questions, requests, reads = counters
    known = facts("db1", 1, **replication)
    return replace(
        known,
        server=replace(known.server, uptime_seconds=at),
        trail=replace(known.trail, error_lines=()),
        pool=replace(
            known.pool,
            read_requests=requests,
            reads=reads,
            pages_data=50_000,
            pages_made_young=0,
            load_status="Buffer pool(s) load completed at 261130 10:00:00",
        ),
        workload=replace(known.workload, monotonic_seconds=at, questions=questions, threads_running=threads),
    )


def after(change: Sample, **second: Any) -> Sample:
    """Replace domains of the second probe."""
    return replace(change, second=replace(change.second, **second))


def statuses(baseline: Sample, now: Sample) -> dict[str, str]:
    """Run the gate and keep what each result says, but for passes."""
    return {one.id.removeprefix("gate_"): one.status for one in gate(baseline, now) if one.status != "pass"}


ALONE = {"replication": "skip", "lag": "skip", "wsrep": "skip"}  # no replica, no node


def test_a_host_as_before_opens_the_gate() -> None:
    """The same numbers pass; a stand-alone host has nothing to compare of replication and cluster."""
    results = gate(sample(), sample())
    assert statuses(sample(), sample()) == ALONE
    assert not gate_closed(results)


def test_every_result_of_the_gate_is_explained() -> None:
    """Whoever reads a result can ask `rollout explain` for it."""
    assert {one.id for one in gate(sample(), sample())} <= set(CODES)


def test_a_server_that_does_not_answer_closes_the_gate() -> None:
    """Known to be down, and not known to be up, both close it."""
    for running in (None, Unknown("nobody could log in")):
        now = sample()
        now = after(now, server=replace(now.second.server, running=running))
        assert statuses(sample(), now)["answers"] == "fail"
        assert gate_closed(gate(sample(), now))


def test_an_error_in_the_log_closes_the_gate() -> None:
    """A line with [ERROR] since the start that the baseline did not have."""
    now = sample()
    now = after(now, trail=replace(now.second.trail, error_lines=("2026-11-30 10:00:00 0 [ERROR] InnoDB: no",)))
    assert statuses(sample(), now) == {**ALONE, "error_log": "fail"}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({}, {}, {"wsrep": "skip"}),
        ({}, {"seconds_behind": 10}, {"wsrep": "skip"}),  # the limit itself is allowed
        ({}, {"seconds_behind": 11}, {"wsrep": "skip", "lag": "fail"}),
        ({"seconds_behind": 3600}, {"seconds_behind": 3605}, {"wsrep": "skip"}),  # a delayed replica
        ({}, {"seconds_behind": None}, {"wsrep": "skip", "lag": "fail"}),
        ({}, {"using_gtid": "No"}, {"wsrep": "skip", "replication": "fail"}),
    ],
)
def test_replication_as_before(before: dict[str, Any], now: dict[str, Any], expected: dict[str, str]) -> None:
    """Channels run with the same settings and are not further behind than the limit."""
    baseline = sample(channels=(channel("10.0.0.2", 2, **before),))
    assert statuses(baseline, sample(channels=(channel("10.0.0.2", 2, **now),))) == expected


@pytest.mark.parametrize(
    ("state", "size", "expected"),
    [("Synced", 3, {}), ("Synced", 2, {"wsrep": "fail"}), ("Joined", 3, {"wsrep": "fail"})],
)
def test_a_node_is_synced_and_the_size_of_its_cluster_restored(state: str, size: int, expected: dict[str, str]) -> None:
    """Of three nodes, two are not enough to go on, nor is one that still catches up."""
    baseline = sample(galera=node(3))
    quiet = {"replication": "skip", "lag": "skip"}
    assert statuses(baseline, sample(galera=node(size, state))) == {**quiet, **expected}


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        (1_000, {}),
        (3_500, {}),  # 0.1 % of misses before: up to 0.35 % may be now
        (3_600, {"hit_ratio": "fail"}),
        (0, {}),
    ],
)
def test_the_hit_ratio_of_a_warm_pool(reads: int, expected: dict[str, str]) -> None:
    """More misses than the margin allows close the gate."""
    assert statuses(sample(), sample(reads=reads)) == {**ALONE, **expected}


def test_a_cold_pool_is_not_compared() -> None:
    """With 60 % of the pages that it held nothing is said of speed, and the reason names both numbers."""
    now = sample(reads=900_000, threads=500)
    now = after(now, pool=replace(now.second.pool, pages_data=30_000))
    assert statuses(sample(), now) == {**ALONE, "hit_ratio": "skip", "latency": "skip", "threads": "skip"}
    assert why_cold(sample().second, now.second) == "the pool holds 30000 of the 50000 pages that it held before"


@pytest.mark.parametrize("said", ["Loading buffer pool(s) from /data/ib_buffer_pool", "Loaded 811/12429 pages"])
def test_a_pool_that_loads_is_cold(said: str) -> None:
    """While the dumped pages are read in, the pool is not warm, however many pages it holds."""
    now = sample()
    now = after(now, pool=replace(now.second.pool, load_status=said))
    assert said in why_cold(sample().second, now.second)


def test_a_broken_counter_is_not_divided_by() -> None:
    """Innodb_buffer_pool_read_requests stuck at 0 (MDEV-32920): no hit ratio, and no failure of it."""
    stuck = sample(requests=-10_000_000)
    stuck = replace(stuck, first=replace(stuck.first, pool=replace(stuck.first.pool, read_requests=0)))
    assert statuses(sample(), stuck) == {**ALONE, "hit_ratio": "skip"}
    assert "broken" in next(one.found for one in gate(sample(), stuck) if one.id == "gate_hit_ratio")


@pytest.mark.parametrize(
    ("threads", "expected"), [(5, {}), (9, {}), (10, {"threads": "fail"})]
)  # the probe itself is one: 4 before, so 8 may be now
def test_threads_running_at_equal_load(threads: int, expected: dict[str, str]) -> None:
    """At as many questions a second, more statements at work than the margin allows close the gate."""
    assert statuses(sample(), sample(threads=threads)) == {**ALONE, **expected}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [((0.0065,), {}), ((0.0066,), {"latency": "fail"}), ((), {"latency": "skip"}), ((0.001, 9.0, 0.001), {})],
)
def test_latency_of_the_probe_query(seconds: tuple[float, ...], expected: dict[str, str]) -> None:
    """The median of our own query: 1 ms before, so 6.5 ms may be now; one slow answer is no verdict."""
    assert statuses(sample(), sample(probe_seconds=seconds)) == {**ALONE, **expected}


@pytest.mark.parametrize(
    ("questions", "comparable"), [(12_500, True), (7_500, True), (12_600, False), (7_400, False), (0, False)]
)
def test_speed_is_compared_at_equal_load_only(questions: int, comparable: bool) -> None:
    """A quarter more or fewer questions a second is still alike; beyond that nothing is said."""
    now = sample(questions=questions, threads=500, probe_seconds=(1.0,))
    expected = "fail" if comparable else "skip"
    assert statuses(sample(), now) == {**ALONE, "latency": expected, "threads": expected}


def test_an_idle_host_is_compared_with_an_idle_host() -> None:
    """No questions before and none now are equal loads, without a division by zero."""
    idle = sample(questions=0, requests=0, reads=0, threads=1)
    assert statuses(idle, idle) == {**ALONE, "hit_ratio": "skip"}


def test_a_restart_between_the_probes_is_not_compared() -> None:
    """Counters that began anew say nothing."""
    now = sample()
    now = after(now, server=replace(now.second.server, uptime_seconds=3.0))
    assert statuses(sample(), now) == {**ALONE, "hit_ratio": "skip", "latency": "skip", "threads": "skip"}


def test_the_peers_of_a_node_forbid_the_next_one_unless_synced() -> None:
    """A donor that stayed Desynced, a split, and a node that could not be asked are named with their state."""
    peers = {
        "g1": node(),
        "g2": node(state="Donor/Desynced"),
        "g3": node(status="non-Primary"),
        "g4": Unknown("the server is not running"),
        "g5": None,
    }
    assert unsynced(peers) == {
        "g2": "Donor/Desynced, Primary",
        "g3": "Synced, non-Primary",
        "g4": "not known: the server is not running",
        "g5": "no node of a cluster",
    }
