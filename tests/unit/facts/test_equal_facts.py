"""The comparison of two hosts' facts sees what it must see: it holds the hard hosts against a plain one."""

from dataclasses import replace

from equal_facts import MUST_DIFFER, differing
from healthy_host import WELL

from rollout.facts.unknown import Unknown


def test_what_must_differ_is_let_through_and_nothing_else() -> None:
    """Names, moments and counters may; a version, a field that became unknown or that has gone may not."""
    other = replace(WELL, host="db2", seconds=2.0, server=replace(WELL.server, uptime_seconds=5.0))
    assert differing(WELL, other).keys() == {"unknown.server.uptime_seconds"}  # it was not known before
    other = replace(
        other,
        server=replace(other.server, uptime_seconds=WELL.server.uptime_seconds, executable="/opt/mariadbd"),
        allocator=replace(WELL.allocator, environ_preload=Unknown("not root")),
        replication=replace(WELL.replication, channels=()),
    )
    assert {"server.executable", "allocator.environ_preload", "unknown.allocator.environ_preload"} <= set(
        differing(WELL, other)
    )
    assert "host" not in differing(WELL, other)


def test_a_field_on_one_side_only_counts_whatever_its_name() -> None:
    """A status variable that only one server has is a difference of the servers."""
    one = replace(WELL, server=replace(WELL.server, status={"Questions": "1"}))
    two = replace(WELL, server=replace(WELL.server, status={"Questions": "2", "Wsrep": "ON"}))
    assert differing(one, two) == {"server.status.Wsrep": ("(not there)", "ON")}


def test_each_exception_has_its_reason() -> None:
    """No name stands in the list without a word."""
    assert all(MUST_DIFFER.values())
