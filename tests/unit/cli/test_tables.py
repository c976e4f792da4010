"""Tables for people: as wide as the screen, or a paragraph a row."""

import pytest
from rich.console import Console

from rollout.cli.tables import show, table


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int) -> list[str]:
    """Return the lines of a table on a terminal of that width."""

    def console(**given: int) -> Console:
        return Console(width=given.get("width", width), force_terminal=True, color_system=None, highlight=False)

    monkeypatch.setattr("rollout.cli.tables.Console", console)
    show(table(("host", "found", "expected"), [("db1", "x" * 30, "-"), ("db2", "[bold]\x1b[2J", None)]))
    return capsys.readouterr().out.splitlines()


def test_a_wide_screen_gets_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One row a line, and what a host sends is neither markup nor a control character."""
    lines = shown(monkeypatch, capsys, 80)
    assert any(line.split() == ["db1", "x" * 30, "-"] for line in lines)
    assert any(line.split() == ["db2", "[bold]\\x1b[2J", "?"] for line in lines)


def test_a_narrow_screen_gets_paragraphs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No word is torn: a row becomes a heading and a line for each cell that says something."""
    lines = [line.rstrip() for line in shown(monkeypatch, capsys, 40)]
    assert lines == ["db1", f"  found: {'x' * 30}", "db2", "  found: [bold]\\x1b[2J", "  expected: ?"]
