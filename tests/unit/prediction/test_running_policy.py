"""Under which policy a running server keeps its list."""

import pytest
import recorded_hosts as hosts

from rollout.prediction.running import running_policy
from rollout.settings import FixRelease
from rollout.versions import parse_server_version


@pytest.mark.parametrize(
    ("version", "policy"),
    [
        ("10.4.34", "mariadb-10.4"),
        ("10.5.1", "mariadb-10.5"),
        ("10.11.19", "mariadb-10.5"),
        ("11.8.9", "mariadb-10.5"),
        ("11.8.10", "mariadb-fix"),
        ("12.3.3", "mariadb-10.5"),
        ("12.3.4", "mariadb-fix"),
        ("13.2.0", None),
    ],
)
def test_the_version_tells_the_policy(version: str, policy: str | None) -> None:
    """Fixed releases, those before, 10.4, and a series that is too young to know."""
    assert running_policy(hosts.version(version), {}) == policy


def test_an_enterprise_build_does_not_tell() -> None:
    """What an Enterprise build carries cannot be told from its number."""
    enterprise = parse_server_version("11.8.10-7-MariaDB-enterprise-log")
    assert enterprise is not None
    assert running_policy(enterprise, {}) is None


def test_a_rehearsal_does_not_carry_the_fix() -> None:
    """A stand-in may call itself 11.8.10; declared as a rehearsal it is taken for what it is."""
    declared = {"11.8": FixRelease(version="11.8.10", carries_lru_fix=False)}
    assert running_policy(hosts.version("11.8.10"), declared) == "mariadb-10.5"


def test_a_release_of_a_users_own_carries_it() -> None:
    """A build with a back-port can be declared by series."""
    declared = {"10.11": FixRelease(version="10.11.20")}
    assert running_policy(hosts.version("10.11.20"), declared) == "mariadb-fix"
    assert running_policy(hosts.version("10.11.19"), declared) == "mariadb-10.5"
