"""The report as one HTML page that needs nothing else: no network, no script, no font."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rollout.checks.model import CheckResult
from rollout.printable import printable
from rollout.report.model import HostReport, Report
from rollout.report.timeline import WIDTH, clock, timeline

_TONES = {"pass": "good", "done": "good", "fail": "bad", "failed": "bad", "warn": "notice", "started": "notice"}
_COLOURS = {
    **dict.fromkeys(("lock", "probe", "preflight", "variables", "baseline", "peers", "replicas"), "look"),
    **dict.fromkeys(("backup", "restore", "way_back"), "save"),
    **dict.fromkeys(("change", "shorter_stop"), "change"),
    **dict.fromkeys(("proof", "soak"), "prove"),
    **dict.fromkeys(("take_back", "recover"), "back"),
    **dict.fromkeys(("before", "drain", "connections", "undrain", "after", "notify"), "wait"),
}
_LEGEND = (
    ("look", "lock, probe, preflight, variables, baseline"),
    ("save", "backup and way back"),
    ("change", "change"),
    ("prove", "proof and soak"),
    ("back", "taking back"),
    ("wait", "hooks and other"),
)


@dataclass(frozen=True)
class CheckRow:
    """One check over all hosts: how often each verdict fell, and the hosts on which it fails or warns."""

    id: str
    passed: int
    failed: int
    warned: int
    skipped: int
    hosts: tuple[HostReport, ...]


def render_html(report: Report) -> str:
    """Render the page. Every text of a host or an inventory is escaped, and its control characters are replaced."""
    measured = [host for host in report.hosts if host.downtime_seconds is not None or host.expected_downtime]
    predicted = [host for host in report.hosts if host.figures]
    loads = [(host, Markup(host.load.svg)) for host in report.hosts if host.load]  # noqa: S704 - our own drawing
    rows = check_rows(report)
    return (
        _environment(report)
        .get_template("report.html.j2")
        .render(
            report=report,
            summary=summary(report),
            sections=_sections(report),
            line=timeline(report),
            legend=_LEGEND,
            measured=measured,
            predicted=predicted,
            loads=loads,
            scale=_scale(measured),
            check_rows=rows,
        )
    )


def summary(report: Report) -> str:
    """Say in a sentence how the run came out."""
    parts = [f"{count} {status.replace('_', ' ')}" for status, count in report.counts.items()]
    done = "Ended" if report.ended_at else "Cut off"
    return f"{done}: {', '.join(parts) or 'no host took part'}."


def check_rows(report: Report) -> tuple[CheckRow, ...]:
    """Count the verdicts of each check over all hosts, in the order in which the checks stand."""
    rows: dict[str, list[tuple[HostReport, str]]] = {}
    for host in report.hosts:
        for check in host.checks:
            rows.setdefault(check.id, []).append((host, check.status))
    return tuple(_check_row(name, verdicts) for name, verdicts in rows.items())


def _check_row(name: str, verdicts: list[tuple[HostReport, str]]) -> CheckRow:
    states = [status for _, status in verdicts]
    return CheckRow(
        id=name,
        passed=states.count("pass"),
        failed=states.count("fail"),
        warned=states.count("warn"),
        skipped=states.count("skip"),
        hosts=tuple(host for host, status in verdicts if status in ("fail", "warn")),
    )


def _sections(report: Report) -> list[tuple[str, str]]:
    sections = [("trouble", "What went wrong")] if report.trouble or report.stopped else []
    sections += [("planned", "Plan and outcome"), ("times", "Time line"), ("downtime", "Time without an answer")]
    sections += [("predicted", "Predicted and measured"), ("checks", "Checks"), ("hosts", "Host by host")]
    if any(host.load for host in report.hosts):
        sections.append(("loads", "Measured under load"))
    return [*sections, ("scripts", "Scripts")] if report.scripts else sections


def _scale(hosts: Iterable[HostReport]) -> float:
    """Return the longest time of the downtime chart, in seconds."""
    ends = [host.downtime_seconds or 0.0 for host in hosts]
    ends += [host.expected_downtime.high for host in hosts if host.expected_downtime]
    return max(ends, default=0.0) or 1.0


def _environment(report: Report) -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    numbers = {host.name: number for number, host in enumerate(report.hosts, 1)}
    made.filters.update(
        words=lambda text: text.replace("_", " "),
        clock=clock,
        clock_or=lambda seconds, otherwise: otherwise if seconds is None else clock(seconds),
        change=_arrow,
        tally=tally,
        tone=lambda status: _TONES.get(status, "quiet"),
        colour=lambda phase: _COLOURS.get(phase, "wait"),
        number_of=lambda host: numbers[host.name],
        on=lambda seconds, scale: round(seconds / scale * (WIDTH - 14), 1),
        iso=lambda seconds: _utc(seconds).isoformat(timespec="seconds"),
        utc=lambda seconds: f"{_utc(seconds):%Y-%m-%d %H:%M:%S} UTC",
    )
    return made


def _clean(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, lines=True)


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}" if after and after != before else before or after or "-"


def tally(checks: tuple[CheckResult, ...]) -> str:
    """Say how many checks failed and warned, or that all passed."""
    if not checks:
        return "not checked"
    states = [check.status for check in checks]
    parts = [f"{states.count(status)} {status}" for status in ("fail", "warn") if status in states]
    return ", ".join(parts) or f"{states.count('pass')} pass"
