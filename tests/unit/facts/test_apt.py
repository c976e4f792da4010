"""What dpkg and apt print, from real hosts and from public reports."""

import pytest

from rollout.facts.apt import (
    parse_automatic,
    parse_dpkg_list,
    parse_fragment_sums,
    parse_lock_holders,
    parse_pins,
    parse_policy,
    parse_refresh,
    parse_sources,
)
from rollout.facts.model import LockHolder, Package, PackageSource

# The shape of a public report: the installed build is in no repository any more, and a pin above 1000 is set.
GONE = """\
mariadb-backup:
  Installed: 1:10.3.13+maria~bionic
  Candidate: 1:10.3.18+maria~bionic
  Version table:
     1:10.3.18+maria~bionic 1001
       1001 http://downloads.mariadb.com/MariaDB/mariadb-10.3.18/repo/ubuntu bionic/main amd64 Packages
 *** 1:10.3.13+maria~bionic 100
        100 /var/lib/dpkg/status
mariadb-none:
  Installed: (none)
  Candidate: (none)
  Version table:
"""
FILES = """\
Package files:
 100 /var/lib/dpkg/status
     release a=now
 500 http://deb.example.org/debian-security bookworm-security/main amd64 Packages
     release v=12,o=Debian,a=oldstable-security,n=bookworm-security,l=Debian-Security,c=main,b=amd64
     origin deb.example.org
1001 https://deb.example/repo ./ Packages
     release o=Example Corp,l=Ours, and more,c=
     origin deb.example
Pinned packages:
     mariadb-server -> 1:11.8.9+maria~deb12 with priority 1001
"""


def test_an_installed_version_that_nobody_offers_has_no_origin() -> None:
    """The status file of dpkg offers nothing: the origin is unknown, and the other version is no answer to that."""
    policy = parse_policy(GONE, {})["mariadb-backup"]
    package = Package("mariadb-backup", "amd64", "1:10.3.13+maria~bionic", versions=policy.versions)
    assert policy.candidate == "1:10.3.18+maria~bionic"
    assert package.installed_from == ()
    assert [(row.version, row.priority, len(row.repositories)) for row in policy.versions] == [
        ("1:10.3.18+maria~bionic", 1001, 1),
        ("1:10.3.13+maria~bionic", 100, 0),
    ]


def test_no_candidate_is_none() -> None:
    """apt's `(none)` is not a version."""
    policy = parse_policy(GONE, {})["mariadb-none"]
    assert policy.candidate is None
    assert policy.versions == ()


def test_origins_come_from_the_place_that_offers_the_version() -> None:
    """Origin, label, suite, codename and site are those of the release file, commas and all."""
    sources = parse_sources(FILES)
    place = "http://deb.example.org/debian-security bookworm-security/main amd64 Packages"
    assert sources[place] == PackageSource(
        500, place, "Debian", "Debian-Security", "oldstable-security", "bookworm-security", "deb.example.org"
    )
    assert sources["https://deb.example/repo ./ Packages"].origin == "Example Corp"
    table = f"x:\n  Installed: 1\n  Candidate: 1\n  Version table:\n *** 1 500\n        500 {place}\n"
    assert parse_policy(table, sources)["x"].versions[0].sources[0].label == "Debian-Security"


def test_a_phased_update_is_a_version_like_others() -> None:
    """Ubuntu's remark behind the priority does not hide the version."""
    table = "x:\n  Installed: 1\n  Candidate: 2\n  Version table:\n     2 500 (phased 50%)\n        500 http://a b\n"
    assert [row.version for row in parse_policy(table, {})["x"].versions] == ["2"]


def test_pins_are_kept_as_apt_shows_them() -> None:
    """Each pinned package is named with version and priority."""
    assert parse_pins(FILES) == ("mariadb-server -> 1:11.8.9+maria~deb12 with priority 1001",)
    assert parse_pins("Package files:\n 100 /var/lib/dpkg/status\nPinned packages:\n") == ()


@pytest.mark.parametrize(
    ("status", "held", "present", "healthy"),
    [
        ("install ok installed", False, True, True),
        ("hold ok installed", True, True, True),
        ("deinstall ok config-files", False, False, False),
        ("unknown ok not-installed", False, False, False),
        ("install ok half-configured", False, True, False),
        ("install reinstreq half-installed", False, True, False),
        ("install ok triggers-pending", False, True, False),
    ],
)
def test_states_of_a_package(status: str, held: bool, present: bool, healthy: bool) -> None:
    """dpkg's three words tell held, there at all, and whole."""
    row = parse_dpkg_list(f"mariadb-server\tamd64\t1:10.11.18-0+deb12u1\t{status}\tmariadb\tmariadb-server\n")[0]
    assert (row.held, row.present) == (held, present)
    assert Package(row.name, row.architecture, row.version, row.status).healthy is healthy


def test_automatic_marks_are_by_package_and_architecture() -> None:
    """Only a 1 marks a package."""
    text = (
        "Package: galera-4\nArchitecture: amd64\nAuto-Installed: 1\n\nPackage: x\nArchitecture: i386\nAuto-Installed: 0"
    )
    assert parse_automatic(text) == {("galera-4", "amd64")}
    assert parse_automatic("absent") == frozenset()


@pytest.mark.parametrize(
    ("exit_status", "text", "fine"),
    [
        (0, "Hit:1 http://deb.example.org/debian bookworm InRelease\nReading package lists...\n", True),
        (
            0,
            "Err:1 http://a.example x\nW: Some index files failed to download. They have been ignored, "
            "or old ones used instead.\n",
            False,
        ),
        (100, "E: Repository 'https://a x InRelease' changed its 'Origin' value from 'a' to 'b'\n", False),
        (
            0,
            "W: GPG error: http://a x InRelease: The following signatures couldn't be verified: NO_PUBKEY F1656F24\n",
            False,
        ),
        (100, "E: The repository 'http://a x Release' no longer has a Release file.\n", False),
        (100, "E: Release file for http://a/InRelease is not valid yet (invalid for another 2h).\n", False),
        (100, "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1235 (unattended-upgr)\n", False),
    ],
)
def test_a_refresh_is_judged_by_its_messages(exit_status: int, text: str, fine: bool) -> None:
    """Exit status 0 with stale lists is no fresh list; each message is kept as printed."""
    refresh = parse_refresh(exit_status, text)
    assert refresh.ok is fine
    assert (refresh.messages == ()) is fine
    assert all(message in text for message in refresh.messages)


def test_the_holder_of_a_lock_is_named() -> None:
    """Path, process and command stand in one row."""
    rows = parse_lock_holders("/var/lib/dpkg/lock-frontend\t1235\t/usr/bin/python3 /usr/bin/unattended-upgrade \n")
    assert rows == (LockHolder("/var/lib/dpkg/lock-frontend", 1235, "/usr/bin/python3 /usr/bin/unattended-upgrade"),)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("package aaa  lib/systemd/system/mariadb.service\nfile aaa  /lib/systemd/system/mariadb.service\n", ()),
        (
            "package aaa  lib/systemd/system/mariadb.service\nfile bbb  /lib/systemd/system/mariadb.service\n",
            ("/lib/systemd/system/mariadb.service",),
        ),
        ("file bbb  /etc/systemd/system/packetfence-mariadb.service\n", ()),
        ("", ()),
    ],
)
def test_a_unit_file_edited_against_its_package_is_named(text: str, changed: tuple[str, ...]) -> None:
    """An edit of the packaged unit is lost at the next upgrade, so it must be seen before."""
    assert parse_fragment_sums(text) == changed
