"""Host ranges: `db[01:12]`, `db[a:f]`, `db[1:9:2]`, several in one name; and addresses with a port behind them."""

import ipaddress
import re
import string
from collections.abc import Iterator

_RANGE = re.compile(r"\[([^\]]*)\]")
_LABELS = re.compile(r"\w[\w-]*(?<![-_])(?:\.\w[\w-]*(?<![-_]))*")
_NUMBERS = re.compile(r"\[[0-9]+:[0-9]+(?::[0-9]+)?\]")
_HEXADECIMALS = re.compile(r"\[[0-9a-f]+:[0-9a-f]+(?::[0-9]+)?\]", re.IGNORECASE)
_NAME_RANGES = re.compile(r"\[(?:[a-z]:[a-z]|[0-9]+:[0-9]+)(?::[0-9]+)?\]", re.IGNORECASE)
_MOST = 1_000_000  # names of one range; more of them are a slip of the pen
_WITH_PORT = (re.compile(r"\[(.+)\]:([0-9]+)"), re.compile(r"((?:[^:\[\]]|\[[^\]]*\])*):([0-9]+)"))


def expand(pattern: str) -> list[str]:
    """Return the names that a pattern stands for, the leftmost range varying slowest.

    A first bound with a leading zero sets the width. Raises ValueError, with a sentence, for a range that runs
    backwards or is none.
    """
    found = _RANGE.search(pattern)
    if not found:
        if "[" in pattern or "]" in pattern:
            raise ValueError(f"the brackets of '{pattern}' do not pair")
        return [pattern]
    head, tails = pattern[: found.start()], expand(pattern[found.end() :])
    return [head + middle + tail for middle in _members(found[1], pattern) for tail in tails]


def _members(bounds: str, pattern: str) -> Iterator[str]:
    parts = bounds.split(":")
    if len(parts) not in (2, 3) or not parts[1]:
        raise ValueError(f"the range [{bounds}] of '{pattern}' must be [begin:end] or [begin:end:step]")
    begin, end = parts[0] or "0", parts[1]
    step = _step(parts[2] if len(parts) == 3 else "1", bounds, pattern)
    if begin in string.ascii_letters and end in string.ascii_letters and len(begin) == len(end) == 1:
        first, last = string.ascii_letters.index(begin), string.ascii_letters.index(end)
        _forwards(first <= last, bounds, pattern)
        return iter(string.ascii_letters[first : last + 1 : step])
    if not (begin.isdecimal() and end.isdecimal()):
        raise ValueError(f"the range [{bounds}] of '{pattern}' runs neither from number to number nor letter to letter")
    _forwards(int(begin) <= int(end), bounds, pattern)
    if (int(end) - int(begin)) // step >= _MOST:
        raise ValueError(f"the range [{bounds}] of '{pattern}' names more than {_MOST} hosts")
    width = len(begin) if begin[0] == "0" and len(begin) > 1 else 0
    if width and width != len(end):
        raise ValueError(
            f"the bounds of [{bounds}] in '{pattern}' must be equally long, because the first begins with 0"
        )
    return (str(number).zfill(width) for number in range(int(begin), int(end) + 1, step))


def _step(text: str, bounds: str, pattern: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"the step of [{bounds}] in '{pattern}' must be a number from 1 up")
    return int(text)


def _forwards(ordered: bool, bounds: str, pattern: str) -> None:
    if not ordered:
        raise ValueError(f"the range [{bounds}] of '{pattern}' runs backwards")


def split_port(address: str) -> tuple[str, int | None]:
    """Take the port off `host:port` or `[address]:port`; an address that is no such thing comes back whole.

    What is left may hold ranges, and counts only if it could be a host name, an IPv4 or an IPv6 address: otherwise
    the colon is a part of the name.
    """
    host, port = address, None
    for form in _WITH_PORT:
        if match := form.fullmatch(host):
            host, port = match[1], int(match[2])
    return (host, port) if is_address(host) else (address, None)


def is_address(text: str) -> bool:
    """Tell whether a text, ranges in it aside, is a host name, an IPv4 or an IPv6 address."""
    if _LABELS.fullmatch(_NAME_RANGES.sub("0", text)):
        return True
    try:
        ipaddress.ip_address(_HEXADECIMALS.sub("0", _NUMBERS.sub("0", text)))
    except ValueError:
        return False
    return True


def hosts_of(pattern: str) -> tuple[list[str], int | None]:
    """Return the names and the port of one host entry, such as `db[1:3]:2222`."""
    host, port = split_port(pattern)
    return (expand(host), port) if "[" in host else ([host], port)
