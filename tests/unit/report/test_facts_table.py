"""The row of a host in the table of `rollout facts`."""

from dataclasses import replace

import pytest
from old_host import OLD, offered, old_host

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown
from rollout.report.facts_table import COLUMNS, fix_of, row
from rollout.versions import ServerVersion, parse_server_version

UNKNOWN = Unknown("not root")
WITH_FIX = parse_server_version("11.8.10-MariaDB-deb13")


def host(running: Known[ServerVersion | None]) -> Facts:
    """Make a host that has the file of the old release, and this of a running server."""
    facts = old_host(offered("mariadb-server", OLD, OLD))
    return replace(facts, server=replace(facts.server, running=running))


@pytest.mark.parametrize(
    ("running", "fix"),
    [(WITH_FIX, "present"), (None, "not_published"), (UNKNOWN, "unknown")],
)
def test_the_fix_is_that_of_the_running_server(running: Known[ServerVersion | None], fix: str) -> None:
    """Of one that is down its file counts; where nobody could ask, nothing is guessed."""
    assert fix_of(host(running), {}) == fix


def test_a_host_that_did_not_grant_root_has_a_row() -> None:
    """What is unknown is a question mark."""
    cells = dict(zip(COLUMNS, row(host(UNKNOWN), {}), strict=True))
    assert cells["server"] == "? (file: 11.8.9)"
    assert cells["LRU fix"] == "unknown"
