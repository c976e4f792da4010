"""How one script travels to a host and its result back, whatever login shell, banner or sudo stands in between.

The command line is the same for every script and holds nothing of it: `/bin/sh -c 'IFS= read -r boot; eval "$boot"'`,
one word-safe command with no newline, backslash or single quote inside, so that bash, dash, csh, tcsh and fish all
read it alike. Everything else arrives on standard input, in this order:

1. the outer line: run the inner shell (through sudo, if asked for), then print the end mark with its status;
2. the inner line: C locale, the begin mark, read the script up to its own mark, and only then run it, so that a
   connection which breaks on the way never runs half a script;
3. the script, its mark, and the bytes that the script finds on its standard input.

The marks are random for each run and stand on both streams; what is printed outside of them (banners, profile noise,
sudo's "unable to resolve host") never reaches the result. No input and output happens here: bytes in, bytes out.
"""

import re
import secrets
from dataclasses import dataclass, field
from shlex import quote

from rollout.errors import CommandFailed, PrivilegeRefused, Unreachable
from rollout.printable import printable
from rollout.remote.transport import Result
from rollout.settings import Connection, Secret

BOOT = 'IFS= read -r boot; eval "$boot"'
COMMAND = f"/bin/sh -c '{BOOT}'"
READY = "rollout.ready."  # the shell below sudo says that it reads now, so sudo is done asking for passwords
OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
# `read` takes a byte at a time, so that what follows the script is left for the script; where nothing follows, `cat`
# reads the same a hundred times faster.
INNER = """LC_ALL=C LANGUAGE=C; export LC_ALL LANGUAGE; printf %s {mark}.begin.; printf %s {mark}.begin. >&2; \
n=$(printf '\\nx'); n=${{n%x}}; s=; e=; \
if [ "{whole}" ] && command -v cat >/dev/null; \
then s=$(cat); case $s in *{mark}.script) e=1; s=${{s%{mark}.script}};; esac; \
else while IFS= read -r l; do case $l in {mark}.script) e=1; break;; esac; s=$s$l$n; done; fi; \
[ "$e" ] || exit 125; eval "$s"
"""
OUTER = """{run}; s=$?; printf %s {mark}.end.$s. >&2; printf %s {mark}.end.$s.
"""


@dataclass(frozen=True)
class Become:
    """Which user a privileged script runs as, and the password that sudo may ask for."""

    user: str = "root"
    password: Secret | None = None


def become_of(connection: Connection, privileged: bool) -> Become | None:
    """Say how a script gets its rights on a host: None when it runs as the user who logs in."""
    wanted = privileged and connection.become
    return Become(connection.become_user, connection.become_password) if wanted else None


@dataclass(frozen=True)
class Reply:
    """What to send to the host next; `last` means that nothing follows and its input can be closed."""

    data: bytes = b""
    last: bool = False


@dataclass
class _Stream:
    """What one stream has brought so far, and where its marks stand (-1: not seen yet)."""

    mark: bytes
    heard: bytearray = field(default_factory=bytearray)
    begin: int = -1
    end: int = -1
    status: int = -1

    def hear(self, data: bytes) -> None:
        """Take in `data` and look for the marks in what is new."""
        seam = max(0, len(self.heard) - len(self.mark) - 16)  # a mark may lie across two pieces
        self.heard += data
        if self.begin < 0 and (found := self.heard.find(self.mark + b".begin.", seam)) >= 0:
            self.begin = found + len(self.mark) + len(b".begin.")
        if self.end < 0 and (match := re.compile(re.escape(self.mark) + rb"\.end\.(\d+)\.").search(self.heard, seam)):
            self.end, self.status = match.start(), int(match[1])

    @property
    def framed(self) -> bytes:
        """What stands between the marks."""
        return bytes(self.heard[self.begin : self.end])

    @property
    def noise(self) -> bytes:
        """What was said outside of the marks, for error messages."""
        return bytes(self.heard[: self.begin if self.begin >= 0 else self.end if self.end >= 0 else None])


class Conversation:
    """One run of one script: give it what the host says, send what it returns, until `ended`."""

    def __init__(
        self, host: str, script: str, stdin: bytes, become: Become | None, limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> None:
        if "\0" in script:
            raise ValueError("a shell script cannot hold a NUL character")
        self.host = host
        self.mark = secrets.token_hex(16)
        self._become = become
        self._limit_bytes = limit_bytes
        self._stdout = _Stream(self.mark.encode())
        self._stderr = _Stream(self.mark.encode())
        self._prompts_answered = 0
        inner = INNER.format(mark=self.mark, whole="" if stdin else "1")
        self._payload = f"{inner}{script}\n{self.mark}.script\n".encode("utf-8", "surrogateescape") + stdin
        self._payload_sent = False

    def opening(self) -> Reply:
        """Return what is sent before the host says anything: all of it, unless sudo may ask for a password first."""
        outer = OUTER.format(mark=self.mark, run=self._running()).encode()
        if self._become and self._become.password:
            return Reply(outer)
        self._payload_sent = True
        return Reply(outer + self._payload, last=True)

    def _running(self) -> str:
        """Return the shell words that start the inner shell."""
        plain = f"/bin/sh -c {quote(BOOT)}"
        if self._become is None:
            return plain
        asking = f"-S -p {self.mark}.ask." if self._become.password else "-n"
        inner = f"/bin/sh -c {quote(f'printf %s {READY}; {BOOT}')}"
        raised = f"sudo {asking} -H -u {quote(self._become.user)} -- {inner}"
        already = f'[ "$(id -un)" = {quote(self._become.user)} ]'
        return f"if {already}; then {inner}; else {raised}; fi"

    def hear(self, stdout: bytes, stderr: bytes) -> Reply:
        """Take in what the host said, and return what to send now.

        Raises `CommandFailed` when the host has sent more than the limit.
        """
        for name, stream, data in (("stdout", self._stdout, stdout), ("stderr", self._stderr, stderr)):
            if data:
                stream.hear(data)
            if len(stream.heard) > self._limit_bytes:
                raise CommandFailed(
                    self.host,
                    f"a script wrote more than {self._limit_bytes} bytes to {name}; the rest was not read",
                    hint="The connection to that script was cut there; the script may still be running on the host.",
                )
        return Reply() if self._payload_sent else self._answer()

    def _answer(self) -> Reply:
        """Answer sudo: a password when it asks for one the first time, the script when the shell below it is ready."""
        if READY.encode() in self._stdout.heard:
            self._payload_sent = True
            return Reply(self._payload, last=True)
        asked = self._stderr.heard.count(f"{self.mark}.ask.".encode())
        if asked <= self._prompts_answered or not (self._become and self._become.password):
            return Reply()
        self._prompts_answered += 1
        if self._prompts_answered > 1:  # asked again: the password was wrong, and a script must never be typed as one
            self._payload_sent = True
            return Reply(last=True)
        return Reply(f"{self._become.password.reveal()}\n".encode())

    @property
    def ended(self) -> bool:
        """Whether the end marks have come on both streams."""
        return self._stdout.end >= 0 and self._stderr.end >= 0

    def result(self, seconds: float) -> Result:
        """Return what the script did; call it when `ended`.

        Raises `PrivilegeRefused` when the script was never started because sudo did not let it.
        """
        if self._stdout.begin >= 0 and self._stderr.begin >= 0:
            return Result(self.host, self._stdout.status, self._stdout.framed, self._stderr.framed, seconds)
        if self._become is None:
            raise Unreachable(self.host, f"the shell on the host did not start the script{self._said()}")
        raise self._refused(self._become)

    def _refused(self, become: Become) -> PrivilegeRefused:
        """Make the error for a script that sudo did not start."""
        if self._prompts_answered > 1:
            return PrivilegeRefused(
                self.host,
                f"sudo refused the password (for the user {become.user})",
                hint="Give the right one as ansible_become_password.",
            )
        return PrivilegeRefused(
            self.host,
            f"sudo did not start a shell as {become.user}{self._said()}",
            hint="Give a password as ansible_become_password, or allow the login user NOPASSWD in sudoers.",
        )

    def broken(self, how: str) -> Unreachable:
        """Make the error for a conversation that ended in the middle: `how` says what happened to the way."""
        if self._stdout.begin >= 0:
            hint = "The script may still be running on the host, or have been cut there: look before you repeat it."
            return Unreachable(self.host, f"{how} while a script was running", hint=hint)
        return Unreachable(self.host, f"{how} before the script had started{self._said()}")

    def _said(self) -> str:
        """Quote the last lines that the host said outside of the frame, without the prompt mark."""
        said = (self._stdout.noise + b"\n" + self._stderr.noise).replace(f"{self.mark}.ask.".encode(), b"")
        lines = [printable(line.strip()) for line in said.splitlines() if line.strip()]
        return f"; the host said: {' / '.join(lines[-3:])}" if lines else "; the host said nothing"
