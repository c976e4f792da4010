"""Playbooks: which changes a run makes, on which hosts, in which waves, and what happens around each host.

A playbook chooses; it runs no tasks and cannot change the order of the phases.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import compose, items, read_text, variable
from rollout.inventory.hosts import PREFIX
from rollout.inventory.patterns import split_terms
from rollout.inventory.templating import has_template
from rollout.inventory.validation import mistakes_of
from rollout.inventory.variables import Variable
from rollout.plan.policy import Policy
from rollout.resources import shipped
from rollout.settings import HookSet, Settings

Kind: TypeAlias = Literal["packages", "allocator"]
Phase: TypeAlias = Literal["backup", "soak"]
Order: TypeAlias = Literal["inventory", "reverse_inventory", "sorted", "reverse_sorted"]


def _pattern(entry: object) -> object:
    """Join a list of host patterns into one; each may hold several terms."""
    if isinstance(entry, list) and all(isinstance(part, str) for part in entry):
        return ",".join(term for part in entry for term in split_terms(part))
    return entry


class Playbook(Policy):
    """One playbook, checked. The fields of the policy (`serial`, `max_fail_percentage`, ...) stand at its top level."""

    name: str = Field(min_length=1)
    changes: Annotated[tuple[Kind, ...], Field(min_length=1)]
    hosts: Annotated[str, BeforeValidator(_pattern)] = "all"
    vars: Mapping[str, Any] = Field(default_factory=dict)
    order: Order = "inventory"
    phases: tuple[Phase, ...] = ("backup", "soak")
    hooks: HookSet = HookSet()

    _file: Path = PrivateAttr(default=Path())
    _variables: Mapping[str, Variable] = PrivateAttr(default_factory=dict)

    @property
    def file(self) -> Path:
        """The file that the playbook was read from."""
        return self._file

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The playbook's `vars` with their places; they are stronger than every variable of the inventory."""
        return self._variables

    @property
    def policy(self) -> Policy:
        """The policy alone."""
        return Policy(**{name: getattr(self, name) for name in Policy.model_fields})

    def in_order(self, hosts: list[str]) -> list[str]:
        """Return hosts, given in the inventory's order, in the order that the playbook asks for."""
        if self.order == "reverse_inventory":
            return hosts[::-1]
        return hosts if self.order == "inventory" else sorted(hosts, reverse=self.order == "reverse_sorted")


def find_playbook(name: str) -> Path:
    """Return the path of a playbook: a file as typed, else the one of that name which came with the program."""
    path = Path(name)
    ours = shipped("playbooks") / f"{name}.yml"
    return ours if not path.exists() and "/" not in name and ours.is_file() else path


def load_playbook(path: Path) -> Playbook:
    """Read a playbook. Raises `ConfigProblem` with all mistakes at once, each with its line and path."""
    if not path.is_file():
        raise ConfigProblem([Mistake(str(path), 0, "there is no such playbook")])
    nodes = _entries(compose(read_text(path), str(path)), str(path))
    parts = {name: variable(node, str(path)) for name, node in nodes.items()}
    own = _own_variables(nodes.get("vars"), str(path))
    mistakes = _wrong_settings(own)
    try:
        playbook = Playbook.model_validate({name: part.value for name, part in parts.items()})
    except ValidationError as error:
        mistakes += mistakes_of(error, Playbook, lambda where: _place(where, parts, str(path)))
    if mistakes:
        raise ConfigProblem(sorted(mistakes, key=lambda mistake: mistake.line))
    playbook._file = path
    playbook._variables = own
    return playbook


def _entries(root: yaml.Node | None, file: str) -> dict[str, yaml.Node]:
    """Return the top level of the file by name."""
    if isinstance(root, yaml.MappingNode):
        return {str(key.value): value for key, value in items(root, file)}
    if isinstance(root, yaml.SequenceNode):
        advice = "is a list of plays: a playbook of rollout is one mapping with `name` and `changes`, without tasks"
        raise ConfigProblem([Mistake(file, root.start_mark.line + 1, advice)])
    raise ConfigProblem([Mistake(file, 0, "is empty: a playbook has at least `name` and `changes`")])


def _own_variables(node: yaml.Node | None, file: str) -> dict[str, Variable]:
    """Return the playbook's `vars` with their places."""
    pairs = items(node, file) if isinstance(node, yaml.MappingNode) else []
    return {str(key.value): variable(value, file) for key, value in pairs}


def _place(where: tuple[str | int, ...], parts: Mapping[str, Variable], file: str) -> tuple[str, int]:
    part = parts.get(str(where[0])) if where else None
    return (part.file, part.line_of(where[1:])) if part else (file, 0)


def _wrong_settings(variables: Mapping[str, Variable]) -> list[Mistake]:
    """Check the `rollout_*` variables of the playbook that can be checked without a host: those without templates."""
    own = {name: one for name, one in variables.items() if name.startswith(PREFIX) and not has_template(one.value)}
    try:
        Settings.model_validate({name.removeprefix(PREFIX): one.value for name, one in own.items()})
    except ValidationError as error:
        found = mistakes_of(error, Settings, lambda where: _setting_place(where, own), f"vars.{PREFIX}")
        return list(found)
    return []


def _setting_place(where: tuple[str | int, ...], own: Mapping[str, Variable]) -> tuple[str, int]:
    variable_of = own[PREFIX + str(where[0])]
    return variable_of.file, variable_of.line_of(where[1:])
