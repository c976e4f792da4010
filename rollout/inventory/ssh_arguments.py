"""The options inside `ansible_ssh_common_args` and its relatives: understood one by one, or refused by name.

What is understood is what OpenSSH's ssh_config(5) says of the option. Options that only tune OpenSSH's own sharing of
connections, or its messages, are met by the way this program works (one connection a host, kept alive, never a
question, no agent forwarded) and change nothing.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_SHORT = {"p": "Port", "l": "User", "i": "IdentityFile", "J": "ProxyJump"}
_CONFIG_FILE = "F"
# Option, in lower case, to the field of `Connection` that it sets.
_FIELDS = {
    "port": "port",
    "user": "user",
    "identityfile": "private_key_file",
    "proxyjump": "proxy_jump",
    "proxycommand": "proxy_command",
    "userknownhostsfile": "known_hosts_file",
    "hostkeyalias": "host_key_alias",
    "stricthostkeychecking": "host_key_policy",
    "connecttimeout": "connect_timeout_seconds",
}
_POLICIES = {"yes": "strict", "true": "strict", "accept-new": "accept-new"}
# Option to the values under which it says what happens here anyway; None stands for any value.
_MET: dict[str, frozenset[str] | None] = {
    "controlmaster": None,
    "controlpath": None,
    "controlpersist": None,
    "serveraliveinterval": None,
    "serveralivecountmax": None,
    "tcpkeepalive": None,
    "loglevel": None,
    "batchmode": frozenset({"yes"}),
    "forwardagent": frozenset({"no"}),
    "forwardx11": frozenset({"no"}),
}
_MET_FLAGS = frozenset({"-q", "-v", "-vv", "-vvv", "-a", "-x", "-T"})


@dataclass
class SshArguments:
    """Fields of `Connection` by name, as texts, and a sentence for each option that cannot be honoured."""

    fields: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def read_ssh_arguments(text: str) -> SshArguments:
    """Read a line of ssh options; as in ssh, the first value of an option counts."""
    read = SshArguments()
    try:
        words = iter(shlex.split(text))
    except ValueError as error:
        read.refused.append(f"cannot be split into words: {error}")
        return read
    for word in words:
        if word not in _MET_FLAGS:
            _read_word(word, words, read)
    return read


def _read_word(word: str, more: Iterator[str], read: SshArguments) -> None:
    letter = word[1:2]
    if not word.startswith("-") or letter not in {"o", _CONFIG_FILE, *_SHORT}:
        read.refused.append(f"'{word}' is not understood and would be ignored: take it out or write it as `-o`")
        return
    value = word[2:] or next(more, "")
    if letter == _CONFIG_FILE:
        read.fields.setdefault("ssh_config_file", value)
    elif letter == "o":
        _read_option(value, read)
    else:
        _read_option(f"{_SHORT[letter]}={value}", read)


def _read_option(assignment: str, read: SshArguments) -> None:
    name, _, value = (part.strip() for part in assignment.replace(" ", "=", 1).partition("="))
    if "=" in assignment:
        name, _, value = (part.strip() for part in assignment.partition("="))
    option = name.lower()
    if option == "stricthostkeychecking":
        _read_policy(value, read)
    elif option in _FIELDS:
        read.fields.setdefault(_FIELDS[option], value.strip('"'))
    elif option not in _MET or not _is_met(option, value):
        read.refused.append(f"the ssh option {name}={value} cannot be honoured: take it out")


def _read_policy(value: str, read: SshArguments) -> None:
    policy = _POLICIES.get(value.lower())
    if policy:
        read.fields.setdefault("host_key_policy", policy)
        return
    read.refused.append(
        f"StrictHostKeyChecking={value} is no policy here: write yes, or accept-new to learn the keys of new hosts"
    )


def _is_met(option: str, value: str) -> bool:
    values = _MET[option]
    return values is None or value.lower() in values
