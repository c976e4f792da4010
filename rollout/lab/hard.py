"""Hosts that are hard to work with on purpose, each in one way, as they are found in real life."""

import shlex
from collections.abc import Callable, Sequence

from rollout.lab.layout import Wiring
from rollout.lab.profile import HostProfile

PASSWORD = "rehearsal only"  # noqa: S105 - of users that exist inside the fleet's own network only
SUDOERS = "etc/sudoers.d/admin"
SSHD = "etc/ssh/sshd_config.d/90-rehearsal.conf"
INSTALL = "export DEBIAN_FRONTEND=noninteractive; apt-get install -y -qq --no-install-recommends"


def _plain(_: Sequence[Wiring]) -> HostProfile:
    """Return a host to compare the others with; it is the bastion of the last one."""
    return HostProfile(group="hard", writer=False)


def _unresolvable(_: Sequence[Wiring]) -> HostProfile:
    """Return a host that cannot resolve its own name."""
    return HostProfile(group="hard", writer=False, knows_own_name=False)


def _password(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose sudo wants a password."""
    files = {SUDOERS: "admin ALL=(ALL:ALL) ALL\n"}
    join = f"echo {shlex.quote(f'admin:{PASSWORD}')} | chpasswd"
    return HostProfile(group="hard", writer=False, files=files, join=join, become_password=PASSWORD)


def _requiretty(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose sudo wants a terminal, as those of RHEL 5 to 7 did."""
    files = {SUDOERS: "Defaults requiretty\nadmin ALL=(ALL:ALL) NOPASSWD: ALL\n"}
    return HostProfile(group="hard", writer=False, files=files)


def _fish(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose login shell is no POSIX shell."""
    return HostProfile(group="hard", writer=False, join=f"{INSTALL} fish; chsh -s /usr/bin/fish admin")


def _talkative(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose .bashrc prints on both streams, also for a shell that nobody looks at."""
    files = {"home/admin/.bashrc": "echo 'Welcome to production, handle with care'\necho 'disk almost full' >&2\n"}
    return HostProfile(group="hard", writer=False, files=files)


def _german(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose programs speak German and write decimal commas."""
    generate = "echo 'de_DE.UTF-8 UTF-8' >/etc/locale.gen; locale-gen"
    return HostProfile(
        group="hard",
        writer=False,
        files={"etc/default/locale": "LANG=de_DE.UTF-8\nLC_ALL=de_DE.UTF-8\n"},
        join=f"{INSTALL} locales; {generate}; systemctl restart mariadb",
    )


def _starved(_: Sequence[Wiring]) -> HostProfile:
    """Return a host whose sshd turns logins away at random when more than two are on their way."""
    return HostProfile(group="hard", writer=False, files={SSHD: "MaxStartups 2:100:2\n"})


def _old_order(_: Sequence[Wiring]) -> HostProfile:
    """Return a host that has two host keys, one of which is known, and offers the other first."""
    keys = "HostKey /etc/ssh/ssh_host_rsa_key\nHostKey /etc/ssh/ssh_host_ed25519_key\n"
    files = {SSHD: f"{keys}HostKeyAlgorithms rsa-sha2-512,rsa-sha2-256,ssh-ed25519\n"}
    make = "ssh-keygen -q -t rsa -b 3072 -N '' -f /etc/ssh/ssh_host_rsa_key; systemctl reload ssh"
    return HostProfile(group="hard", writer=False, files=files, join=make)


def _behind_bastion(wires: Sequence[Wiring]) -> HostProfile:
    """Return a host that answers nobody but its neighbours."""
    return HostProfile(group="hard", writer=False, bastion=wires[0].address)


KINDS: tuple[Callable[[Sequence[Wiring]], HostProfile], ...] = (
    *(_plain, _unresolvable, _password, _requiretty, _fish, _talkative, _german, _starved, _old_order),
    _behind_bastion,
)


def hard(wires: Sequence[Wiring]) -> tuple[HostProfile, ...]:
    """Return the profiles of a fleet of hard hosts, one of each kind."""
    return tuple(kind(wires) for kind in KINDS)
