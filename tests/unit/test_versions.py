"""Version strings as programs print them in the wild, and which release carries the fix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.settings import FixRelease
from rollout.versions import (
    FIX_RELEASES,
    fix_releases,
    fix_status,
    known_changes,
    parse_package_version,
    parse_server_version,
    parse_upstream,
)

WILD = [
    # client, old and new layout, with and without a warning in front
    (
        "mysql  Ver 15.1 Distrib 10.6.18-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper",
        "mariadb 10.6.18",
    ),
    ("mariadb  Ver 15.1 Distrib 10.5.19-MariaDB, for debian-linux-gnu (x86_64)", "mariadb 10.5.19"),
    ("mysql from 11.4.5-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using  EditLine wrapper", "mariadb 11.4.5"),
    ("mariadb from 11.8.10-MariaDB, client 15.2 for debian-linux-gnu (x86_64)", "mariadb 11.8.10"),
    (
        "mysql: Deprecated program name. It will be removed in a future release, use '/usr/bin/mariadb' instead\n"
        "mysql from 11.8.10-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using  EditLine wrapper",
        "mariadb 11.8.10",
    ),
    # the server's file
    ("mariadbd  Ver 11.8.6-MariaDB-log for Linux on x86_64 (Source distribution)", "mariadb 11.8.6"),
    (
        "mariadbd  Ver 10.11.8-MariaDB-0ubuntu0.24.04.1 for debian-linux-gnu on x86_64 (Ubuntu 24.04)",
        "mariadb 10.11.8 Ubuntu",
    ),
    ("mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64", "mariadb 10.11.14"),
    ("mariadbd  Ver 12.2.2-MariaDB for linux-systemd on x86_64 (MariaDB Server)", "mariadb 12.2.2"),
    ("/opt/mariadb/10.6/bin/mariadbd  Ver 11.4.10-MariaDB for linux", "mariadb 11.4.10"),
    ("mysqld  Ver 10.1.48-MariaDB-0+deb9u2 for debian-linux-gnu on x86_64 (Debian 9.13)", "mariadb 10.1.48 Debian"),
    # SELECT VERSION()
    ("11.8.6-MariaDB-5ubuntu0.1 from Ubuntu-log", "mariadb 11.8.6 Ubuntu"),
    ("11.8.6-MariaDB-0+deb13u1 from Debian-log", "mariadb 11.8.6 Debian"),
    ("10.6.16-MariaDB-1~ubu2004", "mariadb 10.6.16"),
    ("11.8.3-MariaDB-ubu2204", "mariadb 11.8.3"),
    ("10.11.18-MariaDB-ubu2204-log", "mariadb 10.11.18"),
    ("10.4.34-MariaDB-1:10.4.34+maria~deb10", "mariadb 10.4.34"),
    ("11.0.2-MariaDB-1:11.0.2+maria~deb11", "mariadb 11.0.2"),
    ("11.4.4-2-MariaDB-enterprise-log", "mariadb-enterprise 11.4.4-2"),
    ("11.8.9-2-MariaDB-enterprise-log", "mariadb-enterprise 11.8.9-2"),
    ("5.5.5-10.4.10-4-MariaDB-enterprise-log", "mariadb-enterprise 10.4.10-4"),
    ("5.5.5-10.3.11-MariaDB", "mariadb 10.3.11"),
    ("5.5.5-10.6.22-MariaDB-log", "mariadb 10.6.22"),
    ("5.7.8-10.3.13-MariaDB-1", "mariadb 10.3.13"),
    ("10.0.28-MariaDB-2+b1", "mariadb 10.0.28"),
    ("10.1.29-MariaDB-6+b1", "mariadb 10.1.29"),
    # the backup tool
    ("mariabackup based on MariaDB server 11.4.4-MariaDB Linux (x86_64)", "mariadb 11.4.4"),
    ("/usr/bin/mariabackup based on MariaDB server 10.11.6-MariaDB debian-linux-gnu (x86_64)", "mariadb 10.11.6"),
    # no MariaDB
    ("mysqld  Ver 8.4.9 for macos15 on arm64 (Homebrew)", "mysql 8.4.9"),
    ("mysql  Ver 8.0.29 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql 8.0.29"),
    ("/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql 8.0.36"),
    ("mysql  Ver 14.14 Distrib 5.7.42, for Linux (x86_64) using  EditLine wrapper", "mysql 5.7.42"),
    ("5.5.62-0+deb8u1", "mysql 5.5.62"),
    ("5.1.65-log", "mysql 5.1.65"),
    ("8.0.36-28", "percona 8.0.36"),
    ("mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28)", "percona 8.0.36"),
]


@pytest.mark.parametrize(("text", "expected"), WILD, ids=[text[-60:] for text, _ in WILD])
def test_a_wild_version_string_is_understood(text: str, expected: str) -> None:
    """Flavour, number and builder are those that the string means, whatever stands around them."""
    version = parse_server_version(text)
    assert version is not None
    assert f"{version.flavour} {version} {version.distribution}".strip() == expected
    assert version.is_mariadb == expected.startswith("mariadb")


@pytest.mark.parametrize(
    "text", ["", "for", "sh: 1: mariadbd: not found", "client 15.2 for debian-linux-gnu", "MariaDB"]
)
def test_a_text_without_a_version_is_none(text: str) -> None:
    """Nothing is made up where no version stands."""
    assert parse_server_version(text) is None


@given(st.text(max_size=200))
def test_no_text_breaks_the_parsers(text: str) -> None:
    """Whatever a host prints, the parsers return and do not raise."""
    parse_server_version(text)
    parse_package_version(text)


@pytest.mark.parametrize(
    ("text", "epoch", "upstream", "enterprise"),
    [
        ("1:11.8.9+maria~ubu2404", 1, (11, 8, 9), None),
        ("1:11.8.10-1~deb12u1", 1, (11, 8, 10), None),
        ("1:10.11.18-0+deb12u1", 1, (10, 11, 18), None),
        ("1:10.6.7+maria~buster", 1, (10, 6, 7), None),
        ("3:10.3.39-1.module+el8.8.0+1452+2a7eab68", 3, (10, 3, 39), None),
        ("11.8.2-1.el8", 0, (11, 8, 2), None),
        ("11.8.10", 0, (11, 8, 10), None),
        ("1:11.8.5.2+maria~ubu2404", 1, (11, 8, 5), 2),
        ("11.8.5_2-1.el9", 0, (11, 8, 5), 2),
    ],
)
def test_a_package_version_gives_its_numbers(
    text: str, epoch: int, upstream: tuple[int, int, int], enterprise: int | None
) -> None:
    """Epoch, upstream and the Enterprise number are read in either package world."""
    version = parse_package_version(text)
    assert version is not None
    assert (version.epoch, version.upstream, version.enterprise) == (epoch, upstream, enterprise)


@pytest.mark.parametrize("text", ["", "(none)", "26.4.20-", "1.2", "latest"])
def test_a_package_version_without_three_numbers_is_none(text: str) -> None:
    """No numbers, no version; a trailing dash alone does not spoil three good ones."""
    version = parse_package_version(text)
    assert version is None or version.upstream == (26, 4, 20)


def status(text: str, offered: list[str] | None, extra: dict[str, FixRelease] | None = None) -> str:
    """Ask for the fix status of a version string."""
    version = parse_server_version(text)
    assert version is not None
    return fix_status(version, None if offered is None else map(parse_upstream, offered), fix_releases(extra))


def test_off_by_a_digit() -> None:
    """The fleet of a public report: numbers are compared as numbers, series by series."""
    everything = [release.version for release in FIX_RELEASES.values()]
    fleet = ["11.8.9", "11.8.10", "11.8.11", "12.2.10", "12.3.3", "13.1.2", "13.0.9", "11.8.1", "10.11.18", "12.1.10"]
    outcome = {version: status(f"{version}-MariaDB", everything) for version in fleet}
    assert {version for version in fleet if outcome[version] == "present"} == {"11.8.10", "11.8.11", "13.1.2"}
    assert {version for version in fleet if outcome[version] == "available"} == {"11.8.9", "12.3.3", "11.8.1"}
    assert {version for version in fleet if outcome[version] == "no_fix_in_series"} == {
        *("12.2.10", "13.0.9", "10.11.18", "12.1.10")
    }


@pytest.mark.parametrize(
    ("text", "offered", "expected"),
    [
        ("11.8.9-MariaDB", ["11.8.9", "11.8.8"], "not_published"),
        ("11.8.9-MariaDB", [], "not_published"),
        ("11.8.9-MariaDB", ["12.3.4", "13.1.2"], "not_published"),
        ("11.8.9-MariaDB", ["11.8.12", "11.8.9"], "available"),
        ("11.8.9-MariaDB", None, "unknown"),
        ("11.8.10-MariaDB", None, "present"),
        ("11.8.9-2-MariaDB-enterprise-log", ["11.8.10"], "unknown"),
        ("mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", ["11.8.10"], "unknown"),
        ("13.2.0-MariaDB", [], "unknown"),
        ("14.0.1-MariaDB", [], "unknown"),
    ],
)
def test_fix_status(text: str, offered: list[str] | None, expected: str) -> None:
    """What cannot be told is unknown; what is not offered is not published yet; another series never counts."""
    assert status(text, offered) == expected


def test_a_release_declared_for_rehearsal_promises_nothing() -> None:
    """An inventory may name a target without the fix: offered or installed it is a rehearsal, else not published."""
    extra = {"10.11": FixRelease(version="10.11.19", carries_lru_fix=False)}
    assert status("10.11.18-MariaDB", ["10.11.19"], extra) == "rehearsal"
    assert status("10.11.19-MariaDB", [], extra) == "rehearsal"
    assert status("10.11.18-MariaDB", ["10.11.18"], extra) == "not_published"
    assert status("11.8.9-MariaDB", ["11.8.10"], extra) == "available"


def test_known_changes_lie_between_two_releases_of_one_series() -> None:
    """A rollout is told what the releases on its way changed, and nothing of other series."""
    codes = [change.code for change in known_changes((12, 3, 1), (12, 3, 2))]
    assert codes == ["galera_scripts", "mysqld_opts", "replica_gtid"]
    assert known_changes((11, 8, 9), (11, 8, 10)) == ()
    assert known_changes((12, 3, 4), (12, 3, 4)) == ()


def test_what_the_target_has_mended_is_no_change() -> None:
    """12.3.3 mended the lost GTID mode of 12.3.2: who goes to 12.3.4 never meets it."""
    assert [change.code for change in known_changes((12, 3, 1), (12, 3, 4))] == ["galera_scripts", "mysqld_opts"]


def test_a_release_that_is_none_is_refused() -> None:
    """The table takes three numbers, and says so."""
    with pytest.raises(ValueError, match="three numbers"):
        parse_upstream("11.8")
