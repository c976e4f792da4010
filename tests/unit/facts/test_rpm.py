"""What rpm, dnf and zypper print."""

import pytest
from probe_output import framed

from rollout.facts.frame import parse_frames
from rollout.facts.packages import parse_packages
from rollout.facts.rpm import (
    parse_modules,
    parse_repoquery,
    parse_rpm_list,
    parse_rpm_refresh,
    parse_versionlock,
    version_table,
)
from rollout.facts.unknown import Unknown

# As dnf 4.14 prints the probe's query (an empty line after each row), with what it may print in front of it; several
# series in one repository and the distribution's own stream beside them, as in MariaDB's own example.
OFFERED = """\
Last metadata expiration check: 0:01:42 ago on Fri 12 Dec 2025 03:47:20 PM UTC.
MariaDB-server\tx86_64\t0:11.8.10-1.el9\tmariadb-main\tMariaDB Foundation

MariaDB-server\tx86_64\t0:11.8.9-1.el9\tmariadb-main\tMariaDB Foundation

MariaDB-server\tx86_64\t0:12.1.2-1.el9\tmariadb-main\tMariaDB Foundation

mariadb-server\tx86_64\t3:10.3.39-1.module+el8.8.0+1452+2a7eab68\tappstream\tAlmaLinux
"""
INSTALLED = """\
bash\tx86_64\t5.1.8-9.el9\tinstalled\tbash-5.1.8-9.el9.src.rpm\tAlmaLinux
MariaDB-server\tx86_64\t11.8.9-1.el9\tinstalled\tMariaDB-11.8.9.src.rpm\tMariaDB Foundation
galera-4\tx86_64\t26.4.23-1.el9\tinstalled\tgalera-4.src.rpm\t(none)
"""


def test_several_series_in_one_repository_stay_apart() -> None:
    """Each version has its own row and its own repository; another package's name in other letters is another."""
    table = version_table("MariaDB-server", parse_repoquery(OFFERED))
    assert [row.version for row in table] == ["12.1.2-1.el9", "11.8.10-1.el9", "11.8.9-1.el9"]
    assert [source.location for source in table[2].repositories] == ["mariadb-main"]
    distribution = version_table("mariadb-server", parse_repoquery(OFFERED))
    assert [row.version for row in distribution] == ["3:10.3.39-1.module+el8.8.0+1452+2a7eab68"]


def test_installed_packages_carry_their_vendor() -> None:
    """The vendor tells whose build it is; none is no vendor."""
    packages = parse_rpm_list(INSTALLED)
    assert [(item.name, item.installed, item.vendor) for item in packages] == [
        ("MariaDB-server", "11.8.9-1.el9", "MariaDB Foundation"),
        ("galera-4", "26.4.23-1.el9", ""),
    ]


def test_versionlock_entries() -> None:
    """Comments and exclusions are no locks."""
    text = "# Added lock on Mon\nMariaDB-server-0:11.8.9-1.el9.*\n!MariaDB-client-0:11.8.10-1.el9.*\n"
    assert parse_versionlock(text) == ("MariaDB-server-0:11.8.9-1.el9.*",)
    assert parse_versionlock("absent") == ()


@pytest.mark.parametrize(
    ("lock", "held"),
    [
        ("MariaDB-server-0:11.8.9-1.el9.*", True),
        ("MariaDB-server-11.8.*", True),
        ("MariaDB-server-galera-0:11.8.9-1.el9.*", False),
        ("procps-ng-0:3.3.17-1.fc34.*", False),
        ("MariaDB-*", True),
        ("MariaDB-server-*", True),
    ],
)
def test_a_host_with_dnf(lock: str, held: bool) -> None:
    """List, offers and locks are joined; what rpm does not tell is unknown; jemalloc in no repository is not there."""
    packages = parse_packages(
        parse_frames(
            framed(
                ("package-manager", "", b"dnf", 0, ""),
                ("packages", "", INSTALLED.encode(), 0, ""),
                ("package-versions", "", OFFERED.encode(), 0, "No match for argument: jemalloc"),
                ("holds", "", lock.encode(), 0, ""),
                ("excludes", "", b"excludepkgs=MariaDB-*", 0, ""),
                ("package-locks", "", b"", 0, ""),
            )
        )
    )
    server = packages.named("MariaDB-server")
    assert server is not None
    assert server.held is held
    assert isinstance(server.automatic, Unknown)
    origins = [(source.location, source.origin) for source in server.installed_from]
    assert origins == [("mariadb-main", "MariaDB Foundation")]
    assert packages.named("jemalloc") is None
    assert (packages.manager, packages.excludes, packages.holds) == ("dnf", ("excludepkgs=MariaDB-*",), (lock,))


def test_enabled_module_streams() -> None:
    """dnf's own files say which stream of a module is enabled; one that is only known is none."""
    text = "[mariadb]\nname=mariadb\nstream=10.11\nprofiles=\nstate=enabled\n[mysql]\nname=mysql\nstream=8.4\nstate=\n"
    assert parse_modules(text) == ("mariadb:10.11",)
    assert parse_modules("") == ()


def test_a_repository_that_dnf_passes_over_is_no_fresh_list() -> None:
    """As dnf 4.14 printed it, with exit status 0, for a repository with skip_if_unavailable."""
    text = (
        "Errors during downloading metadata for repository 'bad':\n"
        "  - Curl error (37): Couldn't read a file:// file for file:///nowhere/repodata/repomd.xml\n"
        "Error: Failed to download metadata for repo 'bad': Cannot download repomd.xml: All mirrors were tried\n"
        "Ignoring repositories: bad\nMetadata cache created.\n"
    )
    refreshed = parse_rpm_refresh(0, text)
    assert not refreshed.ok
    assert refreshed.messages[-1] == "Ignoring repositories: bad"
    assert parse_rpm_refresh(0, "MariaDB of the fleet   1.5 MB/s | 1.5 kB  00:00\nMetadata cache created.\n").ok
