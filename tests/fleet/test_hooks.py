"""Hooks on real hosts: they run where and when they must, cannot break out of their quotes, and a drain is checked."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STARTED = "systemctl show mariadb -p InvocationID --value"
FREE = "ls /var/lib/rollout/lock 2>/dev/null || echo free"
CLIENT = "systemd-run -q --unit=sleeper -- mariadb -u root -e 'SELECT SLEEP(600)'; sleep 0.5"
HOSTILE = "$(touch /root/planted) `touch /root/planted` ' \" ; touch /root/planted"


def say(file: Path, *, code: int = 0) -> list[str]:
    """Make a command that appends what it is told to a file of the controller, and ends with `code`."""
    return ["sh", "-c", f'echo "$ROLLOUT_KIND $ROLLOUT_HOOK $ROLLOUT_HOST $ROLLOUT_STATUS" >>{file}; exit {code}']


def product_for(fleet: Rehearsal, folder: Path, host: str, hooks: dict[str, Any], **settings: Any) -> Product:
    """Give a test the product with a plan for one host that has these hooks."""
    fleet.dirty(host)
    playbook = folder / "hooked.yml"
    variables = {"rollout_soak_seconds": 0, "rollout_backup_method": "none", **settings}
    text = yaml.safe_dump({"name": "hooked", "changes": ["allocator"], "vars": variables, "hooks": hooks})
    playbook.write_text(text)
    product = Product(fleet.inventory, folder / "state")
    product.plan("--host", host, "--playbook", str(playbook))
    return product


def phases(product: Product) -> list[tuple[str, str]]:
    """Return the phases of the last run with their ends, in order."""
    journal = max(product.state.glob("runs/*/journal.jsonl")).read_text().splitlines()
    ended = (json.loads(line)["data"] for line in journal if '"phase_ended"' in line)
    return [(data["phase"], data["status"]) for data in ended]


def test_hooks_run_in_their_order_on_the_way_and_on_the_way_back(fleet: Rehearsal, tmp_path: Path) -> None:
    """before, drain, undrain, after and notify, on controller and host; hostile words stay words on both."""
    news = tmp_path / "news"
    hooks: dict[str, Any] = {event: {"command": say(news)} for event in ("undrain", "after", "notify")}
    hooks["before"] = {"where": "host", "command": ["sh", "-c", "echo $ROLLOUT_HOOK $1 >>/root/said", "sh", HOSTILE]}
    hooks["drain"] = [{"command": ["sh", "-c", f'echo "$1" >{tmp_path}/words', "sh", HOSTILE]}, {"command": say(news)}]
    product = product_for(fleet, tmp_path, "db1", hooks)
    assert product.run("apply", "--yes", "--json").json["hosts"][0]["status"] == "changed"
    assert news.read_text().splitlines() == [
        "apply notify db1 started",
        "apply drain db1 ",
        "apply undrain db1 changed",
        "apply after db1 changed",
        "apply notify db1 changed",
    ]
    assert (tmp_path / "words").read_text().strip() == HOSTILE
    names = [name for name, _ in phases(product)]
    assert names == [
        *("lock", "probe", "notify", "before", "preflight", "variables", "baseline", "backup", "way_back"),
        *("drain", "connections"),
        *("change", "proof", "undrain", "soak", "after", "unlock", "notify"),
    ]
    news.unlink()
    assert product.run("rollback", "--host", "db1", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert news.read_text().splitlines()[-2:] == ["rollback after db1 rolled_back", "rollback notify db1 rolled_back"]
    assert fleet.text("db1", "cat /root/said") == "\n".join([f"before {HOSTILE}"] * 2)
    assert fleet.text("db1", "ls /root/planted 2>/dev/null || echo none") == "none"
    assert not Path("/root/planted").exists()


def test_a_drain_that_fails_keeps_the_host_as_it_was(fleet: Rehearsal, tmp_path: Path) -> None:
    """No second drain hook, no stop, no drop-in; undrain and after run all the same, and the lock is given back."""
    news = tmp_path / "news"
    drain = [{"command": say(news, code=3)}, {"command": say(tmp_path / "never")}]
    hooks = {"drain": drain, "undrain": {"command": say(news)}, "after": {"command": say(news)}}
    product = product_for(fleet, tmp_path, "db1", hooks)
    started = fleet.text("db1", STARTED)
    row = product.run("apply", "--yes", "--json", expect=4).json["hosts"][0]
    assert row["status"] == "failed"
    assert "hook drain: " in row["error"]
    assert "ended with 3" in row["error"]
    assert news.read_text().splitlines() == ["apply drain db1 ", "apply undrain db1 failed", "apply after db1 failed"]
    assert not (tmp_path / "never").exists()
    assert fleet.text("db1", STARTED) == started
    assert fleet.text("db1", FREE) == "free"
    assert fleet.text("db1", "ls /etc/systemd/system/mariadb.service.d 2>/dev/null || echo none") == "none"


def test_clients_that_stay_after_a_drain_are_named(fleet: Rehearsal, tmp_path: Path) -> None:
    """The host is not stopped under a client that is left; a user that may stay connected does not count."""
    hooks = {"drain": {"command": "true", "where": "host"}}
    product = product_for(fleet, tmp_path, "db2", hooks, rollout_drain_wait_seconds=1)
    fleet.text("db2", CLIENT)
    started = fleet.text("db2", STARTED)
    row = product.run("apply", "--yes", "--json", expect=4).json["hosts"][0]
    assert "clients are connected 1 s after the drain: connection" in row["error"]
    assert "of root from localhost" in row["error"]
    assert fleet.text("db2", STARTED) == started
    allowed = {"rollout_drain_wait_seconds": 1, "rollout_drain_allowed_users": ["monitor", "root"]}
    product = product_for(fleet, tmp_path, "db2", hooks, **allowed)
    assert product.run("apply", "--yes", "--json").json["hosts"][0]["status"] == "changed"


def test_a_notice_that_fails_fails_nothing_and_is_told(fleet: Rehearsal, tmp_path: Path) -> None:
    """notify is killed at its time limit, with all that it started; the host is changed and the run ends with 0."""
    sleeper = ["sh", "-c", "sleep 7531 & wait"]
    hooks = {"notify": [{"command": sleeper, "timeout_seconds": 0.5}, {"command": "false", "where": "host"}]}
    product = product_for(fleet, tmp_path, "db3", hooks)
    ran = product.run("apply", "--yes", "--no-progress")
    assert "notify failed" in ran.err
    assert "ran into its time limit; false on the host ended with 1" in ran.err
    assert phases(product)[-1] == ("notify", "failed")
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [words for words in running if b"\x007531\x00" in words]


def test_a_program_that_is_not_there_is_found_by_check(fleet: Rehearsal, tmp_path: Path) -> None:
    """`apply --check` names hooks that could not be run, on controller and host, and what would run."""
    hooks = {"drain": {"command": "no-such-drain db1"}, "undrain": {"command": "no-such-undrain", "where": "host"}}
    product = product_for(fleet, tmp_path, "db3", hooks)
    ran = product.run("apply", "--check", "--json", expect=1)
    tried = {entry["id"]: entry for entry in ran.json["hosts"][0]["preflight"]}
    assert tried["hooks"]["status"] == "fail"
    assert "drain: there is no program no-such-drain on the controller" in tried["hooks"]["seen"]
    assert "undrain: there is no program no-such-undrain on the host" in tried["hooks"]["seen"]
    row = product.run("apply", "--yes", "--json", "--skip-hooks", "the balancer is gone").json["hosts"][0]
    assert row["status"] == "changed"
