"""The table of public reports names every row of the log, and tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = {"L98"}
NUMBERS = (
    *(1, 2, 3, 4, 6, 7, 9, 11, 12),
    *(14, 15, 17, 19, 20, 21, 22, 24, 25, 27, 28, 30, 31, 32, 33, 35),
    *(37, 38, 40, 41, 42, 43, 44, 46, 48, 49, 50, 51, 53, 54, 56, 57),
    *(58, 59, 61, 62, 63, 65, 66, 68, 69, 71, 72, 73, 74),
    *(76, 77, 78, 80, 81, 82),
    *(83, 84, 85, 87, 88, 89, 91, 93, 94, 95, 96, 97, 98),
)


def table() -> dict[str, list[str]]:
    """Return the tests of each row."""
    rows = re.findall(r"^\| (L\d\d) \|.*\| ([^|]+) \|$", (ROOT / "docs/reports.md").read_text(), re.MULTILINE)
    return {row: re.findall(r"`([^`]+)`", tests) for row, tests in rows}


def test_no_row_is_left_out_silently() -> None:
    """Every row stands in the table; one without a test says so in bold."""
    assert list(table()) == [f"L{number:02d}" for number in NUMBERS]
    assert {row for row, tests in table().items() if not tests} == LEFT_OUT


def test_every_test_that_the_table_names_is_there() -> None:
    """File and function; a renamed test would leave the table telling a tale."""
    for tests in table().values():
        for name in tests:
            path, _, function = name.partition("::")
            assert re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE), name
