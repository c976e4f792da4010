"""The report as text for a terminal or a mail: the same model as the page, shorter."""

from collections.abc import Iterator

from rollout.printable import printable
from rollout.report.html import summary, tally
from rollout.report.model import HostReport, Report
from rollout.report.timeline import clock


def render_text(report: Report) -> str:
    """Render the report; texts of hosts are made safe for a terminal."""
    lines = [f"rollout {report.kind} {report.run_id}: {summary(report)}"]
    if report.stopped:
        lines.append(f"stopped: {report.stopped}")
    for host in report.hosts:
        lines += ["", *_host(host)]
    return "\n".join(printable(line) for line in lines)


def _host(host: HostReport) -> Iterator[str]:
    yield f"{host.name}: {host.status.replace('_', ' ')}"
    yield f"  version    {_change(host.version_before, host.version_after)}"
    yield f"  allocator  {_change(host.allocator_before, host.allocator_after)}"
    yield f"  restarts   {host.restarts} of {host.planned_restarts}"
    if host.downtime_seconds is not None:
        expected = host.expected_downtime
        beside = f" (expected {clock(expected.low)} to {clock(expected.high)})" if expected else ""
        yield f"  no answer  {clock(host.downtime_seconds)}{beside}"
    for figure in host.figures:
        aside = [f"predicted {figure.predicted}"] if figure.predicted else []
        aside += [figure.remark] if figure.remark else []
        beside = f" ({'; '.join(aside)})" if aside else ""
        yield f"  {figure.name}: {_change(figure.before, figure.after)}{beside}"
    for note in host.figure_notes:
        yield f"  note       {note.message} ({note.code})"
    yield f"  checks     {tally(host.checks)}"
    for check in host.checks:
        if check.status in ("fail", "warn"):
            cause = f" ({check.cause})" if check.cause else ""
            yield f"    {check.status} {check.id}: {check.found}{cause}, expected {check.expected}"
    if host.load:
        yield from host.load.lines
    if host.error:
        yield f"  what went wrong: {host.error}"
        yield f"  what to do: {host.advice}"


def _change(before: str, after: str) -> str:
    return f"{before} -> {after}" if after and after != before else before or after or "-"
