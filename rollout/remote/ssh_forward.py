"""A port of a host behind a Unix socket on this machine: what connects there comes out on the host, through SSH.

The socket lies in a folder that only its owner may enter (0700), and nothing listens on a network. On the host it is
sshd that connects, to an address of the host's own (`AllowTcpForwarding`, on by default; see sshd_config(5)).
"""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

import paramiko

from rollout.errors import Unreachable
from rollout.remote.doors import DOORS, Doors, Login
from rollout.remote.framing import COMMAND
from rollout.remote.pulse import BROKEN
from rollout.settings import Host

PIECE_BYTES = 64 * 1024
WAIT_SECONDS = 0.2  # a thread that accepts wakes up this often to see whether it is over


class Forward:
    """A context manager over one connection of its own; `path` is the socket while it is entered."""

    def __init__(self, host: Host, address: str, port: int, *, doors: Doors = DOORS) -> None:
        self._host = host
        self._place = (address, port)
        self._doors = doors
        self._over = threading.Event()
        self._ending = contextlib.ExitStack()
        self.path = Path()

    def __enter__(self) -> Self:
        """Log in, see that the host connects to its port, and listen. Raises `Unreachable`."""
        with contextlib.ExitStack() as ending:
            login = self._doors.enter(self._host)
            ending.callback(self._doors.leave, login)
            _without_delay(login)
            self._channel(login).close()
            folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="rollout-"))
            self.path = Path(folder) / "s"
            listener = ending.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(self.path))
            listener.listen(128)
            listener.settimeout(WAIT_SECONDS)
            acceptor = threading.Thread(target=self._accept, args=(listener, login), name="rollout-forward")
            acceptor.start()
            ending.callback(acceptor.join)
            ending.callback(self._over.set)
            self._ending = ending.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more, remove the socket, and end the connection with all that goes through it."""
        self._ending.close()

    def _accept(self, listener: socket.socket, login: Login) -> None:
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                self._join(listener.accept()[0], login)

    def _join(self, ours: socket.socket, login: Login) -> None:
        """Tie one connection to a channel of its own; one that the host does not take is closed."""
        ours.setblocking(True)
        try:
            theirs = self._channel(login)
        except Unreachable:
            ours.close()
            return
        end = partial(_end, ours, theirs)
        for take, give in ((ours.recv, theirs.sendall), (theirs.recv, ours.sendall)):
            threading.Thread(target=_carry, args=(take, give, end), name="rollout-forwarded", daemon=True).start()

    def _channel(self, login: Login) -> paramiko.Channel:
        try:
            seconds = self._host.connection.connect_timeout_seconds
            return login.transport.open_channel("direct-tcpip", self._place, ("127.0.0.1", 0), timeout=seconds)
        except BROKEN as fault:
            address, port = self._place
            hint = "Does the server listen there, and does sshd_config allow it (AllowTcpForwarding)?"
            told = f"its sshd connects nobody to {address} port {port}: {fault}"
            raise Unreachable(self._host.name, told, hint=hint) from fault


def _without_delay(login: Login) -> None:
    """Send small packets at once on both sides: each question waits for its answer.

    sshd switches its own delay off when a session begins, so one is begun.
    """
    wire = login.transport.sock
    if isinstance(wire, socket.socket) and wire.family in (socket.AF_INET, socket.AF_INET6):
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(*BROKEN), login.transport.open_session() as session:
        session.exec_command(COMMAND)
        session.shutdown_write()
        session.recv_exit_status()


def _carry(take: Callable[[int], bytes], give: Callable[[bytes], None], end: Callable[[], None]) -> None:
    """Carry what comes until one side ends; then both end."""
    with contextlib.suppress(*BROKEN):
        while data := take(PIECE_BYTES):
            give(data)
    end()


def _end(ours: socket.socket, theirs: paramiko.Channel) -> None:
    """Close both sides; a thread that waits on either wakes up. Safe to do twice."""
    with contextlib.suppress(*BROKEN):
        theirs.close()
    with contextlib.suppress(OSError):
        ours.shutdown(socket.SHUT_RDWR)
    ours.close()
