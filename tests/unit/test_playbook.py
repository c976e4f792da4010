"""Playbooks: what they mean, those that ship, and all mistakes of a broken one at once."""

from pathlib import Path

import pytest

from rollout.cli.app import main
from rollout.cli.options import FleetOptions, select_hosts
from rollout.errors import ConfigProblem
from rollout.plan.playbook import find_playbook, load_playbook
from rollout.plan.policy import Policy
from rollout.resources import shipped

BROKEN = """name: ""
change: [packages]
changes: [package, allocator]
hosts: 7
serial: [1, "200%"]
order: shuffle
max_fail_percentage: 120
tasks: []
vars:
  rollout_allocater: jemalloc
  rollout_soak_seconds: "{{ anything }}"
hooks:
  drain:
    - command: /usr/local/bin/drain
      where: proxy
phases: [backup, restart]
"""


def write(tmp_path: Path, text: str) -> Path:
    """Write a playbook."""
    file = tmp_path / "playbook.yml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("fix-and-jemalloc", ("packages", "allocator")),
        ("lru-fix", ("packages",)),
        ("jemalloc", ("allocator",)),
    ],
)
def test_the_playbooks_that_ship_are_sound(name: str, changes: tuple[str, ...]) -> None:
    """Each is found by its bare name and makes the changes that it is named for, with the policy's defaults."""
    playbook = load_playbook(find_playbook(name))
    assert playbook.file == shipped("playbooks") / f"{name}.yml"
    assert (playbook.changes, playbook.hosts, playbook.policy) == (changes, "all", Policy())


def test_a_playbook_is_read_in_ansibles_words(tmp_path: Path) -> None:
    """`serial` may be a number, a share or a list; `hosts` a pattern or a list of them."""
    playbook = load_playbook(
        write(
            tmp_path,
            """
name: replicas first
changes: [allocator]
hosts: [replicas, "db1:db2"]
serial: [1, "25%"]
max_fail_percentage: 10
order: reverse_sorted
canary: 0
phases: [soak]
vars: {rollout_soak_seconds: 7}
""",
        )
    )
    assert playbook.hosts == "replicas,db1,db2"
    assert playbook.policy == Policy(serial=(1, "25%"), max_fail_percentage=10, canary=0)
    assert playbook.in_order(["a", "c", "b"]) == ["c", "b", "a"]
    assert playbook.variables["rollout_soak_seconds"].line == 10


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    """Eleven mistakes, eleven lines, each with line and path, and a guess where one is close."""
    file = write(tmp_path, BROKEN)
    with pytest.raises(ConfigProblem) as caught:
        load_playbook(file)
    found = [(mistake.line, mistake.path) for mistake in caught.value.mistakes]
    assert found == [
        (1, "name"),
        (2, "change"),
        (3, "changes.0"),
        (4, "hosts"),
        (5, "serial"),
        (6, "order"),
        (7, "max_fail_percentage"),
        (8, "tasks"),
        (10, "vars.rollout_allocater"),
        (15, "hooks.drain.0.where"),
        (16, "phases.1"),
    ]
    assert "did you mean 'changes'?" in str(caught.value)
    assert "did you mean 'vars.rollout_allocator'?" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("- hosts: all\n  tasks: []\n", ":1: is a list of plays"),
        ("name: x\n", "changes: is missing"),
        ("name: x\nname: y\n", ":2: 'name' stands twice here"),
        ('name: x\nchanges: [packages]\nhooks: {drain: {command: "a \'b"}}\n', ":3: hooks.drain.*No closing quotation"),
        ("name: x\nchanges: [packages]\nhooks: {drain: {command: ''}}\n", ":3: hooks.drain.*is empty"),
        ("name: x\nchanges: [packages]\ncanary: -1\n", ":3: canary: should be greater than or equal to 0, found -1$"),
        ("name: x\nchanges: []\n", ":2: changes: is empty$"),
    ],
)
def test_a_file_that_is_no_playbook_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    """Ansible's own playbooks are told apart, and keys that stand twice are found."""
    with pytest.raises(ConfigProblem, match=expected):
        load_playbook(write(tmp_path, text))


def test_the_variables_of_a_playbook_are_the_strongest(tmp_path: Path) -> None:
    """They beat a host's own, and `hosts` and `order` choose and sort the hosts."""
    inventory = tmp_path / "inventory.yml"
    inventory.write_text("db:\n  hosts:\n    db1: {rollout_soak_seconds: 1}\n    db2:\nweb:\n  hosts: {w1: }\n")
    playbook = load_playbook(
        write(
            tmp_path,
            "name: x\nchanges: [allocator]\nhosts: db\norder: reverse_inventory\nvars: {rollout_soak_seconds: 9}\n",
        )
    )
    hosts = select_hosts(FleetOptions((str(inventory),)), playbook)
    assert [(host.name, host.settings.soak_seconds) for host in hosts] == [("db2", 9), ("db1", 9)]


def test_a_list_whose_only_entry_is_wrong_is_one_mistake(tmp_path: Path) -> None:
    """That nothing is left of it is not told on top."""
    with pytest.raises(ConfigProblem) as caught:
        load_playbook(write(tmp_path, "name: x\nchanges: [package]\n"))
    assert [mistake.path for mistake in caught.value.mistakes] == ["changes.0"]


def test_playbook_check_ends_with_0_or_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sound playbook is summed up on stdout; a broken one is complained about on stderr."""
    for file, code in ((str(write(tmp_path, BROKEN)), 2), ("jemalloc", 0)):
        with pytest.raises(SystemExit) as end:
            main(["playbook", "check", file])
        assert end.value.code == code
    out, err = capsys.readouterr()
    assert "sound. Changes: allocator" in out
    assert len(err.splitlines()) == 11
