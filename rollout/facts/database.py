"""What the database answered: batch output of the client in, tables out.

Each statement stands behind a row that names it; the name of that row's column bears the probe's mark. Values are as
`mariadb --batch` escapes them; a complaint of the server (`ERROR 1227 (42000) at line 5: …`) stands in place of the
table.
"""

import re
from collections.abc import Mapping

from rollout.facts.frame import Answers, read
from rollout.facts.unknown import Known, Unknown

Row = Mapping[str, str]
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "0": "\0"}


class Database:
    """The tables that the database gave, by the name of the question."""

    def __init__(self, answers: Answers) -> None:
        self._reason = why_no_answer(answers)
        found = answers.first("database")
        self._complaint = found.failure if found else ""
        parts = found.printed.split(f"{answers.mark} query\n")[1:] if found else []
        rows = (part.partition("\n") for part in parts)
        self._tables = {name: parse_table(table) for name, _, table in rows}
        self._pairs: dict[str, Known[dict[str, str]]] = {}

    def table(self, name: str) -> Known[tuple[Row, ...]]:
        """Return the rows of an answer, each as a map by column."""
        if self._reason:
            return Unknown(self._reason)
        if name not in self._tables:
            return Unknown(f"the database gave no answer ({self._complaint})")
        return self._tables[name]

    def pairs(self, name: str) -> Known[dict[str, str]]:
        """Return an answer of two columns as a map from the first to the second."""
        return read(
            self.table(name), lambda rows: {first: second for first, second, *_ in (row.values() for row in rows)}
        )

    def value(self, name: str, column: str) -> Known[str]:
        """Return one column of the first row."""
        return read(self.table(name), lambda rows: rows[0][column])


def why_no_answer(answers: Answers) -> str:
    """Say why the database was not asked, empty when it was."""
    login = answers.first("login")
    if login is None:
        return "the server is not running, or which process it is is unknown"
    if login.status != 0:
        return f"nobody could log in to the database: {login.complaint or 'no socket on which it listens'}"
    return ""


def parse_table(text: str) -> Known[tuple[Row, ...]]:
    """Read one table of `mariadb --batch`: a line of names, then rows; nothing at all is no rows."""
    rows = text.splitlines()
    problem = next((row for row in rows if re.match(r"ERROR \d+ ", row)), None)
    if problem is not None:
        return Unknown(problem)
    table = [[unescape(cell) for cell in row.split("\t")] for row in rows if row]
    if not table:
        return ()
    if any(len(row) != len(table[0]) for row in table):
        return Unknown("the rows of the answer have different lengths")
    return tuple(dict(zip(table[0], row, strict=True)) for row in table[1:])


def unescape(cell: str) -> str:
    r"""Take back what `--batch` does to a cell: `\n`, `\t`, `\0` and `\\`."""
    return _ESCAPED.sub(lambda found: _CONTROL.get(found[1], found[1]), cell) if "\\" in cell else cell


def number(pairs: Known[dict[str, str]], name: str) -> Known[int]:
    """Return one counter or setting as a whole number; ON and OFF are 1 and 0."""
    return read(word(pairs, name), lambda text: {"ON": 1, "OFF": 0}[text] if text in ("ON", "OFF") else int(text))


def fraction(pairs: Known[dict[str, str]], name: str) -> Known[float]:
    """Return one setting as a number with a fraction."""
    return read(word(pairs, name), float)


def flag(pairs: Known[dict[str, str]], name: str) -> Known[bool]:
    """Return one setting that is ON or OFF."""
    return read(word(pairs, name), lambda text: {"ON": True, "OFF": False}[text])


def word(pairs: Known[dict[str, str]], name: str) -> Known[str]:
    """Return one counter or setting as text; unknown where this release has none of that name."""
    if isinstance(pairs, Unknown):
        return pairs
    return pairs[name] if name in pairs else Unknown(f"this release has no {name}")
