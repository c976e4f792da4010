"""Two streams of a running shell, and the loop that carries a conversation over them with a time limit."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from rollout.remote.framing import Conversation
from rollout.remote.transport import Result

LISTEN_SECONDS = 0.1


@dataclass(frozen=True)
class Heard:
    """What came within one wait; `over` means that nothing more will come."""

    stdout: bytes = b""
    stderr: bytes = b""
    over: bool = False


class Wire(Protocol):
    """The two ends of a shell that runs somewhere. `send` and `finish` return at once."""

    def send(self, data: bytes) -> None:
        """Put `data` on its way to the shell's standard input."""
        ...

    def finish(self) -> None:
        """Close the shell's standard input after what was sent."""
        ...

    def listen(self, seconds: float) -> Heard:
        """Wait up to `seconds` for output and return all that is there."""
        ...


class Feeder:
    """A thread that sends, so that a full pipe never keeps the reader from reading.

    `faults` are the errors of a way that broke: they end the sending silently, for the reader sees the same break.
    """

    def __init__(self, name: str, faults: tuple[type[Exception], ...]) -> None:
        self._steps: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._faults = faults
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def do(self, step: Callable[[], object]) -> None:
        """Queue one step; steps run in order."""
        self._steps.put(step)

    def stop(self) -> None:
        """End the thread after the steps that are queued."""
        self._steps.put(None)

    def _work(self) -> None:
        while (step := self._steps.get()) is not None:
            try:
                step()
            except self._faults:
                return


def converse(wire: Wire, conversation: Conversation, timeout_seconds: float) -> Result:
    """Carry `conversation` over `wire` until it ends.

    Raises `Unreachable` when the wire is over before the conversation is, or `timeout_seconds` pass.
    """
    started = time.monotonic()
    reply = conversation.opening()
    while True:
        if reply.data:
            wire.send(reply.data)
        if reply.last:
            wire.finish()
        heard = wire.listen(LISTEN_SECONDS)
        reply = conversation.hear(heard.stdout, heard.stderr)
        seconds = time.monotonic() - started
        if conversation.ended:
            return conversation.result(seconds)
        if heard.over:
            raise conversation.broken("the connection was lost")
        if seconds > timeout_seconds:
            raise conversation.broken(f"no end within {timeout_seconds:g} s")
