"""Tables and texts for people. Whatever came from a host or an inventory is made safe for a terminal first."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rollout.engine.hooks import EVENTS
from rollout.engine.outcome import Outcome
from rollout.plan.model import HostPlan, Plan
from rollout.printable import printable

STYLES = {
    "change": "cyan",
    "changed": "green",
    "ok": "green",
    "rolled_back": "green",
    "blocked": "yellow",
    "recovered": "yellow",
    "stale": "yellow",
    "skipped": "dim",
    "pending": "dim",
    "failed": "red",
    "unreachable": "red",
    "unknown": "red",
}


def show(table: Table) -> None:
    """Print a table on stdout; outside a terminal it is as wide as it needs."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    console.print(table)


def cell(value: object, style: str = "") -> Text:
    """Make a cell of any value; unknown shows as `?`."""
    return Text("?" if value is None else printable(str(value)), style=style)


def table(headings: Iterable[str], rows: Iterable[Iterable[object]], title: str = "") -> Table:
    """Make a table; a cell that is no `Text` yet is made safe and becomes one."""
    made = Table(title=title or None, title_justify="left", pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for row in rows:
        made.add_row(*(value if isinstance(value, Text) else cell(value) for value in row))
    return made


def plan_table(plan: Plan) -> Table:
    """Show what is planned, a row a host."""
    headings = ("host", "status", "version", "target", "fix", "allocator", "restarts", "without an answer")
    return table(headings, (_plan_row(row) for row in plan.hosts), title=f"{plan.playbook.name}")


def _plan_row(row: HostPlan) -> list[object]:
    downtime = row.expected_downtime_seconds
    allocator = row.allocator
    aim = f" -> {allocator.target}" if allocator.target else ""
    return [
        row.name,
        cell(row.status, STYLES.get(row.status, "")),
        row.version.running or row.version.on_disk,
        row.version.target or "-",
        row.version.fix,
        f"{(allocator.running or '?').partition('-')[0]}{aim}",  # without jemalloc's commit
        row.restarts,
        f"{downtime.low:g} to {downtime.high:g} s" if downtime else "-",
    ]


def plan_details(plan: Plan) -> str:
    """Tell each host's changes, blockers and warnings in words, and the order."""
    lines = []
    for row in plan.hosts:
        lines += [f"{row.name}: {change.kind}: {change.summary}" for change in row.changes]
        lines += [f"{row.name}: BLOCKED {entry.code}: {entry.message}" for entry in row.blockers]
        lines += [f"{row.name}: warning {entry.code}: {entry.message}" for entry in row.warnings]
        lines += _hooks(row)
        lines += _foretold(row)
    order = " | ".join(" ".join(wave) for wave in plan.waves)
    return "\n".join(printable(line) for line in [*lines, f"order: {order}"])


def _hooks(row: HostPlan) -> list[str]:
    """Say which programs would run around the change of a host."""
    if row.status != "change":
        return []
    return [f"{row.name}: hook {event}: {hook.told}" for event in EVENTS for hook in row.hooks.of(event)]


def _foretold(row: HostPlan) -> list[str]:
    """Say in words what the change is likely to be worth on a host."""
    if row.prediction is None:
        return []
    reasons = "; ".join(row.prediction["reasons"])
    return [f"{row.name}: prediction {row.prediction['verdict']}: {reasons}"]


def outcome_table(outcomes: Mapping[str, Outcome]) -> Table:
    """Show how the hosts came out of a run."""
    headings = ("host", "status", "restarts", "without an answer", "what")
    return table(headings, (_outcome_row(name, outcome) for name, outcome in outcomes.items()))


def _outcome_row(name: str, outcome: Outcome) -> list[object]:
    downtime = outcome.downtime_seconds
    return [
        name,
        cell(outcome.status, STYLES.get(outcome.status, "")),
        outcome.restarts,
        "-" if downtime is None else f"{downtime:.1f} s",
        outcome.error,
    ]
