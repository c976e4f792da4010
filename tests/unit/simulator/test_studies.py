"""Miniatures, curves, the dump, and the command: on small pools, against what is known of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rollout.cli.simulate import POLICIES as OFFERED
from rollout.cli.simulate import command
from rollout.errors import UsageProblem
from rollout.simulator import (
    POLICIES,
    Constants,
    Grid,
    PoolSettings,
    Scene,
    cases,
    chain,
    curve,
    draw_curve,
    draw_pollution,
    frames_of,
    miniature,
    pollution,
    scan,
    simulate,
    uniform,
    zipf,
)

TRACE = zipf(pages=40_000, accesses=400_000, exponent=0.9, seed=4)
SCENE = Scene(frames=2000, hot_pages=1500, dump_pages=8000, dump_pages_per_second=1000, touches=2, lru_scan_depth=100)


@pytest.mark.parametrize("policy", ["mariadb-10.5", "mariadb-fix", "lru"])
def test_a_miniature_is_near_the_whole(policy: str) -> None:
    """An eighth of the pages tells the hit ratio within two points, and says how sure it is."""
    settings = PoolSettings(lru_scan_depth=200)
    full = simulate(policy, TRACE, 8000, settings)
    small = miniature(policy, TRACE, 8000, settings, rate=1 / 8, samples=4)
    assert full.hit_ratio is not None
    assert small.hit_ratio == pytest.approx(full.hit_ratio, abs=0.02)
    assert small.hit_ratio_error is not None
    assert 0 < small.hit_ratio_error < 0.02
    assert len({sample.misses for sample in small.samples}) > 1, "each sample takes other pages"


def test_one_sample_claims_no_error_and_a_tiny_pool_is_refused() -> None:
    """Unknown is a value of its own."""
    assert miniature("lru", TRACE, 8000, rate=1 / 8).hit_ratio_error is None
    with pytest.raises(UsageProblem, match="leave 8"):
        miniature("lru", TRACE, 8000, rate=0.001)


def test_scaled_constants_keep_a_midpoint() -> None:
    """At every rate the smallest list still has an old and a young part."""
    for rate in (1, 0.5, 1 / 8, 1 / 128, 1 / 10_000):
        scaled = Constants().scaled(rate)
        assert scaled.old_min_length * 378 // 1024 > scaled.old_tolerance
        assert scaled.young_min_length >= 1


@pytest.mark.parametrize(
    ("pool_mib", "frames"),
    [(6, 379), (12, 758), (16, 1014), (24, 1521), (64, 4056), (100, 6335), (128, 8112), (250, 15_840), (1500, 95_060)],
)
def test_frames_are_those_that_servers_report(pool_mib: int, frames: int) -> None:
    """Measured `Innodb_buffer_pool_pages_total` of 10.11.19."""
    assert frames_of(pool_mib << 20) == frames
    assert frames_of(100 << 30) == 6_489_600


def test_settings_out_of_range_are_named_all_at_once() -> None:
    """With their limits."""
    with pytest.raises(UsageProblem, match=r"old_blocks_pct is 3.*lru_scan_depth is 0"):
        PoolSettings(old_blocks_pct=3, lru_scan_depth=0)


def test_uniform_reads_in_memory_promote_by_the_rule() -> None:
    """A listed page is old with a chance of 0.369, and 10.5 moves it each time; 10.4 and the fix move nothing."""
    fill = scan(first=0, last=30_000)
    reads = uniform(pages=30_000, accesses=400_000, accesses_per_second=20_000)
    moved = {}
    for policy in ("mariadb-10.4", "mariadb-10.5", "mariadb-fix", "never-promote"):
        counted = simulate(policy, chain(fill, reads), 50_000, warm_up=fill.accesses + 200_000)
        assert counted.mutex_acquisitions == counted.made_young + counted.young_moves
        moved[policy] = counted.mutex_acquisitions / counted.accesses
    assert moved.pop("mariadb-10.5") == pytest.approx(0.369, abs=0.005)
    assert set(moved.values()) == {0}


def test_a_curve_covers_its_grid_and_the_optimum_stands_above_it(tmp_path: Path) -> None:
    """Settings that a policy does not know are not run twice; the charts are pictures."""
    grid = Grid(
        ["mariadb-10.5", "mariadb-fix", "optimal"], [2000, 8000], [37, 60], settings=PoolSettings(lru_scan_depth=100)
    )
    points = curve(TRACE, grid)
    assert len(points) == 2 * 2 * 2 + 2
    best = {point.frames: point.counters.misses for point in points if point.policy == "optimal"}
    assert all(point.counters.misses >= best[point.frames] for point in points)
    for name, start in (("c.svg", b"<?xml"), ("c.png", b"\x89PNG")):
        draw_curve(points, "curve", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(UsageProblem, match=r"\.svg or a \.png"):
        draw_curve(points, "curve", tmp_path / "c.pdf")


def test_the_dump_spares_a_hot_set_that_is_read_often_and_washes_out_a_cold_one(tmp_path: Path) -> None:
    """Read 16 times a passage pages stay; read once in 64 passages they go; the chart is drawn."""
    results = pollution(SCENE, cases(["mariadb-10.5", "mariadb-fix"], (1 / 64, 16.0), times_ms=(1000,)))
    assert len(results) == 2 * 2 * 2 * 2
    for one in results:
        assert 0 <= one.during <= 1
        assert 0 <= one.after <= 1
        if one.warm:
            assert one.before is not None
            assert (one.during > 0.95) if one.reads_per_passage == 16 else (one.during < 0.9)
    draw_pollution(results, "dump", tmp_path / "p.svg")
    assert b"</svg>" in (tmp_path / "p.svg").read_bytes()


def json_of(*words: str) -> dict[str, object]:
    """Run the command and return its one document."""
    result = CliRunner().invoke(command, [*words, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    document: dict[str, object] = json.loads(result.stdout)
    assert document["schema"] == 1
    return document


WORKLOAD = ("--workload", "mix", "--pages", "5000", "--accesses", "20000", "--frames", "1000")


def test_run_prints_the_promised_fields(tmp_path: Path) -> None:
    """From a file as well as from a workload."""
    np.save(tmp_path / "t.npy", np.arange(3000) % 700)
    pool = ("--pool-bytes", "16777216", "--lru-scan-depth", "100")
    document = json_of("run", "--policy", "mariadb-fix", "--trace", str(tmp_path / "t.npy"), *pool)
    assert (document["policy"], document["frames"], document["accesses"]) == ("mariadb-fix", 1014, 3000)
    assert (document["hits"], document["misses"]) == (2300, 700)
    promised = {"made_young", "made_not_young", "mutex_acquisitions", "evictions", "seconds", "accesses_per_second"}
    assert promised <= set(document)


def test_the_other_commands_print_one_document() -> None:
    """Each with its rows."""
    assert len(json_of("compare", *WORKLOAD, "--policy", "lru", "--policy", "optimal")["runs"]) == 2
    assert (
        len(json_of("curve", *WORKLOAD[:-1], "600,1000", "--policy", "mariadb-10.5", "--percents", "5,60")["points"])
        == 4
    )
    assert json_of("run", *WORKLOAD, "--policy", "mariadb-10.5", "--sample", "0.2")["hit_ratio_error"]
    assert OFFERED == POLICIES


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--policy", "lru", "--workload", "zipf"),
        ("run", "--policy", "lru", "--frames", "10"),
        ("run", "--policy", "lru", *WORKLOAD, "--pool-bytes", "1000"),
        ("run", "--policy", "mariadb-10.5", *WORKLOAD, "--old-blocks-pct", "99"),
        ("compare", *WORKLOAD, "--warm-up", "20000"),
    ],
)
def test_what_cannot_be_is_a_usage_problem(words: tuple[str, ...]) -> None:
    """Exit code 2 and a sentence."""
    with pytest.raises(UsageProblem):
        CliRunner().invoke(command, words, catch_exceptions=False)


def test_where_no_cache_can_be_written_kernels_still_run(tmp_path: Path) -> None:
    """Neither beside the code nor in the user's cache: here the places are files and not folders."""
    blocked = tmp_path / "file"
    blocked.touch()
    script = (
        "import rollout.simulator.compiled as c, pathlib; c._can_write = lambda place: False;"
        "assert c.cache_folder() is None; c.CACHE_FOLDER = None;"
        "from rollout.simulator.generators import alias_table; import numpy as np;"
        "print(alias_table(np.array([0.5, 1.5]))[0].tolist())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    words = [sys.executable, "-c", script]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "[0.5, 1.0]", result.stderr[-2000:]
