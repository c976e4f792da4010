"""What `apply` and `rollback` refuse before they touch anything, as printed and with their exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rollout.plan.model import load_plan
from rollout.resources import shipped

EXAMPLE = shipped("inventories") / "example"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plan the recorded fleet into a state directory."""
    state = tmp_path_factory.mktemp("state")
    code, said = rollout(state, "plan", str(EXAMPLE), "--sample", "0", "--no-refresh")
    assert code == 0, said
    return state


def rollout(state: Path, *words: str) -> tuple[int, str]:
    """Run the program without a terminal; return its exit code and what it said on both streams."""
    command = [sys.executable, "-m", "rollout", words[0], "--state-dir", str(state), *words[1:]]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def edited(planned: Path, to: Path, **changes: object) -> Path:
    """Write the plan again with some of its top-level fields changed."""
    plan = json.loads((planned / "plan.json").read_text())
    to.write_text(json.dumps({**plan, **changes}))
    return to


def test_what_plan_was_told_for_all_hosts_is_no_change_of_the_inventory(tmp_path: Path) -> None:
    """A plan made with --replace-allocator is as fresh to `apply` as any other."""
    words = (str(EXAMPLE), "--sample", "0", "--no-refresh", "--replace-allocator")
    assert rollout(tmp_path, "plan", *words)[0] == 0
    assert load_plan(tmp_path / "plan.json").replace_allocator is True
    code, said = rollout(tmp_path, "apply", "--yes")
    assert code == 2
    assert "recorded hosts can only be looked at" in said  # what is asked last


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    """The sentence names the file and what to do."""
    code, said = rollout(tmp_path, "apply", "--yes")
    assert code == 2
    assert f"{tmp_path}/plan.json: there is no plan here" in said
    assert "rollout plan INVENTORY" in said


def test_a_plan_that_was_cut_off(planned: Path, tmp_path: Path) -> None:
    """Half a file is no plan."""
    text = (planned / "plan.json").read_text()
    (tmp_path / "half.json").write_text(text[: len(text) // 2])
    code, said = rollout(planned, "apply", "--yes", "--plan", str(tmp_path / "half.json"))
    assert code == 2
    assert "the plan is cut off or is no JSON" in said


def test_a_plan_that_was_edited(planned: Path, tmp_path: Path) -> None:
    """What was reviewed is what runs."""
    code, said = rollout(planned, "apply", "--yes", "--plan", str(edited(planned, tmp_path / "p.json", waves=[])))
    assert code == 3
    assert "its digest does not fit" in said


def test_facts_are_stored_and_not_digested(planned: Path, tmp_path: Path) -> None:
    """The digest covers what will be done, not what the hosts looked like."""
    assert load_plan(edited(planned, tmp_path / "p.json", facts={})).facts == {}


def test_an_inventory_that_says_something_else_now(planned: Path, tmp_path: Path) -> None:
    """The plan was made for other settings of the same host."""
    other = tmp_path / "inventory.yml"
    recording = EXAMPLE / "db3"
    variables = f"{{ansible_connection: recorded, rollout_recording: {recording}, rollout_malloc_conf: 'thp:never'}}"
    other.write_text(f"all: {{hosts: {{db3: {variables}}}}}\n")
    code, said = rollout(planned, "apply", str(other), "--yes")
    assert code == 3
    assert "db3" in said


def test_a_host_that_the_plan_does_not_have(planned: Path, tmp_path: Path) -> None:
    """Another inventory's host is a stranger."""
    other = tmp_path / "inventory.yml"
    other.write_text("all: {hosts: {elsewhere: {ansible_connection: local}}}\n")
    code, said = rollout(planned, "apply", str(other), "--yes")
    assert code == 3
    assert "made for another inventory: it has no host elsewhere" in said


@pytest.mark.parametrize("choice", [("--limit", "all"), ("--host", "db3")])
def test_a_plan_for_some_hosts(tmp_path: Path, choice: tuple[str, str]) -> None:
    """The command that it prints takes these, named inventory or not; who asks for another host is refused."""
    words = (str(EXAMPLE), "--sample", "0", "--no-refresh", "--limit", "db1,db2")
    assert rollout(tmp_path, "plan", *words)[0] == 0
    for given in ((), (str(EXAMPLE),)):
        code, said = rollout(tmp_path, "apply", *given, "--yes")
        assert (code, "recorded hosts can only be looked at: db1, db2" in said) == (2, True)
        code, said = rollout(tmp_path, "apply", *given, *choice, "--yes")
        assert (code, "the plan has no host db3" in said) == (3, True), said
        assert "It was made for db1, db2: name those" in said


def test_recorded_hosts_can_only_be_looked_at(planned: Path) -> None:
    """A recording cannot be changed."""
    code, said = rollout(planned, "apply", "--yes", "--host", "db1")
    assert code == 2
    assert "recorded hosts can only be looked at: db1" in said
    code, said = rollout(planned, "rollback", str(EXAMPLE), "--host", "db2")
    assert (code, "recorded hosts can only be looked at: db2" in said) == (2, True)


def test_no_terminal_and_no_yes(tmp_path: Path) -> None:
    """Nobody can be asked, and nobody said yes beforehand."""
    inventory = tmp_path / "inventory.yml"
    inventory.write_text("all: {hosts: {here: {ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}}}\n")
    rollout(tmp_path, "plan", str(inventory), "--sample", "0")
    code, said = rollout(tmp_path, "apply")
    assert code == 2
    assert "there is no terminal to ask on" in said


def test_a_host_that_was_unreachable_in_the_plan_is_not_tried(tmp_path: Path) -> None:
    """The plan says nothing about it, so nothing can be done to it: exit 4, the policy stops at the canary."""
    inventory = tmp_path / "inventory.yml"
    inventory.write_text("all: {hosts: {here: {ansible_host: 127.0.0.1, ansible_port: 1}}}\n")
    code, said = rollout(tmp_path, "plan", str(inventory), "--sample", "0")
    assert code == 1
    assert "unreachable" in said
    code, said = rollout(tmp_path, "apply", "--yes")
    assert code == 4
    assert "unreachable" in said


def test_detailed_exit_codes(planned: Path) -> None:
    """10: changes are pending on the recorded fleet."""
    code, _ = rollout(planned, "plan", str(EXAMPLE), "--sample", "0", "--no-refresh", "--detailed-exitcode")
    assert code == 10
