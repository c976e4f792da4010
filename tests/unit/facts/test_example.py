"""The recorded fleet that comes with the program, held against what its hosts said when they were asked by hand."""

import json

import pytest
from click.testing import CliRunner

from rollout.cli.app import app
from rollout.facts.model import Facts, Preload
from rollout.facts.parse import parse_probe
from rollout.facts.unknown import Unknown
from rollout.resources import shipped

EXAMPLE = shipped("inventories") / "example"


def facts(host: str, number: int = 1) -> Facts:
    """Read one look at one host of the example."""
    name = "probe.out" if number == 1 else f"probe-{number}.out"
    return parse_probe(host, (EXAMPLE / host / name).read_bytes())


def test_versions_of_all_sorts() -> None:
    """Running, on disk, client: 10.11 on bookworm, 11.8 on trixie, whose client prints the new layout."""
    for host, version in (("db1", "10.11.18"), ("db2", "10.11.18"), ("db3", "11.8.9"), ("db4", "11.8.9")):
        server = facts(host).server
        assert [str(server.running), str(server.on_disk), str(server.client)] == [version] * 3
        assert server.backup_tool is None
        assert server.executable_package == "mariadb-server-core"


def test_jemalloc_is_seen_by_every_witness() -> None:
    """The server's word, the maps, the environment and the drop-in tell one story."""
    allocator = facts("db4").allocator
    library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    assert allocator.version_malloc_library == "jemalloc 5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c"
    assert not isinstance(allocator.mapped, Unknown)
    assert [(row.path, row.deleted) for row in allocator.mapped] == [(library, False)]
    assert allocator.environ_preload == library
    assert allocator.preloads == (Preload("/etc/systemd/system/mariadb.service.d/override.conf", library),)
    assert not isinstance(allocator.libraries, Unknown)
    assert [(row.real_path, row.elf_machine, row.elf_class) for row in allocator.libraries] == [(library, "x86_64", 64)]
    assert facts("db3").allocator.version_malloc_library == "system"
    assert facts("db3").allocator.mapped == ()


def test_source_and_replica_know_each_other() -> None:
    """The replica names its source, the source sees the replica, and neither is a cluster's node."""
    source, replica = facts("db1").replication, facts("db2").replication
    assert not isinstance(replica.channels, Unknown)
    channel = replica.channels[0]
    assert (channel.source_host, channel.io_running, channel.sql_running, channel.using_gtid) == (
        *("10.77.24.11", "Yes", "Yes", "Slave_Pos"),
    )
    assert source.channels == ()
    assert not isinstance(source.replicas, Unknown)
    assert len(source.replicas) == 1
    assert source.galera is None
    assert (source.server_id, replica.server_id, replica.read_only) == (1, 2, True)


def test_packages_carry_their_origin() -> None:
    """Every sibling is there with the repository of its installed version; jemalloc and the backup tool are offered."""
    packages = facts("db1").packages
    assert {item.name for item in packages.siblings} >= {
        *("mariadb-server", "mariadb-server-core", "mariadb-client", "mariadb-client-core", "mariadb-common"),
        *("libmariadb3", "galera-4", "mysql-common", "mariadb-plugin-provider-lz4"),
    }
    assert all(item.healthy and len(item.installed_from) == 1 for item in packages.siblings)
    server, backup, jemalloc = map(packages.named, ("mariadb-server", "mariadb-backup", "libjemalloc2"))
    assert server is not None
    assert backup is not None
    assert jemalloc is not None
    assert (server.installed, server.automatic, server.held) == ("1:10.11.18-0+deb12u1", False, False)
    assert (backup.installed, backup.candidate) == (None, "1:10.11.18-0+deb12u1")
    assert (jemalloc.installed, jemalloc.candidate) == (None, "5.3.0-1")


def test_two_looks_give_rates() -> None:
    """Counters grow between the looks, by the host's own clock."""
    for host in ("db1", "db2", "db3", "db4"):
        before, after = facts(host), facts(host, 2)
        assert not isinstance(before.workload.monotonic_seconds, Unknown)
        assert not isinstance(after.workload.monotonic_seconds, Unknown)
        assert 3 < after.workload.monotonic_seconds - before.workload.monotonic_seconds < 60
        assert not isinstance(before.pool.read_requests, Unknown)
        assert not isinstance(after.pool.read_requests, Unknown)
        assert after.pool.read_requests > before.pool.read_requests
        assert before.system.boot_id == after.system.boot_id


@pytest.mark.parametrize("host", ["db1", "db2", "db3", "db4"])
def test_next_to_nothing_is_unknown(host: str) -> None:
    """Of a healthy host that lets root in, only the size of the datadir is left for --deep."""
    ended = CliRunner().invoke(app, ["facts", str(EXAMPLE), "--host", host, "--json"])
    assert ended.exit_code == 0
    document = json.loads(ended.stdout)
    assert document["schema"] == 1
    unknown = set(document["hosts"][0]["facts"]["unknown"])
    # pages_misc wraps below zero on a server with compressed pages in the pool, and is not taken for a number.
    assert unknown <= {"storage.datadir_bytes", "pool.pages_misc"}


def test_the_table_fits_one_line_a_host() -> None:
    """Four hosts, four lines, with the state of the fix in words."""
    ended = CliRunner().invoke(app, ["facts", str(EXAMPLE)])
    rows = [line for line in ended.stdout.splitlines() if line.strip().startswith("db")]
    assert [row.split()[0] for row in rows] == ["db1", "db2", "db3", "db4"]
    assert "no fix in series" in rows[0]
    assert "not published" in rows[2]
    assert "jemalloc 5.3.0 (libjemalloc.so.2)" in rows[3]
