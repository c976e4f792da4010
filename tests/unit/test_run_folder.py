"""Which run is gone on with, which locks are ours to take, and what a rollback leaves in the runs before it."""

from pathlib import Path

import pytest

from rollout.engine.run_folder import OpenRun, RunFolder, close_behind, dead_runs, run_to_resume, runs, unfinished
from rollout.errors import UsageProblem


def begun(state: Path, run_id: str, *hosts: str) -> OpenRun:
    """Begin an apply and leave its first host in the middle of its change."""
    run = OpenRun(RunFolder(state / "runs" / run_id), lambda _event: None)
    run.record("", "run_started", run_id=run_id, kind="apply", hosts=list(hosts))
    run.record(hosts[0], "phase_ended", phase="lock", status="done", seconds=0.1)
    run.record(hosts[0], "phase_started", phase="change")
    return run


def ended(state: Path, run_id: str, kind: str = "apply", status: str = "changed") -> None:
    """Make a whole run of one host."""
    run = OpenRun(RunFolder(state / "runs" / run_id), lambda _event: None)
    run.record("", "run_started", run_id=run_id, kind=kind, hosts=["db3"])
    run.record("db3", "finished", status=status)
    run.record("", "run_ended", stopped="")
    run.close()


def test_the_run_that_was_cut_off_is_resumed_and_not_the_last_one(tmp_path: Path) -> None:
    """A rollback and a refused apply after it do not hide it."""
    begun(tmp_path, "r1", "db1", "db2").close()
    ended(tmp_path, "r2", status="blocked")
    ended(tmp_path, "r3", kind="rollback", status="ok")
    assert run_to_resume(tmp_path, None).run_id == "r1"
    assert [run.run_id for run in unfinished(tmp_path)] == ["r1"]


def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    """A run that ended well is not begun again."""
    ended(tmp_path, "r1")
    with pytest.raises(UsageProblem, match="was cut off"):
        run_to_resume(tmp_path, None)


def test_a_run_that_left_a_host_undone_can_be_gone_on_with(tmp_path: Path) -> None:
    """Only failed and untouched hosts are left in it."""
    ended(tmp_path, "r1", status="recovered")
    assert run_to_resume(tmp_path, None).run_id == "r1"


def test_a_run_that_was_killed_before_its_first_line_has_never_been(tmp_path: Path) -> None:
    """It is not shown and not resumed: nobody knows which hosts it was to change, and it changed none."""
    OpenRun(RunFolder(tmp_path / "runs" / "r1"), lambda _event: None).close()
    assert runs(tmp_path) == []
    begun(tmp_path, "r2", "db1").close()
    torn = RunFolder(tmp_path / "runs" / "r3")
    OpenRun(torn, lambda _event: None).close()
    torn.journal_path.write_bytes(b'{"time": 1.0, "host": "", "ev')
    assert [run.run_id for run in runs(tmp_path)] == ["r2"]


def test_only_runs_without_a_process_are_dead(tmp_path: Path) -> None:
    """The lock of a run that is being worked on is not ours to take."""
    alive = begun(tmp_path, "r1", "db1")
    assert dead_runs(tmp_path) == ()
    alive.close()
    assert dead_runs(tmp_path) == ("r1",)


def test_a_rollback_closes_the_run_that_was_cut_off(tmp_path: Path) -> None:
    """Its host is `rolled_back` then, holds no lock, and the run no longer asks to be resumed."""
    begun(tmp_path, "r1", "db1").close()
    close_behind(tmp_path, ["db1"])
    host = RunFolder(tmp_path / "runs" / "r1").state().hosts["db1"]
    assert (host.status, host.holds_lock) == ("rolled_back", False)
    assert unfinished(tmp_path) == []
