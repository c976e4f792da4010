"""The shell lines and the unit file of docs/ci.md do what the page says."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml

from rollout.resources import shipped

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
GITHUB, GITLAB = [yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml" and "ansible_user" not in text]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A checkout of a CI job whose inventory is the recorded fleet that ships."""
    shutil.copytree(shipped("inventories") / "example", tmp_path / "job")
    return tmp_path / "job"


def shell(lines: list[str], folder: Path) -> int:
    """Run the lines of a job as CI does, and return the exit status."""
    environment = {**os.environ, "KEY": "a key", "KNOWN_HOSTS": "a host key"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    return subprocess.run(["bash", "-e", "-c", "\n".join(lines)], check=False, cwd=folder, env=environment).returncode


def check(setup: list[str], verify: list[str], folder: Path) -> None:
    """Run both parts of a job: the keys are private, the verdict is in the exit status and in the JUnit file."""
    assert shell(setup, folder) == 0
    assert (folder / "id_rollout").read_text() == "a key\n"
    assert (folder / "id_rollout").stat().st_mode & 0o077 == 0
    assert shell(verify, folder) == 1
    assert sum(suite.failures for suite in JUnitXml.fromfile(str(folder / "verify.xml"))) > 0


def test_the_lines_for_github_work(job: Path) -> None:
    """Both run steps, one after the other."""
    steps: list[dict[str, Any]] = GITHUB["jobs"]["verify"]["steps"]
    setup, verify = [step["run"] for step in steps if "run" in step]
    check([setup], [verify], job)


def test_the_lines_for_gitlab_work(job: Path) -> None:
    """before_script and script run in one shell."""
    setup, verify = GITLAB["verify"]["before_script"], GITLAB["verify"]["script"]
    check(setup, [*setup, *verify], job)
    assert GITLAB["verify"]["artifacts"]["reports"]["junit"] == "verify.xml"


def test_the_service_of_the_timer_writes_the_metrics(job: Path) -> None:
    """Its ExecStart ends with a status that the unit calls success, and leaves the file whole."""
    units = [configparser.ConfigParser(interpolation=None) for _ in range(2)]
    for unit, text in zip(units, [text for kind, text in BLOCKS if kind == "ini"], strict=True):
        unit.read_string(text)
    service, timer = units
    command = service["Service"]["ExecStart"].replace("/usr/local/bin/", "").replace("/var/lib/node_exporter", ".")
    assert shell([command], job) == int(service["Service"]["SuccessExitStatus"])
    assert "rollout_verify_time_seconds" in (job / "rollout.prom").read_text()
    assert timer["Timer"]["OnCalendar"]
