"""What `known_hosts` says about a name, and whether the key that a host shows may be believed.

The format is that of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT": optional marker, names (plain, with wildcards and
negation, or hashed), key type, key. Certificate authorities are not followed: paramiko offers no host certificates.
"""

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rollout.errors import UsageProblem


@dataclass(frozen=True)
class KnownKey:
    """One line of a known_hosts file that speaks of the name that was asked for."""

    file: str
    line: int
    kind: str
    key: bytes
    revoked: bool


def fingerprint(key: bytes) -> str:
    """Return the fingerprint of a key as OpenSSH prints it: SHA256 in base64 without padding."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def known_keys(files: tuple[str, ...], name: str) -> tuple[KnownKey, ...]:
    """Return all keys that `files` hold for `name` (`db1`, or `[db1]:2222`). Files that do not exist hold none."""
    return tuple(key for file in files for key in _keys_of(file, name))


def _keys_of(file: str, name: str) -> Iterator[KnownKey]:
    path = Path(file)
    if not path.exists():
        return
    try:
        lines = path.read_text("utf-8", "surrogateescape").splitlines()
    except OSError as fault:
        raise UsageProblem(f"{file} cannot be read: {fault.strerror}", hint="Host keys are looked up there.") from fault
    for number, line in enumerate(lines, 1):
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker not in ("", "@revoked"):
            continue
        names, kind, text = words[:3]
        if _speaks_of(names, name):
            try:
                yield KnownKey(file, number, kind, base64.b64decode(text), marker == "@revoked")
            except binascii.Error:
                continue  # ssh skips a line with a broken key as well: it then knows the host less, never more


def _speaks_of(names: str, name: str) -> bool:
    """Say whether the first field of a line covers `name`."""
    if names.startswith("|1|"):
        return _hashed(names, name)
    covered = False
    for pattern in names.lower().split(","):
        if pattern.startswith("!") and _matches(pattern[1:], name):
            return False
        covered = covered or _matches(pattern, name)
    return covered


def _matches(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]"))  # `[` opens `[host]:port` here and never a set of characters


def _hashed(names: str, name: str) -> bool:
    """Compare with a name that ssh-keygen -H has hashed: `|1|salt|hash`, HMAC-SHA1 in base64."""
    try:
        salt, digest = (base64.b64decode(part) for part in names.split("|")[2:4])
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)


def remember(file: str, name: str, kind: str, key: bytes) -> None:
    """Append a key to a known_hosts file, in one write, making the file and its folder when there is none."""
    path = Path(file)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    broken_end = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    line = f"{name} {kind} {base64.b64encode(key).decode()}\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, (("\n" if broken_end else "") + line).encode())
    finally:
        os.close(descriptor)
