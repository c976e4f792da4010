"""Inventories, patterns and secrets given to the real Ansible too: what it makes of them is what we make of them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.inventory.listing import as_json, listing
from rollout.inventory.model import Inventory
from rollout.inventory.patterns import select, split_terms
from rollout.inventory.sources import load_inventory
from rollout.inventory.templating import Resolver, UndefinedName
from rollout.inventory.vault import Vault, vault_of

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE / "inventory_cases.yml").read_text())
PATTERNS = yaml.safe_load((HERE / "pattern_cases.yml").read_text())
IDS = [case["name"] for case in CASES]
SECRETS = [
    "simple",
    "größer als ASCII: 日本 🐬",
    "sixteen bytes ok",
    "two\nlines\n",
    "{{ braces }} 'quotes' \"more\"",
    "x" * 5000,
]
UNDEFINED = "(undefined)"


@dataclass(frozen=True)
class Ansible:
    """What the real commands answered, by their key."""

    folder: Path
    outcomes: dict[str, dict[str, Any]]

    def out(self, key: str) -> str:
        """Return the output of a command that went well."""
        outcome = self.outcomes[key]
        assert outcome["status"] == 0, outcome["err"] or outcome["out"]
        text: str = outcome["out"]
        return text


@pytest.fixture(scope="module")
def ansible(tmp_path_factory: pytest.TempPathFactory) -> Ansible:
    """Write all inventories and ask the real Ansible about all of them, in one process."""
    folder = tmp_path_factory.mktemp("ansible")
    for number, case in enumerate([*CASES, {"name": "patterns", **PATTERNS}]):
        write(folder / str(number), case)
    (folder / "ansible.cfg").write_text("[defaults]\n")
    commands = dict(commands_for(folder))
    (folder / "commands.json").write_text(json.dumps(list(commands.values())))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
    }
    words = [sys.executable, str(HERE / "ansible_reference.py"), str(folder / "commands.json")]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    return Ansible(folder, dict(zip(commands, json.loads(done.stdout), strict=True)))


def write(folder: Path, case: dict[str, Any]) -> None:
    """Write the files of a case, and the passwords of the vaulted ones."""
    folder.mkdir()
    for name, text in {**case.get("files", {}), "pw": "correct horse\n", "pw2": "other battery\n"}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in case.get("executable", ()):
        (folder / name).chmod(0o755)


def sources(case: dict[str, Any]) -> list[str]:
    """Name what stands behind -i: what the case says, else its only file."""
    given: list[str] = case.get("sources") or list(case["files"])
    return given


def commands_for(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every command with its key."""
    for number, case in enumerate(CASES):
        here = str(folder / str(number))
        words = [word for source in sources(case) for word in ("-i", source)]
        words += ["--playbook-dir", case["playbook"]] if "playbook" in case else []
        words += ["--vault-password-file", "pw", "--vault-id", "prod@pw2"] if case.get("vault") else []
        yield f"list {number}", {"program": "ansible-inventory", "words": [*words, "--list"], "folder": here}
        if "values" in case:
            local = ["-e", "ansible_connection=local", "-m", "debug", "-a", message(case)]
            hosts = ",".join(case["values"])
            yield f"values {number}", {"program": "ansible", "words": [hosts, *words, *local], "folder": here}
    here = str(folder / str(len(CASES)))
    words = [*(word for source in sources(PATTERNS) for word in ("-i", source)), "--", *PATTERNS["patterns"]]
    for number, text in enumerate(SECRETS):
        words_of_vault = ["encrypt_string", "--vault-id", f"label{number}@pw", text]
        yield f"secret {number}", {"program": "ansible-vault", "words": words_of_vault, "folder": here}
    yield "patterns", {"program": "list-hosts", "words": words, "folder": here}


def names_of(case: dict[str, Any]) -> list[str]:
    """Name the variables that a case renders for any of its hosts."""
    return list(dict.fromkeys(name for names in case["values"].values() for name in names))


def message(case: dict[str, Any]) -> str:
    """Write the argument of the debug module that shows all of them at once."""
    parts = (f"'{name}': {name} | default('{UNDEFINED}')" for name in names_of(case))
    return "msg={{ {" + ", ".join(parts) + "} }}"


def vault(folder: Path, case: dict[str, Any]) -> Vault:
    """Gather the passwords of a case."""
    given = case.get("vault", False)
    return vault_of([str(folder / "pw")], [f"prod@{folder / 'pw2'}"], None) if given else Vault()


def ours(folder: Path, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Inventory:
    """Read a case with our own loader, from inside its folder, beside the Ansible of this environment."""
    monkeypatch.chdir(folder)
    programs = str(Path(sys.executable).parent)  # pytest may have been called by its path, as the Makefile does
    monkeypatch.setenv("PATH", programs + os.pathsep + os.environ["PATH"])
    playbook = folder / case["playbook"] / "playbook.yml" if "playbook" in case else None
    return load_inventory(sources(case), vault(folder, case), playbook)


@pytest.mark.parametrize("number", range(len(CASES)), ids=IDS)
def test_hosts_groups_and_variables_are_those_of_ansible(
    ansible: Ansible, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole document of `ansible-inventory --list`, value by value."""
    inventory = ours(ansible.folder / str(number), CASES[number], monkeypatch)
    document = json.loads(as_json(listing(inventory, inventory.members("all"))))
    assert document == json.loads(ansible.out(f"list {number}"))


@pytest.mark.parametrize("number", [number for number, case in enumerate(CASES) if "values" in case])
def test_rendered_values_are_those_of_ansible(ansible: Ansible, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value with its type, as the debug module shows it."""
    case, folder = CASES[number], ansible.folder / str(number)
    inventory = ours(folder, case, monkeypatch)
    theirs = dict(re.findall(r"^(\S+) \| SUCCESS => (\{.*?^\})", ansible.out(f"values {number}"), re.S | re.M))
    assert theirs.keys() == case["values"].keys()
    for host, text in theirs.items():
        resolver = Resolver(inventory, host, inventory.variables(host), vault(folder, case))
        found = {name: value_or_undefined(resolver, name) for name in names_of(case)}
        assert json.loads(json.dumps(found)) == json.loads(text)["msg"]


def value_or_undefined(resolver: Resolver, name: str) -> Any:
    """Render a variable as the debug message does."""
    try:
        return resolver.value(name) if resolver.knows(name) else UNDEFINED
    except UndefinedName:
        return UNDEFINED


@pytest.mark.parametrize("number", range(len(PATTERNS["patterns"])), ids=PATTERNS["patterns"])
def test_hosts_of_a_pattern_and_their_order_are_those_of_ansible(
    ansible: Ansible, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of `ansible PATTERN --list-hosts`."""
    inventory = ours(ansible.folder / str(len(CASES)), PATTERNS, monkeypatch)
    pattern = PATTERNS["patterns"][number]
    assert select(inventory, split_terms(pattern)) == json.loads(ansible.out("patterns"))[pattern]


@pytest.mark.parametrize("number", range(len(SECRETS)))
def test_what_the_real_vault_encrypts_is_decrypted(ansible: Ansible, number: int) -> None:
    """Freshly made by `ansible-vault encrypt_string`, with an id, a new salt and a password from a file."""
    passwords = vault_of([str(ansible.folder / "0" / "pw")], [], None)
    _, envelope = ansible.out(f"secret {number}").split("|", 1)
    assert passwords.decrypt(envelope) == SECRETS[number]


def test_enough_was_compared() -> None:
    """At least forty inventories, no two of one name, and eighty patterns, no two alike."""
    assert len(set(IDS)) == len(CASES) >= 40
    assert len(set(PATTERNS["patterns"])) == len(PATTERNS["patterns"]) >= 80
