"""The rehearsal fleet itself."""

import pytest

from rollout.lab.base import upstream
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet


def test_hosts_run_the_older_release(fleet: Rehearsal) -> None:
    """Every host runs the release from before the newer one, whatever the archive offers today."""
    for host in fleet.hosts:
        assert fleet.text(host.name, "mariadb -NBe 'SELECT VERSION()'").startswith(upstream(fleet.lab.base.record.old))


def test_reset_discards_what_was_written(fleet: Rehearsal) -> None:
    """A reset host has neither the files nor the rows that were written before."""
    host = fleet.dirty("db1").name
    fleet.text(host, "touch /etc/left-behind; mariadb -e 'CREATE DATABASE left_behind'")
    fleet.reset(host)
    assert fleet.shell(host, "test -e /etc/left-behind").returncode == 1
    assert "left_behind" not in fleet.text(host, "mariadb -NBe 'SHOW DATABASES'")
