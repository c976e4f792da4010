"""Maintenance windows: when work may begin, over midnight and over the changes of the clocks."""

from datetime import UTC, datetime

import pytest

from rollout.windows import parse_window, why_closed


def at(text: str) -> datetime:
    """Return a moment in UTC, written as 2026-03-29T00:30."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def is_open(window: str, moment: str) -> bool:
    """Whether work may begin at that moment of UTC."""
    return why_closed([window], at(moment)) == ""


@pytest.mark.parametrize(
    ("window", "moment", "expected"),
    [
        ("Sun 02:00-05:00 UTC", "2026-11-29T01:59", False),
        ("Sun 02:00-05:00 UTC", "2026-11-29T02:00", True),
        ("Sun 02:00-05:00 UTC", "2026-11-29T04:59", True),
        ("Sun 02:00-05:00 UTC", "2026-11-29T05:00", False),
        ("Sun 02:00-05:00 UTC", "2026-11-30T03:00", False),
        ("Sat 22:00-04:00 UTC", "2026-11-28T23:00", True),
        ("Sat 22:00-04:00 UTC", "2026-11-29T03:59", True),
        ("Sat 22:00-04:00 UTC", "2026-11-29T22:30", False),
        ("Sat-Mon 01:00-02:00 UTC", "2026-11-30T01:30", True),
        ("Sat-Mon 01:00-02:00 UTC", "2026-12-01T01:30", False),
        ("daily 00:00-24:00 UTC", "2026-12-01T23:59", True),
        ("mon 20:00-24:00 UTC", "2026-11-30T23:59", True),
        # Sofia: UTC+2 in winter. On 29 March 2026 the clocks go from 03:00 to 04:00, on 25 October from 04:00 to 03:00.
        ("Sun 02:00-05:00 Europe/Sofia", "2026-03-28T23:59", False),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-03-29T00:00", True),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-03-29T01:59", True),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-03-29T02:00", False),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-10-24T23:00", True),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-10-25T02:59", True),
        ("Sun 02:00-05:00 Europe/Sofia", "2026-10-25T03:00", False),
        # 03:30 does not come on 29 March: it is taken as 01:30 UTC, as without the change. In October it comes twice.
        ("Sun 03:30-05:00 Europe/Sofia", "2026-03-29T01:29", False),
        ("Sun 03:30-05:00 Europe/Sofia", "2026-03-29T01:30", True),
        ("Sun 02:00-03:30 Europe/Sofia", "2026-10-25T00:29", True),
        ("Sun 02:00-03:30 Europe/Sofia", "2026-10-25T00:30", False),
    ],
)
def test_a_window_is_open_from_its_beginning_until_its_end(window: str, moment: str, expected: bool) -> None:
    """The end is not part of it; spans go over midnight; local times are those of that day."""
    assert is_open(window, moment) is expected


def test_several_windows_and_none() -> None:
    """One that is open is enough; without any, any time will do."""
    windows = ["Sun 02:00-05:00 UTC", "Wed 02:00-03:00 UTC"]
    assert why_closed(windows, at("2026-12-02T02:30")) == ""
    assert why_closed([], at("2026-12-02T12:30")) == ""


def test_the_next_opening_is_told_in_local_time_and_in_utc() -> None:
    """Also when it is a week away, and the earliest of several."""
    said = why_closed(["Sun 02:00-05:00 Europe/Sofia"], at("2026-11-29T03:30"))
    assert said == "its window opens Sun 2026-12-06 02:00 Europe/Sofia (2026-12-06T00:00Z) for 3 h 00 min"
    both = why_closed(["Sun 02:00-05:00 UTC", "Wed 22:30-00:15 UTC"], at("2026-11-30T12:00"))
    assert both == "its window opens Wed 2026-12-02 22:30 UTC (2026-12-02T22:30Z) for 1 h 45 min"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Sun 2:00-5:00 UTC", "is no window: write it as"),
        ("Sun 02:00-25:00 UTC", "a time is not one of a day"),
        ("Sun 02:00-05:00", "is no window"),
        ("Sun 02:00-05:00 Mars/Olympus", "there is no time zone 'Mars/Olympus'"),
        ("Sun 02:00-05:00 ../etc/passwd", "there is no time zone"),
        ("Someday 02:00-05:00 UTC", "Someday is no day"),
        ("Mon-Ned 02:00-05:00 UTC", "Mon-Ned is no day"),
    ],
)
def test_what_is_no_window_is_told(text: str, complaint: str) -> None:
    """Each mistake with the form that is right."""
    with pytest.raises(ValueError, match=complaint):
        parse_window(text)
