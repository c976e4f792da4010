"""Inventories in YAML or JSON: groups of `hosts`, `children` and `vars`."""

import difflib
from collections.abc import Iterator

import yaml

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import is_null, items, variable
from rollout.inventory.draft import Draft
from rollout.inventory.ranges import hosts_of

SECTIONS = ("hosts", "children", "vars")


def read_yaml(root: yaml.Node, file: str, draft: Draft) -> None:
    """Add the groups of one YAML inventory to the draft; mistakes go there too."""
    if not isinstance(root, yaml.MappingNode):
        raise ConfigProblem([Mistake(file, _line(root), "is no inventory: groups must stand at the top, as `all:`")])
    reader = _Reader(file, draft)
    for key, node in items(root, file):
        reader.group(key, node)


class _Reader:
    """Walks the groups of one file."""

    def __init__(self, file: str, draft: Draft) -> None:
        self.file = file
        self.draft = draft

    def group(self, key: yaml.Node, node: yaml.Node) -> str:
        """Add one group and all that stands in it; return its name."""
        name = self._name(key, "a group's name")
        self.draft.add_group(name, self.file, _line(key))
        for section_key, section in self._entries(node, f"group '{name}'"):
            section_name = self._name(section_key, f"a key of group '{name}'")
            if section_name not in SECTIONS:
                self._unknown(section_key, section_name, name)
            elif section_name == "vars":
                self._variables(name, section)
            elif section_name == "children":
                self._children(name, section)
            else:
                self._hosts(name, section)
        return name

    def _variables(self, group: str, section: yaml.Node) -> None:
        for key, node in self._entries(section, f"vars of group '{group}'"):
            name = self._name(key, "a variable's name")
            self.draft.set_group_variable(group, name, variable(node, self.file))

    def _children(self, group: str, section: yaml.Node) -> None:
        for key, node in self._entries(section, f"children of group '{group}'", one_word=True):
            self.draft.add_child(group, self.group(key, node), self.file, _line(key))

    def _hosts(self, group: str, section: yaml.Node) -> None:
        for key, node in self._entries(section, f"hosts of group '{group}'", one_word=True):
            pattern = self._name(key, "a host's name")
            entries = self._entries(node, f"host '{pattern}'")
            variables = {self._name(name, "a variable's name"): variable(value, self.file) for name, value in entries}
            try:
                names, port = hosts_of(pattern)
            except ValueError as error:
                self._mistake(key, str(error))
                continue
            for host in names:
                self.draft.add_host(host, group, self.file, port=port, line=_line(key))
                for name, value in variables.items():
                    self.draft.set_host_variable(host, name, value)

    def _entries(self, node: yaml.Node, what: str, *, one_word: bool = False) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Yield the entries of a mapping; nothing for null; a single word is a mapping with nothing in it."""
        if isinstance(node, yaml.MappingNode):
            yield from items(node, self.file)
        elif is_null(node):
            return
        elif one_word and isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str":
            yield node, yaml.ScalarNode("tag:yaml.org,2002:null", "", node.start_mark, node.end_mark)
        else:
            kind = "a list" if isinstance(node, yaml.SequenceNode) else f"'{node.value}'"
            self._mistake(node, f"{what} must be a mapping (one `name:` a line), found {kind}")

    def _name(self, key: yaml.Node, what: str) -> str:
        if isinstance(key, yaml.ScalarNode) and key.tag == "tag:yaml.org,2002:str" and key.value:
            return str(key.value)
        shown = f"'{key.value}'" if isinstance(key, yaml.ScalarNode) else "a collection"
        self._mistake(key, f"{what} must be a text, found {shown}: put quotes around it")
        return str(key.value) if isinstance(key, yaml.ScalarNode) else "?"

    def _unknown(self, key: yaml.Node, name: str, group: str) -> None:
        close = difflib.get_close_matches(name, SECTIONS, 1)
        hint = (
            f"did you mean '{close[0]}'?" if close else "a child group belongs under `children:`, a host under `hosts:`"
        )
        self._mistake(key, f"unknown key '{name}' in group '{group}': {hint}")

    def _mistake(self, node: yaml.Node, message: str) -> None:
        self.draft.mistakes.append(Mistake(self.file, _line(node), message))


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1
