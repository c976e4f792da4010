"""Whatever prefix of a journal is left, it replays to a state from which resume and rollback are possible.

A run is played by the rules of the engine and written with the real journal; then the file is cut at any byte, as a
killed controller, a full disk or a power cut leaves it.
"""

import random
import resource
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rollout.errors import ConfigProblem, RolloutError
from rollout.journal import WRITING_PHASES, Event, Journal, RunState, fold, read

UNTIL_THE_CHANGE = ("lock", "probe", "preflight", "baseline", "backup", "way_back")
CHANGE = ("change", "proof", "soak", "unlock")
AGAIN = ("lock", *CHANGE)  # what a resumed host goes through whose change had begun
ENDS = ("changed", "ok", "failed", "recovered", "unreachable", "stale", "blocked", "skipped")
SETTLED = ("changed", "ok")

Line = tuple[str, str, dict[str, object]]


@dataclass
class Play:
    """A run on its way: the lines that each host still has to write."""

    dice: random.Random
    waiting: dict[str, list[Line]] = field(default_factory=dict)

    def lines(self) -> list[Line]:
        """Interleave the hosts, as threads would, keeping the order of each."""
        found = []
        while self.waiting:
            host = self.dice.choice(sorted(self.waiting))
            found.append(self.waiting[host].pop(0))
            if not self.waiting[host]:
                del self.waiting[host]
        return found


def begin(hosts: list[str]) -> Line:
    """Write the first line of a run, or of its resumption."""
    return "", "run_started", {"run_id": "r1", "kind": "apply", "hosts": hosts, "operator": "dba"}


def walk(host: str, phases: tuple[str, ...], dice: random.Random) -> list[Line]:
    """Write the lines of one host that goes through `phases`, or fails in one of them."""
    found: list[Line] = []
    for phase in phases:
        if phase in WRITING_PHASES:
            found.append((host, "phase_started", {"phase": phase}))
        failed = dice.random() < 0.05
        status = "failed" if failed else "done"
        found.append((host, "phase_ended", {"phase": phase, "status": status, "seconds": round(dice.random(), 3)}))
        if failed:
            word = dice.choice(ENDS[2:7])
            return [*found, (host, "finished", {"status": word, "error": f"it broke in {phase}: \n\u2028 ü"})]
    return [*found, (host, "finished", {"status": "changed", "error": "", "restarts": 1, "downtime_seconds": 2.5})]


def whole_run(hosts: list[str], dice: random.Random) -> list[Line]:
    """Write a run over all hosts, with its last line."""
    play = Play(dice, {host: walk(host, (*UNTIL_THE_CHANGE, *CHANGE), dice) for host in hosts})
    return [begin(hosts), *play.lines(), ("", "run_ended", {"stopped": ""})]


def resumed(state: RunState, hosts: list[str], dice: random.Random) -> list[Line]:
    """Write what a resumed run writes: settled hosts are left alone, begun changes are attached to."""
    left = {}
    for host in hosts:
        known = state.hosts.get(host)
        if known is None or known.status not in SETTLED:
            phases = AGAIN if known and known.change_began else (*UNTIL_THE_CHANGE, *CHANGE)
            left[host] = walk(host, phases, dice)
    return [begin(hosts), *Play(dice, left).lines(), ("", "run_ended", {"stopped": ""})]


def write(path: Path, lines: list[Line]) -> None:
    """Append lines as a process does that opens the journal; all but the first with less syncing."""
    journal = Journal(path)
    host, event, data = lines[0]
    journal.append(host, event, **data)
    journal.close()
    entries = ({"time": 1.5, "host": host, "event": event, "data": data} for host, event, data in lines[1:])
    with path.open("ab") as file:
        file.writelines(Event.model_validate(entry).model_dump_json().encode() + b"\n" for entry in entries)


def cut(path: Path, at: float, tail: bytes = b"") -> None:
    """Cut the file at that share of its bytes and put a torn tail behind what is left."""
    whole = path.read_bytes()
    path.write_bytes(whole[: round(at * len(whole))] + tail)


def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a journal file in a folder of its own."""
    return tmp_path_factory.mktemp("run") / "journal.jsonl"


HOSTS = st.lists(st.sampled_from(["db1", "db2", "db3", "db-4.example.com"]), min_size=1, max_size=4, unique=True)
SEEDS = st.integers(0, 2**32)
SHARES = st.floats(0, 1)
TAILS = st.sampled_from(
    [b"", b"\0\0\0\0", b'{"time": 1, "ho', b"\xff\xfe{", b'{"time":1.0,"host":"db1","event":"finished"']
)
QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def truth(events: tuple[Event, ...], host: str) -> dict[str, object]:
    """Say what the lines of one host mean, in the plainest way: by looking at them."""
    own = [event for event in events if event.host == host]
    last = own[-1] if own else None
    finished = last is not None and last.event == "finished"
    return {
        "status": last.data["status"] if last and finished else "unknown" if own else "pending",
        "change_began": any(event.data.get("phase") == "change" for event in own),
    }


@QUICK
@given(hosts=HOSTS, seed=SEEDS, at=SHARES, tail=TAILS)
@example(hosts=["db1"], seed=1, at=0.0, tail=b"")
@example(hosts=["db1"], seed=1, at=1.0, tail=b"\0")
def test_any_prefix_replays_to_what_its_whole_lines_say(
    tmp_path_factory: pytest.TempPathFactory, hosts: list[str], seed: int, at: float, tail: bytes
) -> None:
    """A torn last line is as if it had never been; every host's word and whether its change began are the lines'."""
    path = fresh(tmp_path_factory)
    write(path, whole_run(hosts, random.Random(seed)))  # noqa: S311 - a repeatable die
    every = read(path)
    cut(path, at, tail)
    events = read(path)
    assert events == every[: len(events)]
    assert len(events) == path.read_bytes().count(b"\n")
    state = fold(events)
    assert set(state.hosts) == (set(hosts) if events else set())
    assert state.ended == (len(events) == len(every))
    for name, host in state.hosts.items():
        assert {"status": host.status, "change_began": host.change_began} == truth(events, name)
        assert host.finished == (host.status not in ("pending", "unknown"))
        assert not host.holds_lock or any(row.phase == "lock" for row in host.phases)


@QUICK
@given(hosts=HOSTS, seed=SEEDS, cuts=st.lists(SHARES, min_size=1, max_size=4), tail=TAILS)
def test_a_run_that_is_killed_again_and_again_is_resumed_to_its_end(
    tmp_path_factory: pytest.TempPathFactory, hosts: list[str], seed: int, cuts: list[float], tail: bytes
) -> None:
    """After each cut the run goes on in the same file; no host is lost, none that is settled is touched again."""
    dice, path = random.Random(seed), fresh(tmp_path_factory)  # noqa: S311 - a repeatable die
    write(path, whole_run(hosts, dice))
    for share in cuts:
        cut(path, share, tail)
        before = fold(read(path))
        write(path, resumed(before, hosts, dice))
        events = read(path)
        after = fold(events)
        assert set(after.hosts) == set(hosts)
        assert after.ended
        assert all(host.finished for host in after.hosts.values())
        for name, known in before.hosts.items():
            if known.status in SETTLED:
                assert after.hosts[name].status == known.status
                assert after.hosts[name].phases == known.phases
            assert after.hosts[name].change_began >= known.change_began


@QUICK
@given(hosts=HOSTS, seed=SEEDS, at=SHARES, tail=TAILS)
def test_after_a_begun_change_nothing_of_before_is_done_again(
    tmp_path_factory: pytest.TempPathFactory, hosts: list[str], seed: int, at: float, tail: bytes
) -> None:
    """The baseline, the backup and the way back of a host are those from before its change."""
    dice, path = random.Random(seed), fresh(tmp_path_factory)  # noqa: S311 - a repeatable die
    write(path, whole_run(hosts, dice))
    cut(path, at, tail)
    write(path, resumed(fold(read(path)), hosts, dice))
    for name in hosts:
        phases = [event.data.get("phase") for event in read(path) if event.host == name]
        if "change" in phases:
            assert not {"baseline", "backup", "way_back"} & set(phases[phases.index("change") :])


def test_a_run_resumed_for_one_host_forgets_no_other(tmp_path: Path) -> None:
    """A run was cut while two hosts were at work; resumed with --host db1 it still knows that db2's change began.

    And it began when it was begun, not when it was resumed.
    """
    path = tmp_path / "journal.jsonl"
    write(path, [begin(["db1", "db2"]), ("db2", "phase_started", {"phase": "change"})])
    write(path, [begin(["db1"]), *walk("db1", ("lock",), random.Random(1))])  # noqa: S311 - a repeatable die
    state = fold(read(path))
    assert list(state.hosts) == ["db1", "db2"]
    assert (state.hosts["db2"].status, state.hosts["db2"].change_began) == ("unknown", True)
    assert state.started_at == read(path)[0].time


def test_every_damaged_line_is_named_at_once(tmp_path: Path) -> None:
    """Damage that is no torn end is refused with all of its lines, and the way out."""
    path = tmp_path / "journal.jsonl"
    write(path, whole_run(["db1"], random.Random(3)))  # noqa: S311 - a repeatable die
    lines = path.read_bytes().split(b"\n")
    lines[1], lines[3] = b"\0" * len(lines[1]), lines[3][: len(lines[3]) // 2]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ConfigProblem, match="/var/lib/rollout") as caught:
        read(path)
    assert [mistake.line for mistake in caught.value.mistakes] == [2, 4]


def test_a_line_that_does_not_fit_on_the_disk_is_an_error_and_leaves_the_journal_whole(tmp_path: Path) -> None:
    """A full disk takes the first bytes of a line and no more: the change must not begin on that, nor the line stay."""
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.append("db1", "phase_started", phase="lock")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, hard))
    try:
        with pytest.raises(RolloutError, match=r"the journal .* cannot be written"):
            journal.append("db1", "phase_started", phase="change")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.append("db1", "phase_ended", phase="lock", status="failed")
    journal.close()
    assert [event.event for event in read(path)] == ["phase_started", "phase_ended"]
