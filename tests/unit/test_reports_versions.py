"""Public reports of misread versions, each by its row in the log of reports (section 7a)."""

import pytest

from rollout.versions import fix_status, parse_server_version

DEPRECATED = "mysql: Deprecated program name. It will be removed in a future release, use '/usr/bin/mariadb' instead"
ROWS = [
    ("L01", "mysql from 11.8.9-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using  EditLine wrapper", "11.8.9"),
    ("L02", "mariadb  Ver 15.1 Distrib 10.5.19-MariaDB, for debian-linux-gnu (x86_64)", "10.5.19"),
    ("L03", f"{DEPRECATED}\nmysql from 11.8.10-MariaDB, client 15.2 for debian-linux-gnu (x86_64)", "11.8.10"),
    ("L04", "11.8.6-MariaDB-5ubuntu0.1 from Ubuntu-log", "11.8.6"),
    ("L06", "11.8.9-2-MariaDB-enterprise-log", "11.8.9-2"),
    ("L07", "5.5.5-10.6.22-MariaDB-log", "10.6.22"),
    ("L11", "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "8.0.36"),
    ("L12", "11.8.9-MariaDB-log", "11.8.9"),
]
STATUS = {
    "L01": "available",
    "L02": "no_fix_in_series",
    "L03": "present",
    "L04": "available",
    "L06": "unknown",
    "L07": "no_fix_in_series",
    "L11": "unknown",
    "L12": "available",
}


@pytest.mark.parametrize(("row", "text", "number"), ROWS, ids=[row[0] for row in ROWS])
def test_a_reported_version_is_read_and_judged(row: str, text: str, number: str) -> None:
    """The number is the server's, and where the fix stands follows from its series and flavour alone."""
    version = parse_server_version(text)
    assert version is not None
    assert str(version) == number
    assert fix_status(version, [(11, 8, 10)]) == STATUS[row]
    assert version.is_mariadb == (row != "L11")
