"""Where an ssh connection really goes: a host's settings, `ssh_config` and `ansible_ssh_*_args` resolved to hops.

OpenSSH's own client resolves them (`ssh -G`), so that Host, Match, Include, canonical names and tokens mean exactly
what they mean to `ssh` and to Ansible. Variables of the inventory go first, as Ansible puts them, and the first value
wins. What cannot be honoured is refused by name.
"""

import getpass
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rollout.errors import UsageProblem
from rollout.printable import printable
from rollout.settings import Connection, Host

CONFIG_FILES = (Path("/etc/ssh/ssh_config"), Path.home() / ".ssh" / "config")
MOST_HOPS = 8
# Options that `ssh -G` resolves and that are followed here, and those that change nothing for a connection of ours
# (multiplexing and keepalive are the transport's own). Everything else is refused.
FOLLOWED = frozenset(
    (
        "connecttimeout",
        "globalknownhostsfile",
        "hostkeyalias",
        "hostname",
        "identitiesonly",
        "identityagent",
        "identityfile",
        "port",
        "proxycommand",
        "proxyjump",
        "stricthostkeychecking",
        "user",
        "userknownhostsfile",
    )
)
WITHOUT_EFFECT = frozenset(
    (
        "batchmode",
        "checkhostip",
        "compression",
        "connectionattempts",
        "controlmaster",
        "controlpath",
        "controlpersist",
        "escapechar",
        "hashknownhosts",
        "ipqos",
        "loglevel",
        "numberofpasswordprompts",
        "requesttty",
        "serveralivecountmax",
        "serveraliveinterval",
        "tcpkeepalive",
        "updatehostkeys",
        "visualhostkey",
    )
)
MAY_BE_OFF = frozenset(
    (
        "forwardagent",
        "forwardx11",
        "forwardx11trusted",
        "gssapiauthentication",
        "permitlocalcommand",
    )
)
FLAGS_WITHOUT_EFFECT = frozenset(["-a", "-C", "-k", "-q", "-T", "-v", "-vv", "-vvv", "-x"])
FLAGS_WITH_VALUE = {"-F": "", "-J": "proxyjump", "-i": "identityfile", "-l": "user", "-p": "port", "-o": ""}


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
    """Return the hops to `host`. Raises `UsageProblem` for options that cannot be followed."""
    connection = host.connection
    arguments = _checked(host.name, connection.ssh_args)
    return _hops(host.name, connection.address or host.name, (*_of_inventory(connection), *arguments), connection, 0)


def _of_inventory(connection: Connection) -> Iterator[str]:
    """Yield the ssh options that stand for the inventory's connection variables."""
    options = {
        "Port": connection.port,
        "User": connection.user,
        "IdentityFile": connection.private_key_file,
        "UserKnownHostsFile": connection.known_hosts_file,
        "GlobalKnownHostsFile": "none" if connection.known_hosts_file else None,
    }
    for name, value in options.items():
        if value is not None:
            yield from ("-o", f'{name}="{value}"' if isinstance(value, Path) else f"{name}={value}")


def _hops(name: str, target: str, options: Sequence[str], connection: Connection, depth: int) -> Route:
    """Resolve `target` and, before it, the hops that its ProxyJump names."""
    if depth > MOST_HOPS:
        raise UsageProblem(
            f"{name}: the ProxyJump lines of ssh_config lead more than {MOST_HOPS} hops deep, or in a circle"
        )
    said = _resolved(name, target, options)
    hop = _hop(name, target, said, connection)
    jumps = said["proxyjump"][0] if said["proxyjump"] else "none"
    if jumps == "none":
        return (hop,)
    # As ssh does it: the first hop of the list goes the way of its own configuration, each further one through the
    # one before it; of our options only the configuration file and the known hosts hold for them too.
    shared = tuple(_for_jumps(options))
    way: Route = ()
    for jump in jumps.split(","):
        address, own = _jump_options(jump)
        further = () if not way else ("-o", "ProxyJump=none", "-o", "ProxyCommand=none")
        way += _hops(address, address, (*own, *further, *shared), replace(connection, port=None, user=None), depth + 1)
    return (*way, hop)


def _for_jumps(options: Sequence[str]) -> Iterator[str]:
    """Yield those of the options that hold for the jump hosts as well."""
    for flag, value in _pairs(options):
        followed = ("userknownhostsfile", "globalknownhostsfile", "identityfile", "stricthostkeychecking")
        if flag == "-F" or (flag == "-o" and _option(value)[0] in followed) or flag == "-i":
            yield from (flag, value)


def _jump_options(jump: str) -> tuple[str, list[str]]:
    """Split `[user@]host[:port]` (or `ssh://…`) into the host and the options for the rest."""
    user, _, place = jump.strip().removeprefix("ssh://").rpartition("@")
    options = ["-l", user] if user else []
    address, colon, port = place.rpartition(":")
    if not colon or (":" in address and not address.endswith("]")):  # no port, or a bare IPv6 address
        return place.strip("[]"), options
    return address.strip("[]"), [*options, "-p", port]


def _resolved(name: str, target: str, options: Sequence[str]) -> defaultdict[str, list[str]]:
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
    timeout = said["connecttimeout"][0] if said["connecttimeout"] else "none"
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
        connect_timeout_seconds=float(timeout) if timeout.isdigit() else connection.connect_timeout_seconds,
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


def _checked(name: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the user's ssh options, or refuse those that cannot be followed."""
    for flag, value in _pairs(arguments):
        option, setting = _option(value) if flag == "-o" else (FLAGS_WITH_VALUE.get(flag, ""), value)
        if flag in FLAGS_WITHOUT_EFFECT or flag == "-F" or (option and _may_stand(option, setting)):
            continue
        shown = printable(f"{flag} {value}".strip())
        hint = (
            "Take it out of ansible_ssh_common_args and ansible_ssh_extra_args of this host, or put it into ssh_config."
        )
        if option == "stricthostkeychecking":
            hint = "Host keys are always checked; `-o StrictHostKeyChecking=accept-new` takes keys of new hosts only."
        raise UsageProblem(f"{name}: the ssh option `{shown}` cannot be honoured", hint=hint)
    return tuple(part for pair in _pairs(arguments) for part in pair if part)


def _may_stand(option: str, setting: str) -> bool:
    """Say whether an option is followed, or changes nothing."""
    if option == "stricthostkeychecking":
        return setting.lower() in ("yes", "true", "ask", "accept-new")
    return option in FOLLOWED | WITHOUT_EFFECT or (option in MAY_BE_OFF and setting.lower() in ("no", "false"))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield flag and value of each option, whether they were written as one word or as two."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        flag = word[:2] if word[:2] in FLAGS_WITH_VALUE else word
        if flag not in FLAGS_WITH_VALUE:
            yield flag, ""
        else:
            yield flag, word[2:] or (rest.pop(0) if rest else "")


def _option(text: str) -> tuple[str, str]:
    """Split `Name=value` or `Name value`."""
    name, _, value = text.strip().replace("=", " ", 1).partition(" ")
    return name.lower(), value.strip().strip('"')
