"""The one seam between the program and a host."""

from dataclasses import dataclass
from typing import Protocol

from rollout.errors import CommandFailed
from rollout.printable import printable


@dataclass(frozen=True)
class Result:
    """What one script did on a host: exit status (a signal is 128 + its number), both streams as bytes, seconds."""

    host: str
    exit_status: int
    stdout: bytes
    stderr: bytes
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the script ended with 0."""
        return self.exit_status == 0

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are no UTF-8 become replacement characters, nothing is dropped."""
        return self.stdout.decode("utf-8", "replace")

    def check(self, doing: str) -> "Result":
        """Return self when the script ended with 0, else raise `CommandFailed` that names `doing`."""
        if self.ok:
            return self
        complaint = self.stderr.strip().splitlines()[-3:]
        reason = " / ".join(map(printable, complaint)) or "it said nothing on stderr"
        raise CommandFailed(self.host, f"{doing} ended with exit status {self.exit_status}: {reason}")


class Transport(Protocol):
    """A way to one host. Safe to use from one thread at a time; `close` may be called twice."""

    def run(self, script: str, stdin: bytes = b"", *, timeout_seconds: float = 60.0, privileged: bool = True) -> Result:
        """Run `script` with /bin/sh on the host, with `stdin` as its standard input.

        `privileged` asks for root in the way the host's settings say (nothing is added when already root).
        The login shell, banners and profile noise never reach the result. The locale inside is C.

        Raises `Unreachable` when the way to the host is broken or `timeout_seconds` pass without an end,
        `PrivilegeRefused` when the host does not grant root, and `CommandFailed` when it sends more than the
        transport's limit; a script that fails is a `Result`, not an error.
        """
        ...

    def close(self) -> None:
        """Give back the connection."""
        ...
