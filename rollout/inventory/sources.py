"""Where an inventory comes from: files, folders, programs and lists of hosts, told apart as Ansible does."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import compose, items, read_text
from rollout.inventory.draft import Draft
from rollout.inventory.ini_source import read_ini
from rollout.inventory.model import Inventory, Layer
from rollout.inventory.ranges import is_address, split_port
from rollout.inventory.script_source import read_script, read_through_ansible
from rollout.inventory.variable_folders import FolderReader, opened
from rollout.inventory.vault import Vault
from rollout.inventory.yaml_source import read_yaml

_YAML_SUFFIXES = (".yml", ".yaml", ".json")
# What Ansible passes over in a folder of inventories.
_PASSED_OVER = re.compile(
    r"^\.|^(host_vars|group_vars|vars_plugins)$|(\.pyc|\.pyo|\.swp|\.bak|~|\.rpm|\.md|\.txt|\.rst|\.orig|\.cfg|\.retry)$"
)


def load_inventory(sources: Sequence[str], vault: Vault | None = None, playbook: Path | None = None) -> Inventory:
    """Read inventories, later ones stronger than earlier ones, and the variable folders beside them.

    `playbook` is the file of a playbook: the folders beside it count too, more than those beside inventories.
    Raises `ConfigProblem` with all mistakes.
    """
    loader = _Loader(vault or Vault())
    for source in sources:
        loader.source(source)
    return loader.draft.close(loader.layers(sources, playbook))


class _Loader:
    """Reads sources into one draft."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.draft = Draft()

    def source(self, source: str) -> None:
        """Read what was typed: a folder, a file, a program, or a list of hosts."""
        path = Path(source).expanduser()
        if path.is_dir():
            self._folder(path)
        elif path.exists():
            self._collect(path)
        elif "," in source:
            _read_host_list(source, self.draft)
        else:
            sentence = "there is no such inventory (a list of hosts needs a comma: `db1,`)"
            self.draft.mistakes.append(Mistake(source, 0, sentence))

    def layers(self, sources: Sequence[str], playbook: Path | None) -> tuple[Layer, ...]:
        """Read the variable folders beside the sources, in their order, then those beside the playbook."""
        paths = [Path(source).expanduser() for source in sources]
        bases = [path if path.is_dir() else path.parent for path in paths if path.exists()]
        bases += [playbook.parent] if playbook else []
        reader = FolderReader(self.vault, self.draft.mistakes)
        last = {base.absolute(): base for base in reversed(bases)}
        return tuple(reader.layer(base, self.draft.groups, self.draft.hosts) for base in reversed(last.values()))

    def _folder(self, folder: Path) -> None:
        """Read all inventories of a folder and the folders in it, in the order of their names."""
        files = list(_files(folder))
        if not files:
            self.draft.mistakes.append(Mistake(str(folder), 0, _nothing_in(folder)))
        for file in files:
            self._collect(file)

    def _collect(self, file: Path) -> None:
        """Read one file; its mistakes join those of the others."""
        try:
            self._file(file)
        except ConfigProblem as problem:
            self.draft.mistakes += problem.mistakes

    def _file(self, file: Path) -> None:
        if os.access(file, os.X_OK) and file.read_bytes()[:2] in (b"#!", b"\x7fE"):
            read_script(file, self.draft)
            return
        text = opened(read_text(file), str(file), self.vault)
        if not text.strip():
            raise ConfigProblem([_empty(file)])
        if file.suffix in _YAML_SUFFIXES:
            self._yaml(file, text)
        elif file.suffix == ".toml":
            raise ConfigProblem([Mistake(str(file), 0, "is TOML, which is not supported: write it as YAML or INI")])
        else:
            read_ini(text, str(file), self.draft)

    def _yaml(self, file: Path, text: str) -> None:
        root = compose(text, str(file))
        if root is None:
            raise ConfigProblem([_empty(file)])
        plugin = _plugin(root, str(file))
        if plugin:
            read_through_ansible(file, str(plugin.value), plugin.start_mark.line + 1, self.draft)
        else:
            read_yaml(root, str(file), self.draft)


def _empty(file: Path) -> Mistake:
    return Mistake(str(file), 0, "is empty: it names no host")


def _files(folder: Path) -> Iterable[Path]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if _PASSED_OVER.search(entry.name) or _is_recording(entry):
            continue
        if entry.is_dir():
            yield from _files(entry)
        else:
            yield entry


def _is_recording(entry: Path) -> bool:
    """Whether this is the folder of a recorded host, beside its inventory; what lies in it is no inventory."""
    return (entry / "probe.out").exists() and (entry / "meta.json").exists()


def _nothing_in(folder: Path) -> str:
    passed = sorted(entry.name for entry in folder.iterdir())[:5]
    rest = f"; passed over, as Ansible does: {', '.join(passed)}" if passed else ""
    return f"is a folder without an inventory{rest}"


def _plugin(root: yaml.Node, file: str) -> yaml.ScalarNode | None:
    """Return the name of the inventory plugin that a file configures."""
    pairs = items(root, file) if isinstance(root, yaml.MappingNode) else []
    named = (value for key, value in pairs if key.value == "plugin" and isinstance(value, yaml.ScalarNode))
    return next(named, None)


def _read_host_list(source: str, draft: Draft) -> None:
    for word in filter(None, (part.strip() for part in source.split(","))):
        host, port = split_port(word)
        if "[" in host and is_address(host):
            host, port = word, None  # a list of hosts knows no ranges, so the brackets are a part of the name
        if host not in draft.hosts:
            draft.add_host(host, "ungrouped", source, port=port)
