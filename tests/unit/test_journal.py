"""The journal: synced lines, a torn last one survived, folds that any prefix feeds."""

from pathlib import Path

import pytest

from rollout.errors import ConfigProblem
from rollout.journal import Journal, fold, read


def a_run(path: Path) -> Path:
    """Write a short run of one host that was changed."""
    journal = Journal(path)
    journal.append("", "run_started", run_id="r1", hosts=["db1", "db2"])
    journal.append("db1", "phase_started", phase="lock")
    journal.append("db1", "phase_ended", phase="lock", status="done", seconds=0.1)
    journal.append("db1", "phase_started", phase="change")
    journal.append("db1", "phase_ended", phase="change", status="done", seconds=8.0)
    journal.append("db1", "phase_ended", phase="unlock", status="done", seconds=0.1)
    journal.append("db1", "finished", status="changed", restarts=1, downtime_seconds=3.5)
    journal.append("", "run_ended")
    journal.close()
    return path


def test_a_whole_run_folds_to_its_end(tmp_path: Path) -> None:
    """The host is changed, its lock given back, and the host that was not reached is pending."""
    run = fold(read(a_run(tmp_path / "journal.jsonl")))
    assert run.ended
    assert run.hosts["db1"].status == "changed"
    assert run.hosts["db1"].downtime_seconds == 3.5
    assert not run.hosts["db1"].holds_lock
    assert run.hosts["db2"].status == "pending"


def test_a_run_that_was_cut_off_in_the_change_is_unknown_and_holds_the_lock(tmp_path: Path) -> None:
    """Killed after `phase_started change`: the change may have begun, and the lock is still ours."""
    host = fold(read(a_run(tmp_path / "journal.jsonl"))[:4]).hosts["db1"]
    assert host.status == "unknown"
    assert host.change_began
    assert host.holds_lock


def test_a_torn_last_line_is_dropped_and_cut_off_before_the_next(tmp_path: Path) -> None:
    """What a crash left of a line neither hides the lines before it nor glues itself to the next one."""
    path = a_run(tmp_path / "journal.jsonl")
    whole = len(read(path))
    with path.open("ab") as file:
        file.write(b'{"time": 1, "ho')
    assert len(read(path)) == whole
    journal = Journal(path)
    journal.append("db2", "finished", status="ok")
    journal.close()
    assert read(path)[-1].host == "db2"


def test_a_torn_line_in_the_middle_is_refused_by_its_number(tmp_path: Path) -> None:
    """Damage that no crash explains is never skipped."""
    path = a_run(tmp_path / "journal.jsonl")
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:10], *lines[2:]]))
    with pytest.raises(ConfigProblem, match=r"journal\.jsonl:2"):
        read(path)
