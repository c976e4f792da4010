"""What the server, its process and its files tell: shapes from real hosts and from public reports."""

import pytest
from probe_output import framed, told

from rollout.facts.allocator import elf, parse_allocator, parse_libraries, parse_maps
from rollout.facts.database import Database, number, parse_table, unescape
from rollout.facts.frame import parse_frames
from rollout.facts.model import MappedLibrary
from rollout.facts.server import parse_capabilities, parse_server
from rollout.facts.unknown import Unknown

VERSION = "mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 (Debian 13)"
ELF_AARCH64 = "7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00 03 00 b7 00"


def test_running_and_on_disk_are_two_facts() -> None:
    """After an upgrade without a restart the old server runs from a deleted file, and both versions are told."""
    rows = (
        ("exe", "", b"/usr/sbin/mariadbd (deleted)", 0, ""),
        ("server-binary", "", b"/usr/sbin/mariadbd", 0, ""),
        ("server-version", "", VERSION.replace("11.8.9", "11.8.10").encode(), 0, ""),
        ("owner", "", b"mariadb-server-core: /usr/sbin/mariadbd", 0, ""),
    )
    answers = told(*rows, version="version\tcomment\n11.8.9-MariaDB-0+deb13u1 from Debian-log\tSource distribution\n")
    server = parse_server(answers, Database(answers), down=False)
    assert (str(server.running), str(server.on_disk)) == ("11.8.9", "11.8.10")
    assert (server.executable, server.executable_deleted) == ("/usr/sbin/mariadbd", True)
    assert server.executable_package == "mariadb-server-core"
    assert server.version_comment == "Source distribution"


@pytest.mark.parametrize(
    ("status", "output", "complaint", "package"),
    [
        (0, "mariadb-server-core:amd64: /usr/sbin/mariadbd", "", "mariadb-server-core"),
        (0, "MariaDB-server", "", "MariaDB-server"),
        (1, "", "dpkg-query: no path found matching pattern /opt/mariadbd", None),
        (1, "file /opt/mariadbd is not owned by any package", "", None),
    ],
)
def test_who_owns_the_binary(status: int, output: str, complaint: str, package: str | None) -> None:
    """A binary that no package owns is a known answer, not an error."""
    answers = told(("owner", "", output.encode(), status, complaint))
    assert parse_server(answers, Database(answers), down=True).executable_package == package


def test_a_server_that_is_down_is_known_to_be_down() -> None:
    """What only a running server has is none; its file's version is still told."""
    rows = ("server-binary", "", b"/usr/sbin/mariadbd", 0, ""), ("server-version", "", VERSION.encode(), 0, "")
    answers = told(*rows)
    server = parse_server(answers, Database(answers), down=True)
    assert (server.running, server.uptime_seconds, server.socket) == (None, None, None)
    assert str(server.on_disk) == "11.8.9"
    assert isinstance(server.variables, Unknown)


def test_no_server_at_all() -> None:
    """Where no binary lies there is none on disk."""
    words = "no mariadbd and no mysqld in any of the usual places"
    answers = told(("server-binary", "", b"", 4, words))
    server = parse_server(answers, Database(answers), down=True)
    assert (server.on_disk, server.executable) == (None, None)
    assert isinstance(server.capabilities, Unknown)


def test_a_refused_login_is_the_reason_of_all_that_the_database_would_have_told() -> None:
    """The server's complaint stands in every one of its facts."""
    complaint = "ERROR 1698 (28000): Access denied for user 'root'@'localhost'"
    answers = parse_frames(framed(("login", "", b"", 1, complaint)))
    server = parse_server(answers, Database(answers), down=False)
    for fact in (server.running, server.variables, server.plugins, server.schemas, server.datadir, server.login):
        assert isinstance(fact, Unknown)
        assert "Access denied" in fact.reason


def test_a_statement_that_is_refused_takes_only_its_own_table() -> None:
    """The complaint stands where the rows would; the tables before and after it are whole."""
    answers = told(
        variables="Variable_name\tValue\nport\t3306\n",
        xa="ERROR 1227 (42000) at line 12: Access denied; you need (at least one of) the SUPER privilege(s)\n",
        status="Variable_name\tValue\nUptime\t7\n",
    )
    server = parse_server(answers, Database(answers), down=False)
    assert isinstance(server.xa_prepared, Unknown)
    assert "ERROR 1227" in server.xa_prepared.reason
    assert (server.port, server.uptime_seconds) == (3306, 7.0)


def test_no_rows_are_no_header_either() -> None:
    """An empty answer of the client is an empty table."""
    assert parse_table("") == ()
    assert parse_table("a\tb\n1\t2\n") == ({"a": "1", "b": "2"},)
    assert isinstance(parse_table("a\tb\n1\n"), Unknown)


def test_cells_come_back_from_batch_mode() -> None:
    """What `--batch` escapes is taken back."""
    assert unescape(r"a\tb\nc\\d\0") == "a\tb\nc\\d\0"


@pytest.mark.parametrize(("text", "value"), [("12", 12), ("ON", 1), ("OFF", 0), ("18446744073709551615", 2**64 - 1)])
def test_counters_are_whole_numbers(text: str, value: int) -> None:
    """Switches count as 1 and 0; nothing is rounded."""
    assert number({"x": text}, "x") == value
    missing = number({"x": text}, "y")
    assert isinstance(missing, Unknown)
    assert missing.reason == "this release has no y"


@pytest.mark.parametrize(
    ("text", "capabilities"),
    [
        ("", ""),
        ("/usr/sbin/mariadbd cap_ipc_lock=ep", "cap_ipc_lock=ep"),
        ("/usr/sbin/mariadbd = cap_ipc_lock+ep", "cap_ipc_lock+ep"),
        ("SCHILY.xattr.security.capability", "some (seen by tar, getcap is not on this host)"),
    ],
)
def test_capabilities_of_the_binary(text: str, capabilities: str) -> None:
    """Any capability makes the loader drop LD_PRELOAD without a word, so none may be overlooked."""
    assert parse_capabilities(text) == capabilities


MAPS = """\
55d0-55d1 r--p 00000000 fe:00 1 /usr/sbin/mariadbd
7f00-7f01 r-xp 00000000 fe:00 2 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2
7f01-7f02 r--p 00000000 fe:00 2 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2
7f03-7f04 r-xp 00000000 fe:00 3 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 (deleted)
7f05-7f06 r-xp 00000000 fe:00 4 /usr/lib/mysql/plugin/ha_jemallocish.so
7f07-7f08 r-xp 00000000 fe:00 5 /opt/with blank/libtcmalloc_minimal.so.4
"""


def test_maps_name_the_allocators_and_whether_their_file_was_replaced() -> None:
    """Exact libraries count, a plugin whose name only sounds like one does not."""
    library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    assert parse_maps(MAPS) == (
        MappedLibrary(library, deleted=False),
        MappedLibrary(library, deleted=True),
        MappedLibrary("/opt/with blank/libtcmalloc_minimal.so.4", deleted=False),
    )


def test_empty_maps_are_a_refusal_and_not_an_answer() -> None:
    """Read without the right to look, maps are empty: that is not the same as no library."""
    with pytest.raises(ValueError, match="may not be looked at"):
        parse_maps("")


def test_environment_is_no_proof() -> None:
    """A binary with capabilities has LD_PRELOAD in its environment and no library in its maps: both are told."""
    answers = told(
        ("environ", "", b"LD_PRELOAD=/usr/lib64/libjemalloc.so.2\nMALLOC_CONF=background_thread:true", 0, ""),
        ("maps", "", b"55d0-55d1 r--p 00000000 fe:00 1 /usr/sbin/mariadbd", 0, ""),
        ("ld-so-preload", "", b"absent", 0, ""),
        variables="Variable_name\tValue\nversion_malloc_library\tsystem\n",
    )
    allocator = parse_allocator(answers, Database(answers), None, down=False)
    assert allocator.environ_preload == "/usr/lib64/libjemalloc.so.2"
    assert allocator.environ_malloc_conf == "background_thread:true"
    assert (allocator.mapped, allocator.version_malloc_library) == ((), "system")


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        (ELF_AARCH64, ("aarch64", 64)),
        ("7f 45 4c 46 02 01 01 03 00 00 00 00 00 00 00 00 03 00 3e 00", ("x86_64", 64)),
        ("7f 45 4c 46 01 01 01 00 00 00 00 00 00 00 00 00 03 00 03 00", ("i386", 32)),
        ("7f 45 4c 46 02 02 01 00 00 00 00 00 00 00 00 00 00 03 00 16", ("s390x", 64)),
    ],
)
def test_elf_headers(header: str, machine: tuple[str, int]) -> None:
    """Machine and class are those of the ELF standard, in either byte order."""
    assert elf(header) == machine


def test_a_library_that_is_no_elf_file_is_no_library() -> None:
    """A text file by that name would be ignored by the loader, so it is not offered."""
    rows = f"/usr/lib/a/libjemalloc.so.2\t/usr/lib/a/libjemalloc.so.2\t{ELF_AARCH64}\n/x/libjemalloc.so.1\t/x\t23 21\n"
    assert [(row.path, row.elf_machine) for row in parse_libraries("libjemalloc2", rows)] == [
        ("/usr/lib/a/libjemalloc.so.2", "aarch64")
    ]
