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
