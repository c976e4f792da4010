"""`rollout verify` on recorded hosts, as a user and as CI type it."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from junitparser import JUnitXml
from prometheus_client.parser import text_string_to_metric_families

from rollout.checks.registry import CHECK_IDS, REACHABLE
from rollout.cli.app import app
from rollout.resources import shipped

EXAMPLE = shipped("inventories") / "example"


def verify(*words: str) -> Result:
    """Run the command on the recorded fleet that ships."""
    return CliRunner().invoke(app, ["verify", str(EXAMPLE), *words])


def test_a_host_that_fails_ends_with_one_and_is_named_with_the_cause() -> None:
    """The table shows what fails or warns; db4, where jemalloc was set up by hand, fails nothing."""
    result = verify()
    assert result.exit_code == 1
    assert "preload_not_asked" in result.stdout
    assert "4 hosts in" in result.stderr
    assert verify("--host", "db4").exit_code == 0


def test_a_playbook_without_the_allocator_asks_for_none() -> None:
    """With `lru-fix` the same host fails no check of the allocator."""
    result = verify("--host", "db1", "--playbook", "lru-fix", "--json")
    checks = {row["id"]: row["status"] for row in json.loads(result.stdout)["hosts"][0]["checks"]}
    assert checks["allocator_mapped"] == checks["drop_in_wins"] == "skip"
    assert result.exit_code == 0


def test_json_junit_and_textfile_tell_the_same(tmp_path: Path) -> None:
    """One run writes all three; every check of every host stands in each."""
    files = tmp_path / "out" / "verify.xml", tmp_path / "rollout.prom"
    result = verify("--json", "--junit", str(files[0]), "--textfile", str(files[1]))
    document = json.loads(result.stdout)
    told = {(host["name"], row["id"], row["status"]) for host in document["hosts"] for row in host["checks"]}
    assert {row[1] for row in told} == {REACHABLE, *CHECK_IDS}
    families = {family.name: family for family in text_string_to_metric_families(files[1].read_text())}
    samples = families["rollout_check_status"].samples
    assert {(s.labels["host"], s.labels["check"], s.labels["status"]) for s in samples if s.value == 1} == told
    assert JUnitXml.fromfile(str(files[0])).failures == sum(row[2] == "fail" for row in told)


def test_a_host_that_cannot_be_reached_fails_and_stops_nobody(tmp_path: Path) -> None:
    """A spoiled recording fails `reachable` and nothing else is said of it; the other hosts are verified."""
    fleet = tmp_path / "fleet"
    shutil.copytree(EXAMPLE, fleet)
    (fleet / "db1" / "probe.out").write_bytes(b"cut off")
    result = CliRunner().invoke(app, ["verify", str(fleet), "--json"])
    hosts = {host["name"]: host for host in json.loads(result.stdout)["hosts"]}
    assert [(row["id"], row["status"]) for row in hosts["db1"]["checks"]] == [(REACHABLE, "fail")]
    assert len(hosts["db4"]["checks"]) == 1 + len(CHECK_IDS)
    assert result.exit_code == 1


def test_watch_gives_up_at_its_limit() -> None:
    """It looks again at what fails, says so, and ends with the last verdict."""
    result = verify("--host", "db1", "--watch", "--watch-limit", "5", "--watch-pause", "1")
    assert result.exit_code == 1
    assert "1 of 1 hosts fail; looking again" in result.stderr


@pytest.mark.parametrize("words", [("--host", "db9"), ("--playbook", "no-such-playbook")])
def test_mistakes_of_usage_end_with_two(words: tuple[str, ...]) -> None:
    """A host or a playbook that is not there is no failed check."""
    assert getattr(verify(*words).exception, "exit_code", None) == 2
