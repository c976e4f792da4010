"""Predicted beside measured, the tally over runs, and the text of an upstream report."""

import json

import pytest
import recorded_hosts as hosts

from rollout.prediction.compare import Comparison, Row, compare, comparison_from_json, tally
from rollout.prediction.live import predict
from rollout.prediction.model import Prediction
from rollout.prediction.ticket import ticket
from rollout.settings import Settings

MIB = 2**20


def loaded(arenas: int, rss: int, **pool: int) -> hosts.Pair:
    """A host at 2,000 queries a second whose arenas and memory are so many MiB."""
    first = hosts.with_facts(
        hosts.quiet(), memory={"arena_bytes": arenas * MIB, "rss_bytes": rss * MIB}, pool={"pages_free": 90_000, **pool}
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


@pytest.mark.parametrize(("rss", "within"), [(2400, True), (3050, False), (1900, False)])
def test_memory_is_judged_by_its_range(rss: int, within: bool) -> None:
    """1030 MiB in heap and arenas: none to 1082 of 3000 MiB were to come back."""
    memory = rows(compare(PREDICTION, BEFORE, loaded(100, rss)))["memory_bytes"]
    assert memory.within is within
    assert memory.predicted is not None
    assert [round(end / MIB) for end in (memory.predicted.low, memory.predicted.high)] == [1918, 3000]


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


@pytest.mark.parametrize(("reads", "worse"), [(600, False), (650, False), (1_500, True)])
def test_more_misses_than_before_are_told(reads: int, worse: bool) -> None:
    """A miss ratio of 2.5 % after 1 % is worse, 1.08 % is within the margin."""
    _, second = BEFORE
    after = hosts.later(second, pool={"read_requests": 60_000, "reads": reads, "read_ahead": 0})
    assert ("miss_ratio_worse" in codes(compare(PREDICTION, BEFORE, (second, after)))) is worse


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
    runs = [loaded(100, 2400), loaded(100, 3050), loaded(100, 2500), loaded(100, 1900, pages_data=50_000)]
    tallied = tally(compare(PREDICTION, BEFORE, run) for run in runs)
    memory = {each.name: each for each in tallied}["memory_bytes"]
    assert (memory.judged, memory.within) == (3, 2)
    assert memory.mean_relative_error is not None
    assert 0 < memory.mean_relative_error < 0.2


def test_unknown_sides_are_no_verdict() -> None:
    """A prediction without a range is not called right or wrong."""
    dark: Prediction = predict(hosts.dark(), None, fix="available", settings=Settings())
    assert {row.within for row in compare(dark, BEFORE, BEFORE).rows} == {None}
