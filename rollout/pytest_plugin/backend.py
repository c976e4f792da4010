"""Two bridges to testinfra: our connections as a backend of its own, and any of its backends as a transport of ours."""

import base64
import gzip
import time
from collections.abc import Callable
from typing import Any, ClassVar

import testinfra.backend
from testinfra.backend.base import BaseBackend, CommandResult

from rollout.errors import Unreachable, UsageProblem
from rollout.remote import open_transport
from rollout.remote.transport import Result, Transport
from rollout.settings import Host

SCHEME = "rollout"
COMMAND_SECONDS = 600.0


class RolloutBackend(BaseBackend):  # type: ignore[misc] # testinfra carries no type information
    """testinfra's `host` over the connection that the inventory describes: `--hosts=rollout://db1`.

    Bastions, keys, passwords and privilege are those of the inventory; one connection a host is kept open.
    """

    NAME = SCHEME
    hosts: ClassVar[dict[str, Host]] = {}
    _open: ClassVar[dict[str, Transport]] = {}

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)
        if name not in self.hosts:
            raise UsageProblem(f"{SCHEME}://{name}: the inventory of --rollout-inventory has no such host")

    @classmethod
    def serve(cls, hosts: dict[str, Host]) -> None:
        """Make these hosts reachable, and the backend known to testinfra."""
        cls.hosts = hosts
        testinfra.backend.BACKENDS[SCHEME] = f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def close_all(cls) -> None:
        """Close the connections that are open."""
        for transport in cls._open.values():
            transport.close()
        cls._open.clear()

    def run(self, command: str, *args: str, **_kwargs: Any) -> CommandResult:
        """Run a command as testinfra's modules ask for it, with the privilege that the inventory gives."""
        text = self.get_command(command, *args)
        transport = self._open.setdefault(self.hostname, open_transport(self.hosts[self.hostname]))
        ended = transport.run(text, timeout_seconds=COMMAND_SECONDS)
        return self.result(ended.exit_status, text.encode(), ended.stdout, ended.stderr)


class BackendTransport:
    """A host of testinfra (ssh, docker, kubectl, …) as a transport, for the probe."""

    def __init__(self, name: str, run: Callable[[str], CommandResult]) -> None:
        self._name = name
        self._run = run

    def run(
        self,
        script: str,
        stdin: bytes = b"",  # noqa: ARG002 - no backend of testinfra has a standard input
        *,
        timeout_seconds: float = 60.0,  # noqa: ARG002 - nor a limit
        privileged: bool = True,  # noqa: ARG002 - testinfra's --sudo says so for the whole session
    ) -> Result:
        """Run a script. It travels packed, for its own text would grow beyond limits when backends quote it."""
        packed = base64.b64encode(gzip.compress(script.encode())).decode()
        began = time.monotonic()
        try:
            ended = self._run(f'/bin/sh -c "$(printf %s {packed} | base64 -d | gzip -dc)"')
        except RuntimeError as fault:  # what testinfra raises when a backend cannot reach its host
            raise Unreachable(self._name, f"testinfra cannot reach it: {fault}") from fault
        seconds = time.monotonic() - began
        return Result(self._name, ended.exit_status, ended.stdout_bytes, ended.stderr_bytes, seconds)

    def close(self) -> None:
        """Do nothing: testinfra keeps its own connections."""
