"""What zypper prints, and the locks of libzypp as locks(5) gives them."""

import pytest
from probe_output import framed

from rollout.facts.frame import parse_frames
from rollout.facts.packages import parse_packages
from rollout.facts.rpm import parse_rpm_refresh
from rollout.facts.unknown import Unknown
from rollout.facts.zypper import locked, named_in_locks, parse_search

SEARCH = """<?xml version='1.0'?>
<stream>
<message type="info">Loading repository data...</message>
<search-result version="0.0"><solvable-list>
<solvable status="installed" name="mariadb" kind="package" edition="11.8.9-1.1" arch="x86_64" repository="repo-oss"/>
<solvable status="other-version" name="mariadb" kind="package" edition="11.8.10-1.1" arch="x86_64" repository="up"/>
<solvable status="installed" name="x" kind="package" edition="1" arch="x86_64" repository="(System Packages)"/>
</solvable-list></search-result>
</stream>
"""
LOCK = "\ntype: package\nmatch_type: {}\ncase_sensitive: {}\nsolvable_name: {}\n"
# The examples of locks(5), by the names it gives them.
EXACT = "type: package\nsolvable_name: k3b\nmatch_type: exact\ncase_sensitive: on\n"
WILDCARD = "type: package\nsolvable_name: cross-*-gcc-icecream-backend\nmatch_type: glob\ncase_sensitive: on\n"
VERSIONED = "solvable_name: gcc\nmatch_type: glob\nversion: > 4.2\n"
NAMED = "solvable_name: kde\n"
MENTIONING = "query_string: kde\nsolvable_name:\nsolvable_summary:\nsolvable_description:\n"


def test_the_search() -> None:
    """zypper's XML gives names, versions and repositories; what only lies on the system is no offer."""
    assert parse_search(SEARCH) == (("mariadb", "11.8.9-1.1", "repo-oss", ""), ("mariadb", "11.8.10-1.1", "up", ""))
    with pytest.raises(ValueError, match="no element found"):
        parse_search("")


def test_two_repositories_of_one_vendor_are_one_origin() -> None:
    """The update repository has the successor of what the first one had; without a vendor each is its own origin."""
    rows = b"mariadb\tx86_64\t11.8.9-1.1\tinstalled\tmariadb-11.8.9.src.rpm\topenSUSE\n"
    vendors = b"repo-oss\tmariadb\topenSUSE\nup\tmariadb\topenSUSE\n"
    for said, origins in ((vendors, {"openSUSE"}), (b"", {"repo-oss", "up"})):
        packages = parse_packages(
            parse_frames(
                framed(
                    ("package-manager", "", b"zypper", 0, ""),
                    ("packages", "", rows, 0, ""),
                    ("package-versions", "", SEARCH.encode(), 0, ""),
                    ("package-vendors", "", said, 0, ""),
                    ("holds", "", LOCK.format("glob", "on", "mariadb*").encode(), 0, ""),
                )
            )
        )
        server = packages.named("mariadb")
        assert server is not None
        assert isinstance(server.versions, tuple)
        assert {source.origin for row in server.versions for source in row.repositories} == origins
        assert (server.held, packages.holds, packages.excludes) == (True, ("mariadb*",), ())


@pytest.mark.parametrize(
    ("text", "name", "held"),
    [
        (EXACT, "k3b", True),
        (EXACT, "k3b-lang", False),
        (WILDCARD, "cross-arm-gcc-icecream-backend", True),
        (VERSIONED, "gcc", True),
        (VERSIONED, "gcc13", False),
        (NAMED, "plasma5-KDE-theme", True),
        (LOCK.format("glob", "on", "mariadb*"), "MariaDB-server", False),
        (LOCK.format("glob", "off", "mariadb*"), "MariaDB-server", True),
        (LOCK.format("regex", "on", "^Maria.*er$"), "MariaDB-server", True),
        (LOCK.format("word", "on", "server"), "MariaDB-server", True),
        (LOCK.format("word", "on", "serve"), "MariaDB-server", False),
        (LOCK.format("exact", "on", "x").replace("package", "patch"), "x", False),
        (f"{EXACT}\n{NAMED}", "kde-cli", True),
        ("absent", "k3b", False),
        ("", "k3b", False),
    ],
)
def test_locks_match_names_as_the_manual_says(text: str, name: str, held: bool) -> None:
    """Substrings in any case unless the lock says otherwise; a lock of some versions is an order too."""
    assert locked(text, name) is held


def test_a_lock_that_is_not_understood_is_unknown() -> None:
    """One by summary or description cannot be told from the name, and it is not guessed."""
    with pytest.raises(ValueError, match="solvable_description, solvable_summary"):
        locked(MENTIONING, "mariadb")
    with pytest.raises(ValueError, match="no lock of libzypp"):
        locked("mariadb\n", "mariadb")
    assert named_in_locks(f"{EXACT}\n{NAMED}") == ("k3b", "kde")
    answers = parse_frames(
        framed(
            ("package-manager", "", b"zypper", 0, ""),
            ("packages", "", b"mariadb\tx86_64\t11.8.9-1.1\tinstalled\ts\topenSUSE\n", 0, ""),
            ("holds", "", MENTIONING.encode(), 0, ""),
        )
    )
    server = parse_packages(answers).named("mariadb")
    assert server is not None
    assert isinstance(server.held, Unknown)


def test_a_refresh_that_skips_a_repository() -> None:
    """As zypper words it, with exit status 4."""
    text = (
        "Repository 'main' is up to date.\n"
        "Repository 'bad' is invalid.\n"
        "Skipping repository 'bad' because of the above error.\n"
        "Some of the repositories have not been refreshed because of an error.\n"
    )
    refreshed = parse_rpm_refresh(4, text)
    assert not refreshed.ok
    assert len(refreshed.messages) == 3
    assert parse_rpm_refresh(0, "Repository 'main' is up to date.\nAll repositories have been refreshed.\n").ok
