"""`rollout explain` as a user types it."""

import json

from click.testing import CliRunner, Result

from rollout.checks.registry import CHECK_IDS
from rollout.cli.app import app
from rollout.errors import UsageProblem


def explain(*words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["explain", *words])


def test_a_code_is_told_with_what_to_do() -> None:
    """The text names the reason and the cure."""
    result = explain("preload_secure_execution")
    assert result.exit_code == 0
    assert "file capabilities" in result.stdout
    assert "setcap -r" in result.stdout


def test_every_check_is_listed() -> None:
    """Without a code all of them stand in the list, and in its JSON."""
    listed = explain().stdout
    rows = json.loads(explain("--json").stdout)["codes"]
    assert set(CHECK_IDS) <= {line.split()[0] for line in listed.splitlines()}
    assert set(CHECK_IDS) <= {row["code"] for row in rows if row["text"]}


def test_a_mistyped_code_gets_a_hint() -> None:
    """The error names the nearest codes; it is a mistake of usage, exit code 2."""
    result = explain("alocator_mapped")
    assert isinstance(result.exception, UsageProblem)
    assert result.exception.exit_code == 2
    assert "Did you mean allocator_mapped" in str(result.exception)
