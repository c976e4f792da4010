"""`rollout inventory` as a user meets it: streams, exit codes, forms of output."""

import json
from pathlib import Path

import pytest

from rollout.cli.app import main

TEXT = """
all:
  vars: {ansible_user: admin}
  children:
    db:
      hosts:
        db[1:2]:
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Two hosts in one group."""
    file = tmp_path / "inventory.yml"
    file.write_text(TEXT)
    return str(file)


def run(*words: str) -> int:
    """Run the command and return its exit code."""
    with pytest.raises(SystemExit) as end:
        main(["inventory", *words])
    assert isinstance(end.value.code, int)
    return end.value.code


def test_json_is_the_listing_of_ansible_and_nothing_else(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has the keys of `ansible-inventory --list`, and no schema number."""
    assert run(source, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "_meta": {
            "hostvars": {"db1": {"ansible_user": "admin"}, "db2": {"ansible_user": "admin"}},
            "profile": "inventory_legacy",
        },
        "all": {"children": ["ungrouped", "db"]},
        "db": {"hosts": ["db1", "db2"]},
    }


def test_hosts_prints_names_in_the_order_of_the_pattern(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One name a line on stdout; a term that matches nothing is told on stderr."""
    assert run("-i", source, "--limit", "db2,dbx,db1", "--hosts") == 0
    out, err = capsys.readouterr()
    assert out == "db2\ndb1\n"
    assert "'dbx' matches no host and no group" in err


def test_the_inventory_may_come_from_the_environment(
    source: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ROLLOUT_INVENTORY stands in when none is named, and gives way when one is."""
    monkeypatch.setenv("ROLLOUT_INVENTORY", source)
    assert run("--host", "db2", "--hosts") == 0
    assert run("other,", "--hosts") == 0
    assert capsys.readouterr().out == "db2\nother\n"


def test_the_table_shows_every_host_with_its_way(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an option each host is resolved and shown."""
    assert run(source) == 0
    out = capsys.readouterr().out
    assert "db1" in out
    assert "admin" in out


@pytest.mark.parametrize("words", [(), ("--json", "--hosts", "x,"), ("x,", "--limit", "")])
def test_a_mistake_on_the_command_line_ends_with_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """No inventory, two forms of output at once, a limit that is empty."""
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err


def test_what_a_file_says_reaches_the_terminal_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An inventory cannot paint the terminal through the complaint about it."""
    file = tmp_path / "inventory.yml"
    file.write_text('db: {hosts: {"d\\e[31mb": }}\n')
    assert run(str(file)) == 2
    assert "\x1b" not in capsys.readouterr().err
