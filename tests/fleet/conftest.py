"""The one fixture of all tests that need real hosts.

    def test_something(fleet: Rehearsal) -> None:
        host = fleet.dirty("db1")                       # a rollout.settings.Host; db1 is reset after the test
        fleet.publish()                                 # taken back after the test
        fleet.shell("db1", "systemctl is-active mariadb")  # as root in the host, without SSH and the product

The fleet is brought up once a session under a name of its own. Where it cannot be had the tests fail, they do not
skip: a green run without hosts would say nothing.
"""

import os
from collections.abc import Iterator

import pytest

from rollout.lab.fleet import Fleet, down, up
from rollout.lab.layout import Place
from rollout.lab.rehearsal import Rehearsal

HOSTS = 3


@pytest.fixture(scope="session")
def lab_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up a fleet of bookworm hosts for the session, and take it down at its end."""
    place = Place(tmp_path_factory.mktemp("state"), f"t{os.getpid()}")
    try:
        yield up(place, hosts=HOSTS, writer=False)
    finally:
        down(place)


@pytest.fixture
def fleet(lab_fleet: Fleet) -> Iterator[Rehearsal]:
    """Give a test the fleet, and put back afterwards what the test changed."""
    rehearsal = Rehearsal(lab_fleet)
    yield rehearsal
    rehearsal.clean()
