"""The SSH transport against hosts as they are in real life: shells, sudo, locales, noise, a network that goes away."""

import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from transport_contract import LIMIT_BYTES, TransportContract

from rollout.errors import PrivilegeRefused, Unreachable
from rollout.lab.rehearsal import Rehearsal
from rollout.remote.doors import Doors
from rollout.remote.ssh import SshTransport
from rollout.settings import Host, Secret

pytestmark = pytest.mark.fleet
Open = Callable[..., SshTransport]


@pytest.fixture
def open_ssh() -> Iterator[Open]:
    """Open transports to hosts, with another connection if wanted, and close them after the test."""
    opened: list[SshTransport] = []

    def make(host: Host, **changes: object) -> SshTransport:
        connection = replace(host.connection, **changes)  # type: ignore[arg-type] # fields by name
        opened.append(SshTransport(replace(host, connection=connection), doors=Doors()))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()


def user(fleet: Rehearsal, name: str, sudo: str = "", knows: str = "") -> None:
    """Make a user on db1 whom the lab's key opens, with that password and those lines in sudoers."""
    fleet.text(
        "db1",
        f"useradd -m -s /bin/bash {name} && cp -r /home/admin/.ssh /home/{name}/ && chown -R {name}: /home/{name}/.ssh",
    )
    fleet.shell("db1", "chpasswd", f"{name}:{knows or secrets.token_hex(8)}\n".encode())
    if sudo:
        fleet.shell("db1", f"cat >/etc/sudoers.d/{name}; chmod 440 /etc/sudoers.d/{name}", f"{sudo}\n".encode())


@pytest.fixture
def transport(fleet: Rehearsal) -> Iterator[SshTransport]:
    """A way to a host of the fleet, as root through sudo."""
    way = SshTransport(fleet.host("db1"), doors=Doors(), output_limit_bytes=LIMIT_BYTES)
    yield way
    way.close()


class TestContract(TransportContract):
    """Each promise, kept through a real sshd and a real sudo."""


SCRIPT = "id -un; printf '%s|' \"$LC_ALL\" 'it'\"'\"'s' '$HOME' '!!' '\\' `echo t`; cat; echo oops >&2; exit 3"
DATA = bytes(range(256)) * 9000
ANSWER = b"root\nC|it's|$HOME|!!|\\|t|" + DATA


def test_a_plain_host_answers(fleet: Rehearsal, open_ssh: Open) -> None:
    """The lab's login raises its rights without a password, and megabytes come back as they went."""
    result = open_ssh(fleet.host("db1")).run(SCRIPT, DATA)
    assert (result.stdout, result.stderr, result.exit_status) == (ANSWER, b"oops\n", 3)


def test_sudo_with_a_password(fleet: Rehearsal, open_ssh: Open) -> None:
    """Real sudo asks, is answered, and leaves no trace of the password in its log or in the list of processes."""
    password = secrets.token_hex(16)
    host = fleet.dirty("db1")
    user(fleet, "carla", sudo="carla ALL=(ALL:ALL) ALL", knows=password)
    way = open_ssh(host, user="carla", become_password=Secret(password))
    result = way.run(SCRIPT, DATA)
    assert (result.stdout, result.stderr, result.exit_status) == (ANSWER, b"oops\n", 3)
    traces = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /var/log/auth.log 2>/dev/null; journalctl --no-pager"
    seen = way.run(f"# {traces}\n{traces}").stdout
    assert b"carla" in seen
    assert password.encode() not in seen


def test_a_login_with_a_password(fleet: Rehearsal, open_ssh: Open, tmp_path: Path) -> None:
    """A host without keys is opened with the password, and refused with a wrong one."""
    password = secrets.token_hex(16)
    host = fleet.dirty("db1")
    user(fleet, "carla", knows=password)
    fleet.text("db1", "sed -i '1i PasswordAuthentication yes' /etc/ssh/sshd_config; systemctl restart ssh")
    keyless = tmp_path / "no_key"
    way = open_ssh(host, user="carla", become=False, private_key_file=keyless, password=Secret(password))
    assert way.run("id -un").text == "carla\n"
    with pytest.raises(Unreachable, match="the login of carla was refused") as caught:
        open_ssh(host, user="carla", private_key_file=keyless, password=Secret("wrong")).run("true")
    assert "wrong" not in str(caught.value)


def test_sudo_with_a_password_that_is_wrong_or_missing(fleet: Rehearsal, open_ssh: Open) -> None:
    """Both are refusals, told apart, and no line of the script was typed as a password."""
    host = fleet.dirty("db1")
    user(fleet, "carla", sudo="carla ALL=(ALL:ALL) ALL", knows="right")
    with pytest.raises(PrivilegeRefused, match="db1: sudo refused the password"):
        open_ssh(host, user="carla", become_password=Secret("wrong")).run(SCRIPT)
    with pytest.raises(PrivilegeRefused, match="the host said: sudo: a password is required"):
        open_ssh(host, user="carla").run(SCRIPT)
    tries = fleet.text("db1", "journalctl --no-pager -t sudo | grep -c 'incorrect password attempt'")
    assert tries == "1"


def test_a_user_whom_sudoers_does_not_know(fleet: Rehearsal, open_ssh: Open) -> None:
    """What sudo says is quoted; without privilege the same user can run scripts."""
    host = fleet.dirty("db1")
    user(fleet, "guest", knows="secret")
    way = open_ssh(host, user="guest", become_password=Secret("secret"))
    with pytest.raises(PrivilegeRefused, match="guest is not in the sudoers file"):
        way.run("true")
    assert way.run("id -un", privileged=False).text == "guest\n"


def test_requiretty_is_a_refusal(fleet: Rehearsal, open_ssh: Open) -> None:
    """Sudo's own words say that it wants a terminal."""
    host = fleet.dirty("db1")
    user(fleet, "carla", sudo="Defaults:carla requiretty\ncarla ALL=(ALL:ALL) NOPASSWD: ALL")
    with pytest.raises(PrivilegeRefused, match="you must have a tty to run sudo"):
        open_ssh(host, user="carla").run("true")


def test_sudo_with_a_terminal_of_its_own(fleet: Rehearsal, open_ssh: Open) -> None:
    """`use_pty`, the default of newer sudo, spoils no byte of input and output, with and without a password."""
    host = fleet.dirty("db1")
    user(fleet, "carla", sudo="Defaults:carla use_pty\ncarla ALL=(ALL:ALL) ALL", knows="secret")
    user(fleet, "dora", sudo="Defaults:dora use_pty\ndora ALL=(ALL:ALL) NOPASSWD: ALL")
    for way in (open_ssh(host, user="carla", become_password=Secret("secret")), open_ssh(host, user="dora")):
        result = way.run(SCRIPT, DATA)
        assert (result.stdout, result.stderr, result.exit_status) == (ANSWER, b"oops\n", 3)


def test_a_german_host_with_noise_and_no_name(fleet: Rehearsal, open_ssh: Open) -> None:
    """A profile that prints, a locale that is not there, and a name that does not resolve change nothing."""
    host = fleet.dirty("db1")
    user(fleet, "carla", sudo="carla ALL=(root) NOPASSWD: /bin/sh")
    fleet.text(
        "db1",
        "sed -i '1i echo hello; echo warning >&2; export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8' /home/carla/.bashrc; "
        "hostname nowhere; sed -i '/db1/d' /etc/hosts",
    )
    result = open_ssh(host, user="carla").run(SCRIPT, DATA)
    assert (result.stdout, result.stderr, result.exit_status) == (ANSWER, b"oops\n", 3)


def test_a_cut_network_is_noticed_within_a_minute(fleet: Rehearsal, open_ssh: Open) -> None:
    """The way to a host dies without a word while a script runs; the transport says so in time, and comes back."""
    way = open_ssh(fleet.dirty("db1"))
    way.run("true")
    threading.Timer(1.0, fleet.lab.cut_network, ["db1"]).start()
    started = time.monotonic()
    with pytest.raises(Unreachable, match="db1: the connection was lost while a script was running"):
        way.run("sleep 300", timeout_seconds=300)
    assert time.monotonic() - started < 60
    with pytest.raises(Unreachable, match=r"no answer within 10 s|no way there"):
        way.run("true")
    fleet.lab.restore_network("db1")
    assert way.run("echo back").stdout == b"back\n"


def test_a_host_that_is_switched_off(fleet: Rehearsal, open_ssh: Open) -> None:
    """Host down, port closed: each with its own sentence."""
    way = open_ssh(fleet.dirty("db1"))
    fleet.text("db1", "systemctl stop ssh.socket ssh.service")
    with pytest.raises(Unreachable, match="port 22: the connection was refused: nothing listens there"):
        way.run("true")
    fleet.lab.power_off("db1")
    with pytest.raises(Unreachable, match=r"port 22: (no answer within 10 s|no way there: No route to host)"):
        way.run("true")


def test_a_host_key_that_changed(fleet: Rehearsal, open_ssh: Open) -> None:
    """A host that was installed anew is refused, with the fingerprint that it shows itself."""
    host = fleet.dirty("db1")
    fleet.text(
        "db1",
        "cd /etc/ssh && rm ssh_host_*; ssh-keygen -q -t ed25519 -N '' -f ssh_host_ed25519_key; systemctl restart ssh",
    )
    shown = fleet.text("db1", "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").split()[1]
    with pytest.raises(Unreachable, match="shows ANOTHER HOST KEY than the known one") as caught:
        open_ssh(host).run("true")
    assert shown in str(caught.value)


def test_openssh_agrees_that_the_fleet_is_there(fleet: Rehearsal) -> None:
    """The same login works with ssh itself, so a refusal above is no fault of the fleet."""
    done = subprocess.run([*fleet.lab.ssh("db2"), "sudo -n id -un"], capture_output=True, check=False, timeout=30)
    assert done.stdout == b"root\n", done.stderr.decode()
