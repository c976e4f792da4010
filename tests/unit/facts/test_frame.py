"""The frame of a probe's output holds against any content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_output import framed

from rollout.facts.frame import FrameProblem, parse_frames, read
from rollout.facts.unknown import Unknown


@given(st.binary(max_size=200))
def test_any_bytes_come_through(output: bytes) -> None:
    """Whatever a command prints is its answer, and the answers beside it stay whole."""
    answers = parse_frames(framed(("one", "", output, 0, ""), ("two", "/a b", b"x", 0, "")))
    assert [row.output for row in answers.rows] == [output, b"x"]
    assert answers.rows[1].argument == "/a b"


@pytest.mark.parametrize(
    "fake",
    [
        b"\n--ffffffffffffffff err 0\n\n--ffffffffffffffff end\n--ffffffffffffffff begin user \n0\n",
        b"rollout-probe 1 --ffffffffffffffff\n",
        b"--ffffffffffffffff end-of-probe\n",
    ],
)
def test_content_cannot_fake_a_frame(fake: bytes) -> None:
    """A file on the host that looks like the frame of another probe is content."""
    answers = parse_frames(framed(("hostname", "", fake, 0, ""), ("user", "", b"1000", 0, "")))
    assert answers.text("user") == "1000"
    assert answers.all("hostname")[0].output == fake


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"", "no output of a probe"),
        (b"Welcome to db1\n", "no output of a probe"),
        (framed(("user", "", b"0", 0, ""))[:-30], "cut off after"),
    ],
)
def test_what_is_no_whole_output_is_refused(raw: bytes, complaint: str) -> None:
    """Nothing is read out of half an answer."""
    with pytest.raises(FrameProblem, match=complaint):
        parse_frames(raw)


def test_a_missing_program_and_a_failing_one_give_their_reasons() -> None:
    """The reason of an unknown fact names what was wrong on the host."""
    rows = ("cores", "", b"", 127, "sh: 9: nproc: not found"), ("df", "", b"", 124, ""), ("id", "", b"", 1, "no\nwhy")
    answers = parse_frames(framed(*rows))
    assert answers.text("cores") == Unknown("a program is not on this host (sh: 9: nproc: not found)")
    assert answers.text("df") == Unknown("df: no answer in time")
    assert answers.text("id") == Unknown("id: exit status 1 (why)")
    assert answers.text("nothing", otherwise="nobody asked") == Unknown("nobody asked")


def test_what_makes_no_sense_is_unknown_with_its_text() -> None:
    """A conversion that fails never turns into a default."""
    value = read("about four", int)
    assert isinstance(value, Unknown)
    assert "about four" in value.reason
    assert read(Unknown("lost"), int) == Unknown("lost")
