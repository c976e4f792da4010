"""The miniature is fitted to rates alone, and the workload found answers other questions about the host."""

from dataclasses import replace

import pytest
import recorded_hosts as hosts

from rollout.prediction.counters import exponent, operations
from rollout.prediction.fit import Fitted, fit
from rollout.prediction.fitting import Probed, fit_host, predict_all
from rollout.prediction.live import predict
from rollout.prediction.miniature import Pool, Reads, run
from rollout.prediction.model import Note
from rollout.prediction.observed import Observed, observed
from rollout.prediction.rates import rates
from rollout.prediction.what_if import what_if
from rollout.prediction.workload import DescribedWorkload, Pareto
from rollout.settings import Settings
from rollout.simulator import Counters, PoolSettings, Trace, simulate, uniform, zipf

FRAMES, LEAF_READS, SECONDS = 4056, 1500.0, 200
SETTINGS = PoolSettings(lru_scan_depth=100)


def served(trace: Trace, frames: int = FRAMES) -> Counters:
    """Run a server of full size for some minutes and count the second half."""
    return simulate("mariadb-10.5", trace, frames, SETTINGS, warm_up=trace.accesses // 2)


def seen(counted: Counters, pages: int) -> Observed:
    """Return what a probe would see: three requests a leaf read, and more data than is read."""
    second = 2 / SECONDS
    return Observed(
        policy="mariadb-10.5",
        requests=LEAF_READS * 3,
        reads=counted.misses * second,
        read_ahead=0.0,
        promotions=counted.made_young * second,
        not_young=counted.made_not_young * second,
        levels=3.0,
        levels_off=0.05,
        seconds=20.0,
        frames=FRAMES,
        pages=pages,
        evicts=True,
        old_blocks_pct=37,
        old_blocks_time_ms=1000,
        lru_scan_depth=100,
    )


def reading(pages: int, skew: float) -> Trace:
    """Read `pages` pages with a skew at the rate of the server."""
    accesses = round(LEAF_READS * SECONDS)
    if skew == 0:
        return uniform(pages=pages, accesses=accesses, accesses_per_second=LEAF_READS, seed=5)
    return zipf(pages=pages, accesses=accesses, exponent=skew, accesses_per_second=LEAF_READS, seed=5)


@pytest.fixture(scope="module", params=[0.0, 0.86], ids=["uniform", "skewed"])
def case(request: pytest.FixtureRequest) -> tuple[float, Fitted]:
    """A workload of known skew over 7,000 of 18,000 pages, and what was fitted to it."""
    return request.param, fit(seen(served(reading(7_000, request.param)), 18_000))


def test_the_fit_reproduces_what_was_seen(case: tuple[float, Fitted]) -> None:
    """Misses and promotions come out, and the fit says so."""
    _, found = case
    assert found.summary.good
    assert found.summary.fitted_miss_ratio == pytest.approx(found.summary.observed_miss_ratio, rel=0.1)


def test_it_tells_the_hit_ratio_of_another_pool(case: tuple[float, Fitted]) -> None:
    """With half as many frames again the hit ratio is right to 1.5 points of the requests."""
    skew, found = case
    frames = FRAMES * 3 // 2
    truth = served(reading(7_000, skew), frames)
    predicted = found.hit_ratio(found.under("mariadb-10.5", frames=frames))
    assert predicted == pytest.approx(1 - truth.misses * 2 / SECONDS / found.seen.requests, abs=0.015)


def test_uniform_reads_give_away_their_pages() -> None:
    """From rates alone: about 7,000 pages are read, all alike, though there are 18,000."""
    found = fit(seen(served(reading(7_000, 0.0)), 18_000)).reads
    assert found.pages == pytest.approx(7_000, rel=0.1)
    assert found.exponent < 0.3


def ranges_of_a_real_server() -> Observed:
    """What a rehearsal host (11.8.9) showed: 600 ranges of 100 rows a second over about 7,100 leaves, skewed."""
    first, second = hosts.large_in_memory()
    shape = {"pages_total": 4056, "pages_free": 100, "data_bytes": 20_679 * 16_384, "lru_scan_depth": 100}
    counted = {"read_requests": 51_711.0, "reads": 143.1, "read_ahead": 0.0, "made_young": 86.4}
    rows = {"rows_by_key": 600.0, "rows_in_order": 60_000.0}
    now = replace(rates(first, second), seconds=23.68, **counted, **rows)
    found = observed(now, hosts.with_facts(second, pool=shape), "mariadb-10.5")
    assert isinstance(found, Observed)
    return found


@pytest.mark.parametrize(
    ("changed", "hit_ratio", "promotions"),
    [
        ({"old_blocks_time_ms": 0}, 0.9970, 0.00550),
        ({"old_blocks_time_ms": 3000}, 0.9974, 0.00128),
        ({"old_blocks_pct": 60}, 0.9972, 0.00362),
    ],
)
def test_ranges_stay_on_their_leaves(changed: dict[str, int], hit_ratio: float, promotions: float) -> None:
    """Of 86 requests a range most ask for the leaf they are on: what the server then did is found to a tenth."""
    found = fit(ranges_of_a_real_server())
    assert found.reads.pages == pytest.approx(7_100, rel=0.1)
    outcome = found.under("mariadb-10.5", **changed)
    assert found.hit_ratio(outcome) == pytest.approx(hit_ratio, abs=0.001)
    assert outcome.promotions / found.seen.requests == pytest.approx(promotions, rel=0.1)


@pytest.mark.parametrize(
    ("by_key", "in_order", "levels", "doubt"),
    [
        (17_237.0, 0.0, 3.0, 0.05),  # point reads: the height of the tree
        (600.0, 60_000.0, 43.1, 0.3),  # a leaf for each range, and one for each hundred rows
        (1.0, 0.0, 100.0, 0.3),  # no leaf has more rows to be asked for
        (0.0, 0.0, 3.0, 0.3),  # nothing is known
        (51_711.0, 0.0, 3.0, 0.3),
    ],
)
def test_requests_a_visit_come_from_the_rows_that_were_read(
    by_key: float, in_order: float, levels: float, doubt: float
) -> None:
    """51,711 requests a second, by how the rows were found."""
    first, second = hosts.large_in_memory()
    now = replace(rates(first, second), read_requests=51_711.0, rows_by_key=by_key, rows_in_order=in_order)
    found = observed(now, second, "mariadb-10.5")
    assert isinstance(found, Observed)
    assert (found.levels, found.levels_off) == (pytest.approx(levels, rel=0.01), doubt)


def test_what_no_workload_does_is_a_bad_fit() -> None:
    """Ten promotions a leaf read cannot be: the fit says that it failed, and so does the verdict."""
    impossible = replace(seen(served(reading(7_000, 0.0)), 18_000), promotions=LEAF_READS * 10)
    found = fit(impossible)
    assert not found.summary.good
    first, second = hosts.large_in_memory()
    full = [hosts.with_facts(each, pool={"pages_free": 900}) for each in (first, second)]
    prediction = predict(*full, fix="available", settings=Settings(), fitted=found)
    assert prediction.verdict == "cannot_tell"
    assert "does not reproduce what was observed" in prediction.reasons[0].message


def test_a_fall_of_the_hit_ratio_is_a_possible_loss() -> None:
    """Where the fitted workload misses more with the fix, the plan says so."""
    found = fit(seen(served(reading(7_000, 0.0)), 18_000))
    worse = replace(found, fixed=replace(found.now, reads=found.now.reads * 1.2))
    first, second = hosts.large_in_memory()
    full = [hosts.with_facts(each, pool={"pages_free": 900}) for each in (first, second)]
    prediction = predict(*full, fix="available", settings=Settings(), fitted=worse)
    assert prediction.verdict == "loss_possible"
    assert prediction.hit_ratio.after is not None
    assert prediction.hit_ratio.now is not None
    assert prediction.hit_ratio.after < prediction.hit_ratio.now


def test_what_if_is_shown_for_a_good_fit(case: tuple[float, Fitted]) -> None:
    """Twice the pool holds all that is read, half of it misses more, and without old_blocks_time more pages move."""
    figures = {each.changed: each for each in what_if(case[1])}
    now = case[1].hit_ratio(case[1].now)
    assert figures["half the pool"].hit_ratio < now < figures["twice the pool"].hit_ratio
    now_moved = case[1].now.promotions / case[1].seen.requests
    assert figures["innodb_old_blocks_time=0"].promotions_per_read > now_moved
    assert figures["policy never-promote"].promotions_per_read == 0


def test_how_good_the_fit_is_stands_among_the_reasons() -> None:
    """Observed and fitted ratios are shown, and the hit ratio after the change comes from the fit."""
    found = fit(seen(served(reading(7_000, 0.0)), 18_000))
    full = [hosts.with_facts(each, pool={"pages_free": 900}) for each in hosts.large_in_memory()]
    prediction = predict(*full, fix="available", settings=Settings(), fitted=found)
    shown = {note.code: note.message for note in prediction.reasons}["fitted"]
    assert f"{found.summary.observed_miss_ratio:.2%} observed" in shown
    assert prediction.hit_ratio.after is not None


def test_hosts_are_fitted_side_by_side_in_their_order() -> None:
    """Only hosts that get the fix are fitted; the rest is predicted as it is."""
    both = [Probed(*pair, "available", Settings()) for pair in (hosts.idle(), hosts.large_in_memory())]
    kept = Probed(*hosts.large_in_memory(), "rehearsal", Settings())
    verdicts = [found.verdict for found in predict_all([*both, kept])]
    assert verdicts == ["cannot_tell", "gain", "no_gain_expected"]


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (hosts.old_clock_at_zero(), "only servers of 10.5 to 11.8.9 are fitted"),
        (hosts.idle(), "misses and promotions were seen"),
        (hosts.just_started(), "up for 30 s only"),
    ],
)
def test_what_cannot_be_fitted_is_told(pair: hosts.Pair, told: str) -> None:
    """Each has its sentence."""
    found = fit_host(*pair, Settings())
    assert isinstance(found, Note)
    assert told in found.message


def test_uniform_reads_in_memory_follow_the_rule() -> None:
    """The simulator moves as many pages as the rule says, with and without unread pages."""
    pool = Pool(frames=40_000)
    plain = run("mariadb-10.5", Reads(20_000, 0.0, 50_000), pool, 1.0)
    unread = run("mariadb-10.5", Reads(20_000, 0.0, 50_000, unread=2_000), pool, 1.0)
    share = 2_000 / 22_000
    assert plain.promotions / 50_000 == pytest.approx(378 / 1024, rel=0.05)
    assert unread.promotions / 50_000 == pytest.approx((378 / 1024 - share) / (1 - share), rel=0.05)


def test_the_fix_moves_nothing_in_memory() -> None:
    """Where no page has to leave, no sweep runs and no mutex is taken."""
    assert run("mariadb-fix", Reads(20_000, 0.0, 50_000), Pool(frames=40_000), 1.0).mutex == 0


def test_a_described_workload_outside_the_rule_is_simulated() -> None:
    """Half the data in the pool, skewed: misses under all policies, promotions under 10.5, fewest misses optimal."""
    work = DescribedWorkload.model_validate(
        {
            "threads": 4,
            "cores": 4,
            "pool_bytes": "64M",
            "data_bytes": "128M",
            "leaf_reads_per_query": 10,
            "think_us_per_query": 2000,
            "access": {"pareto": [0.2, 0.8]},
            "lru_scan_depth": 100,
        }
    )
    now, best = (operations(work, policy, 0.0) for policy in ("mariadb-10.5", "optimal"))
    assert 0.5 < now.hit_ratio < best.hit_ratio < 1
    assert now.promotions > 0


def test_pareto_is_a_power_law() -> None:
    """A fifth of the pages with four fifths of the reads: density of rank x falls as x ** -0.861."""
    work = DescribedWorkload.model_construct(access=Pareto(pareto=(0.2, 0.8)))
    assert exponent(work) == pytest.approx(0.861, abs=0.001)
