"""What sets one host of a fleet apart from the others, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HostProfile:
    """One host of a fleet.

    `files` are laid over the base tree (path without leading slash -> text). `join` is a script that the host runs
    as root once after its first boot and after each reset, when those before it are up. `source` names the host
    that it replicates from: when that one is reset this one has to be, too. `writer` starts the demo's writer.
    `become_password` is what sudo asks for, empty when it asks for none; `bastion` is the address through which
    alone the host can be reached, empty when it answers the controller.
    """

    group: str = "standalone"
    knows_own_name: bool = True
    writer: bool = True
    files: Mapping[str, str] = field(default_factory=dict)
    join: str = ""
    source: str = ""
    become_password: str = ""
    bastion: str = ""


def with_sources_reset(names: set[str], profiles: Mapping[str, HostProfile]) -> set[str]:
    """Return `names` and all hosts that replicate from one of them, directly or through others."""
    more = {name for name, profile in profiles.items() if profile.source in names} - names
    return with_sources_reset(names | more, profiles) if more else names
