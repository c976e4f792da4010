"""A run's folder becomes a report: from a journal, a plan, facts and checks as the engine writes them."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from healthy_host import EARLIER, EXPECTED, WELL

from rollout.changes.model import Change, Finding
from rollout.checks.model import CheckResult
from rollout.checks.registry import run_checks
from rollout.cli.app import app
from rollout.engine.run_folder import RunFolder
from rollout.errors import ConfigProblem, UsageProblem
from rollout.facts.form import facts_to_json
from rollout.journal import Journal, dump_synced
from rollout.plan.model import HostPlan, Plan, PlaybookPart, SecondsRange
from rollout.prediction.compare import Comparison, Row
from rollout.prediction.model import Note
from rollout.prediction.ranges import Range
from rollout.report.html import render_html
from rollout.report.load import load_report
from rollout.report.model import Figure
from rollout.report.text import render_text

EVIL = "<script>alert(1)</script>\x1b[31m"
PHASES = ("lock", "probe", "preflight", "baseline", "backup", "way_back", "change", "proof", "soak", "unlock")
CHANGE = Change("packages", "11.8.9 -> 11.8.10", {}, {}, "it carries the fix", "apt-get install …", "apt-get …")


def plan(names: tuple[str, ...]) -> Plan:
    """Make a plan of one wave a host."""
    rows = [
        HostPlan(
            name=name,
            status="change",
            changes=(CHANGE,),
            restarts=1,
            expected_downtime_seconds=SecondsRange(low=2.3, high=71.0),
            warnings=(Finding("huge_pages_always", "they are"),),
            prediction={"verdict": "gain", "reasons": [], "rss_saving_bytes": {"low": 0, "mid": 5, "high": 2**20}},
        )
        for name in names
    ]
    return Plan(
        schema=1,
        plan_id="p1",
        created_at="2026-11-30T10:00:00+00:00",
        program_version="0.1.0",
        playbook=PlaybookPart(name="both", source="both.yml", changes=("packages", "allocator")),
        inventory_sources=(),
        inventory={},
        waves=tuple((name,) for name in names),
        hosts=tuple(rows),
    ).sealed()


def write_run(folder: Path, names: tuple[str, ...], *, cut_off: bool = False, state: str = "changed") -> RunFolder:
    """Write the folder of a run; with `cut_off` its last host was killed inside its change."""
    run = RunFolder(folder / "20261130t100000-5f3a")
    dump_synced(run.path / "plan.json", plan(names).to_json())
    journal = Journal(run.journal_path)
    journal.append("", "run_started", run_id=run.run_id, kind="apply", hosts=list(names), operator="dba")
    for name in names:
        here = run.host(name)
        memory = replace(EARLIER.memory, rss_bytes=4 * 2**20)
        dump_synced(here / "facts-before.json", facts_to_json(replace(EARLIER, host=name, memory=memory)))
        dump_synced(here / "facts-after.json", facts_to_json(replace(WELL, host=name)))
        dump_synced(here / "checks.json", [asdict(row) for row in run_checks(WELL, EARLIER, EXPECTED)])
        for phase in PHASES:
            journal.append(name, "phase_started", phase=phase)
            if cut_off and name == names[-1] and phase == "change":
                journal.close()
                return run
            journal.append(name, "phase_ended", phase=phase, status="done", seconds=0.1, warnings=["a", "b"])
        error = "proof: it did not hold" if state == "recovered" else ""
        journal.append(name, "finished", status=state, error=error, restarts=1, downtime_seconds=2.6)
    journal.append("", "run_ended", stopped="")
    journal.close()
    return run


def test_a_whole_run_is_told(tmp_path: Path) -> None:
    """Versions, allocators, downtime, phases with details, checks, prediction, the scripts once for equal texts."""
    report = load_report(write_run(tmp_path, ("db1", "db2")))
    host = report.hosts[1]
    assert (host.version_after, host.wave, host.restarts, host.downtime_seconds) == ("11.8.10", 2, 1, 2.6)
    assert host.allocator_after.startswith("jemalloc")
    assert [span.phase for span in host.spans] == list(PHASES)
    assert host.spans[0].details == {"warnings": "a; b"}
    assert host.figures[0].predicted == "3 MiB to 4 MiB"
    assert host.warnings[0].meaning
    assert [(script.title, script.hosts) for script in report.scripts] == [
        ("packages: do", ("db1", "db2")),
        ("packages: undo", ("db1", "db2")),
    ]
    assert report.ended_at is not None
    assert report.counts == {"changed": 2}


def test_a_run_that_was_cut_off_says_where(tmp_path: Path) -> None:
    """The phase without an end stands open, the host is unknown, and the reader is told what to do."""
    report = load_report(write_run(tmp_path, ("db1", "db2"), cut_off=True))
    host = report.hosts[1]
    assert (report.ended_at, host.status, host.tone) == (None, "unknown", "bad")
    assert (host.spans[-1].phase, host.spans[-1].ended_at) == ("change", None)
    assert "rollout apply --resume" in host.advice
    assert "Cut off" in render_html(report)


def test_hostile_names_are_text_on_the_page_and_in_the_terminal(tmp_path: Path) -> None:
    """Markup is escaped, control characters are shown and never sent."""
    report = load_report(write_run(tmp_path, (EVIL,), state="recovered"))
    page, text = render_html(report), render_text(report)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m" in page
    assert "\x1b" not in page + text
    assert "what to do:" in text


def test_the_command_prints_text_json_and_writes_the_page(tmp_path: Path) -> None:
    """All from the last run of the state directory; a run that is not there is a mistake of usage."""
    write_run(tmp_path / "runs", ("db1",))
    words = ["report", "--state-dir", str(tmp_path)]
    page = tmp_path / "out" / "report.html"
    assert "db1: changed" in CliRunner().invoke(app, words).stdout
    told = CliRunner().invoke(app, [*words, "--out", str(page), "--json"])
    assert json.loads(told.stdout)["hosts"][0]["version_after"] == "11.8.10"
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert isinstance(CliRunner().invoke(app, [*words, "--run", "x"]).exception, UsageProblem)


@pytest.mark.parametrize("name", ["plan.json", "hosts/db1/facts-after.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    """A file that was cut off is no silent gap in the report."""
    run = write_run(tmp_path, ("db1",))
    (run.path / name).write_text('{"schema": 1')
    with pytest.raises(ConfigProblem, match=Path(name).name):
        load_report(run)


def test_what_the_engine_measured_takes_the_place_of_bare_facts(tmp_path: Path) -> None:
    """With a comparison its rows are shown, judged in words; the health gate's results stand with the checks."""
    run = write_run(tmp_path, ("db1",))
    rows = (
        Row("memory_bytes", Range(2**20, 2**20, 2**21), 2**22, 2**20, True),
        Row("hit_ratio", Range(0.98, 0.99, 1.0), 0.99, 0.5, False, "look at it"),
    )
    dump_synced(
        run.host("db1") / "comparison.json",
        Comparison("db1", rows, (Note("pool_still_cold", "not comparable"),)).to_json(),
    )
    dump_synced(run.host("db1") / "gate.json", [asdict(CheckResult("gate_errors", "fail", "none", "three"))])
    host = load_report(run).hosts[0]
    assert host.figures == (
        Figure("memory of the process", "4 MiB", "1 MiB", "1 MiB to 2 MiB", "as predicted"),
        Figure("hit ratio", "99.00%", "50.00%", "98.00% to 100.00%", "not as predicted; look at it"),
    )
    assert (host.checks[-1].id, host.check_status) == ("gate_errors", "fail")
    assert [(note.code, bool(note.meaning)) for note in host.figure_notes] == [("pool_still_cold", True)]
    text = render_text(load_report(run))
    assert "hit ratio: 99.00% -> 50.00% (predicted 98.00% to 100.00%; not as predicted; look at it)" in text
    assert "not comparable (pool_still_cold)" in text


def test_a_ticket_needs_both_samples(tmp_path: Path) -> None:
    """It is printed from the four looks; without them the command says what is missing."""
    run = write_run(tmp_path / "runs", ("db1",))
    words = ["report", "--state-dir", str(tmp_path), "--ticket"]
    assert "no counters of both sides for db1" in str(CliRunner().invoke(app, words).exception)
    for moment, facts in (("before-2", EARLIER), ("soaked", WELL), ("soaked-2", WELL)):
        dump_synced(run.host("db1") / f"facts-{moment}.json", facts_to_json(facts))
    assert "Before: 11.8.10" in CliRunner().invoke(app, words).stdout
