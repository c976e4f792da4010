"""What is predicted for recorded hosts, and the sentence that each gets."""

import json
from dataclasses import replace

import pytest
import recorded_hosts as hosts

from rollout.facts.unknown import Unknown
from rollout.prediction.codes import CODES
from rollout.prediction.live import predict
from rollout.prediction.model import Prediction, Verdict, prediction_from_json
from rollout.settings import Settings
from rollout.versions import FixStatus

BOTH = Settings()


def sentences(prediction: Prediction) -> str:
    """All reasons, one a line."""
    return "\n".join(note.message for note in prediction.reasons)


CASES: list[tuple[hosts.Pair, FixStatus, Verdict, str, str]] = [
    (hosts.ten_php_workers(), "available", "no_gain_expected", "mutex_idle", "0.22 % of one mutex is used"),
    (hosts.idle(), "available", "cannot_tell", "idle", "0.5 queries a second while it is looked at: it is idle"),
    (hosts.just_started(), "available", "cannot_tell", "server_young", "has been up for 30 s only"),
    (
        hosts.requests_stuck_at_zero(),
        "available",
        "cannot_tell",
        "counter_broken",
        "broken on this release: 0 requests beside 33094 pages read",
    ),
    (hosts.disk_bound_writer(), "available", "cannot_tell", "writes", "60% of the statements write"),
    (hosts.disk_bound_writer(), "available", "cannot_tell", "io_bound", "the host is I/O-bound"),
    (
        hosts.pool_is_all(),
        "no_fix_in_series",
        "no_gain_expected",
        "pool_dominates",
        "most of the server's memory is the buffer pool of 96 GiB",
    ),
    (hosts.has_jemalloc(), "no_fix_in_series", "no_gain_expected", "already_jemalloc", "with jemalloc 5.3.0 already"),
    (
        hosts.old_clock_at_zero(),
        "no_fix_in_series",
        "no_gain_expected",
        "clock_at_zero",
        "there is no mutex cost to take away",
    ),
    (hosts.large_in_memory(), "rehearsal", "no_gain_expected", "rehearsal_target", "does not carry the fix"),
    (hosts.large_in_memory(), "available", "gain", "mutex_limits", "9.8 % of one mutex is used (7.4 % to 16 %)"),
]


@pytest.mark.parametrize(("pair", "fix", "verdict", "code", "sentence"), CASES, ids=[case[3] for case in CASES])
def test_the_verdict_and_its_sentence(
    pair: hosts.Pair, fix: FixStatus, verdict: Verdict, code: str, sentence: str
) -> None:
    """Each recorded host gets its verdict, with the reason in words."""
    prediction = predict(*pair, fix=fix, settings=BOTH)
    assert prediction.verdict == verdict
    assert code in {note.code for note in prediction.reasons}
    assert sentence in sentences(prediction)


def test_a_gain_is_of_the_highest_rate() -> None:
    """The capacity grows, the present latency hardly does, and the driver is named."""
    found = predict(*hosts.large_in_memory(), fix="available", settings=BOTH)
    assert found.capacity_ratio is not None
    assert found.capacity_ratio.mid > 2
    assert found.latency_ms.now is not None
    assert found.latency_ms.after is not None
    assert 0.95 < found.latency_ms.after / found.latency_ms.now < 1
    assert found.driver == "mutex_us"


def closed_rate(threads: int, think_us: float, operations: float, alone_us: float, waited_us: float) -> float:
    """Queries a second of threads that ask again at once, by the chain of births and deaths at the mutex."""
    weights = [1.0]
    for there in range(1, threads + 1):
        service = operations * (alone_us if there == 1 else waited_us)
        weights.append(weights[-1] * (threads - there + 1) / think_us * service)
    away = sum(weight * (threads - there) for there, weight in enumerate(weights))
    return away / sum(weights) / think_us * 1e6


def contended(threads: int, max_used: int = 0, think_us: float = 701) -> hosts.Pair:
    """The published host as a live one, under as many threads as ask again at once (52 cores, 36.9 moves a query)."""
    rate = closed_rate(threads, think_us, 36.914, 0.12, 1.3346)
    first = hosts.with_facts(
        hosts.quiet("11.8.9", 100 * hosts.GIB),
        system={"cores": 52, "ram_bytes": 256 * hosts.GIB},
        workload={"max_used_connections": max_used or threads, "threads_running": threads + 1},
    )
    first = hosts.with_facts(first, workload={"at_work": (threads + 1,) * 8})
    second = hosts.later(
        first,
        pool={"read_requests": 300 * rate, "pages_made_young": 36.914 * rate, "reads": 0, "read_ahead": 0},
        workload={"questions": rate},
        memory={"cpu_seconds": think_us * 1e-6 * rate},
    )
    return hosts.with_commands(first, second, hosts.busy(rate))


@pytest.mark.parametrize("threads", [8, 16, 20, 24, 30, 40, 60, 80])
def test_a_host_that_waits_for_the_mutex_now_is_promised_what_it_would_gain(threads: int) -> None:
    """What it takes now is mostly waiting. The truth is that of the chain above: 2.81 at 40 threads, as published."""
    found = predict(*contended(threads), fix="available", settings=BOTH)
    truth = min(threads, 52) / 701e-6 / closed_rate(threads, 701, 36.914, 0.12, 1.3346)
    assert found.capacity_ratio is not None
    assert found.capacity_ratio.low <= truth * 1.001
    assert found.capacity_ratio.high >= truth * 0.99
    assert found.capacity_ratio.mid == pytest.approx(truth, rel=0.07)
    assert found.verdict == ("cannot_tell" if threads == 8 else "gain")


def test_latency_now_is_what_was_seen() -> None:
    """40 statements at work at 20,326 queries a second are 1.97 ms each, of which 0.7 ms stay."""
    latency = predict(*contended(40), fix="available", settings=BOTH).latency_ms
    assert latency.now == pytest.approx(1.97, rel=0.01)
    assert latency.after == pytest.approx(0.704, rel=0.01)


def test_no_mutex_is_used_for_more_than_the_whole_time() -> None:
    """At the dear end an operation would take 165 % of one mutex: then it cannot be that dear here."""
    found = predict(*contended(40), fix="available", settings=BOTH)
    assert found.mutex_utilisation is not None
    assert found.mutex_utilisation.high == 1.0
    assert "100 % of one mutex is used (75 % to 100 %)" in sentences(found)


def test_looks_that_found_nobody_at_work_widen_the_range() -> None:
    """Two looks at which nothing ran: a query may take long or hardly longer than its CPU time."""
    first, second = (hosts.with_facts(each, workload={"threads_running": 1}) for each in hosts.large_in_memory())
    many = [hosts.with_facts(each, workload={"at_work": (3,) * 100}) for each in (first, second)]
    few, sure = (predict(*pair, fix="available", settings=BOTH).capacity_ratio for pair in ((first, second), many))
    assert few is not None
    assert sure is not None
    assert few.high - few.low >= sure.high - sure.low


def test_unread_statements_at_work_give_no_capacity() -> None:
    """Neither latency nor capacity is known then, and the verdict says so."""
    dark = {"threads_running": Unknown("denied")}
    pair = [hosts.with_facts(each, workload=dark) for each in hosts.large_in_memory()]
    found = predict(*pair, fix="available", settings=BOTH)
    assert (found.verdict, found.capacity_ratio, found.latency_ms.now) == ("cannot_tell", None, None)


@pytest.mark.parametrize(
    ("commands", "verdict"),
    [(Unknown("denied"), "cannot_tell"), ({"Com_load": 10**6, "Com_select": 10**6}, "cannot_tell")],
)
def test_statements_that_may_write_forbid_a_gain(commands: object, verdict: Verdict) -> None:
    """Unknown statements are not taken for reads, and LOAD DATA writes."""
    first, second = hosts.large_in_memory()
    grown = {name: count + 50_000 for name, count in commands.items()} if isinstance(commands, dict) else commands
    pair = (
        hosts.with_facts(first, workload={"commands": commands}),
        hosts.with_facts(second, workload={"commands": grown}),
    )
    assert predict(*pair, fix="available", settings=BOTH).verdict == verdict


def test_busy_hours_widen_the_use_of_the_mutex_and_not_the_operations_of_a_query() -> None:
    """One probe: the capacity ratio is that of a query, however many there are in the busy hours."""
    first, second = hosts.large_in_memory()
    per_second = {"read_requests": 600_000, "pages_made_young": 73_800, "reads": 0, "read_ahead": 0}
    uptime = 10 * 86400
    since = hosts.with_facts(
        second,
        pool={name: rate * uptime for name, rate in per_second.items()},
        workload={"questions": 10_000 * uptime, "commands": {"Com_select": 10_000 * uptime}},
        memory={"cpu_seconds": 1.7 * uptime},
        server={"uptime_seconds": float(uptime)},
    )
    one = predict(since, None, fix="available", settings=BOTH).capacity_ratio
    two = predict(first, second, fix="available", settings=BOTH).capacity_ratio
    assert one is not None
    assert two is not None
    assert one.high == pytest.approx(two.high, rel=0.1)


def test_few_cores_take_the_gain_away() -> None:
    """The same load on two cores: the cores are full before the mutex is."""
    first, second = hosts.large_in_memory()
    small = [hosts.with_facts(each, system={"cores": 2}) for each in (first, second)]
    found = predict(*small, fix="available", settings=BOTH)
    assert found.verdict == "no_gain_expected"
    assert "workers or cores end before the mutex does" in sentences(found)


def test_few_workers_take_the_gain_away() -> None:
    """The same load from three connections at most."""
    first, second = hosts.large_in_memory()
    small = [hosts.with_facts(each, workload={"max_used_connections": 3}) for each in (first, second)]
    assert predict(*small, fix="available", settings=BOTH).verdict == "no_gain_expected"


def test_one_probe_widens_the_range() -> None:
    """Means since the start may hide busy hours, and the warning says so."""
    _, second = hosts.large_in_memory()
    one = predict(second, None, fix="available", settings=BOTH)
    assert one.mutex_utilisation is not None
    assert one.mutex_utilisation.high > 3 * one.mutex_utilisation.mid
    assert "no_second_probe" in {note.code for note in one.warnings}


def test_a_restart_between_the_probes_is_seen() -> None:
    """Counters that were reset give no rates."""
    first, second = hosts.large_in_memory()
    restarted = hosts.with_facts(second, server={"uptime_seconds": 3.0})
    found = predict(first, restarted, fix="available", settings=BOTH)
    assert found.verdict == "cannot_tell"
    assert found.reasons[0].code == "counter_reset"


def test_an_unknown_promotion_counter_widens_the_range() -> None:
    """Without made_young every read may move a page, or none."""
    first, second = hosts.ten_php_workers()
    pair = [hosts.with_facts(each, pool={"pages_made_young": Unknown("denied")}) for each in (first, second)]
    known, unknown = (predict(*each, fix="available", settings=BOTH) for each in ((first, second), pair))
    assert known.mutex_utilisation is not None
    assert unknown.mutex_utilisation is not None
    assert unknown.mutex_utilisation.low < known.mutex_utilisation.low
    assert unknown.mutex_utilisation.high > known.mutex_utilisation.high


def test_hidden_moves_widen_the_range_of_a_full_pool() -> None:
    """Where pages are evicted, young pages move too, and no counter shows them."""
    first, second = hosts.disk_bound_writer()
    found = predict(first, second, fix="available", settings=BOTH).mutex_utilisation
    assert found is not None
    counted, per_miss = 3_000, 2_500 * (2 + 1 / 32)
    assert found.low == pytest.approx((counted + per_miss) * 1.0e-6)
    assert found.high == pytest.approx((counted + per_miss + 4 * 2_500) * 2.2e-6)


def test_nothing_known_is_no_traceback() -> None:
    """A host of which nothing is known gets cannot_tell, and no figure."""
    found = predict(hosts.dark(), None, fix="available", settings=BOTH)
    assert found.verdict == "cannot_tell"
    assert found.mutex_utilisation is None
    assert found.hit_ratio.now is None


def test_hit_ratio_stays_where_nothing_is_evicted() -> None:
    """With free frames the policy has no say in what is cached."""
    found = predict(*hosts.ten_php_workers(), fix="available", settings=BOTH)
    assert found.hit_ratio.now == found.hit_ratio.after == 1.0
    assert predict(*hosts.disk_bound_writer(), fix="available", settings=BOTH).hit_ratio.after is None


def test_read_ahead_is_no_miss() -> None:
    """From 10.5 on the pages read include those read ahead."""
    found = predict(*hosts.disk_bound_writer(), fix="available", settings=BOTH)
    assert found.hit_ratio.now == pytest.approx(1 - 2_400 / 90_000)


@pytest.mark.parametrize("pair", [hosts.large_in_memory(), hosts.just_started()])
def test_a_prediction_survives_the_plan_file(pair: hosts.Pair) -> None:
    """What stands in the plan file is read back as the same document."""
    document = json.loads(json.dumps(predict(*pair, fix="available", settings=BOTH).to_json()))
    assert prediction_from_json("db1", document).to_json() == document


@pytest.mark.parametrize("pair", [case[0] for case in CASES])
def test_every_code_is_explained(pair: hosts.Pair) -> None:
    """No reason and no warning bears a code that `rollout explain` does not know."""
    found = predict(*pair, fix="available", settings=replace_backup())
    codes = {note.code for note in (*found.reasons, *found.warnings, found.backup.reason)}
    assert codes | {found.verdict} <= set(CODES)


def replace_backup() -> Settings:
    """Settings that leave only a dump as backup."""
    return BOTH.model_copy(update={"backup_method": "mariadb-dump"})


def test_facts_are_frozen_values() -> None:
    """The same facts give the same prediction."""
    pair = hosts.large_in_memory()
    assert predict(*pair, fix="available", settings=BOTH) == predict(
        *(replace(each) for each in pair), fix="available", settings=BOTH
    )
