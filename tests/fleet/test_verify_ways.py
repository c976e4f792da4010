"""One real host verified in three ways: the same verdicts, one connection each."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from junitparser import Failure, JUnitXml, Skipped

from rollout.facts.unknown import Unknown
from rollout.lab.rehearsal import Rehearsal
from rollout.remote import open_transport
from rollout.remote.probing import look_at

NAME = "db1"
Verdicts = Mapping[str, str]


def connections(fleet: Rehearsal) -> int:
    """Count the SSH connections that the host has accepted."""
    return int(fleet.text(NAME, "journalctl -q --no-pager | grep -c 'Accepted publickey' || :"))


def run(words: list[str], folder: Path) -> tuple[str, float]:
    """Run a command line; return what it printed and the seconds that it took."""
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-m", *words], check=False, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 1, ended.stdout + ended.stderr  # jemalloc is not there yet
    return ended.stdout, time.monotonic() - began


def of_junit(file: Path) -> Verdicts:
    """Read the verdicts from pytest's JUnit file; a warning passes there."""
    kinds = {Failure: "fail", Skipped: "skip"}
    cases = [case for suite in JUnitXml.fromfile(str(file)) for case in suite]
    return {case.name: kinds[type(case.result[0])] if case.result else "pass" for case in cases}


def test_verify_plugin_and_testinfra_agree(fleet: Rehearsal, tmp_path: Path) -> None:
    """`rollout verify`, our plugin, and the plugin through testinfra's own ssh backend come to equal verdicts."""
    host, inventory = fleet.host(NAME), str(fleet.inventory)
    way = host.connection
    seen = connections(fleet)
    printed, seconds = run(["rollout", "verify", inventory, "--host", NAME, "--json"], tmp_path)
    rows = json.loads(printed)["hosts"][0]["checks"]
    verified = {row["id"]: "pass" if row["status"] == "warn" else row["status"] for row in rows}
    figures = [("rollout verify", connections(fleet) - seen, seconds)]
    pytest_words = ["pytest", "-q", "-p", "no:cacheprovider", f"--rollout-inventory={inventory}"]
    backend = [
        "--rollout-checks",
        f"--hosts=ssh://{way.user}@{way.address}",
        f"--ssh-identity-file={way.private_key_file}",
        f"--ssh-extra-args=-o UserKnownHostsFile={way.known_hosts_file}",
        "--sudo",
    ]
    for name, words in (("plugin", [f"--rollout-limit={NAME}"]), ("testinfra ssh", backend)):
        seen = connections(fleet)
        _, seconds = run([*pytest_words, *words, "--junitxml=verdicts.xml"], tmp_path)
        figures.append((name, connections(fleet) - seen, seconds))
        assert of_junit(tmp_path / "verdicts.xml") == verified
    for name, count, seconds in figures:
        print(f"{name}: {count} connections, {seconds:.1f} s")
    assert [count for _, count, _ in figures] == [1, 1, 1]


def test_testinfras_host_goes_through_the_inventory(fleet: Rehearsal, tmp_path: Path) -> None:
    """A test of one's own reads root's files over the inventory's connection, beside our fixtures."""
    (tmp_path / "test_own.py").write_text(
        "def test_own(host, rollout_host, rollout_facts):\n"
        "    assert host.user().name == 'root'\n"
        "    assert host.service('mariadb').is_running\n"
        "    assert host.backend.get_hostname() == rollout_host.name == rollout_facts.host\n"
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_own"]
    ended = subprocess.run(
        [*words, f"--rollout-inventory={fleet.inventory}"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout
    assert "3 passed" in ended.stdout


def test_watch_ends_when_the_host_is_healthy_again(fleet: Rehearsal, tmp_path: Path) -> None:
    """A server that is stopped and comes back while the command watches ends it with 0."""
    fleet.dirty(NAME)
    fleet.text(NAME, "systemctl stop mariadb.socket mariadb; systemd-run --on-active=8 systemctl start mariadb")
    words = ["rollout", "verify", str(fleet.inventory), "--host", NAME, "--playbook", "lru-fix", "--watch"]
    ended = subprocess.run([sys.executable, "-m", *words], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert "looking again" in ended.stderr
    assert ended.returncode == 0, ended.stdout


def test_monitoring_is_looked_for_where_the_inventory_says(fleet: Rehearsal) -> None:
    """A dashboard at a path with a blank is named; a path that is not there makes the answer unknown, never none."""
    host = fleet.dirty(NAME)
    fleet.text(NAME, "mkdir -p '/srv/our dashboards'; echo innodb_pages_made_young >'/srv/our dashboards/pool.json'")
    for path, found in (("/srv/our dashboards", ("/srv/our dashboards/pool.json",)), ("/srv/missing", None)):
        settings = host.settings.model_copy(update={"monitoring_paths": (path,)})
        with closing(open_transport(host)) as transport:
            seen = look_at(transport, replace(host, settings=settings)).facts.trail.monitoring
        if found is None:
            assert isinstance(seen, Unknown)
            assert "/srv/missing does not exist" in seen.reason
        else:
            assert seen == found
