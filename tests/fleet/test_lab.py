"""The rehearsal fleet itself: what its hosts hold, how they go down and come back."""

import re
import subprocess

import pytest

from rollout.errors import LabProblem, UsageProblem
from rollout.lab.base import upstream
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet


def wait_for(fleet: Rehearsal, host: str, script: str) -> str:
    """Run a script in a host until it succeeds, for 30 seconds at most, and return what it prints."""
    return fleet.text(host, f"for i in $(seq 300); do ( {script} ) && exit 0; sleep 0.1; done; exit 1")


def test_every_host_runs_the_older_release(fleet: Rehearsal) -> None:
    """The server is the release from before the newer one, as the package and as the running server say."""
    old = fleet.lab.base.record.old
    for host in fleet.hosts:
        assert fleet.text(host.name, "dpkg-query -W -f '${Version}' mariadb-server") == old
        assert fleet.text(host.name, "mariadb -NBe 'SELECT VERSION()'").startswith(f"{upstream(old)}-MariaDB")


def test_every_host_is_a_machine_of_its_own(fleet: Rehearsal) -> None:
    """Each host has its own systemd without failed units, name, machine id, server id and host key."""
    script = (
        "systemctl is-system-running; hostname; cat /etc/machine-id; mariadb -NBe 'SELECT @@server_id';"
        "cut -d' ' -f2 /etc/ssh/ssh_host_ed25519_key.pub"
    )
    rows = [fleet.text(host.name, script).split() for host in fleet.hosts]
    states, *others = zip(*rows, strict=True)
    assert set(states) == {"running"}
    for column in others:
        assert len(set(column)) == len(rows)


def test_a_host_holds_data_of_every_kind(fleet: Rehearsal) -> None:
    """Over 200 MB in several schemas: InnoDB, Aria, compressed, foreign keys, view, routine, trigger, event, user."""
    assert (
        int(
            fleet.text(
                "db1",
                "du -sm /var/lib/mysql/shop /var/lib/mysql/archive /var/lib/mysql/metrics |"
                " awk '{n += $1} END {print n}'",
            )
        )
        >= 200
    )
    counts = fleet.text(
        "db1",
        """mariadb -NBe "
        SELECT COUNT(DISTINCT table_schema) FROM information_schema.tables
          WHERE table_schema IN ('shop', 'archive', 'metrics');
        SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'metrics' AND engine = 'Aria';
        SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'archive' AND row_format = 'Compressed';
        SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = 'shop';
        SELECT COUNT(*) FROM information_schema.views WHERE table_schema = 'shop';
        SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = 'shop';
        SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'shop';
        SELECT COUNT(*) FROM information_schema.events WHERE event_schema = 'shop';
        SELECT COUNT(*) FROM mysql.user WHERE user = 'shop_reader' AND authentication_string <> '';
    " """,
    )
    assert counts.split() == ["3", "1", "1", "2", "1", "2", "1", "1", "1"]


def test_a_reset_discards_what_was_written(fleet: Rehearsal) -> None:
    """A reset host has neither the files nor the rows that were written before."""
    host = fleet.dirty("db1").name
    fleet.text(host, "touch /etc/left-behind; mariadb -e 'CREATE DATABASE left_behind'")
    fleet.reset(host)
    assert fleet.shell(host, "test -e /etc/left-behind").returncode == 1
    assert "left_behind" not in fleet.text(host, "mariadb -NBe 'SHOW DATABASES'")


def test_a_reboot_is_a_real_one(fleet: Rehearsal) -> None:
    """After a reboot the boot id is another one, /var and the data are kept, /run is empty again."""
    host = fleet.dirty("db1").name
    read = "cat /proc/sys/kernel/random/boot_id"
    before = fleet.text(host, f"touch /run/gone /var/lib/kept; mariadb -e 'CREATE DATABASE kept'; {read}")
    fleet.lab.reboot(host)
    assert fleet.text(host, read) != before
    assert fleet.text(host, "ls -d /run/gone /var/lib/kept /var/lib/mysql/kept 2>&1 || true").splitlines()[1:] == [
        "/var/lib/kept",
        "/var/lib/mysql/kept",
    ]


def test_a_host_without_power_comes_back_with_its_data(fleet: Rehearsal) -> None:
    """Power taken away in the middle of work loses nothing that was committed."""
    host = fleet.dirty("db1").name
    fleet.text(host, "mariadb -e 'CREATE DATABASE kept; CREATE TABLE kept.t (n INT); INSERT INTO kept.t VALUES (77)'")
    fleet.lab.power_off(host)
    with pytest.raises(LabProblem, match="db1 is not running"):
        fleet.shell(host, "true")
    fleet.lab.power_on(host)
    assert fleet.text(host, "mariadb -NBe 'SELECT n FROM kept.t'") == "77"


def test_a_cut_network_cuts_ssh_and_not_the_host(fleet: Rehearsal) -> None:
    """With the cable pulled ssh gets no answer while the host goes on; with the cable back it answers again."""
    host = fleet.dirty("db3").name
    words = [*fleet.lab.ssh(host)[:-1], "-o", "ConnectTimeout=2", fleet.lab.ssh(host)[-1], "hostname"]
    fleet.lab.cut_network(host)
    assert subprocess.run(words, capture_output=True, check=False).returncode == 255
    assert fleet.text(host, "systemctl is-active mariadb") == "active"
    fleet.lab.restore_network(host)
    answers = (subprocess.run(words, capture_output=True, check=False).stdout for _ in range(10))
    assert b"db3\n" in answers


def test_a_release_is_seen_when_the_lists_are_refreshed(fleet: Rehearsal) -> None:
    """After publishing a host sees the newer release only once it has refreshed its package lists."""
    host = fleet.dirty("db1").name
    record = fleet.lab.base.record
    candidate = "apt-cache policy mariadb-server | awk '/Candidate/ {print $2}'"
    fleet.publish()
    assert fleet.text(host, candidate) == record.old
    fleet.text(host, "apt-get update -qq")
    assert fleet.text(host, candidate) == record.new
    fleet.unpublish()
    fleet.text(host, "apt-get update -qq")
    assert fleet.text(host, candidate) == record.old


def test_the_upgrade_is_one_of_all_siblings(fleet: Rehearsal) -> None:
    """Apt takes every sibling to the newer release without network, and the server runs it afterwards."""
    host = fleet.dirty("db1").name
    new = fleet.lab.base.record.new
    fleet.publish()
    fleet.text(
        host,
        "apt-get update -qq; export DEBIAN_FRONTEND=noninteractive;"
        "apt-get install -y -qq --only-upgrade mariadb-server mariadb-client >/dev/null 2>&1;"
        "apt-get install -y -qq mariadb-backup libjemalloc2 >/dev/null 2>&1",
    )
    versions = fleet.text(host, "dpkg-query -W -f '${Version}\\n' 'mariadb-*' libmariadb3 | sort -u").split()
    assert versions == [new]
    assert fleet.text(host, "mariadb -NBe 'SELECT VERSION()'").startswith(f"{upstream(new)}-MariaDB")


def test_what_the_product_needs_is_offered_and_not_installed(fleet: Rehearsal) -> None:
    """The allocator and the backup program are installed by the product, not by the lab; there is no other source."""
    for package in ("libjemalloc2", "mariadb-backup"):
        assert "Installed: (none)" in fleet.text("db1", f"apt-cache policy {package}")
        assert "copy:/srv/repo" in fleet.text("db1", f"apt-cache policy {package}")
    assert fleet.text("db1", "cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true") == (
        "deb [trusted=yes] copy:/srv/repo ./"
    )
    assert fleet.shell("db1", "touch /srv/repo/x").returncode != 0


def test_one_host_cannot_resolve_its_own_name(fleet: Rehearsal) -> None:
    """Sudo on db2 complains on stderr and works, as on many real hosts; on db1 it is silent."""
    for host, noise in (("db1", rb""), ("db2", rb"sudo: unable to resolve host db2: .*\n")):
        ended = subprocess.run([*fleet.lab.ssh(host), "sudo id -un"], capture_output=True, check=True)
        assert ended.stdout == b"root\n"
        assert re.fullmatch(noise, ended.stderr)


def test_a_host_key_that_is_not_known_is_refused(fleet: Rehearsal) -> None:
    """The command line that the lab gives to ssh checks host keys strictly."""
    known = f"UserKnownHostsFile={fleet.lab.place.known_hosts}"
    words = [word.replace(known, "UserKnownHostsFile=/dev/null") for word in fleet.lab.ssh("db1")]
    ended = subprocess.run([*words, "true"], capture_output=True, check=False)
    assert ended.returncode == 255
    assert b"Host key verification failed" in ended.stderr


def test_the_writer_goes_on_after_a_restart_and_loses_nothing(fleet: Rehearsal) -> None:
    """Every number that the server acknowledged is in the table, before and after a restart of the server."""
    host = fleet.dirty("db1").name
    count = "mariadb -NBe 'SELECT COUNT(*) FROM rollout_demo_writer.written'"
    fleet.text(host, "systemctl start rollout-demo-writer")
    wait_for(fleet, host, f"[ $({count}) -ge 10 ]")
    fleet.text(host, "systemctl restart mariadb")
    before = int(fleet.text(host, count))
    wait_for(fleet, host, f"[ $({count}) -ge {before + 10} ]")
    fleet.text(host, "systemctl stop rollout-demo-writer")
    acknowledged = fleet.text(host, "cat /var/lib/rollout-demo-writer/acknowledged").split()
    rows = fleet.text(host, "mariadb -NBe 'SELECT number FROM rollout_demo_writer.written'").split()
    assert len(acknowledged) >= 20
    assert set(acknowledged) <= set(rows)


def test_the_writer_does_not_wake_a_stopped_server(fleet: Rehearsal) -> None:
    """A server that was stopped stays stopped, though a client could start it through its socket."""
    host = fleet.dirty("db1").name
    fleet.text(host, "systemctl start rollout-demo-writer; sleep 0.5; systemctl stop mariadb; sleep 1")
    assert fleet.shell(host, "systemctl is-active mariadb").stdout == b"inactive\n"


def test_an_unknown_host_is_refused_with_the_names_there_are(fleet: Rehearsal) -> None:
    """The refusal names the hosts of the fleet."""
    with pytest.raises(UsageProblem) as caught:
        fleet.host("db9")
    assert caught.value.hint == "it has db1, db2, db3"
