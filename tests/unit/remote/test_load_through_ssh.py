"""The load that a host asks for and the controller gives, through a real sshd; both ends are scripts."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Sshd

from rollout.bench.controller import ControllerLoad
from rollout.engine.steps import HostRun
from rollout.errors import WrongState
from rollout.plan.model import HostPlan
from rollout.remote import open_transport
from rollout.settings import Secret

# As do.sh asks: a file for a run, its report and exit status as others.
ASK = """cd {here}
for turn in 1 2; do
  : >turn-$turn
  until [ -e turn-$turn.rc ]; do sleep 0.05; done
  cat turn-$turn.out turn-$turn.rc
done
"""


@pytest.fixture
def run(sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostRun]:
    """Give a run whose folder on the host lies in the test's own, as the user who runs the tests."""
    monkeypatch.setattr("rollout.engine.steps.BASE", str(tmp_path))
    transport = open_transport(sshd.host)
    made = HostRun(
        run_id="20261130t100000-abcd",
        host=sshd.host,
        plan=HostPlan(name="db1", status="change"),
        kinds=(),
        transport=transport,
        folder=tmp_path,
        record=lambda *_, **__: None,
    )
    Path(made.here).mkdir()
    yield made
    transport.close()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[ControllerLoad]:
    """Give a load of two runs against a port that only listens; its sysbench says its arguments and ends with 4."""
    program = tmp_path / "sysbench"
    program.write_text('#!/bin/sh\nexec 3<&0\ncat <&3 >/dev/null\necho "$3 $6"\nexit 4\n')
    program.chmod(0o755)
    runs = (("--time=1",), ("--time=2",))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        yield ControllerLoad(str(program), Path("lru.lua"), runs, "127.0.0.1", port, "bench", Secret("hush"))


def test_what_the_host_asks_for_comes_back_as_files(run: HostRun, load: ControllerLoad) -> None:
    """Each run in its turn, with its report and its exit status; no thread stays."""
    load.check(run)
    with load.during(run) as told:
        said = run.ask(ASK.format(here=run.here), timeout_seconds=30).text.splitlines()
    assert told == []
    assert [line.partition(" ")[2] for line in said[::2]] == ["--time=1", "--time=2"]
    assert said[1::2] == ["4", "4"]
    assert all(line.startswith("--mysql-socket=/") for line in said[::2])
    assert not [thread for thread in threading.enumerate() if thread.name == "rollout-load"]


def test_the_end_on_the_host_ends_the_waiting_here(run: HostRun, load: ControllerLoad) -> None:
    """do.sh may end before it has asked for anything."""
    with load.during(run) as told:
        pass
    assert told == []


def test_without_a_way_it_is_refused_before_anything_is_done(run: HostRun, load: ControllerLoad) -> None:
    """The refusal names the way that is missing and what else can be done."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = replace(load, port=int(closed.getsockname()[1]))
        with pytest.raises(WrongState, match="has no way to the server: its sshd connects nobody") as caught:
            nowhere.check(run)
    assert "Install sysbench on the host" in caught.value.hint
