"""INI files, programs, plugins and variable folders: what is refused, and what has no counterpart to compare with."""

from pathlib import Path

import pytest

from rollout.errors import ConfigProblem
from rollout.inventory.hosts import resolve
from rollout.inventory.sources import load_inventory


def write(file: Path, text: str, *, executable: bool = False) -> str:
    """Write a file and return its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if executable:
        file.chmod(0o755)
    return str(file)


def complaint(source: str) -> list[str]:
    """Return what is said about an inventory that must be refused, a line a mistake, without the path."""
    with pytest.raises(ConfigProblem) as caught:
        load_inventory([source])
    lines = [str(mistake).removeprefix(source) for mistake in caught.value.mistakes]
    return [line.split(" (known are")[0].split(": did you mean")[0] for line in lines]


def test_all_mistakes_of_an_ini_file_are_told_at_once(tmp_path: Path) -> None:
    """Each stands with its line; what Ansible would pass over or stop at one by one is told together."""
    text = """[db]
db[3:1]
db1 ansible_port
[db:vras]
[no spaces]
[db:vars]
lonely
[ghost:vars]
a=1
[top:children]
phantom
two words
[db]
db2: x=1
bad"quote
"""
    assert complaint(write(tmp_path / "hosts", text)) == [
        ":2: the range [3:1] of 'db[3:1]' runs backwards",
        ":3: 'ansible_port' must be `name=value`",
        ":4: [db:vras] is no kind of section",
        ":5: '[no spaces]' is no section: write [group], [group:vars] or [group:children]",
        ":7: 'lonely' must be `name=value`",
        ":12: 'two words' is no name of a group",
        ":14: 'db2:' is no host: a colon stands before a port, and --- begins a YAML file",
        ":15: No closing quotation",
        ":11: [top:children] names the group 'phantom', which is declared nowhere",
        ":8: [ghost:vars] is for the group 'ghost', which is declared nowhere",
    ]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo no json", ": printed no JSON on --list"),
        ("echo oops >&2; exit 3", ": ended with exit status 3 on --list: oops"),
        ("echo '[]'", ": what --list prints must be a mapping, found list"),
        ('echo \'{"db": {"hosts": "db1"}}\'', ": hosts of 'db' must be a list of names"),
        ('echo \'{"db": {"vars": []}}\'', ": vars of 'db' must be a mapping, found list"),
    ],
)
def test_a_program_that_fails_is_refused_with_its_own_words(tmp_path: Path, script: str, expected: str) -> None:
    """Ansible would go on to read the program's text as an inventory."""
    source = write(tmp_path / "hosts.sh", f"#!/bin/sh\n{script}\n", executable=True)
    assert complaint(source)[0].startswith(expected)


def test_a_plugin_is_refused_by_name_where_ansible_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence names the plugin and says what would help."""
    monkeypatch.setenv("PATH", str(tmp_path))
    source = write(tmp_path / "aws.yml", "regions: []\nplugin: amazon.aws.aws_ec2\n")
    [line] = complaint(source)
    assert line.startswith(":2: needs Ansible's inventory plugin 'amazon.aws.aws_ec2', and no `ansible-inventory`")


def test_a_toml_inventory_is_refused_by_name(tmp_path: Path) -> None:
    """It is not read as INI, which it resembles."""
    assert complaint(write(tmp_path / "hosts.toml", "[all.hosts]\n")) == [
        ": is TOML, which is not supported: write it as YAML or INI"
    ]


def test_mistakes_of_variable_folders_are_told_with_those_of_the_inventory(tmp_path: Path) -> None:
    """Files beside the inventory count as parts of it."""
    source = write(tmp_path / "hosts", "[db]\ndb1\n[db:oops]\n")
    write(tmp_path / "group_vars/db.yml", "a: 1\na: 2\n")
    write(tmp_path / "host_vars/db1.yml", "- a\n")
    assert [line.removeprefix(str(tmp_path)) for line in complaint(source)] == [
        ":3: [db:oops] is no kind of section",
        "/group_vars/db.yml:2: 'a' stands twice here, first in line 1",
        "/host_vars/db1.yml:1: must be a mapping of variables",
    ]


def test_a_setting_that_is_wrong_in_group_vars_is_shown_there(tmp_path: Path) -> None:
    """The mistake names the file that holds it, once, however many hosts have it."""
    source = write(tmp_path / "hosts", "[db]\ndb[1:3]\n")
    write(tmp_path / "group_vars/db.yml", "rollout_soak_seconds: soon\n")
    inventory = load_inventory([source])
    with pytest.raises(ConfigProblem) as caught:
        resolve(inventory, inventory.members("all"))
    [mistake] = caught.value.mistakes
    assert (mistake.file, mistake.line, mistake.path) == (
        str(tmp_path / "group_vars/db.yml"),
        1,
        "rollout_soak_seconds",
    )
