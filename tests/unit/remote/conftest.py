"""A real sshd on a loopback port, for the tests of the SSH transport."""

import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rollout.remote.doors import Doors
from rollout.remote.ssh import SshTransport
from rollout.settings import Connection, Host


@dataclass(frozen=True)
class Sshd:
    """A running sshd: where it listens, which key opens it, and which known_hosts file knows it."""

    port: int
    folder: Path
    process: "subprocess.Popen[bytes]"

    @property
    def host(self) -> Host:
        """The inventory row that reaches it."""
        connection = Connection(
            address="127.0.0.1",
            port=self.port,
            user=getpass.getuser(),
            private_key_file=self.folder / "user_key",
            known_hosts_file=self.folder / "known_hosts",
            connect_timeout_seconds=5.0,
            ssh_config_file=Path("none"),
        )
        return Host("db1", connection)

    def with_connection(self, **changes: object) -> Host:
        """Return the host with another connection."""
        return replace(self.host, connection=replace(self.host.connection, **changes))  # type: ignore[arg-type] # fields by name


def tool(name: str) -> str:
    """Return the path of a program, or fail and say what to install."""
    path = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin")
    assert path, (
        f"{name} is needed for the tests of the SSH transport; Debian: apt-get install openssh-server fish tcsh"
    )
    return path


def key(file: Path, kind: str = "ed25519") -> Path:
    """Make a key pair and return the private one."""
    subprocess.run([tool("ssh-keygen"), "-q", "-t", kind, "-N", "", "-f", str(file)], check=True)
    return file


def free_port() -> int:
    """Return a loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_sshd(folder: Path, options: Sequence[str] = ()) -> Sshd:
    """Start an sshd that keeps all its files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    host_key = folder / "host_key"
    if not host_key.exists():
        key(host_key)
        key(folder / "user_key")
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    public = host_key.with_suffix(".pub").read_text().split()[:2]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {' '.join(public)}\n")
    config = [
        *options,  # sshd takes the first value of each option
        "ListenAddress 127.0.0.1",
        f"Port {port}",
        f"HostKey {host_key}",
        f"AuthorizedKeysFile {folder}/authorized_keys",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "UsePAM no",
        "StrictModes no",
        "PidFile none",
        "SetEnv SHLVL=2",  # keeps bash from reading the .bashrc of whoever runs the tests
    ]
    (folder / "sshd_config").write_text("\n".join(config) + "\n")
    if getpass.getuser() == "root":
        Path("/run/sshd").mkdir(
            mode=0o755, exist_ok=True
        )  # sshd wants its empty folder even when it is not the system's
    log = (folder / "log").open("wb")
    with log:
        process = subprocess.Popen([tool("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log)
    sshd = Sshd(port, folder, process)
    wait_for_port(sshd)
    return sshd


def wait_for_port(sshd: Sshd) -> None:
    """Wait until the sshd listens."""
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", sshd.port)) == 0:
                return
        assert sshd.process.poll() is None, (sshd.folder / "log").read_text()
        time.sleep(0.05)
    raise AssertionError(f"sshd does not listen: {(sshd.folder / 'log').read_text()}")


def stop(sshd: Sshd) -> None:
    """End an sshd that `start_sshd` started."""
    sshd.process.terminate()
    sshd.process.wait(10)


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An sshd as Debian would run it."""
    server = start_sshd(tmp_path_factory.mktemp("sshd"))
    yield server
    stop(server)


@pytest.fixture
def make_sshd(tmp_path: Path) -> Iterator[Callable[..., Sshd]]:
    """Start an sshd with options of its own: `make_sshd("MaxStartups 2:100:2", folder="bastion")`."""
    servers: list[Sshd] = []

    def make(*options: str, folder: str = "sshd") -> Sshd:
        servers.append(start_sshd(tmp_path / folder, options))
        return servers[-1]

    yield make
    for server in servers:
        stop(server)


@pytest.fixture
def connect() -> Iterator[Callable[..., SshTransport]]:
    """Open SSH transports that are closed after the test, with doors of their own."""
    doors = Doors()
    opened: list[SshTransport] = []

    def make(host: Host, **options: int) -> SshTransport:
        opened.append(SshTransport(host, doors=doors, **options))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()
