"""Detached scripts on real hosts: they run once, outlive the connection, and are found again after a reboot."""

import os
import threading
import time
from collections.abc import Iterator

import pytest

from rollout.errors import CommandFailed, Unreachable, WrongState
from rollout.lab.rehearsal import Rehearsal
from rollout.remote.detached import Job, Progress, State, poll_detached, start_detached, wait_detached
from rollout.remote.doors import Doors
from rollout.remote.ssh import SshTransport

pytestmark = pytest.mark.fleet
RUN = "/var/lib/rollout/20261130"


@pytest.fixture
def way(fleet: Rehearsal) -> Iterator[SshTransport]:
    """A way to a host that has a run directory."""
    transport = SshTransport(fleet.dirty("db1"), doors=Doors())
    transport.run(f"mkdir -p -m 700 {RUN}").check("making the run directory")
    yield transport
    transport.close()


def job(name: str) -> Job:
    """Return a job whose unit nobody used before, for units outlive the tests that started them."""
    return Job(f"rollout-{os.getpid()}-{name}-{time.monotonic_ns()}", RUN, name)


def test_a_script_runs_to_its_end_and_says_what_became_of_it(way: SshTransport) -> None:
    """Exit status, log, process and state stand on the host, private to root."""
    do = job("do")
    assert poll_detached(way, do).state is State.NEVER_STARTED
    begun = start_detached(way, do, "echo one; echo two >&2; sleep 1; exit 7\n")
    assert begun.state is State.RUNNING
    ended = wait_detached(way, do, timeout_seconds=20)
    assert (ended.host, ended.state, ended.exit_status, ended.log) == ("db1", State.ENDED, 7, b"one\ntwo\n")
    assert ended.process_id is not None
    listed = way.run(f"cd {RUN}; stat -c '%n %a %U' *").text.splitlines()
    assert listed == [f"do.{kind} 600 root" for kind in ("log", "rc", "sh", "started")]


def test_a_name_runs_once_however_often_it_is_started(way: SshTransport) -> None:
    """Starting again while it runs, and after it has ended, starts nothing."""
    do = job("do")
    text = f"echo ran >>{RUN}/count; sleep 1\n"
    assert start_detached(way, do, text).state is State.RUNNING
    assert start_detached(way, do, text).state is State.RUNNING
    assert wait_detached(way, do, timeout_seconds=20).state is State.ENDED
    assert start_detached(way, do, text).state is State.ENDED
    assert way.run(f"cat {RUN}/count").text == "ran\n"


def test_two_who_start_at_the_same_time_start_one(fleet: Rehearsal, way: SshTransport) -> None:
    """Eight starts at once run the script once, even though the script is over in no time."""
    do = job("do")
    ways = [SshTransport(fleet.host("db1"), doors=Doors()) for _ in range(8)]
    threads = [threading.Thread(target=start_detached, args=(other, do, f"echo ran >>{RUN}/count\n")) for other in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wait_detached(way, do, timeout_seconds=20).state is State.ENDED
    assert way.run(f"cat {RUN}/count").text == "ran\n"
    for other in ways:
        other.close()


def test_a_broken_connection_ends_nothing_and_is_attached_to_again(way: SshTransport) -> None:
    """The sshd of the connection is killed; the script goes on, and its end is seen over a new connection."""
    do = job("do")
    start_detached(way, do, f"sleep 3; echo ran >>{RUN}/count\n")
    with pytest.raises(Unreachable):
        way.run("pkill -9 -u admin sshd; sleep 5")
    assert wait_detached(way, do, timeout_seconds=20).exit_status == 0
    assert way.run(f"cat {RUN}/count").text == "ran\n"


def test_a_network_that_comes_back_is_waited_for(fleet: Rehearsal, way: SshTransport) -> None:
    """The network is cut for a few seconds while the script runs; the wait goes on where it was."""
    do = job("do")
    seen: list[Progress] = []
    start_detached(way, do, "sleep 8; echo over\n")
    fleet.lab.cut_network("db1")
    threading.Timer(5, fleet.lab.restore_network, ["db1"]).start()
    ended = wait_detached(way, do, timeout_seconds=90, on_progress=seen.append)
    assert (ended.state, ended.log) == (State.ENDED, b"over\n")
    assert seen[-1] == ended


def test_a_script_that_a_reboot_ended_has_vanished(fleet: Rehearsal, way: SshTransport) -> None:
    """After a reboot it is neither running nor ended, it is known why, and it is not started again."""
    do = job("do")
    start_detached(way, do, "echo begun; sleep 600\n")
    time.sleep(1)
    fleet.lab.reboot("db1")
    found = wait_detached(way, do, timeout_seconds=60)
    assert (found.state, found.rebooted, found.exit_status, found.log) == (State.VANISHED, True, None, b"begun\n")
    assert start_detached(way, do, "echo again\n") == found


def test_a_script_that_was_killed_has_vanished(way: SshTransport) -> None:
    """A unit that somebody killed is told from one that a reboot ended."""
    do = job("do")
    start_detached(way, do, "sleep 600\n")
    time.sleep(0.5)
    way.run(f"systemctl kill --signal=KILL {do.unit}")
    time.sleep(0.5)
    found = poll_detached(way, do)
    assert (found.state, found.rebooted, found.exit_status) == (State.VANISHED, False, None)


def test_a_script_that_takes_too_long_runs_on(way: SshTransport) -> None:
    """The limit ends the waiting, not the script."""
    do = job("do")
    start_detached(way, do, "sleep 5\n")
    with pytest.raises(WrongState, match="db1: do has not ended after 1 s; it runs on"):
        wait_detached(way, do, timeout_seconds=1)
    assert wait_detached(way, do, timeout_seconds=20).exit_status == 0


def test_a_host_that_stays_away_is_unreachable_in_the_end(fleet: Rehearsal, way: SshTransport) -> None:
    """Patience with a host that is gone has a limit."""
    do = job("do")
    start_detached(way, do, "sleep 600\n")
    fleet.lab.power_off("db1")
    with pytest.raises(Unreachable):
        wait_detached(way, do, timeout_seconds=60, patience_seconds=2)


def test_a_directory_that_is_not_there_is_said(way: SshTransport) -> None:
    """Nothing is started where its files could not be kept."""
    nowhere = Job("rollout-nowhere", "/var/lib/rollout/nowhere", "do")
    with pytest.raises(CommandFailed, match="starting do ended with exit status"):
        start_detached(way, nowhere, "echo never\n")
    assert poll_detached(way, nowhere).state is State.NEVER_STARTED


def test_a_host_without_a_running_systemd_starts_nothing(way: SshTransport) -> None:
    """Where systemd does not answer, nothing is guessed."""
    way.run("mkdir -p /root/none && mv /usr/bin/systemctl /root/none/").check("hiding systemctl")
    with pytest.raises(CommandFailed, match=r"asking after do ended with exit status 1: .*systemctl: not found"):
        poll_detached(way, job("do"))
