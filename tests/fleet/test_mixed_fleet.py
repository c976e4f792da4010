"""A fleet of all kinds is changed and taken back while it is written to: order, lag, the cluster's size, every row."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from conftest import bring_up
from product import Product

from rollout.engine.run_folder import RunFolder
from rollout.journal import read
from rollout.lab.fleet import Fleet

pytestmark = [pytest.mark.fleet, pytest.mark.matrix]
ALONE, TREE, CLUSTER = ("db1", "db2"), ("db3", "db4", "db5", "db6"), ("db7", "db8", "db9")
REPLICAS = TREE[1:]
BEFORE = (("db6", "db4"), ("db4", "db3"), ("db5", "db3"))
PLAYBOOK = "name: all kinds at once\nchanges: [packages, allocator]\ncanary: 1\nserial: ['100%']\nat_once: wave\n"
WRITTEN = "rollout_demo_writer.written"
LAST_WORDS = "systemctl status --no-pager mariadb | head -12; journalctl -u mariadb -o short --no-pager | tail -40"
PATIENT = "mariadb --no-auto-rehash --batch --skip-column-names --execute"
CLIENT = f"timeout 5 {PATIENT}"
LAG = f"{CLIENT.replace(' --skip-column-names', '')} 'SHOW SLAVE STATUS\\G' | sed -n 's/.*Seconds_Behind_Master: //p'"
SIZE = f"{CLIENT} \"SHOW STATUS LIKE 'wsrep_cluster_size'\" | cut -f2"
CHECKSUMS = f"""tables=$({PATIENT} "SELECT CONCAT('\\`', table_schema, '\\`.\\`', table_name, '\\`')
 FROM information_schema.tables WHERE table_type = 'BASE TABLE'
 AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') ORDER BY 1" | paste -sd,)
{PATIENT} "CHECKSUM TABLE $tables EXTENDED"
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up two hosts alone, a replication tree of four, and a cluster of three, each group written to."""
    yield from bring_up(tmp_path_factory.mktemp("state"), "m", topology="mixed", writer=True)


@dataclass
class Watched:
    """What was seen while the run went on: seconds since its start, host, and what the host said."""

    fleet: Fleet
    started: float = field(default_factory=time.monotonic)
    lags: list[tuple[float, str, str]] = field(default_factory=list)
    sizes: list[tuple[float, str, str]] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    longest_gap_seconds: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Ask every replica for its lag and every node for the size of its cluster, again and again."""
        while not self.over.wait(1.0):
            for names, script, found in ((REPLICAS, LAG, self.lags), (CLUSTER, SIZE, self.sizes)):
                for name in names:
                    said = self.fleet.shell(name, script).stdout.decode().strip()
                    found.append((time.monotonic() - self.started, name, said or "down"))

    def write(self) -> None:
        """Write rows into the cluster through whichever node takes them, and keep each number that was acknowledged."""
        acknowledged, nodes = time.monotonic(), list(CLUSTER)
        while not self.over.wait(0.05):
            done = self._insert(nodes[0])
            if done.returncode == 0 and done.stdout.strip():
                now = time.monotonic()
                self.longest_gap_seconds = max(self.longest_gap_seconds, now - acknowledged)
                acknowledged = now
                self.written.append(int(done.stdout))
            else:
                nodes.append(nodes.pop(0))

    def _insert(self, name: str) -> "CompletedProcess[bytes]":
        insert = "INSERT INTO mixed.rows VALUES (NULL) RETURNING number"
        return self.fleet.shell(name, f"{CLIENT} '{insert}'")


def test_a_mixed_fleet_is_changed_and_taken_back_while_it_is_written_to(mixed: Fleet, tmp_path: Path) -> None:
    """Replicas go before their primary and come back after it, nodes one at a time, and no row is lost."""
    table = "CREATE TABLE mixed.rows (number BIGINT AUTO_INCREMENT PRIMARY KEY)"
    assert mixed.shell("db7", f"{CLIENT} 'CREATE SCHEMA mixed; {table}'").returncode == 0
    mixed.publish()
    product = Product(mixed.inventory, tmp_path / "state")
    playbook = tmp_path / "all.yml"
    playbook.write_text(PLAYBOOK)
    product.plan("--playbook", str(playbook))
    watched = Watched(mixed)
    threads = [threading.Thread(target=work) for work in (watched.look, watched.write)]
    for thread in threads:
        thread.start()
    try:
        applied = product.run("apply", "--yes", "--json", expect=None)
        back = product.run("rollback", "--yes", "--json", expect=None)
    finally:
        watched.over.set()
        for thread in threads:
            thread.join()
    for ran, phase, wanted in ((applied, "change", "changed"), (back, "take_back", "rolled_back")):
        document = ran.json
        rows = {row["name"]: row for row in document["hosts"]}
        failed = [name for name, row in rows.items() if row["status"] == "failed"]
        words = {name: mixed.shell(name, LAST_WORDS).stdout.decode() for name in failed}
        assert {name: row["status"] for name, row in rows.items()} == dict.fromkeys(rows, wanted), (ran.err, words)
        assert ran.code == 0
        spans = _spans(RunFolder(tmp_path / "state" / "runs" / document["run_id"]), phase)
        _say(spans, wanted, rows)
        _held_the_order(spans, BEFORE if phase == "change" else tuple((after, first) for first, after in BEFORE))
    _say_what_was_seen(watched)
    assert min(int(size) for _, _, size in watched.sizes if size.isdigit()) >= 2
    assert [name for name in REPLICAS if _last(watched.lags, name) in ("NULL", "down")] == []
    _lost_nothing(mixed, watched)


def _spans(folder: RunFolder, phase: str) -> dict[str, tuple[float, float]]:
    """Return for each host when its change (or its way back) began and was over, in seconds since the epoch."""
    events = read(folder.journal_path)
    began = {one.host: one.time for one in events if one.event == "phase_started" and one.data.get("phase") == phase}
    ended = {one.host: one.time for one in events if one.event == "finished"}
    return {host: (moment, ended[host]) for host, moment in began.items()}


def _held_the_order(spans: dict[str, tuple[float, float]], order: tuple[tuple[str, str], ...]) -> None:
    assert len(spans) == len((*ALONE, *TREE, *CLUSTER))
    for before, after in order:
        assert spans[before][1] <= spans[after][0], f"{after} began before {before} was over"
    for group in (CLUSTER, ("db4", "db5")):
        turns = sorted(spans[name] for name in group)
        assert all(first[1] <= second[0] for first, second in pairwise(turns)), f"two of {group} at once"


def _last(found: list[tuple[float, str, str]], name: str) -> str:
    return [said for _, host, said in found if host == name][-1]


def _lost_nothing(mixed: Fleet, watched: Watched) -> None:
    """Stop the writers, let replicas catch up, and compare every table of every member."""
    for name in ("db1", "db2", "db3", "db7"):
        assert mixed.shell(name, "systemctl stop rollout-demo-writer").returncode == 0
    numbers = f"{PATIENT} 'SELECT number FROM {WRITTEN}' | sort"
    for name in ("db1", "db2", "db3", "db7"):
        missing = f"{numbers} >/tmp/there; sort /var/lib/rollout-demo-writer/acknowledged | comm -23 - /tmp/there"
        count = mixed.shell(name, "wc -l </var/lib/rollout-demo-writer/acknowledged").stdout.decode().strip()
        print(f"{name}: {count} rows acknowledged by its own writer, missing: none")
        assert mixed.shell(name, missing).stdout == b"", f"rows that {name} acknowledged are gone"
    position = mixed.shell("db3", f"{CLIENT} 'SELECT @@gtid_binlog_pos'").stdout.decode().strip()
    for name in REPLICAS:
        waited = mixed.shell(name, f"{PATIENT} \"SELECT MASTER_GTID_WAIT('{position}', 60)\"")
        assert waited.stdout.strip() == b"0", name
    for group in (TREE, CLUSTER):
        sums = {name: mixed.shell(name, CHECKSUMS).stdout for name in group}
        assert len(sums[group[0]].splitlines()) > 5
        assert len(set(sums.values())) == 1, f"members of {group} differ"
        print(f"{', '.join(group)}: {len(sums[group[0]].splitlines())} tables equal")
    there = mixed.shell("db9", f"{PATIENT} 'SELECT number FROM mixed.rows'").stdout.split()
    assert set(watched.written) <= {int(number) for number in there}
    print(f"cluster: {len(watched.written)} rows acknowledged by a load that changes nodes, missing: none")


def _say(spans: dict[str, tuple[float, float]], what: str, rows: dict[str, dict[str, object]]) -> None:
    """Print the figures of a run; `pytest -s` shows them."""
    first = min(began for began, _ in spans.values())
    for name, (began, ended) in sorted(spans.items(), key=lambda item: item[1]):
        gap = rows[name]["downtime_seconds"]
        print(f"{name}: {what} from {began - first:.0f} to {ended - first:.0f} s, {gap} s without an answer")


def _say_what_was_seen(watched: Watched) -> None:
    for name in REPLICAS:
        lags = [int(said) for _, host, said in watched.lags if host == name and said.isdigit()]
        print(f"{name}: lag at most {max(lags)} s, at the end {_last(watched.lags, name)} s, {len(lags)} looks")
    sizes = [int(said) for _, _, said in watched.sizes if said.isdigit()]
    print(f"wsrep_cluster_size: {min(sizes)} to {max(sizes)} in {len(sizes)} looks")
    print(f"cluster: longest time between two acknowledged rows {watched.longest_gap_seconds:.2f} s")
