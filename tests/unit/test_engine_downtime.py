"""Downtime from the watcher's file."""

from rollout.engine.downtime import Gaps, Seen, seen


def line(seconds: float, what: str) -> str:
    """Write one line as the watcher does."""
    return f"{int(seconds * 1e9)}\t{what}\n"


def test_two_gaps_give_the_longest_and_the_sum() -> None:
    """A restart of 2 s and one of 0.5 s: longest 2, sum 2.5."""
    lines = [
        line(0, "write"),
        line(10, "none"),
        line(12, "write"),
        line(20, "none"),
        line(20.5, "write"),
        line(30, "end"),
    ]
    assert seen(lines) == Seen(Gaps(2.0, 2.5), Gaps(2.0, 2.5))


def test_a_server_that_comes_back_read_only_is_down_for_writes_alone() -> None:
    """Reads come back after 1 s, writes after 4 s."""
    lines = [line(0, "write"), line(1, "none"), line(2, "read"), line(5, "write"), line(6, "end")]
    assert seen(lines) == Seen(Gaps(1.0, 1.0), Gaps(4.0, 4.0))


def test_an_open_gap_ends_with_the_watch() -> None:
    """A server that never came back was down until the watcher stopped looking."""
    assert seen([line(0, "write"), line(1, "none"), line(9, "end")]) == Seen(Gaps(8.0, 8.0), Gaps(8.0, 8.0))


def test_no_line_is_no_measurement() -> None:
    """An empty file is not zero seconds."""
    assert seen([]) is None
