"""No code without its text: whatever the program hands out, `rollout explain` knows."""

import re
from pathlib import Path

from rollout.report.meanings import KINDS

PACKAGE = Path(__file__).parents[3] / "rollout"
KNOWN = {code for codes in KINDS.values() for code in codes}


def handed_out(folder: str, pattern: str, files: str) -> set[str]:
    """Collect the codes that the sources of a room hand out."""
    return {code for path in sorted((PACKAGE / folder).rglob(files)) for code in re.findall(pattern, path.read_text())}


def test_every_blocker_and_warning_of_changes_is_explained() -> None:
    """`Finding("code", ...)` in the room of changes."""
    codes = handed_out("changes", r'Finding\(\s*"(\w+)"', "*.py")
    assert len(codes) > 20
    assert codes - KNOWN == set()


def test_everything_that_preflight_tries_is_explained() -> None:
    """`Tried("id", ...)` in Python and `tell id` in the script that runs on the host."""
    codes = handed_out("engine", r'Tried\("(\w+)"', "*.py") | handed_out("engine", r"tell (\w+) (?:pass|fail)", "*.j2")
    assert len(codes) > 10
    assert codes - KNOWN == set()


def test_no_explained_code_is_out_of_use() -> None:
    """A text that nothing leads to would mislead."""
    used = handed_out("changes", r'"(\w+)"', "*.py") | handed_out("plan", r'"(\w+)"', "*.py")
    used |= handed_out("engine", r'"(\w+)"', "*.py") | handed_out("engine", r"tell (\w+)", "*.j2")
    for room in ("blocker", "warning", "preflight"):
        assert set(KINDS[room]) - used == set()
