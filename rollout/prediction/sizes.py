"""Sizes as people and MariaDB write them."""

import re

_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parsed_bytes(value: object) -> int:
    """Return the bytes that `value` means: a number, or `100GiB`, `128M` (as MariaDB: 2**20), `19 GB` (10**9).

    Raises ValueError with a sentence where it is none of these.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    factor = _UNITS.get(found[2].upper()) if found else None
    if found is None or factor is None:
        raise ValueError("a size is a number of bytes, or one with a unit such as 100GiB, 128M or 19GB")
    return round(float(found[1]) * factor)


def shown_bytes(value: float) -> str:
    """Write bytes for people, in binary units: `1.5 GiB`, `-20 MiB`."""
    size, unit = value, "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if abs(size) >= 20 or unit == "B" else f"{size:.1f} {unit}"
