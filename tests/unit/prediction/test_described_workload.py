"""A described workload: the published table, the curves, and what drives the range."""

from pathlib import Path

import pytest

from rollout.prediction.counters import operations
from rollout.prediction.curves import doubling, over_cores, over_threads
from rollout.prediction.described import predict_described
from rollout.prediction.mutex_cost import PUBLISHED_US
from rollout.prediction.rule import by_rule, old_ratio
from rollout.prediction.workload import DescribedWorkload, PolicyName, load_workload

PUBLISHED = load_workload(Path(__file__).with_name("published.yml"))


@pytest.mark.parametrize(
    ("policy", "published", "within"),
    [("mariadb-10.4", 52_410, 0.01), ("mariadb-10.5", 20_326, 0.01), ("mariadb-fix", 57_052, 0.01)],
)
def test_the_published_table(policy: PolicyName, published: float, within: float) -> None:
    """Queries a second of the three published builds come out of one workload file."""
    predicted = predict_described(PUBLISHED, operations).policies[policy].queries_per_second
    assert predicted.mid / published == pytest.approx(1, abs=within)
    assert predicted.low <= published * 1.01
    assert predicted.high >= published * 0.99


def test_the_mutex_time_is_the_published_one() -> None:
    """One operation is 1.33 us: 49.2 us of a saturated mutex a query, shared by 36.9 operations."""
    assert pytest.approx(1.333, abs=0.001) == PUBLISHED_US


def test_the_rule_of_the_old_sublist() -> None:
    """A uniform touch finds its page old with 0.369, or 0.333 where 5.4 % of the list is never read."""
    assert old_ratio(37) == pytest.approx(0.369, abs=0.0005)
    hundred = by_rule(PUBLISHED, "mariadb-10.5", 0.0).promotions
    assert hundred == pytest.approx(36.9, abs=0.05)
    assert by_rule(PUBLISHED, "mariadb-10.5", 0.054).promotions == pytest.approx(33.3, abs=0.05)


def test_promotions_do_not_depend_on_the_length_of_the_list() -> None:
    """Ten keys a query move a tenth of what a hundred move."""
    ten = PUBLISHED.model_copy(update={"leaf_reads_per_query": 10})
    assert by_rule(ten, "mariadb-10.5", 0.02).mutex * 10 == pytest.approx(
        by_rule(PUBLISHED, "mariadb-10.5", 0.02).mutex
    )


def test_nothing_moves_in_a_list_without_an_old_sublist() -> None:
    """Below 512 pages there is no old sublist."""
    tiny = PUBLISHED.model_copy(update={"data_bytes": 500 * 16384})
    assert by_rule(tiny, "mariadb-10.5", 0.0).mutex == 0


def test_unread_pages_that_fill_the_old_sublist_stop_all_moves() -> None:
    """Where nobody reads four tenths of the list, all that is read stays young."""
    assert by_rule(PUBLISHED, "mariadb-10.5", 0.4).mutex == 0


def test_the_old_clock_decides_about_10_4() -> None:
    """10.4 moves nothing while its clock is at zero, and as 10.5 does once it runs."""
    started = PUBLISHED.model_copy(update={"clock_started": True})
    assert by_rule(PUBLISHED, "mariadb-10.4", 0.0).mutex == 0
    assert by_rule(started, "mariadb-10.4", 0.0) == by_rule(PUBLISHED, "mariadb-10.5", 0.0)


def test_the_gain_grows_with_threads() -> None:
    """Next to nothing at 4 threads, 2.8 times at 40: the published difference is the point."""
    curve = over_threads(PUBLISHED, operations, (1, 2, 4, 8, 16, 40, 80))
    gains = {point.at: point.gain for point in curve.points}
    assert gains[4].high < 1.09
    assert gains[40].mid == pytest.approx(2.8, abs=0.05)
    middles = [point.gain.mid for point in curve.points]
    assert middles == sorted(middles)


def test_few_cores_leave_little_to_gain() -> None:
    """On one core there is never more than one that works: the fix saves the operations' own time alone."""
    curve = over_cores(PUBLISHED, operations, (1, 52))
    assert curve.points[0].gain.mid == pytest.approx(1 + 36.9 * 0.12 / 701, abs=0.001)
    assert curve.points[1].gain.mid > 2


def test_the_driver_is_named() -> None:
    """At a saturated mutex the time of an operation drives the range; alone, that of an unhindered one."""
    assert predict_described(PUBLISHED, operations).driver == "mutex_us"
    alone = PUBLISHED.model_copy(update={"threads": 1})
    assert predict_described(alone, operations).driver == "mutex_alone_us"
    known = alone.model_copy(update={"leaf_reads_per_query": 0.001})
    assert predict_described(known, operations).driver == "none"


def test_a_measured_mutex_takes_the_place_of_the_published_one() -> None:
    """`mutex_us` of the file is used, and the source says so."""
    own = PUBLISHED.model_copy(update={"mutex_us": (0.8, 0.8, 0.8)})
    predicted = predict_described(own, operations)
    assert predicted.policies["mariadb-10.5"].queries_per_second.mid == pytest.approx(1e6 / 36.914 / 0.8, rel=0.02)
    assert "as measured" in predicted.cost.source


def test_unread_pages_that_nobody_told_widen_the_range() -> None:
    """Leaving `unread_bytes` out is not the same as 0."""
    untold = PUBLISHED.model_copy(update={"unread_bytes": None})
    told, range_of_it = (predict_described(each, operations).policies["mariadb-10.5"] for each in (PUBLISHED, untold))
    assert range_of_it.queries_per_second.high > told.queries_per_second.high


def test_points_of_a_curve_double() -> None:
    """A curve has 1, 2, 4 and so on, the workload's own place, and twice that."""
    assert doubling(40) == [1, 2, 4, 8, 16, 32, 40, 80]
    assert doubling(1) == [1, 2]


def test_a_device_time_is_paid_for_each_miss() -> None:
    """Half of 10 touches missed at 100 us each add 500 us to the think time."""
    work = DescribedWorkload.model_validate(
        {
            "threads": 1,
            "cores": 1,
            "pool_bytes": "1GiB",
            "data_bytes": "2GiB",
            "leaf_reads_per_query": 10,
            "think_us_per_query": 500,
            "read_us": 100,
        }
    )
    half = by_rule(PUBLISHED, "mariadb-fix", 0.0).__class__(promotions=0, mutex=0, hit_ratio=0.5)
    predicted = predict_described(work, lambda *_: half).policies["mariadb-fix"]
    assert predicted.latency_ms.mid == pytest.approx(1.0)
