"""The table at the end of the fault matrix counts what was judged, and hides no failure."""

from fault_table import table


def test_one_judgement_that_did_not_hold_fails_its_cell() -> None:
    """Two ways were judged for `status`, one of them failed: the cell fails; cells that were not asked are no cells."""
    cells = [
        ("power cut", "status", True, 0),
        ("power cut", "status", False, 0),
        ("power cut", "rollback", True, 2946),
        ("stale plan", "status", True, 0),
    ]
    head, first, second, last = table(cells)
    assert head.split() == ["fault", "status", "resume", "rollback", "data", "paths"]
    assert first.split() == ["power", "cut", "FAILED", "-", "ok", "-", "2946"]
    assert second.split() == ["stale", "plan", "ok", "-", "-", "-", "-"]
    assert last == "2 faults, 3 cells run, 2 passed (4 judgements, 3 held); 2946 paths compared by the undo law"
