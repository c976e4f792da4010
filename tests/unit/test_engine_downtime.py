"""Downtime from the watcher's file."""

from rollout.engine.downtime import longest_gap_seconds


def line(asked: float, what: str, answered: float | None = None) -> str:
    """Write one line as the watcher does; an answer comes 10 ms after the question where no other time is given."""
    return f"{asked * 100:.0f}\t{(asked + 0.01 if answered is None else answered) * 100:.0f}\t{what}\n"


def test_of_two_gaps_the_longest_counts() -> None:
    """A restart of 2 s and one of 0.5 s: from the first question without an answer to the first answer."""
    lines = [
        line(0, "write"),
        line(10, "none"),
        line(12, "write"),
        line(20, "none"),
        line(20.5, "write"),
        line(30, "end"),
    ]
    assert longest_gap_seconds(lines) == 2.01


def test_a_client_that_waits_and_is_answered_has_waited() -> None:
    """Where systemd holds the socket, a client of a server that restarts is refused at no time: 0.97 s of waiting."""
    assert longest_gap_seconds([line(0, "write"), line(2, "write", 2.97), line(9, "end")]) == 0.97


def test_the_wait_for_the_first_answer_after_refusals_belongs_to_them() -> None:
    """Refused from 5 s on, let in at 6 s and answered at 7.5 s: 2.5 s."""
    lines = [line(0, "write"), line(5, "none"), line(6, "write", 7.5), line(9, "end")]
    assert longest_gap_seconds(lines) == 2.5


def test_how_long_the_first_answer_took_is_no_gap() -> None:
    """The watcher's first line says how it found the server."""
    assert longest_gap_seconds([line(0, "write", 0.6), line(9, "end")]) == 0.0


def test_a_server_that_comes_back_read_only_is_not_back() -> None:
    """Reads come back after 1 s, writes after 4 s."""
    lines = [line(0, "write"), line(1, "none"), line(2, "read"), line(5, "write"), line(6, "end")]
    assert longest_gap_seconds(lines) == 4.01


def test_a_replica_is_back_when_it_answers() -> None:
    """Read-only before and after, and 3 s away between: no write is missed for the whole watch."""
    lines = [line(0, "read"), line(10, "none"), line(13, "read"), line(40, "end")]
    assert longest_gap_seconds(lines) == 3.01


def test_an_open_gap_ends_with_the_watch() -> None:
    """A server that never came back was down until the watcher stopped looking."""
    assert longest_gap_seconds([line(0, "write"), line(1, "none"), line(9, "end", 9)]) == 8.0


def test_no_line_is_no_measurement() -> None:
    """Neither an empty file is zero seconds, nor is the watch of a server that was stopped all the time."""
    assert longest_gap_seconds([]) is None
    assert longest_gap_seconds([line(0, "none"), line(9, "end")]) is None
