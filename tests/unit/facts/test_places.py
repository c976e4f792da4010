"""Where a host stands among others: its addresses, and the primary that each of its channels names."""

import pytest
from probe_output import MARK, framed

from rollout.facts.database import Database
from rollout.facts.frame import parse_frames
from rollout.facts.replication import parse_replication
from rollout.facts.system import parse_addresses

IP = (
    "2: host0    inet 10.77.0.11/24 brd 10.77.0.255 scope global host0\\ valid_lft forever preferred_lft forever\n"
    "2: host0    inet6 fd00::11/64 scope global \\       valid_lft forever preferred_lft forever\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10.77.0.11 fd00::11 \n", ("10.77.0.11", "fd00::11")), (IP, ("10.77.0.11", "fd00::11")), ("\n", ())],
)
def test_addresses_of_the_interfaces(text: str, expected: tuple[str, ...]) -> None:
    """`hostname -I` and `ip -o address` give the same addresses."""
    assert parse_addresses(text) == expected


def test_what_is_no_address_is_not_taken_for_one() -> None:
    """Usage text of another `hostname` program is refused, so that the fact is unknown."""
    with pytest.raises(ValueError, match="Usage"):
        parse_addresses("Usage: hostname [-b]")


COLUMNS = (
    *("Connection_name", "Master_Host", "Master_Port", "Slave_IO_Running", "Slave_SQL_Running"),
    *("Seconds_Behind_Master", "Using_Gtid", "Last_IO_Error", "Last_SQL_Error", "Master_Server_Id"),
)
SALES = ("sales", "10.77.0.11", "3306", "Yes", "Yes", "0", "Slave_Pos", "", "", "11")
STOCK = ("stock", "db7.example.com", "3307", "Connecting", "Yes", "NULL", "No", "error connecting", "", "0")


def test_every_channel_of_a_multi_source_replica_names_its_primary() -> None:
    """Both channels are there; one that never connected names no server id, which is not server id 0."""
    table = "\n".join("\t".join(row) for row in (COLUMNS, SALES, STOCK))
    answer = f"{MARK} query\nchannels\n{table}\n".encode()
    answers = parse_frames(framed(("login", "", b"socket", 0, ""), ("database", "", answer, 0, "")))
    channels = parse_replication(Database(answers)).channels
    assert isinstance(channels, tuple)
    assert [(one.name, one.source_host, one.source_port, one.source_server_id) for one in channels] == [
        ("sales", "10.77.0.11", 3306, 11),
        ("stock", "db7.example.com", 3307, None),
    ]
    assert [(one.seconds_behind, one.using_gtid) for one in channels] == [(0, "Slave_Pos"), (None, "No")]
