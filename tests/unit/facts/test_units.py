"""What systemctl shows of units, in the shapes of several releases."""

import pytest
from probe_output import framed

from rollout.facts.frame import assignments, parse_frames
from rollout.facts.model import EnvironmentFile, Preload
from rollout.facts.units import parse_other_servers, parse_properties, parse_span, parse_unit, preloads_of, split_words
from rollout.facts.unknown import Unknown

SHOWN = """\
Id=mariadb.service
Names=mariadb.service mysql.service mysqld.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
MainPID=121
InvocationID=e9c52d61e6c8487796d35bd8e101f99f
NRestarts=0
NeedDaemonReload=no
ExecMainStartTimestampMonotonic=1948920744
ExecMainStatus=0
Result=success
User=mysql
TimeoutStartUSec=15min
TimeoutStopUSec=infinity
TriggeredBy=mariadb.socket
FragmentPath=/lib/systemd/system/mariadb.service
DropInPaths=/etc/systemd/system/mariadb.service.d/a.conf /etc/systemd/system/mariadb.service.d/override.conf
Environment="LD_PRELOAD=libjemalloc.so.1 libjemalloc.so.2" TZ=UTC
EnvironmentFiles=/run/mysqld/wsrep-new-cluster (ignore_errors=yes)
EnvironmentFiles=/etc/default/mariadb (ignore_errors=no)
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("A=b C=d", ["A=b", "C=d"]),
        (
            "LD_PRELOAD=/usr/lib64/libjemalloc.so.2 MALLOC_CONF=background_thread:true,dirty_decay_ms:5000",
            ["LD_PRELOAD=/usr/lib64/libjemalloc.so.2", "MALLOC_CONF=background_thread:true,dirty_decay_ms:5000"],
        ),
        (
            '"LD_PRELOAD=libjemalloc.so.1 libjemalloc.so.2" TZ=UTC',
            ["LD_PRELOAD=libjemalloc.so.1 libjemalloc.so.2", "TZ=UTC"],
        ),
        (
            "$'LD_PRELOAD=/opt/agent.so /usr/lib64/libjemalloc.so.2' TZ=UTC",
            ["LD_PRELOAD=/opt/agent.so /usr/lib64/libjemalloc.so.2", "TZ=UTC"],
        ),
        (r"$'A=b\'c' B=d\ e", ["A=b'c", "B=d e"]),
        ("'A=b \"c\"' X=", ['A=b "c"', "X="]),
        ('A="b c"d', ["A=b cd"]),
    ],
)
def test_lists_of_assignments_are_split_as_systemd_quotes_them(text: str, words: list[str]) -> None:
    """Plain, double-quoted, ANSI-C quoted: each release has its own way of showing one and the same value."""
    assert split_words(text) == words


def test_a_quote_that_is_not_closed_is_no_list() -> None:
    """Half a value is not guessed at."""
    with pytest.raises(ValueError, match="not closed"):
        split_words('"A=b')


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("15min", 900_000_000), ("1min 30s", 90_000_000), ("infinity", None), ("0", 0), ("1h 5min 2.5s", 3_902_500_000)],
)
def test_time_spans(text: str, microseconds: int | None) -> None:
    """A span as systemctl prints it is a number of microseconds, infinity is none."""
    assert parse_span(text) == microseconds


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ('[Service]\nEnvironment="LD_PRELOAD=/usr/lib64/libjemalloc.so.2"\n', ["/usr/lib64/libjemalloc.so.2"]),
        ("[Service]\nEnvironment=LD_PRELOAD=/a.so TZ=UTC\nEnvironment=LD_PRELOAD=/b.so\n", ["/a.so", "/b.so"]),
        ("[Service]\n# Environment=LD_PRELOAD=/a.so\n", []),
        ("[Service]\nEnvironment=A=b \\\n  LD_PRELOAD=/a.so\n", ["/a.so"]),
        ("[Service]\nEnvironment=\n", []),
    ],
)
def test_preloads_that_a_unit_file_asks_for(content: str, values: list[str]) -> None:
    """Each assignment counts, comments do not, and a continued line is one line."""
    assert preloads_of("/x.conf", content) == tuple(Preload("/x.conf", value) for value in values)


def test_a_property_that_comes_twice_keeps_both() -> None:
    """EnvironmentFiles has a line for each file."""
    assert parse_properties(SHOWN)["EnvironmentFiles"].count("\n") == 1


def test_a_unit_as_shown() -> None:
    """Every field stands where systemctl says, drop-ins with content, environment files with what bears on malloc."""
    unit = parse_unit(
        parse_frames(
            framed(
                ("init", "", b"systemd", 0, ""),
                ("unit-choice", "", b"mariadb.service", 0, ""),
                ("unit", "", SHOWN.encode(), 0, ""),
                ("unit-file", "/lib/systemd/system/mariadb.service", b"[Service]\n", 0, ""),
                ("unit-file", "/etc/systemd/system/mariadb.service.d/a.conf", b"", 1, "cat: Permission denied"),
                ("unit-file", "/etc/systemd/system/mariadb.service.d/override.conf", b"# mine", 0, ""),
                ("no-environment-file", "/run/mysqld/wsrep-new-cluster", b"", 0, ""),
                ("environment-file", "/etc/default/mariadb", b'LD_PRELOAD="/opt/a.so"', 0, ""),
            )
        )
    )
    assert unit is not None
    assert not isinstance(unit, Unknown)
    assert (unit.id, unit.main_pid, unit.timeout_start_usec, unit.timeout_stop_usec) == (
        *("mariadb.service", 121, 900_000_000, None),
    )
    assert unit.environment == {"LD_PRELOAD": "libjemalloc.so.1 libjemalloc.so.2", "TZ": "UTC"}
    assert isinstance(unit.drop_ins[0].content, Unknown)
    assert unit.drop_ins[1].content == "# mine"
    assert unit.environment_files == (
        EnvironmentFile("/run/mysqld/wsrep-new-cluster", True, False, None, None),
        EnvironmentFile("/etc/default/mariadb", False, True, "/opt/a.so", None),
    )


@pytest.mark.parametrize(
    ("init", "choice", "shown", "expected"),
    [
        ("systemd", "", "", None),
        ("systemd", "nosuch.service", "Id=nosuch.service\nLoadState=not-found", None),
        ("runit", "", "", None),
    ],
)
def test_no_unit_is_none(init: str, choice: str, shown: str, expected: None) -> None:
    """A host without such a unit, and one without systemd, have known none."""
    rows = ("init", "", init.encode(), 0, ""), ("unit-choice", "", choice.encode(), 0, "")
    assert parse_unit(parse_frames(framed(*rows, ("unit", "", shown.encode(), 0, "")))) is expected


def test_which_of_several_servers_is_not_guessed() -> None:
    """With several instances and no word from the inventory the unit is unknown, and the reason names them."""
    words = "several servers run here (mariadb@s1.service mariadb@s2.service): name the one with rollout_unit"
    unit = parse_unit(parse_frames(framed(("init", "", b"systemd", 0, ""), ("unit-choice", "", b"", 3, words))))
    assert isinstance(unit, Unknown)
    assert "mariadb@s1.service mariadb@s2.service" in unit.reason


def test_other_servers_are_told_from_ours() -> None:
    """Our process is left out; one in another PID namespace is a container's."""
    text = (
        b"121|mariadb.service|same|/usr/sbin/mariadbd\n300|docker-1.service|other|/usr/sbin/mariadbd\n"
        b"400||same|/opt/mysqld"
    )
    servers = parse_other_servers(parse_frames(framed(("servers", "", text, 0, ""))), 121)
    assert not isinstance(servers, Unknown)
    assert [(one.pid, one.container, one.unit) for one in servers] == [
        (300, True, "docker-1.service"),
        (400, False, ""),
    ]


def test_assignments_keep_equal_signs_in_the_value() -> None:
    """Only the first sign parts name and value."""
    assert assignments(["A=b=c", "no sign", 'Q="x y"']) == {"A": "b=c", "Q": "x y"}
