"""The way to a host: one method, `run`, over SSH, on this machine, from a recording, or on a scripted fake."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from rollout.errors import UsageProblem
from rollout.remote.local import LocalTransport
from rollout.remote.recorded import RecordedTransport
from rollout.remote.transport import Result, Transport
from rollout.settings import Host

__all__ = ["Forwarded", "Result", "Transport", "open_forward", "open_transport"]


class Forwarded(Protocol):
    """A port of a host behind the Unix socket `path` on this machine."""

    path: Path


def open_transport(host: Host) -> Transport:
    """Return the transport that `host.connection` asks for. Nothing is connected before the first `run`.

    Fabric is loaded for an ssh host only: it costs a third of a second that a recorded run must not pay.
    """
    if host.connection.kind == "local":
        return LocalTransport(host)
    if host.connection.kind == "recorded":
        if host.connection.recording is None:
            raise UsageProblem(f"{host.name}: ansible_connection is `recorded`, but no recording is named for it")
        return RecordedTransport(host.name, host.connection.recording)
    from rollout.remote.ssh import SshTransport  # noqa: PLC0415 - Fabric and Paramiko are slow to load

    return SshTransport(host)


def open_forward(host: Host, address: str, port: int) -> AbstractContextManager[Forwarded]:
    """Return a way from a Unix socket of ours to a port of an ssh host; entering it raises `Unreachable`."""
    if host.connection.kind != "ssh":
        raise UsageProblem(f"{host.name}: only a host behind SSH has ports that can be brought here")
    from rollout.remote.ssh_forward import Forward  # noqa: PLC0415 - as above

    return Forward(host, address, port)
