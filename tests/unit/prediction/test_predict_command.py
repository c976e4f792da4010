"""`rollout predict` as a user meets it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rollout.cli.predict import command
from rollout.errors import UsageProblem

WORKLOAD = str(Path(__file__).with_name("published.yml"))


def run(*words: str) -> Result:
    """Run the command with a wide terminal."""
    return CliRunner().invoke(command, list(words), env={"COLUMNS": "160"})


def test_json_is_one_document_with_every_policy() -> None:
    """The document has the fields that others build on."""
    document = json.loads(run(WORKLOAD, "--json", "--threads", "4,40").stdout)
    assert document["schema"] == 1
    assert document["driver"] == "mutex_us"
    policy = document["policies"]["mariadb-10.5"]
    assert set(policy) >= {"queries_per_second", "latency_ms", "promotions_per_query", "mutex_utilisation", "hit_ratio"}
    assert policy["queries_per_second"]["mid"] == pytest.approx(20326, rel=0.001)
    assert [point["threads"] for point in document["curves"]["threads"]] == [4, 40]


def test_the_tables_name_the_driver_and_the_source() -> None:
    """A person reads the figures, what drives them, and where the mutex time comes from."""
    shown = run(WORKLOAD).stdout
    assert "20,326 (12,314 to 27,095)" in shown
    assert "what drives the range: time of one mutex operation when threads wait" in shown
    assert "Xeon Gold 6230R" in shown


@pytest.mark.parametrize(("name", "head"), [("c.svg", b"<?xml"), ("c.png", b"\x89PNG")])
def test_a_chart_is_drawn(tmp_path: Path, name: str, head: bytes) -> None:
    """Both formats are what they say they are."""
    assert run(WORKLOAD, "--threads", "1,2", "--cores", "1,2", "--chart", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(head)


def test_a_chart_of_another_kind_is_refused() -> None:
    """A wrong ending is told before anything is computed."""
    assert isinstance(run(WORKLOAD, "--chart", "c.pdf").exception, UsageProblem)


def test_a_list_of_threads_that_is_none() -> None:
    """A wrong number is a usage error that shows it."""
    result = run(WORKLOAD, "--threads", "4,none")
    assert result.exit_code == 2
    assert "4,none" in result.output
