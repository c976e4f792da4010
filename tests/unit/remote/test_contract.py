"""What every transport promises, asked of each of them: this machine, a real sshd, a fake, a recording."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Sshd
from transport_contract import LIMIT_BYTES, TransportContract

from rollout.remote import open_transport
from rollout.remote.doors import Doors
from rollout.remote.fake import Answer, Call, FakeTransport
from rollout.remote.local import LocalTransport
from rollout.remote.recorded import PROBE_MARKER
from rollout.remote.ssh import SshTransport
from rollout.remote.transport import Transport
from rollout.settings import Connection, Host

PROBE = f"{PROBE_MARKER}\nprintf 'os=\\377debian\\n'\n"
PROBE_ANSWER = b"os=\xffdebian\n"


def by_hand(state: int, call: Call) -> tuple[int, Answer]:
    """Answer a script of the suite as a host does, with a shell of this machine; the state counts scripts."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", call.script],
            input=call.stdin,
            capture_output=True,
            check=False,
            timeout=3,
            env={**os.environ, "LC_ALL": "C", "LANGUAGE": "C"},
        )
    except subprocess.TimeoutExpired as late:
        return state + 1, Answer(seconds=float(late.timeout))
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return state + 1, Answer(status, done.stdout, done.stderr)


def recording(folder: Path) -> Path:
    """Write the recording of a host."""
    (folder / "probe.out").write_bytes(PROBE_ANSWER)
    digest = hashlib.sha256(PROBE_ANSWER).hexdigest()
    meta = {
        "schema": 1,
        "host": "db1",
        "taken_at": "2026-11-30T09:00:00Z",
        "bytes": len(PROBE_ANSWER),
        "sha256": digest,
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def make(kind: str, sshd: Sshd, folder: Path) -> Transport:
    """Make a transport of that kind to a host called db1."""
    if kind == "ssh":
        return SshTransport(sshd.host, doors=Doors(), output_limit_bytes=LIMIT_BYTES)
    if kind == "local":
        return LocalTransport(Host("db1", Connection(kind="local")), output_limit_bytes=LIMIT_BYTES)
    if kind == "recorded":
        return open_transport(Host("db1", Connection(kind="recorded", recording=recording(folder))))
    return FakeTransport("db1", 0, by_hand, output_limit_bytes=LIMIT_BYTES)


@pytest.fixture(params=["ssh", "local", "fake", "recorded"])
def any_transport(request: pytest.FixtureRequest, sshd: Sshd, tmp_path: Path) -> Iterator[Transport]:
    """Every transport."""
    transport = make(request.param, sshd, tmp_path)
    yield transport
    transport.close()


@pytest.fixture(params=["ssh", "local", "fake"])
def transport(request: pytest.FixtureRequest, sshd: Sshd, tmp_path: Path) -> Iterator[Transport]:
    """Every transport that runs scripts."""
    transport = make(request.param, sshd, tmp_path)
    yield transport
    transport.close()


def test_the_probe_is_answered_byte_for_byte(any_transport: Transport) -> None:
    """The probe's bytes come back as they are, whether they are UTF-8 or not."""
    result = any_transport.run(PROBE)
    assert (result.host, result.exit_status, result.stdout, result.stderr) == ("db1", 0, PROBE_ANSWER, b"")


def test_close_may_be_called_twice_and_before_anything_ran(any_transport: Transport) -> None:
    """Closing is always allowed."""
    any_transport.close()
    any_transport.close()


class TestContract(TransportContract):
    """Each promise, kept by each of them."""
