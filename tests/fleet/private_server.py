"""A database server of our own out of a base tree of the lab: private data, a private socket, no network, not root."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

DATA = "/srv/exact"
SOCKET = f"{DATA}/s"
CLIENT = ("mariadb", "--no-defaults", f"--socket={SOCKET}", "--user=root", "-N", "-B", "--unbuffered")
START_SECONDS = 60
FIXED = (
    *("--no-defaults", f"--datadir={DATA}", f"--socket={SOCKET}", "--skip-networking", "--skip-log-bin"),
    *("--innodb-buffer-pool-load-at-startup=0", "--innodb-buffer-pool-dump-at-shutdown=0"),
    *("--innodb-adaptive-hash-index=0", "--innodb-read-ahead-threshold=0", "--innodb-random-read-ahead=0"),
    *("--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=1", "--query-cache-type=0", "--log-error=/srv/log"),
)


@contextmanager
def tree_of_its_own(base: Path, folder: Path) -> Iterator[Path]:
    """Lay a writable overlay over a base tree, make an empty data directory in it, and take it away at the end."""
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    for each in (upper, work, root):
        each.mkdir(parents=True)
    options = f"lowerdir={base},upperdir={upper},workdir={work}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(root)], check=True)
    try:
        (root / DATA.removeprefix("/")).mkdir(parents=True)
        subprocess.run(["chroot", str(root), "chown", "mysql:mysql", DATA, "/srv"], check=True)
        words = ("--no-defaults", "--user=mysql", f"--datadir={DATA}", "--auth-root-authentication-method=socket")
        install = ["chroot", str(root), "mariadb-install-db", "--force", "--skip-test-db", *words]
        subprocess.run(install, check=True, capture_output=True)
        yield root
    finally:
        subprocess.run(["umount", str(root)], check=True)


class PrivateServer:
    """One running server with one client; a context manager that ends both."""

    def __init__(self, root: Path, options: Sequence[str]) -> None:
        self.root = root
        words = ["chroot", "--userspec=mysql:mysql", str(root), "/usr/sbin/mariadbd", *FIXED, *options]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = (self.root / "srv/log").read_text(errors="replace")[-3000:]
                self.__exit__()
                raise RuntimeError(f"the server did not start:\n{log}")
            time.sleep(0.1)
        pipe = subprocess.PIPE
        self.client = subprocess.Popen(["chroot", str(self.root), *CLIENT], stdin=pipe, stdout=pipe, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.client is not None:
            self.client.communicate()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(START_SECONDS)

    def ask(self, sql: str) -> list[list[str]]:
        """Run statements and return the rows of all of them; ends when the client has printed the mark after them."""
        assert self.client is not None
        to, answers = _pipes(self.client)
        to.write(f"{sql};\nSELECT 'end of answer';\n")
        to.flush()
        rows = []
        for line in iter(answers.readline, ""):
            if line == "end of answer\n":
                return rows
            rows.append(line.rstrip("\n").split("\t"))
        raise RuntimeError(f"the client ended at {sql[:200]!r}")

    def _answers(self) -> bool:
        words = ["chroot", str(self.root), *CLIENT, "-e", "SELECT 1"]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _pipes(client: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert client.stdin is not None
    assert client.stdout is not None
    return client.stdin, client.stdout
