"""The table of the fault matrix at the end of a run of pytest: rows are faults, columns what was asked of each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

COLUMNS = ("status", "resume", "rollback", "data")
PROPERTY = "fault cell"

Cell = tuple[str, str, bool, int]  # fault, column, whether it held, paths compared by the undo law (0: none)


def table(cells: Iterable[Cell]) -> Iterator[str]:
    """Return the lines: for each fault and column how many of its cells held, and the sums."""
    held: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    paths: dict[str, int] = defaultdict(int)
    for fault, column, well, compared in cells:
        held[fault][column].append(well)
        paths[fault] += compared
    width = max((len(fault) for fault in held), default=5)
    yield f"{'fault':{width}}  {''.join(f'{column:>10}' for column in COLUMNS)}{'paths':>10}"
    for fault, columns in sorted(held.items()):
        row = "".join(f"{_cell(columns[column]):>10}" for column in COLUMNS)
        yield f"{fault:{width}}  {row}{paths[fault] or '-':>10}"
    every = [well for columns in held.values() for cell in columns.values() for well in cell]
    rows = [all(cell) for columns in held.values() for cell in columns.values() if cell]
    yield (
        f"{len(held)} faults, {len(rows)} cells run, {sum(rows)} passed "
        f"({len(every)} judgements, {sum(every)} held); {sum(paths.values())} paths compared by the undo law"
    )


def _cell(judged: list[bool]) -> str:
    if not judged:
        return "-"
    return "ok" if all(judged) else "FAILED"
