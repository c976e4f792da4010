"""A load from this machine: sysbench runs here, and its questions reach the server's own port on the host through SSH.

do.sh on the host asks for each run with a file in its folder and waits for the report, which comes back as another.
The login is an account of this run alone, which may read the run's own schema from the host itself. Its password is
known to the controller only: the host gets the hash, sysbench the text on its standard input.
"""

import hashlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rollout.engine.steps import HostRun
from rollout.errors import RolloutError, Unreachable, WrongState
from rollout.remote import open_forward, open_transport
from rollout.remote.transport import Transport
from rollout.settings import Secret

ALIVE_SECONDS = 5.0  # the host hears of us this often, while nothing else is said
STEP_SECONDS = 0.05
ASKED = """\
cd -- {here} 2>/dev/null || exit 0
touch alive
tries=0
while [ "$tries" -lt 50 ] && [ ! -e turn-{number} ]; do tries=$(( tries + 1 )); sleep 0.1; done
if [ -e turn-{number} ]; then echo asked; fi
"""
ANSWER = """\
cd -- {here} && touch alive && cat >turn-{number}.out && echo {status} >turn-{number}.new &&
mv -- turn-{number}.new turn-{number}.rc
"""


@dataclass(frozen=True)
class ControllerLoad:
    """`runs` are the arguments of every run of sysbench, in the order in which do.sh asks for them."""

    sysbench: str
    script: Path
    runs: tuple[tuple[str, ...], ...]
    address: str  # on which the server listens, as the host sees it
    port: int
    schema: str  # and the name of the account
    password: Secret

    @property
    def account_sql(self) -> str:
        """The statements that make the account: it comes from the host itself and may read one schema."""
        account = f"'{self.schema}'@'{self.address}'"
        return (
            f"CREATE USER {account} IDENTIFIED BY PASSWORD '{native_hash(self.password)}';\n"
            f"GRANT SELECT ON `{self.schema.replace('_', chr(92) + '_')}`.* TO {account};\n"
        )

    def check(self, run: HostRun) -> None:
        """See that the host lets us through to its port; raises `WrongState` when it does not."""
        try:
            with open_forward(run.host, self.address, self.port):
                return
        except Unreachable as error:
            told = "no load is put on it: sysbench would run on the controller, and has no way to the server"
            hint = "Install sysbench on the host (Debian's package sysbench), or let its sshd forward."
            raise WrongState(run.name, f"{told}: {error.reason}", hint=hint) from error

    @contextmanager
    def during(self, run: HostRun) -> Iterator[list[str]]:
        """Give the load whenever the host asks for it. What went wrong on our side is in the list by the end."""
        over, told = threading.Event(), list[str]()
        worker = threading.Thread(target=self._serve, args=(run, over, told), name="rollout-load")
        worker.start()
        try:
            yield told
        finally:
            over.set()
            worker.join()

    def _serve(self, run: HostRun, over: threading.Event, told: list[str]) -> None:
        secret = run.host.settings.secret_variables
        environment = {name: value for name, value in os.environ.items() if name not in secret}
        try:
            with open_forward(run.host, self.address, self.port) as way, closing(open_transport(run.host)) as transport:
                for number, arguments in enumerate(self.runs, 1):
                    if not _asked(transport, run.here, number, over):
                        return
                    watch = _Watch(transport, run.here, over)
                    status, said = self.run_once(way.path, arguments, environment, watch.over)
                    text = ANSWER.format(here=quote(run.here), number=number, status=status)
                    transport.run(text, said).check("handing over sysbench's report")
        except RolloutError as error:
            told.append(error.message)

    def run_once(
        self, path: Path, arguments: Sequence[str], environment: Mapping[str, str], stop: Callable[[], bool]
    ) -> tuple[int, bytes]:
        """Run sysbench to its end, or until `stop` says so; return its exit status and all that it said."""
        login = [f"--mysql-socket={path}", f"--mysql-user={self.schema}", f"--mysql-db={self.schema}"]
        command = [self.sysbench, "--config-file=/dev/stdin", str(self.script), *login, *arguments, "run"]
        pipe = subprocess.PIPE
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    command, stdin=pipe, stdout=said, stderr=subprocess.STDOUT, env=environment, start_new_session=True
                )
            except OSError as error:
                return 127, f"{self.sysbench}: {error.strerror}\n".encode()
            try:
                _tell(process, f"mysql-password={self.password.reveal()}\n".encode())
                while process.poll() is None and not stop():
                    time.sleep(STEP_SECONDS)
            finally:
                _end(process)
            said.seek(0)
            return process.returncode, said.read()


class _Watch:
    """Tells the host now and then that we are still there, while a run lasts."""

    def __init__(self, transport: Transport, here: str, over: threading.Event) -> None:
        self._over = over
        self._transport = transport
        self._text = f"touch -- {quote(here)}/alive"
        self._next = time.monotonic() + ALIVE_SECONDS

    def over(self) -> bool:
        """Return whether nobody wants the run any more."""
        if time.monotonic() >= self._next:
            self._transport.run(self._text)
            self._next = time.monotonic() + ALIVE_SECONDS
        return self._over.is_set()


def native_hash(password: Secret) -> str:
    """Return what mysql_native_password keeps of a password: SHA-1 of its SHA-1, in hexadecimal behind an asterisk."""
    once = hashlib.sha1(password.reveal().encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()


def listens_at(bind_address: str) -> str:
    """Return the address on which a server is reached from its own host, by its bind_address; loopback for all."""
    first = bind_address.split(",", maxsplit=1)[0].strip()
    return "127.0.0.1" if first in ("", "*", "0.0.0.0", "::", "localhost") else first  # noqa: S104 - compared only


def _asked(transport: Transport, here: str, number: int, over: threading.Event) -> bool:
    """Wait until the host asks for a run; False when it is over before that."""
    while not over.is_set():
        text = ASKED.format(here=quote(here), number=number)
        if transport.run(text).check("looking for what is asked for").text.strip():
            return True
    return False


def _tell(process: "subprocess.Popen[bytes]", text: bytes) -> None:
    if process.stdin:
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(text)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what still runs."""
    for end in (process.terminate, process.kill):
        if process.poll() is None:
            end()
            with suppress(subprocess.TimeoutExpired):
                process.wait(2.0)
