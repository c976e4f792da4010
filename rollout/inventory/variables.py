"""A variable together with the place where it was written, so that a mistake in it can be shown to its author."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from rollout.errors import Mistake


class Verbatim(str):
    """A text tagged `!unsafe`: braces in it mean nothing."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class VaultText:
    """A value that Ansible Vault encrypted, still encrypted; `envelope` is the text from `$ANSIBLE_VAULT` on."""

    envelope: str


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: its raw value (templates not yet rendered), the file and line of it, its YAML node if any."""

    value: Any
    file: str
    line: int
    node: yaml.Node | None = None

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the line of the value at `path` inside this one, or of the innermost part of it that exists."""
        node, line = self.node, self.line
        for step in path:
            inner = _step(node, step)
            if inner is None:
                break
            node, line = inner, inner.start_mark.line + 1
        return line

    def mistake(self, name: str, message: str, path: Sequence[str | int] = ()) -> Mistake:
        """Say that the value at `path` of this variable, which is called `name`, is wrong."""
        return Mistake(self.file, self.line_of(path), message, ".".join(map(str, (name, *path))))


Variables = Mapping[str, Variable]


def _step(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(step)), None)
    return None
