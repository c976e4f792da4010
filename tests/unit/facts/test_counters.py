"""Memory, buffer pool, file systems and topology, from what kernel and server print."""

from datetime import UTC, datetime

import pytest
from probe_output import framed, told

from rollout.facts.database import Database
from rollout.facts.frame import Answer, parse_frames
from rollout.facts.memory import parse_cpu_ticks, parse_process_status, parse_smaps
from rollout.facts.pool import clock_started
from rollout.facts.replication import parse_replication
from rollout.facts.storage import room
from rollout.facts.system import chosen, clock_offset_seconds
from rollout.facts.trail import parse_backups
from rollout.facts.unknown import Unknown


def test_arenas_are_told_by_their_boundary() -> None:
    """Anonymous, on a 64 MiB boundary, no larger than that: glibc's arenas, whatever lies beside them."""
    rows = """\
55890027a000-558900871000 [heap] 5488 5488 0 0
77c2b0000000-77c2b0021000 - 400 400 8 0
77c2b0021000-77c2b4000000 - 0 0 0 0
77c2b4000000-77c2bc000000 - 131072 131072 0 0
77c2c0000000-77c2c0ac7000 [anon: glibc: malloc arena] 100 100 0 0
77c2c4000000-77c2c4021000 /usr/lib/libx.so.1 (deleted) 4 0 0 0
"""
    regions = parse_smaps(rows)
    assert [region.rss_bytes for region in regions if region.is_arena] == [400 * 1024, 100 * 1024]
    assert regions[1].lazy_free_bytes == 8 * 1024
    assert len(regions) == 6


def test_smaps_that_may_not_be_read_are_no_answer() -> None:
    """An empty digest means that nobody may look."""
    with pytest.raises(ValueError, match="may not be looked at"):
        parse_smaps("")


def test_process_status_and_stat() -> None:
    """Sizes are bytes, counts are counts, and a name with brackets and blanks does not shift the fields."""
    status = parse_process_status("Name:\tmariadbd\nPid:\t121\nVmRSS:\t  204574 kB\nThreads:\t14\n")
    assert status == {"Pid": 121, "VmRSS": 204574 * 1024, "Threads": 14}
    assert parse_cpu_ticks("121 (maria) db) S 1 121 121 0 -1 4194560 1 0 1 0 151 8 0 0 20 0") == 159


@pytest.mark.parametrize(
    ("counters", "started"),
    [
        ({"pages_made_young": 5, "pages_made_not_young": 0}, True),
        ({"pages_made_young": 0, "pages_made_not_young": 9}, True),
        ({"pages_made_young": 0, "pages_made_not_young": 0, "pages_data": 100}, False),
        ({"pages_made_young": 0, "pages_made_not_young": 0, "pages_data": 60}, None),
        ({"pages_made_young": 0, "pages_made_not_young": 0, "pages_data": 60, "pages_lru_freed": 3}, True),
    ],
)
def test_whether_the_clock_runs(counters: dict[str, int], started: bool | None) -> None:
    """A counted move proves it, a pool that nothing has left disproves it, and between them it is unknown."""
    status = {f"Innodb_buffer_pool_{name}": str(value) for name, value in counters.items()}
    found = clock_started({**status, "Innodb_pages_read": "80", "Innodb_pages_created": "20"})
    assert (None if isinstance(found, Unknown) else found) == started


def test_a_place_and_its_file_system() -> None:
    """Free and total are bytes; device names and mount points may have blanks."""
    text = (
        b"present\n65024 16417298\n"
        b"Filesystem              Type 1024-blocks     Used Available Capacity Mounted on\n"
        b"//nas/share one         cifs  264212084 29692292  76698620      28% /mnt/my data\n"
    )
    place = room(Answer("room-datadir", "/mnt/my data/mysql", text, 0, ""))
    assert not isinstance(place, Unknown)
    assert (place.filesystem, place.mount_point, place.free_bytes) == ("cifs", "/mnt/my data", 76698620 * 1024)
    assert (place.exists, place.device, place.inode) == (True, 65024, 16417298)


def test_a_place_that_is_not_there_has_room_all_the_same() -> None:
    """The file system that would hold it is told, its own device and inode are not."""
    text = (
        b"absent\n1 2\nFilesystem Type 1024-blocks Used Available Capacity Mounted on\noverlay overlay 10 4 6 40% /\n"
    )
    place = room(Answer("room-backup_directory", "/srv/backup", text, 0, ""))
    assert not isinstance(place, Unknown)
    assert (place.exists, place.inode, place.free_bytes) == (False, None, 6144)


def test_every_channel_of_a_replica_is_seen() -> None:
    """Two sources give two channels; a channel that is stopped has no lag."""
    names = "Connection_name\tMaster_Host\tMaster_Port\tSlave_IO_Running\tSlave_SQL_Running\tSeconds_Behind_Master"
    rows = "\ta.example\t3306\tYes\tYes\t0\teast\nwest\tb.example\t3307\tNo\tYes\tNULL\twest\n"
    answers = told(channels=f"{names}\tLast_SQL_Error\n{rows}")
    channels = parse_replication(Database(answers)).channels
    assert not isinstance(channels, Unknown)
    assert [(one.name, one.source_host, one.source_port, one.seconds_behind) for one in channels] == [
        ("", "a.example", 3306, 0),
        ("west", "b.example", 3307, None),
    ]


def test_a_cluster_node() -> None:
    """The node's state and its cluster's size are told where wsrep is on, and only there."""
    status = {
        "wsrep_local_state_comment": "Donor/Desynced",
        "wsrep_ready": "ON",
        "wsrep_connected": "ON",
        "wsrep_cluster_status": "Primary",
        "wsrep_cluster_size": "3",
        "wsrep_cluster_state_uuid": "u-1",
    }
    table = "Variable_name\tValue\n" + "".join(f"{name}\t{value}\n" for name, value in status.items())
    node = parse_replication(Database(told(variables="Variable_name\tValue\nwsrep_on\tON\n", status=table))).galera
    assert not isinstance(node, Unknown)
    assert node is not None
    assert (node.state, node.cluster_size, node.ready) == ("Donor/Desynced", 3, True)
    alone = Database(told(variables="Variable_name\tValue\nwsrep_on\tOFF\n", status=table))
    assert parse_replication(alone).galera is None


def test_the_chosen_word_of_the_kernel() -> None:
    """The bracketed word is the setting in force."""
    assert chosen("always [madvise] never") == "madvise"


def test_the_clock_is_compared_by_the_last_word() -> None:
    """A login that takes seconds before the probe begins does not look like a clock that is ahead."""
    rows = [("sent", "", b"1000.0", 0, ""), ("time-begin", "", b"1004.0", 0, ""), ("time-end", "", b"1005.5", 0, "")]
    answers = parse_frames(framed(*rows))
    received_at = datetime.fromtimestamp(1005.52, UTC)
    assert clock_offset_seconds(answers, received_at) == -0.02
    assert clock_offset_seconds(answers, None) == 4.0


def test_backups_are_prepared_when_their_checkpoints_say_so() -> None:
    """mariadb-backup writes full-backuped first, full-prepared after --prepare."""
    rows = "/b/1\t2048\tbackup_type = full-prepared;from_lsn = 0;\n/b/2\t10\tbackup_type = full-backuped;\n"
    assert [(one.path, one.prepared, one.size_bytes) for one in parse_backups(rows)] == [
        ("/b/1", True, 2048 * 1024),
        ("/b/2", False, 10240),
    ]
