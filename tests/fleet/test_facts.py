"""Facts of real hosts: as they are, and in the states in which other tools guess."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rollout.cli.app import app
from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts
from rollout.facts.remarks import remarks
from rollout.facts.unknown import Unknown
from rollout.lab.base import upstream
from rollout.lab.rehearsal import Rehearsal
from rollout.remote import open_transport
from rollout.remote.probing import Look, look_at
from rollout.settings import Host

pytestmark = pytest.mark.fleet

SNAPSHOT = """
find /etc /var/lib/dpkg /var/lib/apt /var/cache/apt /var/lib/mysql-* /var/tmp /root /usr/local -xdev \
  -printf '%p %m %u %g %y %s %T@ %C@\\n' 2>/dev/null | sort
find /tmp -mindepth 1 | sort
find /etc /var/lib/dpkg /var/lib/apt -xdev -type f -exec sha256sum {} + | sort
systemctl show '*.service' -p Id -p ExecMainStartTimestampMonotonic -p InvocationID -p NRestarts |
  awk 'BEGIN { RS = "" } !/Id=(user|systemd-logind|systemd-hostnamed)/'
stat -c '%n %i' /var/lib/mysql /var/lib/mysql/ibdata1
"""
DROP_IN = "/etc/systemd/system/mariadb.service.d"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def look(host: Host, *, refresh: bool = False, deep: bool = False) -> Look:
    """Look at a host once, over SSH."""
    transport = open_transport(host)
    try:
        return look_at(transport, host, refresh=refresh, deep=deep)
    finally:
        transport.close()


def facts_of(host: Host) -> Facts:
    """Return the facts of one look."""
    return look(host).facts


def test_a_host_in_its_first_state(fleet: Rehearsal) -> None:
    """Of a healthy host nothing is unknown, and what it runs is what the lab put there."""
    facts = facts_of(fleet.host("db2"))
    assert set(facts_to_json(facts)["unknown"]) <= {"storage.datadir_bytes", "pool.pages_misc"}
    assert str(facts.server.running) == upstream(fleet.lab.base.record.old)
    assert facts.unit is not None
    assert not isinstance(facts.unit, Unknown)
    assert str(facts.unit.main_pid) == fleet.text("db2", "systemctl show -p MainPID --value mariadb")
    assert facts.unit.invocation_id == fleet.text("db2", "systemctl show -p InvocationID --value mariadb")
    assert facts.trail.invocations == (facts.unit.invocation_id,)
    assert facts.server.server_uid == fleet.text("db2", "mariadb -NBe 'SELECT @@server_uid'")
    assert abs(facts.system.clock_offset_seconds) < 5  # type: ignore[arg-type]


def test_looking_changes_nothing(fleet: Rehearsal) -> None:
    """Files, packages, lists, caches and starts of units are the same after the costliest look there is."""
    host = fleet.host("db2")
    look(host)  # the first login of a session leaves its own traces, which are not the probe's
    before = fleet.text("db2", SNAPSHOT)
    facts = look(host, refresh=True, deep=True).facts
    assert fleet.text("db2", SNAPSHOT) == before
    assert len(before.splitlines()) > 500
    assert not isinstance(facts.packages.refresh, Unknown)
    assert facts.packages.refresh is not None
    assert facts.packages.refresh.ok, facts.packages.refresh.messages
    assert isinstance(facts.storage.datadir_bytes, int)


def test_a_private_refresh_sees_what_the_host_does_not(fleet: Rehearsal) -> None:
    """The newer release shows in the facts as soon as it is out, while the host's own lists stay old."""
    host = fleet.host("db2")
    fleet.publish()
    stale, fresh = facts_of(host), look(host, refresh=True).facts
    newer = fleet.lab.base.record.new
    candidates = [facts.packages.named("mariadb-server") for facts in (stale, fresh)]
    assert all(candidates)
    assert [package.version(newer) is not None for package in candidates if package] == [False, True]


def test_sudo_refused(fleet: Rehearsal) -> None:
    """Without root the facts that only root sees are unknown with the reason; the host counts as failed."""
    host = fleet.dirty("db1")
    fleet.text("db1", "rm -f /etc/sudoers.d/*; gpasswd -d admin sudo 2>/dev/null || true")
    seen = look(host)
    assert seen.refused
    unknown = facts_to_json(seen.facts)["unknown"]
    for fact in ("server.running", "allocator.mapped", "memory.heap_bytes", "allocator.environ_preload"):
        assert unknown[fact]
    assert seen.facts.system.privileged is False
    assert seen.facts.server.on_disk is not None
    ended = CliRunner().invoke(app, ["facts", str(fleet.inventory), "--host", "db1", "--json"])
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["hosts"][0]["status"] == "failed"
    assert "did not run as root" in ended.stderr


def test_jemalloc_override_hold_edit_and_lock(fleet: Rehearsal) -> None:
    """Everything that an operator may have done to a host by hand is seen, each with its source."""
    host = fleet.dirty("db1")
    fleet.text(
        "db1",
        f"""apt-get install -y -q libjemalloc2 && mkdir -p {DROP_IN}
        printf '[Service]\\nEnvironment="LD_PRELOAD={LIBRARY}" TZ=UTC\\n' > {DROP_IN}/override.conf
        printf 'MALLOC_CONF=background_thread:true\\nSECRET=not-for-the-wire\\n' > /etc/default/maria
        printf '[Service]\\nEnvironmentFile=/etc/default/maria\\n' > {DROP_IN}/files.conf
        echo '# edited' >> /lib/systemd/system/mariadb.service
        apt-mark hold mariadb-server && apt-mark auto libjemalloc2
        systemctl daemon-reload && systemctl restart mariadb
        perl -MFcntl -e '$lock = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0); open F, ">>/var/lib/dpkg/lock-frontend";
          fcntl(F, F_SETLK, $lock) or die; sleep 120' >/dev/null 2>&1 &
        sleep 1""",
    )
    seen = look(host)
    facts = seen.facts
    assert str(facts.allocator.version_malloc_library).startswith("jemalloc 5.")
    assert not isinstance(facts.allocator.mapped, Unknown)
    assert [row.path for row in facts.allocator.mapped] == [LIBRARY]
    assert not isinstance(facts.allocator.preloads, Unknown)
    assert [(row.source, row.value) for row in facts.allocator.preloads] == [(f"{DROP_IN}/override.conf", LIBRARY)]
    assert facts.allocator.environ_malloc_conf == "background_thread:true"
    assert facts.packages.holds == ("mariadb-server",)
    assert facts.packages.changed_files == ("/lib/systemd/system/mariadb.service",)
    assert not isinstance(facts.packages.lock_holders, Unknown)
    assert [(row.path, row.command.split()[0]) for row in facts.packages.lock_holders] == [
        ("/var/lib/dpkg/lock-frontend", "perl")
    ]
    jemalloc = facts.packages.named("libjemalloc2")
    assert jemalloc is not None
    assert jemalloc.automatic is True
    assert b"not-for-the-wire" not in seen.raw


def test_a_library_that_was_replaced_under_the_server(fleet: Rehearsal) -> None:
    """The mapping of a replaced file is told as loaded and stale."""
    host = fleet.dirty("db1")
    fleet.text(
        "db1",
        f"""apt-get install -y -q libjemalloc2 && mkdir -p {DROP_IN}
        printf '[Service]\\nEnvironment=LD_PRELOAD={LIBRARY}\\n' > {DROP_IN}/a.conf
        systemctl daemon-reload && systemctl restart mariadb
        cp {LIBRARY} {LIBRARY}.new && mv {LIBRARY}.new {LIBRARY}""",
    )
    mapped = facts_of(host).allocator.mapped
    assert not isinstance(mapped, Unknown)
    assert [(row.path, row.deleted) for row in mapped] == [(LIBRARY, True)]


def test_a_stopped_server_stays_stopped(fleet: Rehearsal) -> None:
    """Looking starts nothing, though a socket unit would start the server for any client."""
    host = fleet.dirty("db1")
    fleet.shell("db1", "systemctl stop mariadb; systemctl start mariadb.socket")
    facts = facts_of(host)
    assert facts.server.running is None
    assert str(facts.server.on_disk) == upstream(fleet.lab.base.record.old)
    assert facts.unit is not None
    assert not isinstance(facts.unit, Unknown)
    assert (facts.unit.main_pid, facts.unit.active_state) == (None, "inactive")
    assert facts.storage.ibdata1 is not None
    assert fleet.shell("db1", "systemctl is-active mariadb").stdout.strip() == b"inactive"


def test_mysql_is_named_and_no_server_too(fleet: Rehearsal) -> None:
    """A MySQL server is told by what it prints, not by its name; a host without any is told as such."""
    host = fleet.dirty("db1")
    says = "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)"
    fleet.text(
        "db1",
        f"""systemctl stop mariadb mariadb.socket 2>/dev/null
        rm -f /usr/sbin/mariadbd /usr/sbin/mysqld /lib/systemd/system/mariadb* /etc/systemd/system/my*.service
        printf '#!/bin/sh\\necho "{says}"\\n' > /usr/sbin/mysqld
        chmod 755 /usr/sbin/mysqld; systemctl daemon-reload""",
    )
    assert "this is mysql 8.0.36, not MariaDB: it is reported and never touched" in remarks(facts_of(host))
    fleet.text("db1", "rm -f /usr/sbin/mysqld /etc/init.d/mariadb /etc/init.d/mysql; systemctl daemon-reload")
    facts = facts_of(host)
    assert (facts.unit, facts.server.running, facts.server.on_disk) == (None, None, None)
    assert "no MariaDB is here: neither a unit nor a server's file was found" in remarks(facts)


def test_root_with_a_password(fleet: Rehearsal) -> None:
    """Where root's socket login is gone the option file on the host is used, and its password is seen by nobody."""
    host = fleet.dirty("db1")
    password = "pa'ss #1"  # noqa: S105 - planted, to be looked for
    fleet.text(
        "db1",
        f"""mariadb -e "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('pa''ss #1')"
        umask 077; cat > /root/login.cnf <<'END'
[client]
user=root
password="{password}"
END""",
    )
    refused = facts_of(host)
    assert isinstance(refused.server.running, Unknown)
    assert "Access denied" in refused.server.running.reason
    seen = look(replace(host, settings=host.settings.model_copy(update={"defaults_file": "/root/login.cnf"})))
    assert str(seen.facts.server.running) == upstream(fleet.lab.base.record.old)
    assert seen.facts.server.login == "defaults file"
    assert password.encode() not in seen.raw


def test_two_instances(fleet: Rehearsal) -> None:
    """Which of two instances is meant is asked and not guessed; named, it is looked at by its own socket."""
    host = fleet.dirty("db1")
    fleet.text(
        "db1",
        """systemctl disable --now mariadb.socket mariadb >/dev/null 2>&1
        for i in s1 s2; do
          printf '[mysqld.%s]\\ndatadir=/srv/%s\\nsocket=/run/mysqld/%s.sock\\npid-file=/run/mysqld/%s.pid\\n' \
            $i $i $i $i >> /etc/mysql/mariadb.conf.d/99-instances.cnf
          echo skip-networking >> /etc/mysql/mariadb.conf.d/99-instances.cnf
          mkdir -p /srv/$i && chown mysql /srv/$i
          mariadb-install-db --user=mysql --datadir=/srv/$i --skip-test-db >/dev/null 2>&1
          install -d -o mysql /run/mysqld
          systemctl start mariadb@$i
        done""",
    )
    unsure = facts_of(host)
    assert isinstance(unsure.unit, Unknown)
    assert "mariadb@s1.service mariadb@s2.service" in unsure.unit.reason
    second = facts_of(replace(host, settings=host.settings.model_copy(update={"unit": "mariadb@s2"})))
    assert second.unit is not None
    assert not isinstance(second.unit, Unknown)
    assert second.unit.id == "mariadb@s2.service"
    assert (second.server.socket, second.server.datadir) == ("/run/mysqld/s2.sock", "/srv/s2")
    assert not isinstance(second.other_servers, Unknown)
    assert [other.unit for other in second.other_servers] == ["mariadb@s1.service"]


def test_recorded_and_read_again(fleet: Rehearsal, tmp_path: Path) -> None:
    """What `--record` keeps gives the same facts without the hosts."""
    kept = tmp_path / "kept"
    live = CliRunner().invoke(
        app, ["facts", str(fleet.inventory), "--limit", "db2:db3", "--record", str(kept), "--json"]
    )
    again = CliRunner().invoke(app, ["facts", str(kept), "--json"])
    assert (live.exit_code, again.exit_code) == (0, 0)
    assert json.loads(again.stdout) == json.loads(live.stdout)
