"""Tables and texts for people. Whatever came from a host or an inventory is made safe for a terminal first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from rollout.engine.hooks import EVENTS
from rollout.engine.outcome import Outcome
from rollout.plan.model import HostPlan, Plan
from rollout.printable import printable
from rollout.windows import why_closed

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


GAP = 3  # between two columns
PIPE_COLUMNS = 200  # outside a terminal there is no reason to squeeze a table


@dataclass(frozen=True)
class Grid:
    """A table before it is known how wide the screen is; `numbers` sets all columns but the first to the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    title: str = ""
    numbers: bool = False


def table(headings: Iterable[str], rows: Iterable[Iterable[object]], title: str = "", *, numbers: bool = False) -> Grid:
    """Make a table; a cell that is no `Text` yet is made safe and becomes one."""
    cells = tuple(tuple(value if isinstance(value, Text) else cell(value) for value in row) for row in rows)
    return Grid(tuple(headings), cells, printable(title), numbers)


def cell(value: object, style: str = "", *, lines: bool = False) -> Text:
    """Make a cell of any value, line feeds kept if wanted; unknown shows as `?`."""
    return Text("?" if value is None else printable(str(value), lines=lines), style=style)


def show(grid: Grid) -> None:
    """Print a table on stdout; a screen that is too narrow for its words gets a paragraph a row instead."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_COLUMNS)
    console.print(_as_table(grid) if _least_width(grid) <= console.width else _as_paragraphs(grid))


def _least_width(grid: Grid) -> int:
    """Return the columns that a table needs so that no word is torn."""
    columns = zip(map(Text, grid.headings), *grid.rows, strict=True)
    longest = (max(cell_len(word) for text in column for word in (text.plain.split() or [""])) for column in columns)
    return sum(width + GAP for width in longest)


def _as_table(grid: Grid) -> Table:
    made = Table(title=Text(grid.title) if grid.title else None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(grid.headings):
        made.add_column(heading, overflow="fold", justify="right" if grid.numbers and place else "left")
    for row in grid.rows:
        made.add_row(*row)
    return made


def _as_paragraphs(grid: Grid) -> Group:
    """Set each row as a paragraph: its first cell as a heading, then a line for each other cell that says something."""
    lines = [Text(grid.title, style="italic")] if grid.title else []
    for row in grid.rows:
        lines.append(Text.assemble(row[0], style="bold"))
        said = (pair for pair in zip(grid.headings[1:], row[1:], strict=True) if pair[1].plain not in ("", "-"))
        lines += [Text.assemble(f"  {heading}: ", value) for heading, value in said]
    return Group(*lines)


def plan_table(plan: Plan) -> Grid:
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
        lines += _stops(row)
        lines += _window(plan, row)
        lines += _hooks(row)
        lines += _foretold(row)
    order = " | ".join(" ".join(wave) for wave in plan.waves)
    return "\n".join(printable(line) for line in [*lines, f"order: {order}"])


def _stops(row: HostPlan) -> list[str]:
    """Say what a shorter stop is worth, where it is worth anything."""
    ranges = row.expected_downtime_by_stop
    if not ranges or ranges["plain"] == ranges["shorter"]:
        return []
    told = {name: f"{one.low:g} to {one.high:g} s" for name, one in ranges.items()}
    return [f"{row.name}: without an answer {told['plain']}, with the shorter stop {told['shorter']}"]


def _window(plan: Plan, row: HostPlan) -> list[str]:
    """Say when work on a host may begin: now, or at the next opening of its windows."""
    window = plan.inventory[row.name]["settings"].get("window", ()) if row.name in plan.inventory else ()
    if row.status != "change" or not window:
        return []
    shut = why_closed(window, datetime.now(UTC))
    return [f"{row.name}: window {', '.join(window)}: {shut or 'it is open now'}"]


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


def outcome_table(outcomes: Mapping[str, Outcome]) -> Grid:
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
