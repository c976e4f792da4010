"""Hosts that are hard to work with on purpose: each is so in its way, and only in this."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from rollout.lab.fleet import Fleet, down, up
from rollout.lab.layout import Place

pytestmark = pytest.mark.fleet


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Bring up one host of each kind; nothing here changes them."""
    place = Place(tmp_path_factory.mktemp("state"), f"h{os.getpid()}")
    try:
        yield up(place, topology="hard", writer=False)
    finally:
        down(place)


def ssh(fleet: Fleet, host: str, command: str, *options: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command on a host as anybody would who has the fleet's key."""
    *words, target = fleet.ssh(host)
    return subprocess.run([*words, *options, target, command], capture_output=True, check=False)


def test_the_plain_host_is_plain(hard: Fleet) -> None:
    """The host that the others are compared with answers without a word too many."""
    ended = ssh(hard, "db1", "sudo -n id -un")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"root\n", b"")


def test_sudo_is_hard_in_three_ways(hard: Fleet) -> None:
    """One host complains about its name, one wants a password and takes it, one wants a terminal."""
    assert b"unable to resolve host db2" in ssh(hard, "db2", "sudo -n true").stderr
    assert ssh(hard, "db3", "sudo -n true").returncode == 1
    assert ssh(hard, "db3", "echo 'rehearsal only' | sudo -S -p '' id -un").stdout == b"root\n"
    assert b"must have a tty" in ssh(hard, "db4", "sudo -n true").stderr


def test_shells_are_hard_in_three_ways(hard: Fleet) -> None:
    """One login shell is fish, one prints on both streams, one speaks German."""
    assert ssh(hard, "db5", "echo $version; status fish-path").stdout.endswith(b"/usr/bin/fish\n")
    talk = ssh(hard, "db6", "true")
    assert b"Welcome to production" in talk.stdout
    assert b"disk almost full" in talk.stderr
    assert b"Datei oder Verzeichnis nicht gefunden" in ssh(hard, "db7", "ls /nothing").stderr


def test_sshd_is_hard_in_two_ways(hard: Fleet) -> None:
    """One sshd turns the third login on its way away; one offers first the host key that is not known."""
    assert "maxstartups 2:100:2" in hard.shell("db8", "sshd -T").stdout.decode()
    assert ssh(hard, "db9", "hostname").stdout == b"db9\n"
    refused = ssh(hard, "db9", "hostname", "-o", "HostKeyAlgorithms=rsa-sha2-512")
    assert b"Host key verification failed" in refused.stderr
    offered = subprocess.run(
        ["ssh-keyscan", "-T", "5", hard.host("db9").connection.address], capture_output=True, check=True
    )
    assert {line.split()[1] for line in offered.stdout.splitlines()} == {b"ssh-rsa", b"ssh-ed25519"}


def test_one_host_can_be_reached_through_the_bastion_only(hard: Fleet) -> None:
    """Directly there is no answer, through db1 there is, and it is so again after the host has rebooted."""
    target = hard.ssh("db10")[-1]
    for _ in range(2):
        alone = subprocess.run(
            [*hard.ssh("db1")[:-1], "-o", "ConnectTimeout=2", target, "true"], capture_output=True, check=False
        )
        assert b"timed out" in alone.stderr
        assert ssh(hard, "db10", "hostname").stdout == b"db10\n"
        hard.reboot("db10")
    assert f"ProxyJump=admin@{hard.host('db1').connection.address}" in hard.inventory.read_text()
