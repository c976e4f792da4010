"""One real host verified in three ways: the same verdicts, one connection each."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from junitparser import Failure, JUnitXml, Skipped

from rollout.lab.rehearsal import Rehearsal

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
        print(f"{name}: {count} connections, {seconds:.1f} s")  # noqa: T201 - figures to look at, shown with -s
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
