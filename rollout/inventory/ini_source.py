"""Inventories in Ansible's INI form: sections of hosts, of variables and of child groups."""

import ast
import re
import shlex
import warnings
from typing import Any

from rollout.errors import Mistake
from rollout.inventory.draft import Draft
from rollout.inventory.ranges import hosts_of
from rollout.inventory.validation import did_you_mean
from rollout.inventory.variables import Variable, Verbatim

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_GROUP_NAME = re.compile(r"([^:\]\s]+)\s*(?:#.*)?")
_KINDS = ("hosts", "children", "vars")


def read_ini(text: str, file: str, draft: Draft) -> None:
    """Add the groups of one INI inventory to the draft; mistakes go there too."""
    reader = _Reader(file, draft)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and stripped[0] not in ";#":
            reader.read(stripped, number)
    reader.end()


class _Reader:
    """Reads line by line. What stands before the first section belongs to `ungrouped`."""

    def __init__(self, file: str, draft: Draft) -> None:
        self.file = file
        self.draft = draft
        self.group = "ungrouped"
        self.kind = "hosts"
        self.waiting: dict[str, list[tuple[str, int]]] = {}  # child that is not declared yet -> its parents
        self.undeclared: dict[str, int] = {}  # group of which only variables were seen -> line

    def read(self, line: str, number: int) -> None:
        """Take one line that is neither empty nor a comment."""
        section = _SECTION.fullmatch(line)
        try:
            if section:
                self._open(section[1], section[2] or "hosts", number)
            elif line.startswith("[") and line.endswith("]"):
                raise ValueError(f"'{line}' is no section: write [group], [group:vars] or [group:children]")
            else:
                {"hosts": self._host, "vars": self._variable, "children": self._child}[self.kind](line, number)
        except ValueError as error:
            self._mistake(number, str(error))

    def end(self) -> None:
        """Complain of groups that were spoken of and never declared."""
        for child, parents in self.waiting.items():
            for parent, number in parents:
                known = did_you_mean(child, self.draft.groups)
                self._mistake(
                    number, f"[{parent}:children] names the group '{child}', which is declared nowhere{known}"
                )
        for group, number in self.undeclared.items():
            self._mistake(number, f"[{group}:vars] is for the group '{group}', which is declared nowhere")

    def _open(self, group: str, kind: str, number: int) -> None:
        if kind not in _KINDS:
            raise ValueError(f"[{group}:{kind}] is no kind of section{did_you_mean(kind, _KINDS)}")
        self.group, self.kind = group, kind
        if group not in self.draft.groups and kind == "vars":
            self.undeclared[group] = number
        self.draft.add_group(group, self.file, number)
        if kind == "vars":
            return
        self.undeclared.pop(group, None)
        for parent, line in self.waiting.pop(group, ()):
            self.draft.add_child(parent, group, self.file, line)

    def _host(self, line: str, number: int) -> None:
        pattern, *assignments = shlex.split(line, comments=True)
        names, port = hosts_of(pattern)
        if pattern.endswith(":") or "---" in names:
            raise ValueError(f"'{pattern}' is no host: a colon stands before a port, and --- begins a YAML file")
        variables = dict(self._assignment(word, number) for word in assignments)
        for name in names:
            self.draft.add_host(name, self.group, self.file, port=port, line=number)
            for key, value in variables.items():
                self.draft.set_host_variable(name, key, value)

    def _variable(self, line: str, number: int) -> None:
        key, value = self._assignment(line, number)
        self.draft.set_group_variable(self.group, key, value)

    def _child(self, line: str, number: int) -> None:
        match = _GROUP_NAME.fullmatch(line)
        if not match:
            raise ValueError(f"'{line}' is no name of a group")
        if match[1] in self.draft.groups:
            self.draft.add_child(self.group, match[1], self.file, number)
        else:
            self.waiting.setdefault(match[1], []).append((self.group, number))

    def _assignment(self, text: str, number: int) -> tuple[str, Variable]:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"'{text}' must be `name=value`")
        return name.strip(), Variable(parse_value(value.strip()), self.file, number)

    def _mistake(self, line: int, message: str) -> None:
        self.draft.mistakes.append(Mistake(self.file, line, message))


def parse_value(text: str) -> Any:
    """Read a value as Ansible does: a Python literal (number, quoted text, list, mapping, True, None), else a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return _plain(value)


def _plain(value: Any) -> Any:
    """Leave only kinds that YAML has too: tuples and sets become lists, the odd rest texts."""
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, bytes):
        return Verbatim(value.decode("utf-8", "replace"))
    if value is Ellipsis:
        return "..."
    return str(value) if isinstance(value, complex) else value
