"""Hosts that are hard to work with on purpose: each is so in its way, and only in this."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from equal_facts import ABSENT, differing, fields_of, named_in_vain
from product import Product

from rollout.errors import PrivilegeRefused
from rollout.facts.model import Facts
from rollout.lab.fleet import Fleet, down, up
from rollout.lab.hard import PASSWORD
from rollout.lab.layout import Place
from rollout.remote import open_transport
from rollout.remote.probing import look_at
from rollout.settings import Host

pytestmark = pytest.mark.fleet

WANTS_TTY = "sudo: sorry, you must have a tty to run sudo"
RIGHT_ONE = "Give the right one as ansible_become_password."
WITHOUT_ROOT = "the probe did not run as root, so what only root sees is unknown:"


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


def facts_of(host: Host) -> Facts:
    """Look at a host once, as `rollout facts` does."""
    transport = open_transport(host)
    try:
        return look_at(transport, host).facts
    finally:
        transport.close()


def test_facts_of_hard_hosts_are_those_of_a_plain_host(hard: Fleet) -> None:
    """Field by field, save a named list; where sudo wants a terminal, all that can be seen without root."""
    hosts = {host.name: host for host in hard.hosts}
    plain = facts_of(hosts.pop("db1"))
    assert named_in_vain(plain) == []
    found = {name: differing(plain, facts_of(host)) for name, host in hosts.items()}
    refused = found.pop("db4")
    assert {name: fields for name, fields in found.items() if fields} == {}
    assert len(found) == 8
    assert len(fields_of(plain)) > 1500
    assert refused["system.privileged"] == (True, False)
    unseen = {name for name, (_, there) in refused.items() if there is None}
    assert len(unseen) > 30
    assert [name for name in unseen if f"unknown.{name}" not in refused] == []
    seen = {name for name, (_, there) in refused.items() if there not in (None, ABSENT)}
    assert {name for name in seen if not name.startswith("unknown.")} == {"system.privileged", "notes"}
    changed = replace(plain, system=replace(plain.system, cores=3), notes=("new",))
    assert differing(plain, changed).keys() == {"system.cores", "notes"}


def said(inventory: Path, host: str) -> list[str]:
    """Return what `rollout facts` says on stderr of a host that it is refused by."""
    ran = Product(inventory, inventory.parent / "state").run("facts", str(inventory), "--host", host, expect=None)
    assert ran.code != 0
    return [" ".join(line.split()) for line in ran.err.splitlines() if line.strip()]


def known_as(hard: Fleet, folder: Path, known_hosts: str) -> Path:
    """Write an inventory of the fleet that knows other host keys."""
    (folder / "known_hosts").write_text(known_hosts)
    path = folder / "inventory.yml"
    path.write_text(hard.inventory.read_text().replace(str(hard.place.known_hosts), str(folder / "known_hosts")))
    return path


def test_an_unknown_and_a_changed_key_as_printed(hard: Fleet, tmp_path: Path) -> None:
    """Both name the place, the key that was shown, and what to do; a changed one also the line that is not met."""
    address = hard.host("db1").connection.address
    shown = hard.shell("db1", "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").stdout.decode().split()[1]
    unknown = "\n".join(said(known_as(hard, tmp_path, ""), "db1"))
    assert f"shows a host key that is not known: ssh-ed25519 {shown}" in unknown
    assert f"ssh-keyscan -p 22 {address} >> {tmp_path}/known_hosts" in unknown
    lines = hard.place.known_hosts.read_text().splitlines()
    theirs = next(line.partition(" ")[2] for line in lines if not line.startswith(f"{address} "))
    changed = "\n".join(said(known_as(hard, tmp_path, f"{address} {theirs}\n"), "db1"))
    assert f"shows ANOTHER HOST KEY than the known one: ssh-ed25519 {shown}" in changed
    assert f"{tmp_path}/known_hosts:1 has ssh-ed25519" in changed
    assert f"ssh-keygen -R '{address}' -f {tmp_path}/known_hosts" in changed
    assert (tmp_path / "known_hosts").read_text() == f"{address} {theirs}\n"  # nothing was learnt


def test_a_wrong_password_for_sudo_as_printed(hard: Fleet, tmp_path: Path) -> None:
    """It is refused once, and said to be wrong, not missing; the password itself is not printed."""
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(hard.inventory.read_text().replace(PASSWORD, "of yesterday"))
    printed = "\n".join(said(inventory, "db3"))
    assert f"db3: {WITHOUT_ROOT} sudo refused the password (for the user root). {RIGHT_ONE}" in printed
    assert "of yesterday" not in printed


def test_a_sudo_that_wants_a_terminal_as_printed(hard: Fleet, tmp_path: Path) -> None:
    """There is none to give: the host's own words, and what to do."""
    printed = "\n".join(said(known_as(hard, tmp_path, hard.place.known_hosts.read_text()), "db4"))
    assert f"db4: {WITHOUT_ROOT} sudo did not start a shell as root; the host said: {WANTS_TTY}" in printed
    with pytest.raises(PrivilegeRefused, match="you must have a tty"):
        open_transport(hard.host("db4")).run("true")
