"""YAML and JSON files read as nodes that know their lines, with the safe subset of YAML's tags and Ansible's own.

YAML 1.1 as PyYAML's safe loader has it, which is what Ansible reads. In one point stricter: a key that stands twice
in one mapping is a mistake, because the first of them would be lost without a word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.variables import Variable, VaultText, Verbatim

# libyaml's parser where PyYAML was built with it: ten times faster, the same nodes.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Constructor(SafeConstructor):
    """Builds values from nodes; knows `!vault` and `!unsafe`."""

    def vault(self, node: yaml.ScalarNode) -> VaultText:
        """Keep a vaulted value as it is."""
        return VaultText(str(node.value))

    def unsafe(self, node: yaml.Node) -> Any:
        """Mark every text of an `!unsafe` value as one that is never a template."""
        plain = (
            yaml.nodes.ScalarNode("tag:yaml.org,2002:str", node.value) if isinstance(node, yaml.ScalarNode) else node
        )
        return _verbatim(_plain_value(plain, self))


_Constructor.yaml_constructors = {
    **SafeConstructor.yaml_constructors,
    "!vault": _Constructor.vault,
    "!vault-encrypted": _Constructor.vault,
    "!unsafe": _Constructor.unsafe,
}


def _plain_value(node: yaml.Node, constructor: _Constructor) -> Any:
    if isinstance(node, yaml.MappingNode):
        return constructor.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return constructor.construct_sequence(node, deep=True)
    return constructor.construct_object(node)


def _verbatim(value: Any) -> Any:
    if isinstance(value, str):
        return Verbatim(value)
    if isinstance(value, dict):
        return {key: _verbatim(inner) for key, inner in value.items()}
    return [_verbatim(inner) for inner in value] if isinstance(value, list) else value


def read_text(path: Path) -> str:
    """Read a UTF-8 file; `ConfigProblem` when it cannot be read or is no UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigProblem([Mistake(str(path), 0, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ConfigProblem([Mistake(str(path), line, "is no UTF-8 text")]) from error


def compose(text: str, file: str) -> yaml.Node | None:
    """Parse one YAML document into its node, None when it is empty.

    Raises `ConfigProblem` for broken YAML (the first fault) and for keys that stand twice (all of them).
    """
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise ConfigProblem([_broken(error, file)]) from error
    except yaml.YAMLError as error:
        raise ConfigProblem([Mistake(file, 0, f"is no YAML: {' '.join(str(error).split())}")]) from error
    twice = list(_repeated_keys(node, file)) if node else []
    if twice:
        raise ConfigProblem(twice)
    return node


def _broken(error: yaml.MarkedYAMLError, file: str) -> Mistake:
    mark = error.problem_mark or error.context_mark
    words = ", ".join(part for part in (error.context, error.problem) if part)
    where = f" (column {mark.column + 1})" if mark else ""
    return Mistake(file, mark.line + 1 if mark else 0, f"is no YAML: {words}{where}")


def _repeated_keys(root: yaml.Node, file: str) -> Iterator[Mistake]:
    """Walk the nodes once, in the order of the file, and name every key that its mapping already had."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in met or isinstance(node, yaml.ScalarNode):
            continue
        met.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _repeats(node, file)
            waiting.extend(value for _, value in reversed(node.value))
        else:
            waiting.extend(reversed(node.value))


def _repeats(node: yaml.MappingNode, file: str) -> Iterator[Mistake]:
    first: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if key.value in first:
            yield Mistake(file, line, f"'{key.value}' stands twice here, first in line {first[key.value]}")
        first.setdefault(key.value, line)


def items(node: yaml.MappingNode, file: str) -> list[tuple[yaml.Node, yaml.Node]]:
    """Return the keys and values of a mapping, its merge keys (`<<`) resolved; `ConfigProblem` where they cannot be."""
    try:
        _Constructor().flatten_mapping(node)
    except ConstructorError as error:
        raise ConfigProblem([Mistake(file, node.start_mark.line + 1, f"cannot be read: {error.problem}")]) from error
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
    return pairs


def value_of(node: yaml.Node, file: str) -> Any:
    """Build the value of a node; `ConfigProblem` for a tag that is not known, and for a value inside itself."""
    try:
        return _Constructor().construct_object(node, deep=True)
    except RecursionError as error:
        raise ConfigProblem([Mistake(file, node.start_mark.line + 1, "is nested too deeply to be read")]) from error
    except (ConstructorError, ValueError) as error:
        problem = error.problem if isinstance(error, ConstructorError) else str(error)
        raise ConfigProblem([Mistake(file, node.start_mark.line + 1, f"cannot be read: {problem}")]) from error


def variable(node: yaml.Node, file: str) -> Variable:
    """Build a variable from its node; the line is that of the value's beginning."""
    return Variable(value_of(node, file), file, node.start_mark.line + 1, node)


def is_null(node: yaml.Node) -> bool:
    """Tell whether the node is YAML's null (nothing, `~` or `null`)."""
    return node.tag == "tag:yaml.org,2002:null"
