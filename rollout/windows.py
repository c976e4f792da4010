"""Maintenance windows: when work on a host may begin. Pure; the moment is given.

A window is written as `Sun 02:00-05:00 Europe/Sofia`: a day, a range of days (`Mon-Fri`) or `daily`, a span of local
time, and a zone of the IANA database. A span that ends before it begins, or when it begins, ends on the next day.
A local time that a change of the clocks skips is taken as the moment at which it would have come without the change;
one that comes twice is taken the first time (PEP 495, fold=0).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WRITTEN = re.compile(r"(?P<days>[A-Za-z]+(?:-[A-Za-z]+)?) +(?P<begin>\d\d:\d\d)-(?P<end>\d\d:\d\d) +(?P<zone>\S+)")
_FORM = "write it as 'Sun 02:00-05:00 Europe/Sofia', 'Mon-Fri 22:00-04:00 UTC' or 'daily 01:00-02:00 UTC'"


@dataclass(frozen=True)
class Window:
    """One window. `days` are those on which it begins, Monday is 0; `end` may be 24:00, which is None."""

    days: frozenset[int]
    begin: time
    end: time | None
    zone: ZoneInfo

    def on(self, day: date) -> tuple[datetime, datetime]:
        """Return beginning and end, in UTC, of the window that begins on that day of its own zone."""
        end_day = day if self.end is not None and self.end > self.begin else day + timedelta(days=1)
        begin = datetime.combine(day, self.begin, self.zone)
        return begin.astimezone(UTC), datetime.combine(end_day, self.end or time(), self.zone).astimezone(UTC)

    def openings(self, now: datetime) -> Iterable[tuple[datetime, datetime]]:
        """Yield beginnings and ends, soonest first, of those that are not over at `now`, for the next eight days."""
        today = now.astimezone(self.zone).date()
        for offset in range(-1, 9):
            day = today + timedelta(days=offset)
            begin, end = self.on(day)
            if day.weekday() in self.days and begin < end and end > now:
                yield begin, end


def parse_window(text: str) -> Window:
    """Read one window. Raises `ValueError` that says what is wrong and how one is written."""
    found = _WRITTEN.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is no window: {_FORM}")
    try:
        begin, end = (
            time.fromisoformat(found["begin"]),
            None if found["end"] == "24:00" else time.fromisoformat(found["end"]),
        )
    except ValueError as error:
        raise ValueError(f"{text!r} is no window: a time is not one of a day") from error
    try:
        zone = ZoneInfo(found["zone"])
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"{text!r}: there is no time zone {found['zone']!r} (names are as Europe/Sofia)") from error
    return Window(_days(found["days"], text), begin, end, zone)


def _days(written: str, text: str) -> frozenset[int]:
    if written.lower() == "daily":
        return frozenset(range(7))
    first, _, last = written.lower().partition("-")
    if first not in DAYS or (last or first) not in DAYS:
        raise ValueError(f"{text!r}: {written} is no day: write Mon, Tue, Wed, Thu, Fri, Sat, Sun, a range or daily")
    start, length = DAYS.index(first), (DAYS.index(last or first) - DAYS.index(first)) % 7 + 1
    return frozenset((start + offset) % 7 for offset in range(length))


def why_closed(written: Iterable[str], now: datetime) -> str:
    """Say that no window is open at `now` and when the next one opens; empty when one is open, or there are none."""
    windows = [parse_window(text) for text in written]
    spans = sorted((span, window.zone.key) for window in windows for span in window.openings(now))
    if not windows or any(begin <= now < end for (begin, end), _ in spans):
        return ""
    (begin, end), zone = spans[0]
    local = begin.astimezone(ZoneInfo(zone))
    return f"its window opens {local:%a %Y-%m-%d %H:%M} {zone} ({begin:%Y-%m-%dT%H:%MZ}) for {_long(end - begin)}"


def _long(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"
