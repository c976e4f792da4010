"""A plan that is run for some of its hosts only never puts a replica below its primary."""

from pathlib import Path

import pytest

from rollout.changes.model import Change
from rollout.engine.loop import apply_plan
from rollout.engine.run_folder import OpenRun, RunFolder, reached_by_plan
from rollout.engine.steps import Options
from rollout.journal import Event
from rollout.plan.left_out import left_out
from rollout.plan.model import HostPlan, Plan, PlaybookPart
from rollout.plan.way_back import Reached
from rollout.settings import Connection, Host

PACKAGES = Change("packages", "11.8.9 -> 11.8.10", {}, {}, "the LRU fix", "true", "true")
ALLOCATOR = Change("allocator", "jemalloc", {}, {}, "memory", "true", "true")


def plan(**changes: tuple[Change, ...]) -> Plan:
    """Make a plan of a primary db1 and its replicas db2 and db3; a host without changes is `ok`."""
    rows = tuple(HostPlan(name=name, status="change" if own else "ok", changes=own) for name, own in changes.items())
    return Plan(
        schema=1,
        plan_id="p1",
        created_at="2026-11-30T10:00:00+00:00",
        program_version="0.1.0",
        playbook=PlaybookPart(name="fix", source="fix.yml", changes=("packages",)),
        inventory_sources=(),
        inventory={},
        waves=(("db2",), ("db3",), ("db1",)),
        after={"db1": ("db2", "db3")},
        hosts=rows,
    ).sealed()


ALL = plan(db1=(PACKAGES,), db2=(PACKAGES,), db3=(PACKAGES,))


@pytest.mark.parametrize(
    ("some", "names", "done", "refused"),
    [
        (ALL, ["db1", "db2", "db3"], (), []),  # the whole plan
        (ALL, ["db1"], (), ["db1"]),
        (ALL, ["db1", "db2"], (), ["db1"]),
        (ALL, ["db1", "db2"], ("db3",), []),  # the third was changed before
        (ALL, ["db1"], ("db2", "db3"), []),
        (ALL, ["db2"], (), []),  # a replica may be newer
        (plan(db1=(PACKAGES,), db2=(), db3=()), ["db1"], (), []),  # the replicas have arrived already
        (plan(db1=(ALLOCATOR,), db2=(PACKAGES,), db3=(PACKAGES,)), ["db1"], (), []),  # its version stays
    ],
)
def test_a_primary_waits_for_replicas_that_the_run_leaves_out(
    some: Plan, names: list[str], done: tuple[str, ...], refused: list[str]
) -> None:
    """With --host or --limit the primary is refused until its replicas were changed by the same plan."""
    assert list(left_out(some, names, done)) == refused


def a_run(state: Path, run_id: str, kind: str, plan_id: str, **words: str) -> None:
    """Write the journal of a run in which hosts ended with these words."""
    run = OpenRun(RunFolder(state / "runs" / run_id), lambda _event: None)
    run.record("", "run_started", run_id=run_id, kind=kind, hosts=list(words), plan_id=plan_id)
    for host, word in words.items():
        run.record(host, "finished", status=word)
    run.close()


def test_what_earlier_runs_of_the_plan_have_done_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    """Hosts that were changed or were ok count; another plan's do not; a rollback takes the word back."""
    a_run(tmp_path, "1", "apply", "p1", db2="changed", db3="failed")
    a_run(tmp_path, "2", "apply", "p1", db3="ok")
    a_run(tmp_path, "3", "apply", "p2", db4="changed")
    assert reached_by_plan(tmp_path, "p1").done == {"db2", "db3"}
    a_run(tmp_path, "4", "rollback", "", db2="rolled_back", db3="ok")
    assert reached_by_plan(tmp_path, "p1").done == {"db3"}


def test_a_change_without_a_known_end_is_in_doubt_until_it_has_one(tmp_path: Path) -> None:
    """Neither changed nor back: `failed` and `unknown` after the change began; not one that failed before it."""
    run = OpenRun(RunFolder(tmp_path / "runs" / "1"), lambda _event: None)
    run.record("", "run_started", run_id="1", kind="apply", hosts=["db1", "db2", "db3", "db4"], plan_id="p1")
    for host, phase, word in (("db1", "change", "unknown"), ("db2", "change", "failed"), ("db3", "backup", "failed")):
        run.record(host, "phase_started", phase=phase)
        run.record(host, "finished", status=word)
    run.record("db4", "phase_started", phase="change")
    run.close()
    assert reached_by_plan(tmp_path, "p1").in_doubt == {"db1", "db2", "db4"}
    a_run(tmp_path, "2", "rollback", "", db2="rolled_back", db4="failed")
    assert reached_by_plan(tmp_path, "p1").in_doubt == {"db1", "db4"}
    a_run(tmp_path, "3", "apply", "p1", db1="changed")
    assert reached_by_plan(tmp_path, "p1") == Reached({"db1"}, {"db4"})


def test_an_apply_of_the_primary_alone_is_stopped_before_anything_is_touched(tmp_path: Path) -> None:
    """The host ends as blocked, the reason names both replicas, and no connection is opened."""
    events: list[Event] = []
    run = OpenRun(RunFolder(tmp_path / "runs" / "1"), events.append)
    result = apply_plan(ALL, {"db1": Host("db1", Connection())}, run, Options())
    run.close()
    assert result.exit_code == 4
    assert result.stopped.startswith("host_blocked")
    assert result.outcomes["db1"].error == (
        "replica_would_be_older: this run leaves out replicas that must be changed before it: db2, db3"
    )
    assert [event.event for event in events] == ["run_started", "finished", "run_ended"]
