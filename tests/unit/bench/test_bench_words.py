"""How measurements are compared and told: no winner within the noise."""

import json
from pathlib import Path

import pytest

from rollout.bench.compare import difference, paired_spread
from rollout.bench.store import Measurement, Part, Result, keep, kept_one
from rollout.bench.words import diff_lines, result_lines
from rollout.errors import ConfigProblem, UsageProblem

MIB = 2**20


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([100.0, 102.0], [52.0, 50.0], "less"),
        ([100.0, 102.0], [201.0, 205.0], "more"),
        ([100.0, 110.0], [104.0, 108.0], "within the noise"),  # they overlap
        ([100.0, 110.0], [111.0, 116.0], "within the noise"),  # apart, but by less than either scatters
        ([100.0], [1.0], "one run each: noise unknown"),
    ],
)
def test_no_winner_within_the_noise(before: list[float], after: list[float], verdict: str) -> None:
    """Only rows that do not overlap and lie further apart than they scatter are told apart."""
    assert difference(before, after).verdict == verdict


def test_the_spread_of_pairs() -> None:
    """Neighbours that were measured alike: 100 and 90 are 10.5 % apart, 100 and 100 not at all."""
    assert paired_spread([100.0, 90.0, 100.0, 100.0]) == pytest.approx(10 / 95)
    assert paired_spread([100.0]) is None


def result(run_id: str, peak: list[float], pairs: int = 2) -> Result:
    """Make a memory result whose glibc arm always peaks at 1000 MiB."""

    def part(label: str, values: list[float]) -> Part:
        measured = Measurement(name="peak_bytes", values=tuple(value * MIB for value in values), unit="bytes")
        return Part(label=label, measurements=(measured,))

    return Result(
        kind="memory",
        host="db1",
        run_id=run_id,
        about={"server": "10.11.19", "pairs": pairs, "seed": 1},
        order=("glibc", "jemalloc", "jemalloc", "glibc"),
        parts=(part("glibc", [1000, 1001]), part("jemalloc", peak)),
        remarks=("the machine is small",),
    )


def test_a_result_reads_beside_the_published_run() -> None:
    """The table has our figures with their range, the difference, and the published figures."""
    text = "\n".join(result_lines(result("r1", [700, 704])))
    assert "1,000.5 MiB (1,000.0 MiB..1,001.0 MiB)" in text
    assert "-30 %, noise 0 %" in text
    assert "1098.7 MB" in text
    assert "712.6 MB" in text
    assert "the machine is small" in text
    assert '"seed": 1' in text


def test_two_runs_are_compared_with_what_differs_in_their_settings() -> None:
    """Settings that differ are named; a difference within the scatter is called so."""
    text = "\n".join(diff_lines(result("r1", [700, 704]), result("r2", [702, 706], pairs=3)))
    assert "pairs differs: 2 and 3" in text
    assert text.count("within the noise") == 2


def test_pools_that_hold_other_pages_are_told() -> None:
    """On a server that was started in between, promotions a row went from 0.064 to 0.228: its list held less else."""

    def filled(run_id: str, pages: str) -> Result:
        part = Part(label="points uniform in memory", measurements=(), facts={"pages in the pool": f"{pages} of 8112"})
        return Result(kind="lru", host="db1", run_id=run_id, about={}, order=(part.label,), parts=(part,))

    told = "points uniform in memory: pages in the pool 6392 of 8112 and 5286 of 8112"
    assert told in "\n".join(diff_lines(filled("r1", "6392"), filled("r2", "5286")))
    assert "pages in the pool" not in "\n".join(diff_lines(filled("r1", "6392"), filled("r2", "6392")))


def test_a_result_is_read_back_as_it_was_kept(tmp_path: Path) -> None:
    """Nothing is lost on the way through the file, and a damaged one is named."""
    folder = tmp_path / "hosts" / "db1"
    keep(folder, result("r1", [700, 704]), 12.5)
    again = kept_one(tmp_path).result
    assert again.model_copy(update={"started_at": 0.0}) == result("r1", [700, 704])
    assert json.loads((folder / "bench.json").read_text())["schema"] == 1
    (folder / "bench.json").write_text('{"schema": 1,')
    with pytest.raises(ConfigProblem, match="cut off or is no JSON"):
        kept_one(tmp_path)
    with pytest.raises(UsageProblem, match="measured nothing"):
        kept_one(tmp_path / "hosts" / "db1")
