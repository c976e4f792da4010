"""Text from a host is made safe before it reaches a terminal."""

import pytest

from rollout.errors import CommandFailed
from rollout.printable import printable
from rollout.remote.transport import Result


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Paketlisten werden gelesen… fertig", "Paketlisten werden gelesen… fertig"),
        ("\x1b]0;owned\x07\x1b[2J", r"\x1b]0;owned\x07\x1b[2J"),
        ("one\rtwo\nthree\t", r"one\x0dtwo\x0athree\x09"),
        (b"caf\xe9 \xff", r"caf\xe9 \xff"),
        ("caf\u00e9", "caf\u00e9"),
        ("\x9b31m", r"\x9b31m"),
        ("abc\u202edcba\u2066", r"abc\u202edcba\u2066"),
        ("\U000e0001", r"\U000e0001"),
        ("", ""),
    ],
)
def test_nothing_that_moves_the_cursor_gets_through(said: str | bytes, shown: str) -> None:
    """Control characters, direction marks and invalid UTF-8 are shown as escapes, everything else as it is."""
    assert printable(said) == shown


def test_lines_can_be_kept() -> None:
    """Text of several lines keeps its newlines and tabs, and nothing else of the kind."""
    assert printable("a\n\tb\r\x1b", lines=True) == "a\n\tb\\x0d\\x1b"


def test_the_complaint_of_a_host_is_quoted_safely() -> None:
    """The error made from a failed script shows a host's escape sequences instead of obeying them."""
    with pytest.raises(CommandFailed) as caught:
        Result("db1", 5, b"", b"\x1b[31mE: \xffno\n", 0.1).check("the download")
    assert str(caught.value) == r"db1: the download ended with exit status 5: \x1b[31mE: \xffno"
