"""The check of host keys, in the place where Fabric would accept any key, and the order in which keys are asked for."""

import logging

import paramiko

from rollout.errors import Unreachable
from rollout.remote.known_hosts import KnownKey, fingerprint, known_keys, remember
from rollout.remote.ssh_config import Hop

LOG = logging.getLogger(__name__)


class HostKeyCheck(paramiko.MissingHostKeyPolicy):
    """Refuses unknown, changed and revoked keys. Paramiko is given no known keys, so that every key comes here."""

    def __init__(self, hop: Hop) -> None:
        self._hop = hop
        self._known = known_keys(hop.known_hosts_files, hop.key_name)

    def transport(self, sock: object, disabled_algorithms: dict[str, list[str]] | None = None) -> paramiko.Transport:
        """Make a transport that asks for the types of key first that are known of this host, as ssh does.

        Without that a host with several keys would show one that is not in known_hosts.
        """
        transport = paramiko.Transport(sock, disabled_algorithms=disabled_algorithms)  # type: ignore[arg-type] # any object with the methods of a socket
        options = transport.get_security_options()
        kinds = {kind for key in self._known if not key.revoked for kind in _algorithms(key.kind)}
        options.key_types = tuple(sorted(options.key_types, key=lambda kind: kind not in kinds))
        return transport

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:  # noqa: ARG002 - the signature is paramiko's
        """Return when the key is the known one, or may be learnt; raise `Unreachable` otherwise."""
        shown = key.asbytes()
        if any(known.revoked and known.key == shown for known in self._known):
            raise self._refused(f"shows the key {fingerprint(shown)}, which known_hosts marks as revoked")
        if any(known.key == shown for known in self._known):
            return
        trusted = [known for known in self._known if not known.revoked]
        if trusted:
            raise self._changed(trusted, key)
        if not self._hop.accept_new_key:
            raise self._unknown(key)
        self._learn(key)

    def _refused(self, message: str, hint: str = "") -> Unreachable:
        return Unreachable(self._hop.name, f"{self._hop.place} {message}", hint=hint)

    def _file(self) -> str:
        return self._hop.known_hosts_files[0] if self._hop.known_hosts_files else "~/.ssh/known_hosts"

    def _unknown(self, key: paramiko.PKey) -> Unreachable:
        return self._refused(
            f"shows a host key that is not known: {key.get_name()} {fingerprint(key.asbytes())}",
            hint=(
                "Compare it on the host's console: ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub. If it is the same, add "
                f"it: ssh-keyscan -p {self._hop.port} {self._hop.address} >> {self._file()}; or take keys of new hosts "
                "as they come, with ansible_ssh_common_args: -o StrictHostKeyChecking=accept-new"
                + (f" (it is looked up as {self._hop.key_name})" if self._hop.key_name not in self._hop.address else "")
            ),
        )

    def _changed(self, known: list[KnownKey], key: paramiko.PKey) -> Unreachable:
        first = known[0]
        return self._refused(
            f"shows ANOTHER HOST KEY than the known one: {key.get_name()} {fingerprint(key.asbytes())}, "
            f"but {first.file}:{first.line} has {first.kind} {fingerprint(first.key)}",
            hint=(
                "Somebody may stand in between, or the host was installed anew. Only if you know that it was: "
                f"ssh-keygen -R '{self._hop.key_name}' -f {first.file}, then add the new key."
            ),
        )

    def _learn(self, key: paramiko.PKey) -> None:
        """Write down the key of a host that was never seen, and say so."""
        remember(self._file(), self._hop.key_name, key.get_name(), key.asbytes())
        found = f"{key.get_name()} {fingerprint(key.asbytes())}"
        LOG.warning("%s: new host key accepted and written to %s: %s", self._hop.name, self._file(), found)


def _algorithms(kind: str) -> tuple[str, ...]:
    """Name the signature algorithms that go with a type of key (RFC 8332 for RSA)."""
    return ("rsa-sha2-512", "rsa-sha2-256") if kind == "ssh-rsa" else (kind,)
