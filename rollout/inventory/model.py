"""An inventory as it was read: groups, hosts, and the variables of each with their places. Frozen.

The order of things is Ansible's: groups and hosts stand in the order in which they were first met, a group's hosts
come before those of its children, and its children level by level. (Ansible walks the groups below the first level
in the order of a set, which differs from run to run; here it is the order of the file.)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rollout.inventory.variables import Variable, Variables


@dataclass(frozen=True)
class Group:
    """One group. `depth` is the longest way down from `all`; `priority` decides between groups of one depth."""

    name: str
    children: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    variables: Variables = field(default_factory=dict)
    depth: int = 0
    priority: int = 1


@dataclass(frozen=True)
class HostRow:
    """One host as written. `groups` are all of its groups but `all`, from the outermost to the innermost.

    `source` is the inventory in which the host was met first (for a list of hosts, the list itself).
    """

    name: str
    variables: Variables
    groups: tuple[str, ...]
    source: str

    @property
    def directory(self) -> Path:
        """The folder of the inventory file in which the host was met first."""
        return Path(self.source).absolute().parent if "," not in self.source else Path.cwd()


@dataclass(frozen=True)
class Layer:
    """Variables from one `group_vars` / `host_vars` pair of folders, by name of group and of host."""

    groups: Mapping[str, Variables] = field(default_factory=dict)
    hosts: Mapping[str, Variables] = field(default_factory=dict)


@dataclass(frozen=True)
class Inventory:
    """Groups and hosts by name. `layers` are the variable folders, weakest first."""

    groups: Mapping[str, Group]
    hosts: Mapping[str, HostRow]
    layers: tuple[Layer, ...] = ()

    def descendants(self, group: str) -> Iterator[Group]:
        """Yield the group itself, then its children level by level."""
        level, met = [group], {group}
        while level:
            yield from (self.groups[name] for name in level)
            below = [child for name in level for child in self.groups[name].children]
            level = [child for child in dict.fromkeys(below) if child not in met]
            met.update(level)

    def members(self, group: str) -> tuple[str, ...]:
        """Name the hosts of a group and of all groups below it, in order, each once."""
        if group not in self._members:
            names = (host for below in self.descendants(group) for host in below.hosts)
            self._members[group] = tuple(dict.fromkeys(names))
        return self._members[group]

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        return {}

    def variables(self, host: str) -> dict[str, Variable]:
        """Merge the variables of a host, the strongest last, as Ansible's precedence has it.

        From weak to strong: `all` as written in the inventory; its other groups as written there, outermost first;
        `group_vars` of `all`, then of the other groups; the host as written; `host_vars`. Where an inventory and a
        playbook both have a folder, the playbook's is the stronger.
        """
        row = self.hosts[host]
        merged = dict(self._shared(row.groups))
        merged.update(row.variables)
        for layer in self.layers:
            merged.update(layer.hosts.get(host, {}))
        return merged

    def _shared(self, groups: tuple[str, ...]) -> Mapping[str, Variable]:
        """Merge the variables that come from groups; hosts of the same groups share the result."""
        if groups not in self._merged:
            merged: dict[str, Variable] = {}
            for name in ("all", *groups):
                merged.update(self.groups[name].variables)
            for names in (("all",), groups):
                for layer in self.layers:
                    for name in names:
                        merged.update(layer.groups.get(name, {}))
            self._merged[groups] = merged
        return self._merged[groups]

    @cached_property
    def _merged(self) -> dict[tuple[str, ...], Mapping[str, Variable]]:
        return {}
