"""Workload files: what is read, and every mistake at once with its line."""

from pathlib import Path

import pytest

from rollout.errors import ConfigProblem
from rollout.prediction.frames import frames
from rollout.prediction.sizes import parsed_bytes, shown_bytes
from rollout.prediction.workload import Pareto, Zipf, load_workload

GOOD = """\
threads: 40
cores: 52
pool_bytes: 100GiB
data_bytes: 19GiB
leaf_reads_per_query: 100
think_us_per_query: 701
"""


def written(folder: Path, text: str) -> Path:
    """Write a workload file."""
    file = folder / "w.yml"
    file.write_text(text)
    return file


def test_what_is_left_out_has_a_default_or_is_unknown(tmp_path: Path) -> None:
    """Access is uniform, unread pages are not known."""
    work = load_workload(written(tmp_path, GOOD))
    assert work.access == "uniform"
    assert work.unread_bytes is None
    assert work.pool_bytes == 100 * 2**30


@pytest.mark.parametrize(
    ("access", "read"), [("{zipf: 0.9}", Zipf(zipf=0.9)), ("{pareto: [0.2, 0.8]}", Pareto(pareto=(0.2, 0.8)))]
)
def test_skewed_access(tmp_path: Path, access: str, read: object) -> None:
    """Zipf and Pareto are read as written."""
    assert load_workload(written(tmp_path, f"{GOOD}access: {access}\n")).access == read


def test_think_time_by_policy_falls_back_to_the_fix(tmp_path: Path) -> None:
    """A policy that the map leaves out takes the time of the fix."""
    text = GOOD.replace("701", "{mariadb-fix: 701, mariadb-10.4: 763}")
    work = load_workload(written(tmp_path, text))
    assert (work.think_us("mariadb-10.4"), work.think_us("mariadb-10.5")) == (763, 701)


def test_all_mistakes_come_at_once_with_their_lines(tmp_path: Path) -> None:
    """Five mistakes, five lines."""
    text = "threads: many\ncores: 0\npool_bytes: 100 pages\naccess: {zipf: -1}\nthink_us_per_query: {mariadb-9: 1}\n"
    with pytest.raises(ConfigProblem) as caught:
        load_workload(written(tmp_path, text))
    told = {(mistake.path, mistake.line) for mistake in caught.value.mistakes}
    assert told >= {("threads", 1), ("cores", 2), ("pool_bytes", 3), ("access", 4), ("think_us_per_query", 5)}
    assert ("data_bytes", 0) in told
    assert "100GiB" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("- 1\n", "no mapping"),
        ("threads: [1\n", "is no YAML"),
        (GOOD + "speed: 3\n", "w.yml:7: speed: is no key of a workload file"),
        (GOOD.replace("701", "{mariadb-10.5: 5}"), "at least mariadb-fix"),
        (GOOD + "mutex_us: [3, 2, 1]\nlru_scan_depth: 1\n", "mutex_us: rises"),
        (GOOD + "mutex_us: [3, 2, 1]\nlru_scan_depth: 1\n", "w.yml:8: lru_scan_depth: "),
        (GOOD + "mutex_us: [1, 2]\n", "mutex_us: has too few numbers"),
        (GOOD + "access: {}\n", "access: is one of `uniform`, `{zipf: 0.9}` and `{pareto: [0.2, 0.8]}`"),
        (GOOD + "access: {zipf: -3}\n", "access: zipf: Input should be greater than 0"),
        (GOOD + "access: {pareto: [0.2, 1.8]}\n", "access: pareto.1: Input should be less than 1"),
        (GOOD + "access: {zipf: 1, more: 2}\n", "access: more: "),
        (GOOD.replace("701", "{mariadb-fix: 701, nosuch: 3}"), "think_us_per_query: nosuch: Input should be 'lru', "),
        (GOOD + "threads: 3\n", "w.yml:7: 'threads' stands twice here, first in line 1"),
        (GOOD + "page_bytes: 3\n", "page_bytes: is one of 4096, "),
        (GOOD + "unread_bytes: 100GiB\n", "unread_bytes: pages that nobody reads are pages of the pool"),
        (GOOD + "cpu_us_per_query: 702\n", "cpu_us_per_query: is a part of think_us_per_query"),
        (GOOD + "? [a]\n: 1\n", "w.yml: is no plain YAML: "),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    """Each says what is wrong, and where."""
    with pytest.raises(ConfigProblem, match=r"w\.yml") as caught:
        load_workload(written(tmp_path, text))
    assert told in str(caught.value)


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan", "1e400", "1.0e-320", "-1.0"])
@pytest.mark.parametrize("key", ["think_us_per_query", "leaf_reads_per_query", "read_us", "cpu_us_per_query"])
def test_numbers_with_which_no_arithmetic_is_to_be_had(tmp_path: Path, key: str, number: str) -> None:
    """Infinite, none at all, too small to divide by: a mistake of the file, no traceback of the model."""
    lines = [line for line in GOOD.splitlines() if not line.startswith(key)]
    if (key, number) == ("read_us", "1.0e-320"):
        assert load_workload(written(tmp_path, "\n".join([*lines, f"{key}: {number}"]))).read_us < 1e-300
        return
    with pytest.raises(ConfigProblem, match=rf"{key}: Input should be"):
        load_workload(written(tmp_path, "\n".join([*lines, f"{key}: {number}"])))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is a mistake of the user's, no traceback."""
    with pytest.raises(ConfigProblem, match="cannot be read"):
        load_workload(tmp_path / "none.yml")


@pytest.mark.parametrize(
    ("text", "size"), [(5, 5), ("128M", 2**27), ("19 GB", 19 * 10**9), ("1.5GiB", 3 * 2**29), ("7b", 7)]
)
def test_sizes(text: object, size: int) -> None:
    """Sizes are read as MariaDB and people write them."""
    assert parsed_bytes(text) == size


def test_sizes_for_people() -> None:
    """Sizes are shown in the unit that fits."""
    assert [shown_bytes(size) for size in (12, 3 * 2**29, -25 * 2**20)] == ["12 B", "1.5 GiB", "-25 MiB"]


@pytest.mark.parametrize(
    ("size", "pages"), [("6M", 379), ("16M", 1014), ("100M", 6335), ("250M", 15840), ("1500M", 95060), ("1G", 64896)]
)
def test_frames_as_measured(size: str, pages: int) -> None:
    """The pages of a pool are those that a real 10.11.19 reported."""
    assert frames(parsed_bytes(size)) == pages
