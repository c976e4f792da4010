"""From the folder of a run to its report. Nothing else is read: a folder that was sent to somebody tells as much."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rollout.bench.chart import svg
from rollout.bench.store import FILE, kept_in
from rollout.bench.words import result_lines
from rollout.checks.model import CheckResult, worst
from rollout.engine.run_folder import RunFolder
from rollout.errors import ConfigProblem, Mistake
from rollout.facts.form import facts_from_json
from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown
from rollout.journal import Event, HostState, RunState, fold, read
from rollout.plan.model import HostPlan, Plan
from rollout.prediction.compare import Comparison, comparison_from_json
from rollout.report.advice import ADVICE, TONES
from rollout.report.figures import compared, figures
from rollout.report.meanings import meaning
from rollout.report.model import HostReport, MeasuredLoad, Note, PlannedChange, Report, Script, Seconds, Span
from rollout.report.results import checks_from_json


def load_report(run: RunFolder) -> Report:
    """Read a run's folder. Raises `ConfigProblem` for a journal, plan or facts file that is damaged."""
    events = read(run.journal_path)
    state, plan = fold(events), _plan(run.path / "plan.json")
    about = state.about
    by_host = _by_host(events)
    hosts = tuple(_host(run, host, plan, by_host.get(host.name, ())) for host in state.hosts.values())
    return Report(
        run_id=state.run_id or run.run_id,
        kind=state.kind,
        playbook=plan.playbook.name if plan else "",
        plan_id=plan.plan_id if plan else "",
        digest=plan.digest if plan else "",
        program_version=plan.program_version if plan else "",
        operator=str(about.get("operator", "")),
        controller=str(about.get("controller", "")),
        started_at=events[0].time if events else 0.0,
        ended_at=events[-1].time if state.ended else None,
        last_event_at=events[-1].time if events else 0.0,
        stopped=_stopped(events),
        waves=_waves(state, plan),
        hosts=hosts,
        scripts=_scripts(plan, state),
    )


def _by_host(events: Iterable[Event]) -> Mapping[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.host, []).append(event)
    return found


def _plan(path: Path) -> Plan | None:
    """Read the plan; a rollback has none. An edited one is shown all the same: a report changes nothing."""
    document = _document(path)
    try:
        return None if document is None else Plan.model_validate(document)
    except ValidationError as error:
        raise ConfigProblem([Mistake(str(path), 0, "this is no plan")]) from error


def _document(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ConfigProblem([Mistake(str(path), error.lineno, "the file is cut off or is no JSON")]) from error


def _stopped(events: Iterable[Event]) -> str:
    ends = [str(event.data.get("stopped", "")) for event in events if event.event == "run_ended"]
    return ends[-1] if ends else ""


def _waves(state: RunState, plan: Plan | None) -> tuple[tuple[str, ...], ...]:
    waves = plan.waves if plan else tuple((name,) for name in state.hosts)
    named = (tuple(name for name in wave if name in state.hosts) for wave in waves)
    return tuple(wave for wave in named if wave)


def _host(run: RunFolder, state: HostState, plan: Plan | None, events: Iterable[Event]) -> HostReport:
    row = (plan.host(state.name) if plan else None) or HostPlan(name=state.name, status="change")
    folder = run.host_path(state.name)
    before = kept_facts(folder / "facts-before.json")
    after = kept_facts(folder / "facts-soaked.json") or kept_facts(folder / "facts-after.json")
    checks = (*_checks(folder / "checks.json"), *_checks(folder / "gate.json"))
    comparison = kept_comparison(folder / "comparison.json")
    expected = row.expected_downtime_seconds
    prediction = row.prediction or {}
    return HostReport(
        name=state.name,
        status=state.status,
        tone=TONES.get(state.status, "notice"),
        wave=_wave(state.name, plan),
        error=state.error,
        advice=ADVICE.get(state.status, "").replace("HOST", state.name),
        version_before=_version(before) or row.version.running or "",
        version_after=_version(after),
        allocator_before=_allocator(before) or row.allocator.running or "",
        allocator_after=_allocator(after),
        restarts=state.restarts,
        planned_restarts=row.restarts,
        downtime_seconds=state.downtime_seconds,
        expected_downtime=Seconds(expected.low, expected.high) if expected else None,
        verdict=str(prediction.get("verdict", "")),
        reasons=tuple(map(_reason, prediction.get("reasons", ()))),
        figures=compared(comparison) if comparison else figures(before, after, prediction),
        figure_notes=tuple(_note(note.code, note.message) for note in comparison.notes) if comparison else (),
        changes=tuple(_change(change) for change in row.changes),
        blockers=tuple(_note(entry.code, entry.message) for entry in row.blockers),
        warnings=tuple(_note(entry.code, entry.message) for entry in row.warnings),
        spans=tuple(_spans(events)),
        checks=checks,
        check_status=worst(checks),
        load=_load(folder),
    )


def _load(folder: Path) -> MeasuredLoad | None:
    if not (folder / FILE).is_file():
        return None
    measured = kept_in(folder)
    return MeasuredLoad(tuple(result_lines(measured.result)), svg(measured))


def _note(code: str, message: str) -> Note:
    return Note(code, message, meaning(code))


def _wave(name: str, plan: Plan | None) -> int:
    waves = plan.waves if plan else ()
    return next((number for number, wave in enumerate(waves, 1) if name in wave), 0)


def kept_facts(path: Path) -> Facts | None:
    """Read a file of facts, None where there is none. Raises `ConfigProblem` when it is damaged."""
    document = _document(path)
    try:
        return None if document is None else facts_from_json(document)
    except (ValidationError, KeyError) as error:
        raise ConfigProblem([Mistake(str(path), 0, "these are no facts of this version of rollout")]) from error


def _checks(path: Path) -> tuple[CheckResult, ...]:
    return checks_from_json(_document(path) or ())


def kept_comparison(path: Path) -> Comparison | None:
    """Read what the soak measured of one host beside its prediction, None where it was not measured.

    Raises `ConfigProblem` when the file is no comparison.
    """
    document = _document(path)
    try:
        return None if document is None else comparison_from_json(document)
    except ValidationError as error:
        raise ConfigProblem([Mistake(str(path), 0, "this is no comparison")]) from error


def _version(facts: Facts | None) -> str:
    return "" if facts is None else _text(facts.server.running)


def _allocator(facts: Facts | None) -> str:
    return "" if facts is None else _text(facts.allocator.version_malloc_library)


def _text(value: Known[object | None]) -> str:
    if isinstance(value, Unknown):
        return "not known"
    return "not running" if value is None else str(value)


def _reason(reason: Any) -> str:
    """Take the sentence of a reason, which is a text or a note of code and message."""
    return str(reason.get("message", "")) if isinstance(reason, Mapping) else str(reason)


def _spans(events: Iterable[Event]) -> Iterable[Span]:
    """Pair the beginnings of phases with their ends; a phase without an end was cut off."""
    open_phases: dict[str, float] = {}
    for event in events:
        name = str(event.data.get("phase", ""))
        if event.event == "phase_started":
            open_phases[name] = event.time
        elif event.event == "phase_ended":
            seconds = float(event.data.get("seconds", 0.0))
            began = open_phases.pop(name, event.time - seconds)
            yield Span(name, event.data.get("status", "done"), began, event.time, _details(event.data))
    for name, began in open_phases.items():
        yield Span(name, "started", began, None)


def _details(data: Mapping[str, Any]) -> dict[str, str]:
    left_out = {"phase", "status", "seconds"}
    return {name: _flat(value) for name, value in data.items() if name not in left_out and value not in ([], "", None)}


def _flat(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _change(change: Any) -> PlannedChange:
    do, undo = _key(change.do), _key(change.undo)
    return PlannedChange(change.kind, change.summary, change.why, change.reversible, do, undo)


def _scripts(plan: Plan | None, state: RunState) -> tuple[Script, ...]:
    """Gather the texts of all changes, each once."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    for row in plan.hosts if plan else ():
        for change in row.changes if row.name in state.hosts else ():
            for title, text in ((f"{change.kind}: do", change.do), (f"{change.kind}: undo", change.undo)):
                found.setdefault(_key(text), (title, text, []))[2].append(row.name)
    return tuple(Script(key, title, text, tuple(names)) for key, (title, text, names) in found.items())
