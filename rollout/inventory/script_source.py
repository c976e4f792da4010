"""Inventories that a program prints: executables, and plugins through `ansible-inventory`."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.draft import Draft
from rollout.inventory.variables import Variable, VaultText, Verbatim

_SECONDS = 300
# Without it `ansible-inventory` ends with 0 and an empty list when a source cannot be read.
_STRICT = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
_SECTIONS = ("hosts", "vars", "children")


def read_script(file: Path, draft: Draft) -> None:
    """Run an executable inventory and add what it prints to the draft."""
    _Reader(str(file), [str(file.absolute())], draft).read()


def read_through_ansible(file: Path, plugin: str, line: int, draft: Draft) -> None:
    """Let an installed `ansible-inventory` resolve a plugin's configuration; refuse it by name where there is none."""
    program = shutil.which("ansible-inventory")
    if not program:
        sentence = f"needs Ansible's inventory plugin '{plugin}', and no `ansible-inventory` is installed to resolve it"
        raise ConfigProblem([Mistake(str(file), line, sentence)])
    _Reader(str(file), [program, "-i", str(file.absolute())], draft, implied="all").read()


class _Reader:
    """Runs one program and reads its JSON."""

    def __init__(self, file: str, program: Sequence[str], draft: Draft, implied: str = "") -> None:
        self.file = file
        self.program = program
        self.draft = draft
        self.implied = implied  # a group whose children come of themselves: only their order is taken
        self.hosts: dict[str, None] = {}

    def read(self) -> None:
        """Read the list, then the variables of the hosts: from `_meta` where it is, else by asking for each host."""
        document = self._run("--list")
        meta = document.pop("_meta", None)
        for group, data in document.items():
            self._group(group, data)
        given = self._mapping(meta, "_meta").get("hostvars") if meta is not None else None
        for host in self.hosts:
            variables = self._run("--host", host) if given is None else self._mapping(given, "hostvars").get(host, {})
            for name, value in self._mapping(variables, f"variables of '{host}'").items():
                self.draft.set_host_variable(host, name, self._variable(value))

    def _group(self, name: str, data: Any) -> None:
        if isinstance(data, dict) and not any(section in data for section in _SECTIONS):
            data = {"hosts": [name], "vars": data} if data else {}
        parts = self._mapping(data if isinstance(data, dict) else {"hosts": data}, f"group '{name}'")
        self.draft.add_group(name, self.file)
        for host in self._list(parts.get("hosts", []), f"hosts of '{name}'"):
            self.hosts.setdefault(host)
            self.draft.add_host(host, name, self.file)
        for key, value in self._mapping(parts.get("vars", {}), f"vars of '{name}'").items():
            self.draft.set_group_variable(name, key, self._variable(value))
        for child in self._list(parts.get("children", []), f"children of '{name}'"):
            self.draft.add_group(child, self.file)
            if name != self.implied:
                self.draft.add_child(name, child, self.file, 0)

    def _variable(self, value: Any) -> Variable:
        return Variable(_marked(value), self.file, 0)

    def _mapping(self, value: Any, what: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(f"{what} must be a mapping, found {type(value).__name__}")
        return value

    def _list(self, value: Any, what: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self._wrong(f"{what} must be a list of names")
        return value

    def _run(self, *words: str) -> dict[str, Any]:
        shown = " ".join(words)
        try:
            done = subprocess.run(
                [*self.program, *words], capture_output=True, timeout=_SECONDS, check=False, env=os.environ | _STRICT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._wrong(f"cannot be run with {shown}: {error}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
            raise self._wrong(
                f"ended with exit status {done.returncode} on {shown}: {' / '.join(said) or 'no message'}"
            )
        if words[0] == "--host" and not done.stdout.strip():
            return {}
        try:
            return dict(self._mapping(json.loads(done.stdout), f"what {shown} prints"))
        except ValueError as error:
            raise self._wrong(f"printed no JSON on {shown}: {error}") from error

    def _wrong(self, message: str) -> ConfigProblem:
        return ConfigProblem([Mistake(self.file, 0, message)])


def _marked(value: Any) -> Any:
    """Turn the forms in which Ansible writes vaulted and verbatim values into JSON back into what they were."""
    if isinstance(value, dict):
        if value.keys() == {"__ansible_vault"}:
            return VaultText(str(value["__ansible_vault"]))
        if value.keys() == {"__ansible_unsafe"}:
            return Verbatim(value["__ansible_unsafe"])
        return {key: _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list) else value
