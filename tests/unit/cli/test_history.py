"""`rollout history`: runs, and how good their predictions were."""

import json
from pathlib import Path

from click.testing import CliRunner

from rollout.cli.history import command
from rollout.journal import Journal
from rollout.prediction.compare import Comparison, Row
from rollout.prediction.ranges import Range


def run_with(folder: Path, *comparisons: Comparison) -> None:
    """Make a run in whose folder these comparisons were kept."""
    (folder / "hosts").mkdir(parents=True)
    journal = Journal(folder / "journal.jsonl")
    journal.append("", "run_started", run_id=folder.name, kind="apply", hosts=[one.host for one in comparisons])
    journal.close()
    for one in comparisons:
        (folder / "hosts" / one.host).mkdir()
        (folder / "hosts" / one.host / "comparison.json").write_text(json.dumps(one.to_json()))


def memory(host: str, after: float, within: bool | None) -> Comparison:
    """Return what was measured of a host's memory: 100 to 300 bytes were to be left, 200 the middle, of 400."""
    error = None if within is None else abs(after - 200) / 200
    return Comparison(host, (Row("memory_bytes", Range(100, 200, 300), 400, after, within, error=error),), ())


def test_the_tally_goes_over_all_runs(tmp_path: Path) -> None:
    """Three judged predictions of two runs, two of them right; what could not be judged is not counted."""
    run_with(tmp_path / "runs" / "20260101t000000-0001", memory("a", 250, True), memory("b", 400, False))
    run_with(tmp_path / "runs" / "20260102t000000-0002", memory("a", 200, True), memory("b", 1, None))
    ended = CliRunner().invoke(command, ["--state-dir", str(tmp_path), "--json"])
    document = json.loads(ended.output)
    assert [run["run_id"] for run in document["runs"]] == ["20260101t000000-0001", "20260102t000000-0002"]
    # (|250 - 200| / 200 + |400 - 200| / 200 + 0) / 3: a share of the 200 bytes that were to come back
    mean = (0.25 + 1 + 0) / 3
    expected = {"name": "memory_bytes", "judged": 3, "within": 2, "wide": 0, "mean_relative_error": mean}
    assert document["predictions"] == [expected]


def test_without_a_judged_prediction_there_is_no_tally(tmp_path: Path) -> None:
    """Runs of a rehearsal predict nothing that could be judged, and the table is left out."""
    run_with(tmp_path / "runs" / "20260101t000000-0001", memory("a", 250, None))
    ended = CliRunner().invoke(command, ["--state-dir", str(tmp_path)])
    assert ended.exit_code == 0
    assert "predicted" not in ended.output
