"""A fleet as one test sees it: what the test changes is remembered and put back."""

from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from rollout.errors import CommandFailed
from rollout.lab.fleet import Fleet
from rollout.settings import Host


@dataclass
class Rehearsal:
    """The fleet as one test sees it; it remembers what the test changes."""

    lab: Fleet
    dirtied: set[str] = field(default_factory=set)

    @property
    def inventory(self) -> Path:
        """The inventory file of the fleet."""
        return self.lab.inventory

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts, to be looked at and not changed."""
        return self.lab.hosts

    def host(self, name: str) -> Host:
        """Return a host that the test only looks at."""
        return self.lab.host(name)

    def dirty(self, name: str) -> Host:
        """Return a host that the test changes: it is put back to its first state after the test."""
        self.dirtied.add(name)
        return self.lab.host(name)

    def shell(self, name: str, script: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
        """Run a script as root in a host, without SSH."""
        return self.lab.shell(name, script, stdin)

    def text(self, name: str, script: str) -> str:
        """Return what a script prints, stripped; raises `CommandFailed` when the script fails."""
        ended = self.shell(name, script)
        if ended.returncode:
            raise CommandFailed(name, f"{script!r} ended with {ended.returncode}", hint=ended.stderr.decode())
        return ended.stdout.decode().strip()

    def reset(self, *names: str) -> None:
        """Put hosts back to their first state at once."""
        self.lab.reset(*names)
        self.dirtied.difference_update(names)

    def publish(self) -> None:
        """Let the repository offer the newer release for the rest of the test."""
        self.lab.publish()

    def unpublish(self) -> None:
        """Take the newer release out of the repository."""
        self.lab.unpublish()

    def clean(self) -> None:
        """Put back what was changed since the last time."""
        if self.lab.published:
            self.lab.unpublish()
        if self.dirtied:
            self.reset(*sorted(self.dirtied))
