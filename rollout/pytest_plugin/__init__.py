"""The checks as pytest items, and fixtures for tests of one's own (entry point `pytest11`).

    pytest --rollout-inventory inventory.yml                    every check on every host of the inventory
    pytest --rollout-checks --hosts=ssh://db1 --sudo            the same through a backend of testinfra's

Beside them testinfra's fixture `host` goes through the inventory's connections, and `rollout_host` and
`rollout_facts` give the resolved host and its facts. Where none of these options is given the plugin does nothing.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from rollout.errors import RolloutError, UsageProblem
from rollout.facts.model import Facts
from rollout.printable import printable
from rollout.pytest_plugin.backend import RolloutBackend
from rollout.pytest_plugin.items import WARNING, CheckedHost, CheckItem
from rollout.pytest_plugin.looks import Looks
from rollout.pytest_plugin.targets import Targets, find_targets, hostspecs
from rollout.settings import Host

LOOKS = pytest.StashKey[Looks]()
FOLDER = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("rollout", "checks of `rollout verify`")
    add = group.addoption
    add("--rollout-inventory", action="append", default=[], metavar="INVENTORY", help="Inventory; repeatable.")
    add("--rollout-limit", default="", metavar="PATTERN", help="Only hosts of this pattern, as Ansible reads it.")
    add("--rollout-playbook", default="fix-and-jemalloc", metavar="PLAYBOOK", help="What is wanted of the hosts.")
    add("--rollout-checks", action="store_true", help="Check the hosts of testinfra's --hosts, through its backend.")


def pytest_configure(config: pytest.Config) -> None:
    """Read the inventory, and let testinfra's `host` go through its connections."""
    config.addinivalue_line("markers", "rollout: a check of `rollout verify` on one host")
    if not config.getoption("rollout_inventory") and not config.getoption("rollout_checks"):
        return
    try:
        targets = find_targets(config)
    except RolloutError as mistake:
        raise pytest.UsageError(str(mistake)) from mistake
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    config.stash[LOOKS] = Looks(targets, shared=Path(worker["rollout_folder"]) if worker else None)
    if not config.getoption("hosts"):
        RolloutBackend.serve({name: target.host for name, target in targets.by_name.items()})
        config.option.hosts = hostspecs(targets)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker process of pytest-xdist in which folder the processes share their looks."""
    stash = node.config.stash
    if FOLDER not in stash:
        stash[FOLDER] = Path(tempfile.mkdtemp(prefix="rollout-pytest-"))
    node.workerinput["rollout_folder"] = str(stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close connections and take away the shared folder."""
    RolloutBackend.close_all()
    if FOLDER in config.stash:
        shutil.rmtree(config.stash[FOLDER])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the checks before the user's own tests; -k and -m choose among them as among others."""
    if LOOKS not in config.stash:
        return
    looks = config.stash[LOOKS]
    hosts = [
        CheckedHost.from_parent(session, name=name, nodeid=f"rollout::{name}", looks=looks)
        for name in looks.targets.by_name
    ]
    items[:0] = [item for host in hosts for item in host.collect()]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look at all hosts whose checks were chosen, side by side."""
    if LOOKS in session.config.stash and not session.config.getoption("collectonly") and not _is_controller(session):
        names = {item.host_name: None for item in session.items if isinstance(item, CheckItem)}
        session.config.stash[LOOKS].prefetch(names)


def _is_controller(session: pytest.Session) -> bool:
    """Whether the tests run in other processes (pytest-xdist) and not in this one."""
    return bool(getattr(session.config.option, "tx", None)) and not hasattr(session.config, "workerinput")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the checks that passed with a warning, and how many probes were made."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    warned = [
        text
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, text in report.user_properties
        if name == WARNING
    ]
    if warned:
        terminalreporter.section("rollout: warnings")
        for text in warned:
            terminalreporter.line(printable(text))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `rollout_host` once a host; one that asks for testinfra's `host` too follows that."""
    if "rollout_host" in metafunc.fixturenames and "_testinfra_host" not in metafunc.fixturenames:
        names = list(_targets(metafunc.config).by_name)
        metafunc.parametrize("rollout_host", names, ids=names, indirect=True, scope="module")


def _targets(config: pytest.Config) -> Targets:
    if LOOKS not in config.stash:
        pytest.fail("the fixture rollout_host needs --rollout-inventory", pytrace=False)
    return config.stash[LOOKS].targets


@pytest.fixture
def rollout_host(request: pytest.FixtureRequest) -> Host:
    """The host under test as the inventory resolves it (`rollout.settings.Host`)."""
    followed = "_testinfra_host" in request.fixturenames
    name = request.getfixturevalue("_testinfra_host").backend.get_hostname() if followed else request.param
    targets = _targets(request.config)
    if name not in targets.by_name:
        raise UsageProblem(f"{name} is not in the inventory of --rollout-inventory")
    return targets.by_name[name].host


@pytest.fixture
def rollout_facts(request: pytest.FixtureRequest, rollout_host: Host) -> Facts:
    """The facts of the host under test; the probe is shared with the checks."""
    look = request.config.stash[LOOKS].look(rollout_host.name)
    if isinstance(look, str):
        pytest.fail(f"{rollout_host.name}: {look}", pytrace=False)
    return look
