"""Hosts over SSH: one connection a host, kept alive and watched, one channel a script."""

import contextlib
import select
import time
from functools import partial

import paramiko

from rollout.errors import Unreachable
from rollout.remote.doors import DOORS, Doors, Login
from rollout.remote.framing import COMMAND, OUTPUT_LIMIT_BYTES, Conversation, become_of
from rollout.remote.pulse import BROKEN
from rollout.remote.transport import Result
from rollout.remote.wire import Feeder, Heard, converse
from rollout.settings import Host

PIECE_BYTES = 1024 * 1024
SESSION_PATIENCE_SECONDS = 3.0


class SshTransport:
    """Runs scripts on a host over SSH, through whatever hops ssh_config and the inventory name.

    The connection is made at the first script, used for all of them, and made again when it was found dead: a script
    is never sent twice.
    """

    def __init__(self, host: Host, *, doors: Doors = DOORS, output_limit_bytes: int = OUTPUT_LIMIT_BYTES) -> None:
        self._host = host
        self._doors = doors
        self._output_limit_bytes = output_limit_bytes
        self._login: Login | None = None

    def run(self, script: str, stdin: bytes = b"", *, timeout_seconds: float = 60.0, privileged: bool = True) -> Result:
        """Run `script` on the host; see `Transport.run`. A script that takes too long is left running there."""
        become = become_of(self._host.connection, privileged)
        conversation = Conversation(self._host.name, script, stdin, become, self._output_limit_bytes)
        channel = self._channel()
        wire = _Channel(channel)
        try:
            return converse(wire, conversation, timeout_seconds)
        finally:
            wire.close()

    def close(self) -> None:
        """Close the connection, and the hops before it that no other host uses. May be called from another thread."""
        login, self._login = self._login, None
        if login:
            self._doors.leave(login)

    def _channel(self) -> paramiko.Channel:
        """Open a channel, on a new connection if the old one is dead."""
        if self._login and not self._login.alive:
            self.close()
        used_before = self._login is not None
        login = self._login = self._login or self._doors.enter(self._host)
        try:
            return self._session(login)
        except BROKEN as fault:
            if isinstance(fault, paramiko.ChannelException) or not used_before:
                hint = "See MaxSessions in its sshd_config; a script that took too long may still hold one there."
                raise Unreachable(self._host.name, f"sshd opened no session: {fault}", hint=hint) from fault
        self.close()  # the old connection turns out to be dead; nothing was started on it, so one more login is safe
        return self._channel()

    def _session(self, login: Login) -> paramiko.Channel:
        """Open a session; one that was just left counts against MaxSessions until its shell is gone."""
        deadline = time.monotonic() + SESSION_PATIENCE_SECONDS
        while True:
            try:
                return login.transport.open_session(timeout=self._host.connection.connect_timeout_seconds)
            except paramiko.ChannelException:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.05)


class _Channel:
    """The wire to a shell behind sshd."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)
        self._feeder = Feeder("rollout-ssh-stdin", BROKEN)
        self._feeder.do(partial(channel.exec_command, COMMAND))

    def send(self, data: bytes) -> None:
        """Queue `data` for the shell's standard input."""
        for start in range(0, len(data), PIECE_BYTES):
            self._feeder.do(partial(self._channel.sendall, data[start : start + PIECE_BYTES]))

    def finish(self) -> None:
        """Close the shell's standard input after what is queued."""
        self._feeder.do(self._channel.shutdown_write)

    def listen(self, seconds: float) -> Heard:
        """Return what has come since. A wake-up that paramiko loses costs one wait, for both streams are looked at."""
        self._poll.poll(seconds * 1000)
        over = bool(self._channel.closed or self._channel.eof_received)
        stdout = self._channel.recv(PIECE_BYTES) if self._channel.recv_ready() else b""
        stderr = self._channel.recv_stderr(PIECE_BYTES) if self._channel.recv_stderr_ready() else b""
        return Heard(stdout, stderr, over=over and not stdout and not stderr)

    def close(self) -> None:
        """Close the channel, which ends the sending too."""
        self._feeder.stop()
        with contextlib.suppress(*BROKEN):
            self._channel.close()
