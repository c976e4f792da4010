"""Whether the other end of an SSH connection is still there."""

import contextlib
import threading

import paramiko

PULSE_SECONDS = 10.0  # a sign of life is asked for this often
DEAD_SECONDS = 30.0  # and waited for this long: a dead way is noticed within the sum
BROKEN = (paramiko.SSHException, EOFError, OSError)  # what paramiko raises when the way breaks


class Pulse:
    """Asks a connection for a sign of life and closes it when none comes.

    TCP alone notices a dead way only after many minutes, and never through a bastion. The request is one that every
    sshd answers (RFC 4254, section 4), so an idle connection is kept open as well.
    """

    def __init__(
        self,
        transport: paramiko.Transport,
        *,
        pulse_seconds: float = PULSE_SECONDS,
        dead_seconds: float = DEAD_SECONDS,
    ) -> None:
        self._transport = transport
        self._pulse_seconds = pulse_seconds
        self._dead_seconds = dead_seconds
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, name="rollout-pulse", daemon=True).start()

    def stop(self) -> None:
        """End the watch."""
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.wait(self._pulse_seconds) and self._transport.is_active():
            # The request has no time limit of its own and its sending can block as well, hence a thread for each beat.
            beat = threading.Thread(target=self._beat, name="rollout-beat", daemon=True)
            beat.start()
            beat.join(self._dead_seconds)
            if beat.is_alive():
                self._transport.close()

    def _beat(self) -> None:
        with contextlib.suppress(*BROKEN):
            self._transport.global_request("keepalive@openssh.com", wait=True)
