"""The machine that we run on, as a host: the same framing as over SSH, through pipes."""

import os
import select
import selectors
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import IO

from rollout.errors import Unreachable
from rollout.remote.framing import BOOT, OUTPUT_LIMIT_BYTES, Conversation, become_of
from rollout.remote.transport import Result
from rollout.remote.wire import Feeder, Heard, converse
from rollout.settings import Host

PIECE_BYTES = 1024 * 1024
END_SECONDS = 2.0
WAIT_SECONDS = 0.1


class LocalTransport:
    """Runs scripts on this machine. `environment` replaces the environment that scripts start with."""

    def __init__(
        self,
        host: Host,
        *,
        environment: Mapping[str, str] | None = None,
        output_limit_bytes: int = OUTPUT_LIMIT_BYTES,
    ) -> None:
        self._host = host
        self._environment = environment
        self._output_limit_bytes = output_limit_bytes

    def run(self, script: str, stdin: bytes = b"", *, timeout_seconds: float = 60.0, privileged: bool = True) -> Result:
        """Run `script` in a shell of its own; see `Transport.run`. A script that takes too long is ended."""
        become = become_of(self._host.connection, privileged)
        conversation = Conversation(self._host.name, script, stdin, become, self._output_limit_bytes)
        process = self._started()
        wire = _Pipes(process)
        try:
            result = converse(wire, conversation, timeout_seconds)
        except BaseException:  # an interrupt as well: a child that was started here is ended here
            _end(process)
            raise
        finally:
            wire.close()
        process.wait()
        return result

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _started(self) -> "subprocess.Popen[bytes]":
        """Start the shell in a session of its own, so that ctrl-C at our terminal does not reach it."""
        pipe = subprocess.PIPE
        command = ["/bin/sh", "-c", BOOT]
        try:
            return subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=self._environment, start_new_session=True, bufsize=0
            )
        except OSError as fault:
            raise Unreachable(self._host.name, f"/bin/sh could not be started on this machine: {fault}") from fault


class _Pipes:
    """The wire to a child process."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._stdin = _opened(process.stdin)
        self._streams = {"stdout": _opened(process.stdout), "stderr": _opened(process.stderr)}
        self._selector = selectors.DefaultSelector()
        for name, stream in self._streams.items():
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, name)
        os.set_blocking(self._stdin.fileno(), False)
        self._closing = threading.Event()
        self._feeder = Feeder("rollout-local-stdin", (OSError,))

    def send(self, data: bytes) -> None:
        """Queue `data` for the child's standard input."""
        self._feeder.do(partial(self._write, data))

    def _write(self, data: bytes) -> None:
        """Write all of `data`, or as much as the child takes before it or the run ends."""
        rest = memoryview(data)
        while rest and not self._closing.is_set():
            _, ready, _ = select.select([], [self._stdin], [], WAIT_SECONDS)
            try:
                rest = rest[os.write(self._stdin.fileno(), rest) if ready else 0 :]
            except BrokenPipeError:
                return

    def finish(self) -> None:
        """Close the child's standard input after what is queued."""
        self._feeder.do(self._stdin.close)

    def listen(self, seconds: float) -> Heard:
        """Return what the child has written since."""
        heard = {"stdout": b"", "stderr": b""}
        for key, _ in self._selector.select(seconds):
            stream = self._streams[key.data]
            heard[key.data] = stream.read(PIECE_BYTES)
            if not heard[key.data]:
                self._selector.unregister(stream)
        return Heard(heard["stdout"], heard["stderr"], over=not self._selector.get_map())

    def close(self) -> None:
        """Close our ends; a process that the script left in the background keeps its own."""
        self._closing.set()
        self._feeder.do(self._stdin.close)
        self._feeder.stop()
        self._selector.close()
        for stream in self._streams.values():
            stream.close()


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    """Return a stream of a child that was started with pipes, for the type checker's sake."""
    if stream is None:
        raise ValueError("the child was started without a pipe")
    return stream


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a child with all that it started: asked first, then made to."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
            return
