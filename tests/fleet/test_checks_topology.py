"""The checks of replication and of Galera against a real replica and a real cluster: well, broken, and well again."""

import pytest

from rollout.checks.model import CheckResult, Expectation
from rollout.checks.registry import run_checks
from rollout.facts.model import Facts
from rollout.lab.rehearsal import Rehearsal
from rollout.remote import open_transport
from rollout.remote.probing import look_at

pytestmark = pytest.mark.fleet
SYNCED = (
    "for i in $(seq 300); do mariadb -NBe \"SHOW STATUS LIKE 'wsrep_local_state_comment'\" | grep -q Synced && exit; "
    "sleep 0.1; done; exit 1"
)


def look(fleet: Rehearsal, name: str) -> Facts:
    """Probe a host."""
    host = fleet.host(name)
    transport = open_transport(host)
    try:
        return look_at(transport, host).facts
    finally:
        transport.close()


def check(name: str, now: Facts, before: Facts | None) -> CheckResult:
    """Return the result of one check."""
    return next(result for result in run_checks(now, before, Expectation()) if result.id == name)


@pytest.mark.parametrize(
    ("breaks", "found"),
    [
        ("STOP SLAVE SQL_THREAD", "its sql thread says No"),
        ("STOP SLAVE IO_THREAD", "its io thread says No"),
        ("STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID=no; START SLAVE", "uses GTID No, before Slave_Pos"),
        ("STOP SLAVE; RESET SLAVE ALL", "channel '' is gone"),
    ],
    ids=["applier_stopped", "receiver_stopped", "gtid_lost", "channel_gone"],
)
def test_a_replica_is_held_against_what_it_was(replication: Rehearsal, breaks: str, found: str) -> None:
    """Each way in which a replica ceases to follow as before is seen and named."""
    replication.dirty("db2")
    before = look(replication, "db2")
    assert check("replication", before, before).status == "pass"
    replication.text("db2", f'mariadb -e "{breaks}"')
    result = check("replication", look(replication, "db2"), before)
    assert (result.status, found in result.found) == ("fail", True), result
    assert "SHOW ALL REPLICAS STATUS" in result.evidence


def test_an_error_of_the_applier_is_quoted(replication: Rehearsal) -> None:
    """A row that the replica has already stops it, and the server's own words stand in the result."""
    for name in ("db1", "db2"):
        replication.dirty(name)
    before = look(replication, "db2")
    row = "INSERT INTO shop.customers VALUES (900001, 'New', 'new@example.org', NULL)"
    replication.text("db2", f'mariadb -e "SET SESSION sql_log_bin=0; {row}"')
    replication.text("db1", f'mariadb -e "{row}"')
    stopped = "mariadb -e 'SHOW SLAVE STATUS\\G' | grep -q 'Slave_SQL_Running: No'"
    replication.text("db2", f"for i in $(seq 300); do {stopped} && exit; sleep 0.1; done; exit 1")
    result = check("replication", look(replication, "db2"), before)
    assert result.status == "fail"
    assert "Duplicate entry" in result.found, result


def test_a_node_is_held_against_its_cluster(galera: Rehearsal) -> None:
    """A desynced node and a cluster that lost a node fail, and both pass again once they are mended."""
    for name in ("db1", "db2", "db3"):
        galera.dirty(name)
    before = look(galera, "db1")
    well = check("wsrep", before, before)
    assert (well.status, well.found) == ("pass", "Synced, Primary, size 3")

    galera.text("db1", "mariadb -e 'SET GLOBAL wsrep_desync=ON'")
    desynced = check("wsrep", look(galera, "db1"), before)
    assert (desynced.status, desynced.found) == ("fail", "Donor/Desynced, Primary, size 3")
    galera.text("db1", f"mariadb -e 'SET GLOBAL wsrep_desync=OFF'; {SYNCED}")

    galera.text("db3", "systemctl stop mariadb")
    smaller = check("wsrep", look(galera, "db1"), before)
    assert (smaller.status, smaller.found) == ("fail", "Synced, Primary, size 2")
    down = check("wsrep", look(galera, "db3"), before)
    assert down.status == "fail", down
    galera.text("db3", f"systemctl start mariadb; {SYNCED}")
    assert check("wsrep", look(galera, "db1"), before).status == "pass"
