"""What sets one host of a fleet apart from the plain one, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HostProfile:
    """`files` are laid over the base tree (path without leading slash -> text); `writer` starts the demo's writer."""

    knows_own_name: bool = True
    writer: bool = True
    files: Mapping[str, str] = field(default_factory=dict)


def plain(index: int, *, writer: bool) -> HostProfile:
    """Return the profile of plain host number `index` (from 0): the second cannot resolve its own name."""
    return HostProfile(knows_own_name=index != 1, writer=writer)
