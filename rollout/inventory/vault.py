"""Ansible Vault: passwords, and texts encrypted with them.

The format is described in Ansible's documentation, "Vault format": a header line, then hex of three hex parts, salt,
HMAC and ciphertext. The key is PBKDF2-HMAC-SHA256 of the password (10 000 rounds, 80 bytes: cipher key, HMAC key,
counter block); the text is padded to 16 bytes and encrypted with AES-256 in counter mode.
"""

import os
import subprocess
from binascii import Error as HexError
from binascii import unhexlify
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

from rollout.errors import UsageProblem
from rollout.settings import Secret

MARK = "$ANSIBLE_VAULT;"
_ROUNDS = 10_000
_DEFAULT_ID = "default"


class VaultProblem(ValueError):
    """A sentence that says why a vaulted text cannot be read."""


@dataclass(frozen=True)
class VaultPassword:
    """A password and its vault id."""

    vault_id: str
    password: Secret


@dataclass(frozen=True)
class Vault:
    """The passwords that were given, in the order in which they are tried."""

    passwords: tuple[VaultPassword, ...] = ()

    def decrypt(self, envelope: str) -> str:
        """Return the text inside; passwords of the envelope's own id are tried first. Raises `VaultProblem`."""
        vault_id, salt, signature, ciphertext = _open(envelope)
        if not self.passwords:
            given = f" (vault id '{vault_id}')" if vault_id != _DEFAULT_ID else ""
            raise VaultProblem(f"is encrypted by Ansible Vault{given}, and no vault password was given")
        for entry in sorted(self.passwords, key=lambda entry: entry.vault_id != vault_id):
            cipher_key, signature_key, counter = _keys(entry.password.reveal().encode(), salt)
            if _is_signed(ciphertext, signature, signature_key):
                return _decipher(ciphertext, cipher_key, counter)
        raise VaultProblem(f"is encrypted by Ansible Vault, and none of {len(self.passwords)} passwords opens it")


def is_vaulted(text: str) -> bool:
    """Tell whether a file's text is a vault envelope."""
    return text.startswith(MARK)


def _open(envelope: str) -> tuple[str, bytes, bytes, bytes]:
    """Return vault id, salt, HMAC and ciphertext of an envelope."""
    header, *lines = envelope.split()
    mark, _, rest = header.partition(";")
    version, cipher, *ids = (part.strip() for part in rest.split(";"))
    if f"{mark};" != MARK or version not in ("1.1", "1.2") or cipher != "AES256":
        raise VaultProblem(f"has a vault header that is not known: {header[:60]}")
    try:
        salt, signature, ciphertext = (unhexlify(part) for part in unhexlify("".join(lines)).split(b"\n", 2))
    except (HexError, ValueError) as error:
        raise VaultProblem("is a vault envelope that is damaged or cut off") from error
    return (ids[0] if ids else _DEFAULT_ID), salt, signature, ciphertext


@lru_cache(maxsize=1024)
def _keys(password: bytes, salt: bytes) -> tuple[bytes, bytes, bytes]:
    derived = PBKDF2HMAC(hashes.SHA256(), length=80, salt=salt, iterations=_ROUNDS).derive(password)
    return derived[:32], derived[32:64], derived[64:]


def _is_signed(ciphertext: bytes, signature: bytes, key: bytes) -> bool:
    check = HMAC(key, hashes.SHA256())
    check.update(ciphertext)
    try:
        check.verify(signature)
    except InvalidSignature:
        return False
    return True


def _decipher(ciphertext: bytes, key: bytes, counter: bytes) -> str:
    decryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor()
    unpadder = padding.PKCS7(128).unpadder()
    padded = decryptor.update(ciphertext) + decryptor.finalize()
    try:
        return (unpadder.update(padded) + unpadder.finalize()).decode("utf-8")
    except ValueError as error:
        raise VaultProblem("is encrypted by Ansible Vault, and holds no UTF-8 text") from error


def password_from(source: str, vault_id: str = _DEFAULT_ID) -> VaultPassword:
    """Read a vault password from a file, or from what the file prints if it is executable. Raises `UsageProblem`."""
    file = Path(source).expanduser()
    if not file.is_file():
        raise UsageProblem(f"the vault password file {source} is not there")
    text = _printed(file, vault_id) if os.access(file, os.X_OK) else file.read_text(encoding="utf-8").strip()
    if not text:
        raise UsageProblem(f"the vault password file {source} is empty")
    return VaultPassword(vault_id, Secret(text))


def _printed(program: Path, vault_id: str) -> str:
    """Run a password program; one whose name ends in `-client` is told the vault id, as Ansible does."""
    words = ["--vault-id", vault_id] if program.stem.endswith("-client") else []
    try:
        done = subprocess.run([str(program.absolute()), *words], capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageProblem(f"the vault password program {program} cannot be run: {error}") from error
    if done.returncode:
        raise UsageProblem(f"the vault password program {program} ended with exit status {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip("\r\n")


def vault_of(files: Iterable[str], identities: Iterable[str], prompt: Secret | None) -> Vault:
    """Gather the passwords of `--vault-id LABEL@FILE`, `--vault-password-file FILE`, and one that was typed."""
    passwords = [_identity(identity) for identity in identities]
    passwords += [password_from(file) for file in files]
    if prompt is not None:
        passwords.append(VaultPassword(_DEFAULT_ID, prompt))
    return Vault(tuple(passwords))


def _identity(identity: str) -> VaultPassword:
    label, at, source = identity.rpartition("@")
    return password_from(source, label if at and label else _DEFAULT_ID)
