"""Predicted beside measured, the tally over runs, and the text of an upstream report."""

import json
from typing import Any

import pytest
import recorded_hosts as hosts

from rollout.facts.unknown import Unknown
from rollout.prediction.compare import Comparison, Row, compare, comparison_from_json, tally
from rollout.prediction.live import predict
from rollout.prediction.model import Prediction
from rollout.prediction.ticket import ticket
from rollout.settings import Settings

MIB = 2**20


def loaded(arenas: int, rss: int, **pool: int) -> hosts.Pair:
    """A host at 2,000 queries a second whose arenas and memory are so many MiB."""
    first = hosts.with_facts(
        hosts.quiet(),
        memory={"arena_bytes": arenas * MIB, "rss_bytes": rss * MIB},
        pool={"pages_free": 90_000, **pool},
        workload={"created_tmp_tables": 10**8, "created_tmp_disk_tables": 10**7},
    )
    second = hosts.later(
        first,
        pool={"read_requests": 60_000, "reads": 600, "read_ahead": 0, "pages_made_young": 9_000},
        workload={"questions": 2_000},
        memory={"cpu_seconds": 0.8, "voluntary_switches": 9_000},
    )
    return hosts.with_commands(first, second, hosts.busy(2_000))


BEFORE = loaded(1000, 3000)
PREDICTION = predict(*BEFORE, fix="available", settings=Settings())


def rows(comparison: Comparison) -> dict[str, Row]:
    """Return the rows by name."""
    return {row.name: row for row in comparison.rows}


def codes(comparison: Comparison) -> set[str]:
    """Return the codes of the notes."""
    return {note.code for note in comparison.notes}


@pytest.mark.parametrize(("rss", "within"), [(2400, True), (2900, False), (1900, False)])
def test_memory_is_judged_by_its_range(rss: int, within: bool) -> None:
    """1030 MiB in heap and arenas: 55 to 105 % of it, 566 to 1082 of 3000 MiB, were to come back."""
    memory = rows(compare(PREDICTION, BEFORE, loaded(100, rss)))["memory_bytes"]
    assert memory.within is within
    assert memory.predicted is not None
    assert [round(end / MIB) for end in (memory.predicted.low, memory.predicted.high)] == [1918, 2434]


def test_how_far_off_the_middle_was_is_told_as_a_share_of_what_was_to_come_back() -> None:
    """824 MiB were to come back and 100 did: 88 % off, not 25 % of the process."""
    memory = rows(compare(PREDICTION, BEFORE, loaded(100, 2900)))["memory_bytes"]
    assert memory.error == pytest.approx((824 - 100) / 824, abs=0.001)


def test_memory_is_judged_with_as_many_pages_in_the_pool() -> None:
    """12,000 pages fewer are 188 MiB that no allocator has given back."""
    held = BEFORE[1].pool.pages_data
    assert isinstance(held, int)
    memory = rows(compare(PREDICTION, BEFORE, loaded(1000, 3000 - 188, pages_data=held - 12_000)))["memory_bytes"]
    assert memory.within is False
    assert memory.remark == "2.9 GiB with as many pages in the pool as before"
    assert memory.error == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"server": {"uptime_seconds": 130.0}}, "up for 130 s, 864,010 s before"),
        ({"workload": {"max_used_connections": 12}}, "at most 12 connections were open at once, 200 before"),
        ({"server": {"uptime_seconds": Unknown("denied")}}, "how long the server has been up is not known"),
    ],
)
def test_a_fresh_process_is_no_saving(changed: dict[str, Any], told: str) -> None:
    """Any restart makes a server smaller, with or without jemalloc: that is neither right nor wrong yet."""
    after = loaded(0, 2100)
    found = compare(PREDICTION, BEFORE, (after[0], hosts.with_facts(after[1], **changed)))
    assert rows(found)["memory_bytes"].within is None
    assert told in rows(found)["memory_bytes"].remark
    assert "memory_young" in codes(found)


def test_an_hour_is_enough_for_memory() -> None:
    """Nobody waits ten days for a verdict."""
    after = [hosts.with_facts(each, server={"uptime_seconds": 3700.0 + place}) for place, each in enumerate(BEFORE)]
    assert rows(compare(PREDICTION, BEFORE, (after[0], after[1])))["memory_bytes"].within is False


@pytest.mark.parametrize(("rss", "within"), [(3000, True), (2990, True), (3140, True), (2800, False), (3300, False)])
def test_no_change_of_memory_is_right_within_what_is_noticed(rss: int, within: bool) -> None:
    """The allocator stays: 5 % of 3000 MiB either way are no change."""
    kept = predict(*BEFORE, fix="available", settings=Settings(allocator="keep"))
    memory = rows(compare(kept, BEFORE, loaded(1000, rss)))["memory_bytes"]
    assert (memory.within, memory.error) == (within, None)


@pytest.mark.parametrize(("reads", "within"), [(600, True), (740, True), (800, False), (12_000, False)])
def test_a_hit_ratio_is_judged_by_its_misses(reads: int, within: bool) -> None:
    """1 % missed: within a quarter of that, not within a point."""
    _, second = BEFORE
    after = hosts.later(second, pool={"read_requests": 60_000, "reads": reads, "read_ahead": 0})
    hit = rows(compare(PREDICTION, BEFORE, (second, after)))["hit_ratio"]
    assert hit.within is within
    assert hit.predicted is not None
    assert hit.predicted.high <= 1


def test_a_pool_that_still_fills_has_misses_of_its_own() -> None:
    """95 % of the pages are there: what is read in is no fault of the change."""
    held = BEFORE[1].pool.pages_data
    assert isinstance(held, int)
    hit = rows(compare(PREDICTION, BEFORE, loaded(100, 2400, pages_data=round(held * 0.95))))["hit_ratio"]
    assert (hit.within, hit.remark) == (None, "pool still filling")


@pytest.mark.parametrize(("looks", "within"), [((1, 2, 1, 1), None), ((41,) * 8, True), ((81,) * 8, False)])
def test_latency_is_judged_where_enough_was_seen_at_work(looks: tuple[int, ...], within: bool | None) -> None:
    """Forty at a time in sixteen looks tell; one now and then is chance; twice as many are twice the latency."""
    before = [hosts.with_facts(each, workload={"at_work": (41,) * 8}) for each in BEFORE]
    pair = (before[0], before[1])
    prediction = predict(*pair, fix="present", settings=Settings())
    after = [hosts.with_facts(each, workload={"at_work": looks}) for each in BEFORE]
    latency = rows(compare(prediction, pair, (after[0], after[1])))["latency_ms"]
    assert latency.within is within
    assert bool(latency.remark) is (within is None)


def test_a_restart_in_the_midst_of_the_sample_is_no_measurement() -> None:
    """Its counters may have grown all the same."""
    after = (BEFORE[0], hosts.with_facts(BEFORE[1], server={"uptime_seconds": 5.0}))
    found = compare(PREDICTION, BEFORE, after)
    assert "counters_unknown" in codes(found)
    assert {row.within for row in found.rows} == {None}


def test_a_pool_of_unknown_pages_is_not_called_warm() -> None:
    """Nothing that depends on the pool is judged."""
    after = [hosts.with_facts(each, pool={"pages_data": Unknown("denied")}) for each in loaded(100, 2400)]
    assert {row.within for row in compare(PREDICTION, BEFORE, (after[0], after[1])).rows} == {None}


def test_figures_a_query_are_shown_without_a_verdict() -> None:
    """CPU and context switches a query are measured on both sides; nobody predicted them."""
    found = rows(compare(PREDICTION, BEFORE, BEFORE))
    assert found["cpu_us_per_query"].before == pytest.approx(400)
    assert found["switches_per_query"].after == pytest.approx(4.5)
    assert found["switches_per_query"].within is None


def test_promotions_are_not_compared_across_the_fix() -> None:
    """The counter changed its meaning: 1.5e9 before and 3e5 after is no regression."""
    found = compare(PREDICTION, BEFORE, loaded(100, 2400))
    assert rows(found)["promotions_per_read"].within is None
    assert "made_young_changed" in codes(found)


def test_a_cold_pool_is_not_compared() -> None:
    """Below nine tenths of the data pages nothing that depends on the pool is judged."""
    found = compare(PREDICTION, BEFORE, loaded(100, 1900, pages_data=50_000))
    assert "pool_still_cold" in codes(found)
    assert [row.within for row in found.rows] == [None] * len(found.rows)


def test_another_load_is_told() -> None:
    """Three times the queries: latency is not compared, figures a query are shown."""
    _, second = BEFORE
    more = hosts.later(second, workload={"questions": 6_000})
    found = compare(PREDICTION, BEFORE, (second, more))
    assert "load_differs" in codes(found)
    assert rows(found)["latency_ms"].within is None


@pytest.mark.parametrize(
    ("before", "reads", "worse"),
    [(600, 600, False), (600, 650, False), (600, 1_500, True), (6, 9, False), (6, 114, True)],
)
def test_more_misses_than_before_are_told(before: int, reads: int, worse: bool) -> None:
    """A miss ratio of 2.5 % after 1 % is worse, 1.08 % is within the margin; so is 0.19 % after 0.01 %."""
    _, second = loaded(100, 2400)
    then = hosts.later(second, pool={"read_requests": 60_000, "reads": before, "read_ahead": 0})
    after = hosts.later(then, pool={"read_requests": 60_000, "reads": reads, "read_ahead": 0})
    assert ("miss_ratio_worse" in codes(compare(PREDICTION, (second, then), (then, after)))) is worse


def test_the_ticket_names_the_issue_and_both_sides() -> None:
    """The text has read_requests and reads of both sides, not only speed."""
    _, second = BEFORE
    after = hosts.later(second, pool={"read_requests": 60_000, "reads": 1_500, "read_ahead": 0})
    text = ticket(BEFORE, (second, after))
    assert "MDEV-33966" in text
    assert [line.split() for line in text.splitlines() if "pool_read_requests " in line] == [
        ["Innodb_buffer_pool_read_requests", "600,000", "600,000"]
    ]
    assert [line.split() for line in text.splitlines() if "_pool_reads " in line] == [
        ["Innodb_buffer_pool_reads", "6,000", "15,000"]
    ]


def test_a_comparison_survives_the_run_directory() -> None:
    """What is kept is read back as it was."""
    found = compare(PREDICTION, BEFORE, loaded(100, 2400))
    assert comparison_from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_tally_counts_what_was_judged() -> None:
    """Two of three memory ranges held; a cold pool does not count."""
    runs = [loaded(100, 2400), loaded(100, 2900), loaded(100, 2300), loaded(100, 1900, pages_data=50_000)]
    tallied = tally(compare(PREDICTION, BEFORE, run) for run in runs)
    memory = {each.name: each for each in tallied}["memory_bytes"]
    assert (memory.judged, memory.within, memory.wide) == (3, 2, 0)
    off = [abs(saved - 824) / 824 for saved in (600, 100, 700)]
    assert memory.mean_relative_error == pytest.approx(sum(off) / 3, abs=0.001)


def test_a_wide_range_that_holds_is_counted_apart() -> None:
    """Nobody knows the tmp tables: 0 to 105 % hold whatever happens."""
    dark = [hosts.with_facts(each, workload={"created_tmp_tables": Unknown("denied")}) for each in BEFORE]
    vague = predict(*dark, fix="available", settings=Settings())
    (memory,) = (each for each in tally([compare(vague, BEFORE, loaded(100, 2900))]) if each.name == "memory_bytes")
    assert (memory.judged, memory.within, memory.wide) == (1, 1, 1)


def test_unknown_sides_are_no_verdict() -> None:
    """A prediction without a range is not called right or wrong."""
    dark: Prediction = predict(hosts.dark(), None, fix="available", settings=Settings())
    assert {row.within for row in compare(dark, BEFORE, BEFORE).rows} == {None}
