"""One look at a host: send the probe, take secrets out of what comes back, and read it into facts."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rollout.errors import CommandFailed, PrivilegeRefused
from rollout.facts.frame import FrameProblem
from rollout.facts.model import Facts
from rollout.facts.parse import parse_probe, with_received
from rollout.facts.probe import ProbeRequest, probe_script, request_for
from rollout.facts.recording import RecordedLook
from rollout.facts.redaction import without_secrets
from rollout.remote.transport import Result, Transport
from rollout.settings import Host


@dataclass(frozen=True)
class Look:
    """What one probe brought: the facts, and its output without secrets, fit for a recording.

    `refused` is what the host said when it did not grant root, empty when it did.
    """

    facts: Facts
    raw: bytes
    refused: str = ""

    @property
    def recorded(self) -> RecordedLook:
        """The same look as a row of a recording."""
        return RecordedLook(self.raw, self.facts.taken_at)


def look_at(transport: Transport, host: Host, *, refresh: bool = False, deep: bool = False) -> Look:
    """Probe a host in one round trip; where root is refused, once more without, and what only root sees is unknown.

    `refresh` fetches the package lists into a private directory of the host first, `deep` adds what costs more.
    Raises Unreachable when the way to the host is broken, CommandFailed when what comes back is no whole answer.
    """
    request = request_for(host.settings, refresh=refresh, deep=deep)
    request = replace(request, login=host.connection.database_login)
    refused = ""
    try:
        result = _run(transport, request, privileged=True)
    except PrivilegeRefused as refusal:
        refused = f"{refusal.reason}. {refusal.hint}".rstrip()
        request = replace(request, refusal=refused, sent_at=datetime.now(UTC))
        result = _run(transport, request, privileged=False)
    raw = result.stdout
    if host.connection.kind != "recorded":
        raw = without_secrets(with_received(raw, datetime.now(UTC)))
    try:
        return Look(parse_probe(host.name, raw), raw, refused)
    except FrameProblem as problem:
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        status = f"exit status {result.exit_status}"
        raise CommandFailed(host.name, f"{problem} ({', '.join([status, *said])})") from problem


def _run(transport: Transport, request: ProbeRequest, *, privileged: bool) -> Result:
    script = probe_script(request)
    return transport.run(script, timeout_seconds=request.timeout_seconds, privileged=privileged)
