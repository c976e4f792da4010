"""The undo law: what a host is like, file by file and fact by fact, and which differences are allowed to stay.

`undo_law_exclusions.txt` beside this file names every path that may differ after an apply and its rollback, each with
its reason. A path that differs and is not named there breaks the law.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from rollout.lab.rehearsal import Rehearsal

EXCLUSIONS = Path(__file__).with_name("undo_law_exclusions.txt")

SNAPSHOT = Path(__file__).with_name("undo_law_snapshot.sh")


def snapshot(fleet: Rehearsal, host: str) -> dict[tuple[str, str], str]:
    """Return what a host is like: (kind, name) to its state."""
    return _rows(fleet.text(host, SNAPSHOT.read_text()))


def table_checksums(fleet: Rehearsal, host: str) -> dict[tuple[str, str], str]:
    """Return the checksum of every table, those of the server's own schemas and of the writer left out."""
    return _rows(fleet.text(host, "set -- tables\n" + SNAPSHOT.read_text()))


def _rows(text: str) -> dict[tuple[str, str], str]:
    lines = text.splitlines()
    rows = (line.split("\t", 2) for line in lines if line.count("\t") == 2)
    return {(kind, name): state for kind, name, state in rows}


def exclusions() -> dict[str, str]:
    """Read the exclusion file: `kind:pattern` to its reason."""
    lines = EXCLUSIONS.read_text().splitlines()
    pairs = (line.split("\t", 1) for line in lines if line and not line.startswith("#"))
    return {pattern.strip(): reason.strip() for pattern, reason in pairs}


def differences(before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]) -> list[str]:
    """Return every difference that the exclusion file does not name, in words."""
    allowed = exclusions()
    found = []
    for key in sorted({*before, *after}):
        was, now = before.get(key, "not there"), after.get(key, "not there")
        kind, name = key
        if was != now and not any(fnmatchcase(f"{kind}:{name}", pattern) for pattern in allowed):
            found.append(f"{kind} {name}: was {was}, is {now}")
    return found
