"""Traces from files and from generators: what is read is what was written, and mistakes are named with their lines."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from rollout.errors import ConfigProblem, UsageProblem
from rollout.simulator import (
    PoolSettings,
    Stream,
    Trace,
    TreeShape,
    chain,
    hotspot,
    mix,
    paced,
    pareto,
    point_lookups,
    read_trace,
    scan,
    simulate,
    trace_of,
    uniform,
    with_writes,
    zipf,
)
from rollout.simulator.files import ORACLE
from rollout.simulator.trace import START_MS, times_of

FAR_IDS = np.array([1 << 40, 5, 1 << 40, (1 << 62) + 3, 5], np.uint64)


def pages_of(trace: Trace) -> list[int]:
    """Return all pages of a trace."""
    return [page for block in trace.blocks() for page in block.pages.tolist()]


def oracle_bytes(ids: np.ndarray) -> bytes:
    """Return an oracleGeneral trace with an access each second."""
    records = np.zeros(len(ids), ORACLE)
    records["id"], records["seconds"], records["size"] = ids, np.arange(len(ids)), 1
    return records.tobytes()


def test_npy_keeps_page_numbers(tmp_path: Path) -> None:
    """Ids that are dense enough stay what they are."""
    np.save(tmp_path / "t.npy", np.array([7, 3, 7, 900], np.int64))
    trace = read_trace(tmp_path / "t.npy", accesses_per_second=10)
    assert pages_of(trace) == [7, 3, 7, 900]
    assert (trace.page_count, trace.accesses, trace.adjacent, trace.writes) == (901, 4, True, False)
    assert times_of(next(trace.blocks())).tolist() == [START_MS, START_MS + 100, START_MS + 200, START_MS + 300]


def test_far_ids_are_numbered_in_their_order_and_read_ahead_is_refused(tmp_path: Path) -> None:
    """Any 64-bit id will do, but then neighbours are no neighbours."""
    np.save(tmp_path / "t.npy", FAR_IDS)
    trace = read_trace(tmp_path / "t.npy")
    assert pages_of(trace) == [0, 1, 0, 2, 1]
    assert (trace.page_count, trace.adjacent) == (3, False)
    with pytest.raises(UsageProblem, match="numbered anew"):
        simulate("mariadb-10.5", trace, 600, PoolSettings(read_ahead_threshold=56))


def test_many_far_ids_grow_the_table(tmp_path: Path) -> None:
    """300,000 different ids get 300,000 numbers."""
    ids = np.random.default_rng(3).permutation(300_000).astype(np.uint64) * np.uint64(7_919_000_003)
    np.save(tmp_path / "t.npy", np.concatenate([ids, ids[::-1]]))
    trace = read_trace(tmp_path / "t.npy")
    assert trace.page_count == 300_000
    assert pages_of(trace) == [*range(300_000), *range(299_999, -1, -1)]


@pytest.mark.parametrize("packed", [False, True])
def test_oracle_general(tmp_path: Path, packed: bool) -> None:
    """libCacheSim's records, plain and zstd; their times are seconds."""
    file = tmp_path / ("t.oracleGeneral.zst" if packed else "t.oracleGeneral")
    data = oracle_bytes(FAR_IDS)
    file.write_bytes(zstandard.compress(data) if packed else data)
    trace = read_trace(file)
    assert pages_of(trace) == [0, 1, 0, 2, 1]
    assert (times_of(next(trace.blocks())) - START_MS).tolist() == [0, 1000, 2000, 3000, 4000]


def test_csv_and_npz_carry_times_and_deeds(tmp_path: Path) -> None:
    """The same accesses in both formats count the same."""
    (tmp_path / "t.csv").write_text("time_ms,page,op\n5,1,r\n5,2,c\n9,1,w\n\n12,2,f\n12,2,r\n")
    arrays = {"page": [1, 2, 1, 2, 2], "time_ms": [5, 5, 9, 12, 12], "op": list("rcwfr")}
    np.savez(tmp_path / "t.npz", **{name: np.array(values) for name, values in arrays.items()})
    counted = [simulate("mariadb-10.5", read_trace(tmp_path / name), 600) for name in ("t.csv", "t.npz")]
    for one in counted:
        assert (one.hits, one.misses, one.created, one.freed) == (1, 2, 1, 1)


@pytest.mark.parametrize(
    ("text", "lines", "words"),
    [
        ("1,2\nx,3\n4,-1\n3,5,r\n", [2, 3, 4], ["time_ms is 'x'", "page is '-1'", "3 columns"]),
        ("5,2,r\n6,3,z\n1,3,r\n", [2, 3], ["op is 'z'", "time 1 lies before"]),
        ("1;2\n", [1], ["1 columns"]),
        ("1,99999999999999999999\n", [1], ["page is"]),
    ],
)
def test_all_mistakes_of_a_csv_are_named(tmp_path: Path, text: str, lines: list[int], words: list[str]) -> None:
    """Each with its line, all at once."""
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(ConfigProblem) as found:
        read_trace(file)
    mistakes = found.value.mistakes
    assert [mistake.line for mistake in mistakes] == lines
    assert all(expected in mistake.message for expected, mistake in zip(words, mistakes, strict=True))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.npy", b"no array", "cannot be read as .npy"),
        ("t.npz", b"no archive", "cannot be read as .npz"),
        ("t.oracleGeneral", b"1234567", "middle of a record"),
        ("t.oracleGeneral.zst", b"not packed at all", "cannot be unpacked"),
        ("t.csv", b"", "empty"),
        ("t.txt", b"1,2", "no trace by its name"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """With the file's name and the reason, never a traceback."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ConfigProblem, UsageProblem), match=words):
        read_trace(tmp_path / name)


@pytest.mark.parametrize("array", [np.array([1.5]), np.array([[1]]), np.array([3, -2]), np.array(["a"])])
def test_arrays_that_are_no_pages_are_refused(tmp_path: Path, array: np.ndarray) -> None:
    """Fractions, tables, negative numbers and words."""
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(ConfigProblem):
        read_trace(tmp_path / "t.npy")


MAKERS: list[Callable[[int], Trace]] = [
    lambda seed: uniform(pages=500, accesses=2000, seed=seed),
    lambda seed: zipf(pages=500, accesses=2000, seed=seed),
    lambda seed: pareto(pages=500, accesses=2000, seed=seed),
    lambda seed: hotspot(pages=500, accesses=2000, seed=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_seed_gives_the_same_accesses(make: Callable[[int], Trace]) -> None:
    """Again and again from the same trace, and other ones from another seed; all within bounds."""
    trace = make(1)
    assert pages_of(trace) == pages_of(trace) == pages_of(make(1)) != pages_of(make(2))
    assert max(pages_of(trace)) < trace.page_count == 500


def test_zipf_follows_its_law() -> None:
    """The most read page of 1000 gets 1 / (1 + 1/2 + ... + 1/1000) = 0.1336 of the reads at exponent 1."""
    pages = zipf(pages=1000, accesses=200_000, exponent=1.0).whole().pages
    shares = np.sort(np.bincount(pages, minlength=1000))[::-1] / len(pages)
    assert shares[0] == pytest.approx(0.1336, rel=0.03)
    assert shares[1] == pytest.approx(0.0668, rel=0.05)


def test_pareto_is_sysbenchs() -> None:
    """A fifth of the pages gets four fifths of the reads, and a fifth of that fifth four fifths of those."""
    pages = pareto(pages=10_000, accesses=200_000).whole().pages
    assert (pages < 2000).mean() == pytest.approx(0.8, abs=0.01)
    assert (pages < 400).mean() == pytest.approx(0.64, abs=0.01)


def test_a_point_lookup_touches_root_branch_and_leaf() -> None:
    """Two levels above 2500 leaves of fan-out 100: 25 branches and the root."""
    assert TreeShape(2500, 100).levels == [(0, 2500), (2500, 25), (2525, 1)]
    trace = point_lookups(trace_of(np.array([0, 2499, 150], np.uint32), page_count=2500), fan_out=100)
    assert pages_of(trace) == [2525, 2500, 0, 2525, 2524, 2499, 2525, 2501, 150]
    assert (trace.page_count, trace.accesses) == (2526, 9)


def test_a_mix_keeps_the_rates_of_its_parts() -> None:
    """A scan of 100 pages a second beside reads at 1000 a second, in the order of time."""
    reads = uniform(pages=50, accesses=3000, accesses_per_second=1000)
    trace = mix(Stream(reads), Stream(scan(first=50, last=150, accesses_per_second=100), start_ms=1000))
    whole = trace.whole()
    times = times_of(whole) - START_MS
    assert len(whole) == trace.accesses == 3100
    assert (np.diff(times) >= 0).all()
    scanned = times[whole.pages >= 50]
    assert (scanned.min(), scanned.max()) == (1000, 1990)
    assert whole.pages[whole.pages >= 50].tolist() == list(range(50, 150))


def test_a_chain_goes_on_where_the_part_before_ended() -> None:
    """Times rise through it and every part keeps its pace."""
    trace = chain(scan(first=0, last=10, accesses_per_second=10), scan(first=0, last=5, accesses_per_second=1))
    times = [time for block in trace.blocks() for time in (times_of(block) - START_MS).tolist()]
    assert times == [*range(0, 1000, 100), 1000, 2000, 3000, 4000, 5000]


def test_a_measured_pace_keeps_its_rests() -> None:
    """Even within each step, nothing between two of them, also behind another trace."""
    measured = paced(pages=7, steps=[(500.0, 4), (600.0, 1), (3000.0, 2)], step_ms=100)
    trace = chain(scan(first=0, last=2, accesses_per_second=10), measured)
    times = [time for block in trace.blocks() for time in (times_of(block) - START_MS).tolist()]
    assert times == [0, 100, 200, 225, 250, 275, 300, 2700, 2750]
    assert trace.accesses == len(times)
    assert set(pages_of(measured)) <= set(range(7))


def test_a_share_of_accesses_writes() -> None:
    """And the same pages are read as before."""
    trace = uniform(pages=100, accesses=20_000)
    writing = with_writes(trace, 0.25)
    assert pages_of(writing) == pages_of(trace)
    assert np.concatenate([block.deeds for block in writing.blocks()]).mean() == pytest.approx(0.25, abs=0.01)
    assert simulate("mariadb-fix", writing, 600).hits == simulate("mariadb-fix", trace, 600).hits
