"""Log in to one hop with Fabric, and say in a sentence why it did not work.

Fabric is held to what we resolved: it reads no configuration of its own, gets a fresh `connect_kwargs` for each hop
(it writes into the one it is given), and its policy of accepting any host key is replaced before it connects.
"""

import errno
import logging
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fabric
import paramiko
from paramiko.config import SSHConfig
from paramiko.ssh_exception import NoValidConnectionsError

from rollout.errors import Unreachable
from rollout.printable import printable
from rollout.remote.ssh_config import Hop
from rollout.remote.ssh_keys import HostKeyCheck
from rollout.settings import Secret

# Paramiko reports its own threads' troubles through logging; the exceptions say the same, in a sentence of ours.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

PATIENCE_SECONDS = 45.0  # how long a login is tried again that sshd turned away before its greeting
GREETING_SECONDS = 20.0


@dataclass(frozen=True)
class LoginSecrets:
    """What opens a host: a password, and the passphrase of its private key."""

    password: Secret | None = None
    passphrase: Secret | None = None


def log_in(
    hop: Hop, before: fabric.Connection | None, secrets: LoginSecrets, patience_seconds: float = PATIENCE_SECONDS
) -> fabric.Connection:
    """Return an open connection to `hop`, through `before` if there is a hop before it.

    sshd turns logins away when too many are on their way in (MaxStartups) or a source has failed too often
    (PerSourcePenalties): such a login is tried again, with growing and random pauses, for `patience_seconds`. A network
    that says at once that there is no way gets as long as a host that says nothing, the time of one connection: a cable
    that is out for seconds is told now in the one way and now in the other. Raises `Unreachable`.
    """
    started = time.monotonic()
    pause = 0.2
    while True:
        connection = _made(hop, before, secrets)
        try:
            connection.open()
        except (paramiko.SSHException, EOFError, OSError) as fault:
            connection.client.close()
            if time.monotonic() + pause > started + _patience(hop, fault, patience_seconds):
                raise unreachable(hop, fault) from fault
        except BaseException:  # a refused host key, an interrupt: the socket must not stay open
            connection.client.close()
            raise
        else:
            return connection
        time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, no secret
        pause = min(5.0, pause * 2)


def _made(hop: Hop, before: fabric.Connection | None, secrets: LoginSecrets) -> fabric.Connection:
    """Make a connection that is not open yet."""
    check = HostKeyCheck(hop)
    gateway = before or False  # False: Fabric is to look for none itself
    arguments = {
        "timeout": hop.connect_timeout_seconds,
        "banner_timeout": max(GREETING_SECONDS, hop.connect_timeout_seconds),
        "auth_timeout": max(GREETING_SECONDS, hop.connect_timeout_seconds),
        "channel_timeout": hop.connect_timeout_seconds,
        "key_filename": [file for file in hop.identity_files if Path(file).exists()],
        "allow_agent": hop.ask_agent and "SSH_AUTH_SOCK" in os.environ,
        "look_for_keys": False,
        "password": secrets.password.reveal() if secrets.password else None,
        "passphrase": secrets.passphrase.reveal() if secrets.passphrase else None,
        "transport_factory": check.transport,
    }
    if hop.proxy_command:
        arguments["sock"] = proxy_socket(hop)
    config = fabric.Config(ssh_config=SSHConfig(), lazy=True)
    connection = fabric.Connection(
        hop.address,
        user=hop.user,
        port=hop.port,
        gateway=gateway,
        forward_agent=False,
        connect_kwargs=arguments,
        config=config,
    )
    connection.client.set_missing_host_key_policy(check)
    return connection


def _turned_away(fault: Exception) -> bool:
    """Say whether sshd closed the connection before its greeting: it does so when it is busy, not when it refuses."""
    return isinstance(fault, EOFError | ConnectionResetError) or "protocol banner" in str(fault)


def _patience(hop: Hop, fault: Exception, turned_away_seconds: float) -> float:
    """Say how many seconds after the first try a login is still tried again."""
    if _turned_away(fault):
        return turned_away_seconds
    return hop.connect_timeout_seconds if _no_way(fault) else 0.0


def _no_way(fault: Exception) -> bool:
    """Say whether the network told that it knows no way to the host."""
    causes = fault.errors.values() if isinstance(fault, NoValidConnectionsError) else [fault]
    return any(getattr(cause, "errno", None) in (errno.EHOSTUNREACH, errno.ENETUNREACH) for cause in causes)


def unreachable(hop: Hop, fault: Exception) -> Unreachable:
    """Put the error of a login into a sentence with the place, and with what to do where that is known."""
    message, hint = _reason(hop, fault)
    return Unreachable(hop.name, f"{hop.place}: {message}", hint=hint)


Reason = Callable[[Hop, Exception], tuple[str, str]]


def _reason(hop: Hop, fault: Exception) -> tuple[str, str]:
    """Return message and hint for the first kind of fault in the table that fits."""
    return next(reason(hop, fault) for kind, reason in REASONS if isinstance(fault, kind))


def _no_login(hop: Hop, fault: Exception) -> tuple[str, str]:
    keys = ", ".join(file for file in hop.identity_files if Path(file).exists()) or "no key file"
    missing = ", ".join(file for file in hop.identity_files if not Path(file).exists())
    tried = f"{keys}{' and the agent' if hop.ask_agent and 'SSH_AUTH_SOCK' in os.environ else ''}"
    hint = f"Try: ssh -p {hop.port} {hop.user}@{hop.address}."
    if missing:
        hint += f" These key files are not there: {missing}."
    if isinstance(fault, paramiko.PasswordRequiredException):
        hint += " A key is encrypted: load it into an agent (ssh-add), or give ansible_ssh_private_key_passphrase."
    if "rsa" in keys:
        hint += " An sshd older than OpenSSH 7.2 takes RSA keys with SHA-1 signatures only: use an ed25519 key there."
    return f"the login of {hop.user} was refused (tried: {tried})", hint


def _not_there(hop: Hop, fault: Exception) -> tuple[str, str]:  # noqa: ARG001
    causes = list(fault.errors.values()) if isinstance(fault, NoValidConnectionsError) else [fault]
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "the connection was refused: nothing listens there", "Is sshd running, and is ansible_port right?"
    return f"no way there: {causes[0].strerror if isinstance(causes[0], OSError) else causes[0]}", "Is the host up?"


def _no_answer(hop: Hop, fault: Exception) -> tuple[str, str]:  # noqa: ARG001
    return f"no answer within {hop.connect_timeout_seconds:g} s", "Is the host up, and no firewall in between?"


def _no_name(hop: Hop, fault: Exception) -> tuple[str, str]:  # noqa: ARG001
    return "the name cannot be resolved", "Give the address as ansible_host."


def _no_key_file(hop: Hop, fault: Exception) -> tuple[str, str]:  # noqa: ARG001
    where = getattr(fault, "filename", None)
    return f"{where}: {getattr(fault, 'strerror', fault)}" if where else f"{fault}", ""


def _closed(hop: Hop, fault: Exception) -> tuple[str, str]:
    if "No authentication methods" in str(fault):  # nothing to try: neither a key, nor an agent, nor a password
        return _no_login(hop, fault)
    if _turned_away(fault):
        hint = "Is an sshd listening there? A busy one turns logins away: see MaxStartups, and try fewer --forks."
        return "the connection was closed before any greeting of an sshd", hint
    return (
        f"no SSH connection: {printable(str(fault) or type(fault).__name__)}",
        f"Try: ssh -v -p {hop.port} {hop.address}",
    )


def _no_forward(hop: Hop, fault: Exception) -> tuple[str, str]:  # noqa: ARG001
    text = printable(getattr(fault, "text", str(fault)))
    return f"the hop before it did not connect to it: {text}", "Is the host up, and may the bastion forward to it?"


REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (paramiko.AuthenticationException, _no_login),
    (NoValidConnectionsError, _not_there),
    (socket.gaierror, _no_name),
    (TimeoutError, _no_answer),
    (ConnectionResetError, _closed),
    (ConnectionError, _not_there),
    (OSError, _no_key_file),
    (paramiko.ChannelException, _no_forward),
    (Exception, _closed),
)


def proxy_socket(hop: Hop) -> socket.socket:
    """Start the proxy command of ssh_config with a socket as both its streams, and return the other end.

    Paramiko's own ProxyCommand spins for ever when the command ends; a socket gives an end of file.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        command = ["/bin/sh", "-c", f"exec {hop.proxy_command}"]
        process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=theirs.fileno(), start_new_session=True)
    threading.Thread(target=process.wait, name="rollout-proxy", daemon=True).start()  # it ends when our end is closed
    return ours
