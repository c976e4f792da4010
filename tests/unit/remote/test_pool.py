"""The bounded pool: every host has an outcome, and none ends the others."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from rollout.errors import Unreachable
from rollout.remote.pool import Done, Failed, Outcome, ProgramFault, run_on_all
from rollout.settings import Connection, Host

HOSTS = tuple(Host(f"db{n}", Connection()) for n in range(1, 8))


def number(host: Host) -> int:
    """Fail in one way or another on two hosts, answer on the others."""
    if host.name == "db2":
        raise Unreachable(host.name, "the connection was refused")
    if host.name == "db3":
        raise KeyError("a slip of ours")
    return int(host.name[2:])


def test_each_host_has_its_own_outcome_in_the_order_given() -> None:
    """Values, errors of a host and faults of the program come back side by side."""
    outcomes = run_on_all(HOSTS, number, 3)
    assert list(outcomes) == [host.name for host in HOSTS]
    assert [outcome.value for outcome in outcomes.values() if isinstance(outcome, Done)] == [1, 4, 5, 6, 7]
    refused, slip = outcomes["db2"], outcomes["db3"]
    assert isinstance(refused, Failed)
    assert isinstance(refused.error, Unreachable)
    assert isinstance(slip, Failed)
    assert isinstance(slip.error, ProgramFault)
    assert isinstance(slip.error.__cause__, KeyError)


def test_no_more_hosts_at_once_than_forks() -> None:
    """The number of forks is an upper bound, and is made use of."""
    lock, now, most = threading.Lock(), [0], [0]

    def work(host: Host) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1

    run_on_all(HOSTS, work, 3)
    assert most == [3]


def test_progress_is_told_in_the_calling_thread() -> None:
    """Each outcome is announced once, where printing needs no lock."""
    told: list[tuple[str, str]] = []

    def tell(outcome: Outcome[int]) -> None:
        told.append((outcome.host, threading.current_thread().name))

    run_on_all(HOSTS, number, 2, on_outcome=tell)
    assert sorted(told) == [(host.name, threading.current_thread().name) for host in HOSTS]


def test_no_hosts_is_no_work() -> None:
    """An empty fleet has an empty answer."""
    assert run_on_all((), number, 20) == {}


HANGING = """
import signal
# As on a terminal, even where a job in the background was started with ctrl-C switched off.
signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
from rollout.cli import app
from rollout.remote import open_transport
from rollout.remote.pool import run_on_all
from rollout.settings import Connection, Host
import click

hosts = [Host(f"db{n}", Connection(kind="local")) for n in range(4)]

@click.command()
def command():
    def work(host):
        print(open_transport(host).run("echo begun >&2; sleep 6").exit_status)
    print("ready", flush=True)
    run_on_all(hosts, work, 2, grace_seconds=0.5)

app.COMMANDS = {"hang": "for the test"}
sys.modules["rollout.cli.hang"] = type(sys)("rollout.cli.hang")
sys.modules["rollout.cli.hang"].command = command
app.main(["hang"])
"""


def test_ctrl_c_ends_the_program_with_130_and_without_waiting(tmp_path: Path) -> None:
    """Hosts that hang do not keep an interrupted program from ending cleanly."""
    program = subprocess.Popen(
        [sys.executable, "-c", HANGING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        started = time.monotonic()
        os.kill(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=10)
    assert (program.returncode, said.strip()) == (130, b"rollout: interrupted")
    assert time.monotonic() - started < 6  # the four hosts hang for 12 seconds
