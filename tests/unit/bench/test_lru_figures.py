"""Figures of reads that move pages: from sysbench's report and counters, and what the simulator says beside them."""

from pathlib import Path

import pytest

from rollout.bench.lru import EVERY_CASE, Case, LruPlan
from rollout.bench.lru_figures import case_part, leaves_of, pace_of, percentile
from rollout.bench.simulated import Simulated, uniform_points

# As sysbench 1.0.20 prints it, shortened.
REPORT = """
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.000 |************************                 900
       2.000 |****                                     60
       9.000 |**                                       40

SQL statistics:
    queries performed:
        read:                            1000
        write:                           0
        other:                           0
        total:                           1000
    transactions:                        1000   (100.00 per sec.)

General statistics:
    total time:                          10.0005s
    total number of events:              1000
"""
POOL = "Innodb_buffer_pool_"


NAMES = (f"{POOL}pages_made_young", f"{POOL}read_requests", f"{POOL}reads", "Questions", "cpu_ticks", "task 7")


def counters(*values: int) -> str:
    """Write the counters of one moment, as named above, and the pages of the pool."""
    rows = {**dict(zip(NAMES, values, strict=True)), f"{POOL}pages_data": 7000, f"{POOL}pages_total": 8112}
    return "".join(f"{name}\t{value}\n" for name, value in rows.items())


def test_the_figures_of_a_case(tmp_path: Path) -> None:
    """1000 queries of 100 rows in 10 s: promotions a row, hit ratio, CPU and switches a query, and others' share."""
    (tmp_path / "ticks").write_text("100\n")
    (tmp_path / "leaves-small").write_text("PRIMARY\t5100\nk\t290\n")
    for number in (1, 2):
        (tmp_path / f"sysbench-{number}").write_text(REPORT)
        (tmp_path / f"before-{number}").write_text(counters(10, 1000, 5, 7, 50, 30))
        (tmp_path / f"after-{number}").write_text(counters(11_010, 301_000, 3005, 1257, 250, 1530))
        with (tmp_path / f"before-{number}").open("a") as file:
            file.write("task 8\t900000\n")  # a thread that ended: it takes nothing away
    part = case_part("points uniform in memory", tmp_path, (1, 2), list_rows=100)
    found = {one.name: one.mean for one in part.measurements}
    assert found["queries/s"] == pytest.approx(1000 / 10.0005)
    assert (found["p50 ms"], found["p95 ms"], found["p99 ms"]) == (1.0, 2.0, 9.0)
    assert found["promotions a row"] == pytest.approx(0.11)
    assert found["hit ratio"] == pytest.approx(0.99)
    assert found["page reads a row"] == pytest.approx(3)
    assert found["misses a row"] == pytest.approx(0.03)
    assert found["CPU us a query"] == pytest.approx(2000)
    assert found["switches a query"] == pytest.approx(1.5)
    assert found["others' share"] == pytest.approx(0.2)
    assert part.facts["spread of pairs"] == "0.0 %"
    assert leaves_of(tmp_path, "small") == {"PRIMARY": 5100, "k": 290}


def test_a_counter_that_stands_still_gives_no_ratio(tmp_path: Path) -> None:
    """Some releases do not count read requests: no hit ratio then, and no division by zero."""
    (tmp_path / "ticks").write_text("100\n")
    (tmp_path / "sysbench-1").write_text(REPORT)
    (tmp_path / "before-1").write_text(counters(10, 0, 5, 7, 50, 30))
    (tmp_path / "after-1").write_text(counters(10, 0, 3005, 1257, 250, 1530))
    part = case_part("points uniform in memory", tmp_path, (1,), list_rows=100)
    assert part.named("hit ratio") is None
    assert part.named("queries/s") is not None


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.0), (0.9, 1.0), (0.91, 2.0), (1.0, 9.0)])
def test_a_percentile_is_the_bar_that_holds_it(share: float, value: float) -> None:
    """900 of 1000 lie in the first bar."""
    assert percentile(REPORT, share) == value


@pytest.mark.parametrize("unread_share", [0.0, 0.2])
def test_the_simulator_promotes_what_the_formula_says(unread_share: float) -> None:
    """Uniform reads of what is all in memory promote (0.369 - u) / (1 - u) of the touches (docs/prediction.md).

    Read slowly enough that nearly every touch comes after innodb_old_blocks_time has passed.
    """
    leaves = 4000
    found = uniform_points(
        "mariadb-10.5",
        leaves=leaves,
        listed=round(leaves / (1 - unread_share)),
        frames=8112,
        warm=tuple((tenth, 40) for tenth in range(1500)),
        measured=tuple((tenth, 40) for tenth in range(1500, 3000)),
        settings=(37, 1000, 1536),
    )
    assert found.hit_ratio == 1.0
    assert found.promotions == pytest.approx((0.369 - unread_share) / (1 - unread_share), rel=0.05)


def even(first: int, tenths: int, rows: int) -> tuple[tuple[int, int], ...]:
    """Return an even pace."""
    return tuple((first + tenth, rows) for tenth in range(tenths))


def test_a_halt_makes_pages_old_enough_to_move() -> None:
    """Beyond memory, where a page leaves within innodb_old_blocks_time, two seconds of silence bring promotions."""

    def after(warm_from: int) -> Simulated:
        return uniform_points(
            "mariadb-10.5",
            leaves=9250,
            listed=7000,
            frames=8112,
            warm=even(warm_from, 50, 3000),
            measured=even(1000, 50, 3000),
            settings=(37, 1000, 1536),
        )

    without, after_halt = after(950), after(930)
    assert without.hit_ratio == pytest.approx(after_halt.hit_ratio, abs=0.01)
    assert after_halt.promotions > 1.1 * without.promotions


def test_the_pace_is_the_sum_of_all_threads() -> None:
    """Each thread tells its own events, in any order; a query stands for its rows."""
    assert pace_of("pace 30 2\npace 12 1\nelse\npace 30 5\n", 100) == ((12, 100), (30, 700))
    assert pace_of(REPORT, 100) == ()


def test_cases_go_forward_and_backward_table_by_table() -> None:
    """Each case is measured twice a pair, and the table in memory is done with before the large one is made."""
    one, two, large = Case("small", "points", "uniform"), Case("small", "range", "hot"), Case("large", "points", "hot")
    order = [case for _, case in LruPlan(cases=(one, large, two), pairs=1).order()]
    assert order == [one, two, two, one, large, large]
    assert len({case.label for case in EVERY_CASE}) == len(EVERY_CASE) == 24
