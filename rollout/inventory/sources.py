"""Where an inventory comes from: files, folders and lists of hosts, told apart as Ansible does."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import compose, items, read_text
from rollout.inventory.draft import Draft
from rollout.inventory.model import Inventory
from rollout.inventory.ranges import is_address, split_port
from rollout.inventory.yaml_source import read_yaml

_YAML_SUFFIXES = (".yml", ".yaml", ".json")
# What Ansible passes over in a folder of inventories.
_PASSED_OVER = re.compile(
    r"^\.|^(host_vars|group_vars|vars_plugins)$|(\.pyc|\.pyo|\.swp|\.bak|~|\.rpm|\.md|\.txt|\.rst|\.orig|\.ini|\.cfg|\.retry)$"
)


def load_inventory(sources: Sequence[str]) -> Inventory:
    """Read inventories, later ones stronger than earlier ones. Raises `ConfigProblem` with all mistakes."""
    draft = Draft()
    for source in sources:
        _read_source(source, draft)
    return draft.close()


def _read_source(source: str, draft: Draft) -> None:
    path = Path(source).expanduser()
    if path.is_dir():
        _read_folder(path, draft)
    elif path.exists():
        _collect(draft, path)
    elif "," in source:
        _read_host_list(source, draft)
    else:
        draft.mistakes.append(Mistake(source, 0, "there is no such inventory (a list of hosts needs a comma: `db1,`)"))


def _read_folder(folder: Path, draft: Draft) -> None:
    """Read all inventories of a folder and the folders in it, in the order of their names."""
    files = list(_files(folder))
    if not files:
        draft.mistakes.append(Mistake(str(folder), 0, _nothing_in(folder)))
    for file in files:
        _collect(draft, file)


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


def _collect(draft: Draft, file: Path) -> None:
    """Read one file; its mistakes join those of the others."""
    try:
        _read_file(file, draft)
    except ConfigProblem as problem:
        draft.mistakes += problem.mistakes


def _read_file(file: Path, draft: Draft) -> None:
    text = read_text(file)
    if not text.strip():
        raise ConfigProblem([Mistake(str(file), 0, "is empty: it names no host")])
    if file.suffix not in _YAML_SUFFIXES:
        raise ConfigProblem([Mistake(str(file), 0, "is no YAML inventory (.yml, .yaml, .json)")])
    root = compose(text, str(file))
    if root is None:
        raise ConfigProblem([Mistake(str(file), 0, "is empty: it names no host")])
    _refuse_plugin(root, file)
    read_yaml(root, str(file), draft)


def _refuse_plugin(root: yaml.Node, file: Path) -> None:
    """Refuse the configuration of an inventory plugin, by the plugin's name."""
    pairs = items(root) if isinstance(root, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == "plugin" and isinstance(value, yaml.ScalarNode):
            sentence = f"needs Ansible's inventory plugin '{value.value}', which is not supported"
            raise ConfigProblem([Mistake(str(file), key.start_mark.line + 1, sentence)])


def _read_host_list(source: str, draft: Draft) -> None:
    for word in filter(None, (part.strip() for part in source.split(","))):
        host, port = split_port(word)
        if "[" in host and is_address(host):
            host, port = word, None  # a list of hosts knows no ranges, so the brackets are a part of the name
        if host not in draft.hosts:
            draft.add_host(host, "ungrouped", source, port=port)
