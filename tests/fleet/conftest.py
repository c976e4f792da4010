"""The fixtures of all tests that need real hosts.

    def test_something(fleet: Rehearsal) -> None:
        host = fleet.dirty("db1")                       # a rollout.settings.Host; db1 is reset after the test
        fleet.publish()                                 # taken back after the test
        fleet.shell("db1", "systemctl is-active mariadb")  # as root in the host, without SSH and the product

`trixie`, `rpm`, `suse`, `replication` and `galera` are the same for other fleets. `trial` is one host that a test
breaks on purpose (see `trial.py`); with pytest-xdist each worker has one of its own. A fleet is brought up once a
session, when the first test asks for it, under a name of its own. Where it cannot be had the tests fail, they do not
skip: a green run without hosts would say nothing.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fault_table
import pytest
from product import Product
from trial import HOST, Rows, Trial
from undo_law import snapshot

from rollout.lab.fleet import Fleet, down, up
from rollout.lab.layout import Distro, Place, Topology
from rollout.lab.rehearsal import Rehearsal

HOSTS = 3


def bring_up(
    folder: Path,
    mark: str,
    *,
    hosts: int | None = None,
    distro: Distro = "bookworm",
    topology: Topology = "standalone",
    writer: bool = False,
) -> Iterator[Fleet]:
    """Bring up a fleet for the session under a name that no other session has, and take it down at its end."""
    place = Place(folder, f"{mark}{os.getpid()}")
    try:
        yield up(place, hosts=hosts, distro=distro, topology=topology, writer=writer)
    finally:
        down(place)


def put_back(fleet: Fleet) -> Iterator[Rehearsal]:
    """Give one test a fleet, and put back afterwards what the test changed."""
    rehearsal = Rehearsal(fleet)
    yield rehearsal
    rehearsal.clean()


@pytest.fixture(scope="session")
def lab_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up hosts of bookworm that stand alone."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "t", hosts=HOSTS)


@pytest.fixture(scope="session")
def lab_trixie(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up one host of trixie."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "x", hosts=1, distro="trixie")


@pytest.fixture(scope="session")
def lab_replication(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up a replication tree."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "r", topology="replication")


@pytest.fixture(scope="session")
def lab_galera(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up a Galera cluster."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "g", topology="galera")


@pytest.fixture(scope="session")
def lab_rpm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up one host of the rpm world."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "m", hosts=1, distro="rpm")


@pytest.fixture(scope="session")
def lab_suse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up one host of the rpm world whose package manager is zypper."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "z", hosts=1, distro="suse")


@pytest.fixture
def fleet(lab_fleet: Fleet) -> Iterator[Rehearsal]:
    """Give a test three hosts of bookworm that stand alone: db1, db2, db3."""
    yield from put_back(lab_fleet)


@pytest.fixture
def trixie(lab_trixie: Fleet) -> Iterator[Rehearsal]:
    """Give a test one host of trixie, db1, whose newer release is a stand-in or a real one."""
    yield from put_back(lab_trixie)


@pytest.fixture
def replication(lab_replication: Fleet) -> Iterator[Rehearsal]:
    """Give a test a primary db1, its replicas db2 and db3, and db4, a replica of db2."""
    yield from put_back(lab_replication)


@pytest.fixture
def galera(lab_galera: Fleet) -> Iterator[Rehearsal]:
    """Give a test a Galera cluster of db1, db2 and db3."""
    yield from put_back(lab_galera)


@pytest.fixture
def rpm(lab_rpm: Fleet) -> Iterator[Rehearsal]:
    """Give a test one host of the rpm world, db1, whose jemalloc lies in a repository that is not enabled."""
    yield from put_back(lab_rpm)


@pytest.fixture
def suse(lab_suse: Fleet) -> Iterator[Rehearsal]:
    """Give a test one host of the rpm world whose package manager is zypper, db1."""
    yield from put_back(lab_suse)


@pytest.fixture(scope="session")
def lab_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up one host of bookworm."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "f", hosts=1)


@pytest.fixture(scope="session")
def first_state(lab_alone: Fleet) -> Rows:
    """Say what the host is like before anything is done to it, and after each reset."""
    return snapshot(Rehearsal(lab_alone), HOST)


@pytest.fixture
def trial(lab_alone: Fleet, first_state: Rows, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Trial]:
    """Give a test the host db1 to break; it is put back afterwards."""
    properties = request.node.user_properties
    for rehearsal in put_back(lab_alone):
        product = Product(rehearsal.inventory, tmp_path / "state")
        yield Trial(rehearsal, product, first_state, lambda name, value: properties.append((name, value)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of the faults that were tried."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    told = [value for report in reports for name, value in report.user_properties if name == fault_table.PROPERTY]
    if told:
        terminalreporter.section("faults")
        for line in fault_table.table(told):
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"{len(terminalreporter.stats.get('failed', []))} tests failed")
