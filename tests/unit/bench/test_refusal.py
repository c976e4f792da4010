"""When a host is left in peace."""

from dataclasses import replace

import pytest
from healthy_host import WELL, unit

from rollout.bench.load import Seen
from rollout.bench.refusal import against, check_marked
from rollout.errors import UsageProblem
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown
from rollout.settings import Connection, Host, Settings

ALONE = replace(WELL, replication=replace(WELL.replication, replicas=()))


def seen(facts: Facts = ALONE, questions: float | None = 1.0, active: str = "active") -> Seen:
    """A host that may be measured, or not for one reason."""
    its = replace(unit(), active_state=active)
    return Seen(facts, its, "20261130t100000-abcd", "--no-defaults", "/s", "/usr/bin/mariadb-slap", "", questions)


def test_a_quiet_server_is_measured() -> None:
    """Nothing speaks against a server that runs, has no replicas and serves nobody."""
    assert list(against(seen(), 20.0)) == []


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (seen(questions=812.0), "it serves 812 questions a second, more than 20: somebody uses it"),
        (seen(questions=None), "how busy the server is cannot be told"),
        (seen(active="failed"), "mariadb.service does not run (it is failed)"),
        (
            seen(replace(WELL, server=replace(WELL.server, running=Unknown("Access denied for user 'root'")))),
            "the server cannot be asked: Access denied for user 'root'",
        ),
        (
            seen(replace(WELL, replication=replace(WELL.replication, replicas=("db2", "db3")))),
            "replicas hang on it: db2, db3",
        ),
        (seen(replace(ALONE, replication=WELL.replication)), "whether other servers hang on it cannot be told"),
        (seen(replace(ALONE, memory=replace(WELL.memory, swap_bytes=3 * 2**20))), "3 MiB of the server are in swap"),
    ],
)
def test_each_reason_is_told(one: Seen, reason: str) -> None:
    """Traffic, an unknown count, a stopped server, a login that fails, replicas, swap."""
    assert any(reason in told for told in against(one, 20.0))


def test_a_host_must_be_marked() -> None:
    """Not marked, not to be restarted, recorded: each is a mistake of the command line, before any connection."""
    unmarked = Host("db1", Connection())
    with pytest.raises(UsageProblem, match="not marked as a host for measurements"):
        check_marked(unmarked, restart=False)
    marked = Host("db1", Connection(), Settings(bench=True))
    check_marked(marked, restart=False)
    with pytest.raises(UsageProblem, match="may not be restarted"):
        check_marked(marked, restart=True)
    check_marked(Host("db1", Connection(), Settings(bench=True, bench_restart=True)), restart=True)
    with pytest.raises(UsageProblem, match="recorded hosts can only be looked at"):
        check_marked(Host("db1", Connection(kind="recorded"), Settings(bench=True)), restart=False)
