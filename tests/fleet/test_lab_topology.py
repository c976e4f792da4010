"""Fleets that hang together, and the stand-in of a release."""

import pytest
from by_hand import installed

from rollout.lab.base import upstream
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet
ROWS = "mariadb -NBe 'SELECT COUNT(*) FROM shop.customers WHERE id >= 900000'"
INSERT = "mariadb -e \"INSERT INTO shop.customers VALUES (900000, 'New', 'new@example.org', NULL)\""


def arrives(fleet: Rehearsal, host: str, expected: str) -> bool:
    """Whether the new row is on a host within 30 seconds."""
    return (
        fleet.shell(
            host, f'for i in $(seq 300); do [ "$({ROWS})" = {expected} ] && exit; sleep 0.1; done; exit 1'
        ).returncode
        == 0
    )


def test_a_row_of_the_primary_reaches_the_replica_of_a_replica(replication: Rehearsal) -> None:
    """What is written on db1 is read on db2, db3 and db4, and a replica refuses to be written to by a user."""
    for host in ("db1", "db2", "db3", "db4"):
        replication.dirty(host)
    replication.text("db1", INSERT)
    for host in ("db2", "db3", "db4"):
        assert arrives(replication, host, "1"), host
        assert replication.text(host, "mariadb -NBe 'SELECT @@read_only'") == "1"


def test_a_reset_replica_replicates_again(replication: Rehearsal) -> None:
    """A replica that was put back to its first state catches up by itself, and so does the one below it."""
    for host in ("db1", "db2"):
        replication.dirty(host)
    replication.text("db1", INSERT)
    replication.reset("db2")
    for host in ("db2", "db4"):
        assert arrives(replication, host, "1"), host


def test_a_cluster_is_one(galera: Rehearsal) -> None:
    """Three nodes are synced, a row of one is on all, and a node that reboots joins again."""
    for host in ("db1", "db2", "db3"):
        galera.dirty(host)
    galera.text("db1", INSERT)
    galera.lab.reboot("db3")
    for host in ("db1", "db2", "db3"):
        assert arrives(galera, host, "1"), host
        status = galera.text(host, "mariadb -NBe \"SHOW STATUS LIKE 'wsrep_cluster_size'\"")
        assert status.split() == ["wsrep_cluster_size", "3"]


def test_a_stand_in_says_its_number_and_is_gone_on_the_way_back(trixie: Rehearsal) -> None:
    """After the upgrade the server says the newer number; after the downgrade it says the older one again."""
    host, record = trixie.dirty("db1").name, trixie.lab.base.record
    say = "mariadb -NBe 'SELECT VERSION()'"
    trixie.publish()
    for version in (record.new, record.old):
        installed(trixie, host, version)
        assert trixie.text(host, say).startswith(f"{upstream(version)}-MariaDB")
