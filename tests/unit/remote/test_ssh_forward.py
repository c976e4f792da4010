"""A port of a host behind a Unix socket of ours, through a real sshd."""

import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Sshd, free_port

from rollout.errors import Unreachable, UsageProblem
from rollout.remote import open_forward
from rollout.settings import Connection, Host


@pytest.fixture
def echo() -> Iterator[int]:
    """Give a loopback port that sends back what it gets."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            with connection:
                while data := connection.recv(65536):
                    connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        server.join()


def asked(path: Path, data: bytes) -> bytes:
    """Return as many bytes as were sent."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(path))
        client.sendall(data)
        heard = b""
        while len(heard) < len(data):
            heard += client.recv(65536)
        return heard


def test_what_is_sent_comes_out_on_the_host_and_back(sshd: Sshd, echo: int) -> None:
    """Several connections, one of them larger than any window; nobody else may enter the folder; nothing stays."""
    large = bytes(range(256)) * 16384
    with open_forward(sshd.host, "127.0.0.1", echo) as way:
        assert stat.S_IMODE(way.path.parent.stat().st_mode) == 0o700
        assert asked(way.path, b"one") == b"one"
        assert asked(way.path, large) == large
    assert not way.path.parent.exists()
    assert not [thread for thread in threading.enumerate() if thread.name == "rollout-forward"]


def test_a_port_on_which_nobody_listens_is_told_at_once(sshd: Sshd) -> None:
    """Before anything is listened to here."""
    with (
        pytest.raises(Unreachable, match="its sshd connects nobody to 127"),
        open_forward(sshd.host, "127.0.0.1", free_port()),
    ):
        pass


def test_an_sshd_that_forwards_nothing_is_told_at_once(make_sshd: Callable[..., Sshd], echo: int) -> None:
    """AllowTcpForwarding no, as on hardened hosts."""
    closed = make_sshd("AllowTcpForwarding no")
    with pytest.raises(Unreachable, match="AllowTcpForwarding"), open_forward(closed.host, "127.0.0.1", echo):
        pass


def test_a_host_that_is_not_behind_ssh_has_no_ports_to_bring(sshd: Sshd) -> None:
    """This machine itself and recorded hosts."""
    with pytest.raises(UsageProblem, match="only a host behind SSH"):
        open_forward(Host("db1", Connection(kind="local")), "127.0.0.1", sshd.port)
