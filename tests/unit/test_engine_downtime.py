"""Downtime from the watcher's file."""

from rollout.engine.downtime import longest_gap_seconds


def line(seconds: float, what: str) -> str:
    """Write one line as the watcher does."""
    return f"{int(seconds * 1e9)}\t{what}\n"


def test_of_two_gaps_the_longest_counts() -> None:
    """A restart of 2 s and one of 0.5 s: 2."""
    lines = [
        line(0, "write"),
        line(10, "none"),
        line(12, "write"),
        line(20, "none"),
        line(20.5, "write"),
        line(30, "end"),
    ]
    assert longest_gap_seconds(lines) == 2.0


def test_a_server_that_comes_back_read_only_is_not_back() -> None:
    """Reads come back after 1 s, writes after 4 s."""
    lines = [line(0, "write"), line(1, "none"), line(2, "read"), line(5, "write"), line(6, "end")]
    assert longest_gap_seconds(lines) == 4.0


def test_a_replica_is_back_when_it_answers() -> None:
    """Read-only before and after, and 3 s away between: no write is missed for the whole watch."""
    lines = [line(0, "read"), line(10, "none"), line(13, "read"), line(40, "end")]
    assert longest_gap_seconds(lines) == 3.0


def test_an_open_gap_ends_with_the_watch() -> None:
    """A server that never came back was down until the watcher stopped looking."""
    assert longest_gap_seconds([line(0, "write"), line(1, "none"), line(9, "end")]) == 8.0


def test_no_line_is_no_measurement() -> None:
    """Neither an empty file is zero seconds, nor is the watch of a server that was stopped all the time."""
    assert longest_gap_seconds([]) is None
    assert longest_gap_seconds([line(0, "none"), line(9, "end")]) is None
