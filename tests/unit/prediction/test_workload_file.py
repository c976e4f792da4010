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
        (GOOD + "mutex_us: [3, 2, 1]\n", "mutex_us rises"),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    """Each says what is wrong, and where."""
    with pytest.raises(ConfigProblem, match=r"w\.yml") as caught:
        load_workload(written(tmp_path, text))
    assert told in str(caught.value)


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
