"""Where an ssh connection really goes: a host's connection variables and `ssh_config` resolved to hops.

OpenSSH's own client resolves them (`ssh -G`), so that Host, Match, Include, canonical names and tokens mean exactly
what they mean to `ssh` and to Ansible. Variables of the inventory go first, as Ansible puts them, and the first value
wins.
"""

import getpass
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rollout.errors import UsageProblem
from rollout.printable import printable
from rollout.settings import Connection, Host

MOST_HOPS = 8


@dataclass(frozen=True)
class Hop:
    """One sshd on the way: where it listens, who logs in there, and whose key it has to show."""

    name: str
    address: str
    port: int
    user: str
    identity_files: tuple[str, ...]
    ask_agent: bool
    key_name: str
    known_hosts_files: tuple[str, ...]
    accept_new_key: bool
    connect_timeout_seconds: float
    proxy_command: str = ""

    @property
    def place(self) -> str:
        """Name the hop in a message."""
        return f"{self.address} port {self.port}"


Route = tuple[Hop, ...]  # from the first sshd that we talk to, to the host itself


def route_to(host: Host) -> Route:
    """Return the hops to `host`. Raises `UsageProblem` when ssh_config cannot be followed."""
    return _hops(host.name, host.connection.address or host.name, (), host.connection, 0)


def _of_inventory(connection: Connection) -> Iterator[str]:
    """Yield the ssh options that stand for the inventory's connection variables."""
    if connection.ssh_config_file:
        yield from ("-F", str(connection.ssh_config_file))
    options = {
        "Port": connection.port,
        "User": connection.user,
        "IdentityFile": _quoted(connection.private_key_file),
        "UserKnownHostsFile": _quoted(connection.known_hosts_file),
        "HostKeyAlias": connection.host_key_alias,
        "ProxyJump": connection.proxy_jump,
        "ProxyCommand": connection.proxy_command,
    }
    for name, value in options.items():
        if value is not None:
            yield from ("-o", f"{name}={value}")


def _quoted(file: Path | None) -> str | None:
    return f'"{file}"' if file else None


def _hops(name: str, target: str, first: tuple[str, ...], connection: Connection, depth: int) -> Route:
    """Resolve `target` and, before it, the hops that its ProxyJump names. Options in `first` win over all others."""
    if depth > MOST_HOPS:
        hint = f"The ProxyJump lines of ssh_config lead more than {MOST_HOPS} hops deep, or in a circle."
        raise UsageProblem(f"{name}: no end to the hops", hint=hint)
    said = _resolved(name, target, (*first, *_of_inventory(connection)))
    hop = _hop(name, target, said, connection)
    jumps = said["proxyjump"][0] if said["proxyjump"] else "none"
    if jumps == "none":
        return (hop,)
    # As ssh does it: the first hop of the list goes the way of its own configuration, each further one through the
    # one before it. Of the host's own variables those hold for the hops too that say who is trusted, and with what.
    shared = replace(connection, port=None, user=None, host_key_alias=None, proxy_jump=None, proxy_command=None)
    way: Route = ()
    for jump in jumps.split(","):
        address, own = _jump_options(jump)
        straight = ("-o", "ProxyJump=none", "-o", "ProxyCommand=none") if way else ()
        way += _hops(address, address, (*own, *straight), shared, depth + 1)
    return (*way, hop)


def _jump_options(jump: str) -> tuple[str, tuple[str, ...]]:
    """Split `[user@]host[:port]` (or `ssh://…`) into the host and the options for the rest."""
    user, _, place = jump.strip().removeprefix("ssh://").rpartition("@")
    options: tuple[str, ...] = ("-l", user) if user else ()
    address, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):  # no port; the last colon may be one of an IPv6 address in brackets
        return place.strip("[]"), options
    return address.strip("[]"), (*options, "-p", port)


def _resolved(name: str, target: str, options: tuple[str, ...]) -> defaultdict[str, list[str]]:
    """Ask OpenSSH what `target` means; keys in small letters, each with all its values."""
    command = ["ssh", "-G", *options, "--", target]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=30)
    except FileNotFoundError as fault:
        raise UsageProblem(
            "OpenSSH's client (`ssh`) is not installed here; it is needed to read ssh_config",
            hint="Debian: apt-get install openssh-client",
        ) from fault
    except subprocess.TimeoutExpired as fault:
        raise UsageProblem(f"{name}: `ssh -G {target}` did not end within 30 s (a `Match exec` that hangs?)") from fault
    if done.returncode:
        raise UsageProblem(f"{name}: ssh cannot read its configuration: {printable(done.stderr.strip())}")
    values: defaultdict[str, list[str]] = defaultdict(list)
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        key, _, value = line.partition(" ")
        values[key.lower()].append(value)
    return values


def _hop(name: str, target: str, said: defaultdict[str, list[str]], connection: Connection) -> Hop:
    """Turn the answer of `ssh -G` into a hop."""
    address, port, user = said["hostname"][0], int(said["port"][0]), said["user"][0]
    tokens = {
        "h": address,
        "p": str(port),
        "r": user,
        "n": target,
        "u": getpass.getuser(),
        "d": str(Path.home()),
        "%": "%",
    }
    files = (*said["userknownhostsfile"], *said["globalknownhostsfile"])
    alias = said["hostkeyalias"][0] if said["hostkeyalias"] else ""
    command = said["proxycommand"][0] if said["proxycommand"] else "none"
    keys = dict.fromkeys(_expanded(name, file, tokens) for file in said["identityfile"])
    return Hop(
        name=name,
        address=address,
        port=port,
        user=user,
        identity_files=tuple(keys),
        ask_agent="yes" not in said["identitiesonly"] and "none" not in said["identityagent"],
        key_name=alias or (address.lower() if port == 22 else f"[{address.lower()}]:{port}"),
        known_hosts_files=tuple(file for line in files for file in line.split() if file != "none"),
        accept_new_key="accept-new" in (connection.host_key_policy, said["stricthostkeychecking"][0]),
        connect_timeout_seconds=connection.connect_timeout_seconds,
        proxy_command="" if command == "none" else _expanded(name, command, tokens),
    )


def _expanded(name: str, text: str, tokens: dict[str, str]) -> str:
    """Replace `~` at the start and the %-tokens of ssh_config."""
    done = str(Path(text).expanduser()) if text.startswith("~") else text
    parts = done.split("%")
    result = parts.pop(0)
    while parts:
        part = parts.pop(0)
        token = part[:1] or "%"
        if token not in tokens:
            raise UsageProblem(f"{name}: the token %{token} in {printable(text)} of ssh_config is not supported")
        result += tokens[token] + (part[1:] if part else parts.pop(0) if parts else "")
    return result
