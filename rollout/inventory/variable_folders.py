"""`group_vars/` and `host_vars/`: folders of variables beside an inventory and beside a playbook."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import compose, is_null, items, read_text, variable
from rollout.inventory.model import Layer
from rollout.inventory.variables import Variable
from rollout.inventory.vault import Vault, VaultProblem, is_vaulted

# In the order in which Ansible looks; the first that is there counts, and only that one.
_SUFFIXES = ("", ".yml", ".yaml", ".json")


@dataclass
class FolderReader:
    """Reads variable files; their mistakes are collected."""

    vault: Vault
    mistakes: list[Mistake]

    def layer(self, base: Path, groups: Iterable[str], hosts: Iterable[str]) -> Layer:
        """Read the two folders under `base`, for the groups and hosts that there are."""
        return Layer(self._folder(base / "group_vars", groups), self._folder(base / "host_vars", hosts))

    def _folder(self, folder: Path, names: Iterable[str]) -> dict[str, dict[str, Variable]]:
        if not folder.is_dir():
            return {}
        there = {entry.name for entry in folder.iterdir()}
        found: dict[str, dict[str, Variable]] = {}
        for name in names:
            entry = next((name + suffix for suffix in _SUFFIXES if name + suffix in there), None)
            if entry and "/" not in name:
                found[name] = self._merged(folder / entry)
        return found

    def _merged(self, path: Path) -> dict[str, Variable]:
        merged: dict[str, Variable] = {}
        for file in _files(path) if path.is_dir() else (path,):
            try:
                merged.update(self._read(file))
            except ConfigProblem as problem:
                self.mistakes += problem.mistakes
        return merged

    def _read(self, file: Path) -> dict[str, Variable]:
        root = compose(opened(read_text(file), str(file), self.vault), str(file))
        if root is None or is_null(root):
            return {}
        if not isinstance(root, yaml.MappingNode):
            raise ConfigProblem([Mistake(str(file), root.start_mark.line + 1, "must be a mapping of variables")])
        return {str(key.value): variable(value, str(file)) for key, value in items(root, str(file))}


def _files(folder: Path) -> Iterator[Path]:
    """Yield the variable files of a folder and its folders, by name; hidden ones and backups are passed over."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith(".") or entry.name.endswith("~"):
            continue
        if entry.is_dir() and not entry.suffix:
            yield from _files(entry)
        elif entry.is_file() and entry.suffix in _SUFFIXES:
            yield entry


def opened(text: str, file: str, vault: Vault) -> str:
    """Return a file's text, decrypted when the file is vaulted as a whole."""
    if not is_vaulted(text):
        return text
    try:
        return vault.decrypt(text)
    except VaultProblem as problem:
        raise ConfigProblem([Mistake(file, 1, str(problem))]) from problem
