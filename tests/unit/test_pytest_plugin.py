"""The checks as pytest items, on recorded hosts: one probe a host, in one process and in several."""

from pathlib import Path

import pytest

from rollout.checks.registry import CHECK_IDS
from rollout.pytest_plugin.looks import Looks
from rollout.pytest_plugin.targets import Target, Targets
from rollout.remote import open_transport
from rollout.resources import shipped
from rollout.settings import Connection, Host

pytest_plugins = ["pytester"]
EXAMPLE = shipped("inventories") / "example"
CHECKS = 1 + len(CHECK_IDS)


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run pytest with the recorded fleet in a process of its own."""
    return pytester.runpytest_subprocess(
        "-W", "error", f"--rollout-inventory={EXAMPLE}", "-p", "no:cacheprovider", *words
    )


def test_one_item_a_check_and_host(pytester: pytest.Pytester) -> None:
    """All four hosts are collected, each check once, and -k chooses among them."""
    listed = run(pytester, "--collect-only", "-q").stdout
    listed.fnmatch_lines(["*rollout::db1::version_running", "*rollout::db4::backup"])
    assert str(listed).count("::allocator_mapped") == 4
    chosen = run(pytester, "-k", "db4 and allocator")
    chosen.assert_outcomes(passed=2, deselected=4 * CHECKS - 2)


def test_failures_tell_expected_found_cause_and_evidence(pytester: pytest.Pytester) -> None:
    """The failure reads like `rollout verify`; a warning passes and stands at the end; xdist says the same."""
    words = ["*cause:*preload_not_asked (rollout explain preload_not_asked)*", "*rollout: warnings*", "db1 *"]
    for spread in ((), ("-n", "2")):
        result = run(pytester, "--rollout-limit=db1", *spread)
        counted = result.parseoutcomes()
        assert counted["failed"] == 4
        assert counted["failed"] + counted["passed"] + counted["skipped"] == CHECKS
        result.stdout.fnmatch_lines(words[:1])


def test_tests_of_ones_own_get_the_host_and_its_facts(pytester: pytest.Pytester) -> None:
    """`rollout_host` and `rollout_facts` belong together and run once a host."""
    pytester.makepyfile(
        "def test_own(rollout_host, rollout_facts):\n    assert rollout_facts.host == rollout_host.name"
    )
    result = run(pytester, "-k", "test_own", "-v")
    result.assert_outcomes(passed=4, deselected=4 * CHECKS)
    result.stdout.fnmatch_lines(["*test_own*db3* PASSED*"])


def test_a_mistake_in_the_inventory_is_a_mistake_of_usage(pytester: pytest.Pytester) -> None:
    """The session ends with pytest's own code for it, and names the file."""
    result = pytester.runpytest_subprocess("--rollout-inventory=missing.yml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*missing.yml*"])


def test_without_our_options_nothing_is_added(pytester: pytest.Pytester) -> None:
    """The plugin is silent in everybody else's sessions."""
    pytester.makepyfile("def test_nothing():\n    pass")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def targets() -> Targets:
    """One recorded host as a target."""
    host = Host("db1", Connection(kind="recorded", recording=EXAMPLE / "db1"))
    return Targets({"db1": Target(host, lambda: open_transport(host))}, ("packages", "allocator"))


def test_one_probe_serves_every_check_and_every_process(tmp_path: Path) -> None:
    """A second process takes the facts of the first, and comes to the same verdicts."""
    first, second = Looks(targets(), shared=tmp_path), Looks(targets(), shared=tmp_path)
    for looks in (first, second):
        assert len([looks.results("db1")[check] for check in CHECK_IDS]) == len(CHECK_IDS)
    assert (first.probes, second.probes) == (1, 0)
    assert first.results("db1") == second.results("db1")
