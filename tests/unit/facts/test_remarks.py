"""What a person must know of a host is said in a sentence."""

from dataclasses import replace

import pytest

from rollout.facts.model import Facts
from rollout.facts.parse import parse_probe
from rollout.facts.remarks import remarks
from rollout.facts.unknown import Unknown
from rollout.resources import shipped
from rollout.versions import parse_server_version

HEALTHY = parse_probe("db1", (shipped("inventories") / "example" / "db1" / "probe.out").read_bytes())
MYSQL = parse_server_version("mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)")
NEWER = parse_server_version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64")


def test_a_healthy_host_needs_no_words() -> None:
    """Nothing is said where nothing is to be said."""
    assert remarks(HEALTHY) == ()


def with_server(**facts: object) -> Facts:
    """Return the healthy host with other facts of its server."""
    return replace(HEALTHY, server=replace(HEALTHY.server, **facts))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (with_server(running=MYSQL), "this is mysql 8.0.36, not MariaDB: it is reported and never touched"),
        (with_server(running=None, on_disk=MYSQL), "this is mysql 8.0.36"),
        (replace(with_server(running=None, on_disk=None), unit=None), "no MariaDB is here"),
        (replace(HEALTHY, system=replace(HEALTHY.system, init="runit")), "process 1 is runit"),
        (with_server(on_disk=NEWER), "10.11.18 runs, 10.11.19 lies on disk"),
        (with_server(version_option="9.9.9"), "the option `version` is set"),
        (with_server(executable_package=None), "not installed from a package"),
        (replace(HEALTHY, notes=("root was refused",)), "root was refused"),
        (with_server(client=Unknown("lost"), on_disk=Unknown("lost")), "unknown: server.on_disk, server.client (lost)"),
    ],
)
def test_what_is_odd_is_said(facts: Facts, words: str) -> None:
    """Each oddity has its own sentence, and unknown facts are named with their reason."""
    assert words in " / ".join(remarks(facts))
