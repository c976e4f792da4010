"""An inventory while it is being read: sources add to it one after the other, then it is closed into a frozen value."""

from dataclasses import dataclass, field

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.model import Group, HostRow, Inventory, Layer
from rollout.inventory.variables import Variable


@dataclass
class _GroupDraft:
    children: dict[str, None] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    hosts: dict[str, None] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    priority: int = 1


@dataclass
class _HostDraft:
    source: str
    variables: dict[str, Variable] = field(default_factory=dict)
    groups: dict[str, None] = field(default_factory=dict)


class Draft:
    """Groups and hosts as far as they are known; mistakes are collected and raised together by `close`."""

    def __init__(self) -> None:
        self.groups: dict[str, _GroupDraft] = {"all": _GroupDraft(), "ungrouped": _GroupDraft()}
        self.hosts: dict[str, _HostDraft] = {}
        self.mistakes: list[Mistake] = []
        self._join("all", "ungrouped")

    def add_group(self, name: str, source: str, line: int = 0) -> None:
        """Add a group unless it is there."""
        if name not in self.groups:
            self._name(name, "group", source, line)
            self.groups[name] = _GroupDraft()

    def add_host(self, name: str, group: str, source: str, *, port: int | None = None, line: int = 0) -> None:
        """Add a host to a group that is there; the port counts only where the host is met for the first time."""
        if name not in self.hosts:
            self._name(name, "host", source, line)
            self.hosts[name] = _HostDraft(source)
            if port is not None:
                self.hosts[name].variables["ansible_port"] = Variable(port, source, line)
        self.groups[group].hosts.setdefault(name)
        self.hosts[name].groups.setdefault(group)

    def add_child(self, parent: str, child: str, file: str, line: int) -> None:
        """Put one group under another; a circle is a mistake."""
        if parent == child or parent in self._below(child):
            self.mistakes.append(Mistake(file, line, f"group '{child}' would stand below itself (through '{parent}')"))
            return
        self._join(parent, child)

    def set_group_variable(self, group: str, name: str, variable: Variable) -> None:
        """Set a variable of a group; `ansible_group_priority` is the group's rank and no variable."""
        if name != "ansible_group_priority":
            self.groups[group].variables[name] = variable
            return
        try:
            self.groups[group].priority = int(variable.value)
        except (TypeError, ValueError):
            self.mistakes.append(variable.mistake(name, f"must be a whole number, found {variable.value!r}"))

    def set_host_variable(self, host: str, name: str, variable: Variable) -> None:
        """Set a variable of a host."""
        self.hosts[host].variables[name] = variable

    def _name(self, name: str, what: str, file: str, line: int) -> None:
        """Refuse a name that could play tricks with a terminal or a log."""
        if not name.isprintable():
            self.mistakes.append(Mistake(file, line, f"the name of the {what} {name!a} has control characters"))

    def close(self, layers: tuple[Layer, ...] = ()) -> Inventory:
        """Give orphans their place under `all` and `ungrouped`, and freeze. Raises `ConfigProblem`: all mistakes."""
        if self.mistakes:
            raise ConfigProblem(dict.fromkeys(self.mistakes))
        for name, group in self.groups.items():
            if name != "all" and not group.parents:
                self._join("all", name)
        for name, host in self.hosts.items():
            self._settle(name, host)
        depths = self._depths()
        groups = {name: _frozen(name, group, depths[name]) for name, group in self.groups.items()}
        return Inventory(groups, {name: self._row(name, groups) for name in self.hosts}, layers)

    def _settle(self, name: str, host: _HostDraft) -> None:
        """Keep a host in `ungrouped` if, and only if, no other group but `all` has it."""
        if host.groups.keys() - {"all", "ungrouped"}:
            self.groups["ungrouped"].hosts.pop(name, None)
            host.groups.pop("ungrouped", None)
        else:
            self.groups["ungrouped"].hosts.setdefault(name)
            host.groups.setdefault("ungrouped")

    def _join(self, parent: str, child: str) -> None:
        self.groups[parent].children.setdefault(child)
        self.groups[child].parents.setdefault(parent)

    def _below(self, group: str) -> set[str]:
        """Name all groups below one."""
        found: set[str] = set()
        waiting = [group]
        while waiting:
            fresh = [child for child in self.groups[waiting.pop()].children if child not in found]
            found.update(fresh)
            waiting.extend(fresh)
        return found

    def _above(self, groups: dict[str, None]) -> set[str]:
        """Name the groups given and all groups above them, without `all`."""
        found: set[str] = set()
        waiting = list(groups)
        while waiting:
            name = waiting.pop()
            if name not in found and name != "all":
                found.add(name)
                waiting.extend(self.groups[name].parents)
        return found

    def _depths(self) -> dict[str, int]:
        """Measure the longest way from `all` down to each group."""
        depths = dict.fromkeys(self.groups, 0)
        waiting = ["all"]
        while waiting:
            name = waiting.pop()
            for child in self.groups[name].children:
                if depths[child] <= depths[name]:
                    depths[child] = depths[name] + 1
                    waiting.append(child)
        return depths

    def _row(self, name: str, groups: dict[str, Group]) -> HostRow:
        draft = self.hosts[name]
        ranked = sorted(
            self._above(draft.groups), key=lambda group: (groups[group].depth, groups[group].priority, group)
        )
        return HostRow(name, draft.variables, tuple(ranked), draft.source)


def _frozen(name: str, group: _GroupDraft, depth: int) -> Group:
    return Group(name, tuple(group.children), tuple(group.hosts), group.variables, depth, group.priority)
