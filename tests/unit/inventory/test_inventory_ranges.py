"""Host ranges and ports."""

import pytest

from rollout.inventory.ranges import expand, hosts_of, split_port


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("db", "db"),
        ("db[1:3]", "db1 db2 db3"),
        ("db[08:11].x", "db08.x db09.x db10.x db11.x"),
        ("db[1:9:4]", "db1 db5 db9"),
        ("db-[a:c]", "db-a db-b db-c"),
        ("[a:b][1:2]", "a1 a2 b1 b2"),
        ("db[:2]", "db0 db1 db2"),
    ],
)
def test_a_range_is_spelled_out(pattern: str, names: str) -> None:
    """Numbers keep the width of a first bound with a leading zero; letters and steps count too."""
    assert expand(pattern) == names.split()


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("db[3:1]", "runs backwards"),
        ("db[c:a]", "runs backwards"),
        ("db[01:100]", "equally long"),
        ("db[1]", "must be"),
        ("db[1:]", "must be"),
        ("db[1:3:0]", "step"),
        ("db[1:c]", "neither from number to number"),
        ("db[1:3", "do not pair"),
        ("db[1:99999999999]", "more than 1000000 hosts"),
    ],
)
def test_a_range_that_is_none_is_refused(pattern: str, reason: str) -> None:
    """A backwards range would silently mean no host at all."""
    with pytest.raises(ValueError, match=reason):
        expand(pattern)


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("db1:2222", "db1", 2222),
        ("[2001:db8::1]:22", "2001:db8::1", 22),
        ("2001:db8::1", "2001:db8::1", None),
        ("192.0.2.1:22", "192.0.2.1", 22),
        ("db[1:2]", "db[1:2]", None),
        ("odd name:22", "odd name:22", None),
    ],
)
def test_a_port_is_taken_off_an_address_only(entry: str, host: str, port: int | None) -> None:
    """What is no address keeps its colon."""
    assert split_port(entry) == (host, port)


def test_a_range_may_have_a_port() -> None:
    """The port holds for every host of the range."""
    assert hosts_of("db[1:2]:3306") == (["db1", "db2"], 3306)
