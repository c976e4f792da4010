"""Two operators on one host, one who takes over from a dead run, and a host that says what no host should say."""

import json
from dataclasses import replace

import pytest
from host_faults import CALM_SHELL, FLOODING_SHELL, INVOCATION, NOISY, QUIET
from trial import HOST, Trial

pytestmark = pytest.mark.fleet


def run_id(trial: Trial) -> str:
    """Name the last run of the trial's controller."""
    return str(trial.product.run("status", "--json").json["run_id"])


def test_two_operators_at_once(trial: Trial) -> None:
    """One runs; the other ends with 6, is told who holds the host, and touches nothing; then all goes back."""
    trial.fault = "two operators"
    target = trial.plan()
    other = replace(trial.product, state=trial.product.state.with_name("other"))
    other.plan("--host", HOST)
    process = trial.strike("STOP", "after", "phase_ended", "baseline")
    started = trial.text(INVOCATION)
    refused = other.run("apply", "--yes", "--json", expect=6)
    row = refused.json["hosts"][0]
    assert row["status"] == "blocked"
    assert f"held by run {run_id(trial)} of root on" in row["error"]
    assert trial.text(INVOCATION) == started
    with trial.cell("status"):
        assert other.run("status", "--json").json["hosts"][0]["status"] == "blocked"
    refused = other.run("rollback", "--host", HOST, "--json", expect=6)
    assert "held by run" in refused.json["hosts"][0]["error"]
    trial.go_on(process)
    with trial.cell("resume"):
        trial.arrived(target, trial.ended(process))
    trial.goes_back()


@pytest.mark.matrix
@pytest.mark.parametrize("way", ["resume", "rollback"])
def test_another_operator_takes_over(trial: Trial, way: str) -> None:
    """The first controller is dead while packages move: the second waits for them, and goes on or takes it back."""
    trial.fault = "takeover by another operator in the midst of change"
    target = trial.plan()
    other = replace(trial.product, state=trial.product.state.with_name("other"))
    other.plan("--host", HOST)
    trial.kill(trial.in_full_swing("change"))
    trial.status_is("unknown")
    dead = run_id(trial)
    if way == "rollback":
        with trial.cell("rollback", paths=len(trial.first)):
            over = other.run("rollback", str(trial.fleet.inventory), "--host", HOST, "--json", "--take-over-lock", dead)
            assert over.json["hosts"][0]["status"] == "rolled_back"
            trial.is_as_at_first()
        trial.data_is_intact()
        return
    assert other.run("apply", "--yes", "--json", expect=6).json["hosts"][0]["status"] == "blocked"
    with trial.cell("resume"):
        over = other.run("apply", "--yes", "--json", "--take-over-lock", dead)
        assert over.json["hosts"][0]["status"] == "ok"
        assert trial.text("mariadb -N -e 'SELECT VERSION()'").startswith(target)
        assert trial.text("ls /var/lib/rollout/*/run-do-*.started | wc -l") == "1"
    trial.data_is_intact()


def test_a_host_that_floods_while_packages_move(trial: Trial) -> None:
    """Sixty megabytes, escape sequences and bytes that are no text in the log of do.sh: no harm, none of it shown."""
    trial.fault = "hostile output of the packages' scripts"
    trial.fleet.dirty(HOST)
    trial.text(NOISY)
    target = trial.plan()
    with trial.cell("resume"):
        ended = trial.product.run("apply", "--yes", "--json")
        trial.arrived(target, ended)
        said = [ended.out, ended.err, trial.product.run("status").out]
        said += [path.read_text() for path in trial.product.state.rglob("*.json*")]
        assert not any(character in text for text in said for character in "\x1b\x07\ufffd")
        journal = next(trial.product.state.glob("runs/*/journal.jsonl")).read_bytes()
        assert len(journal) < 100_000
        assert all(json.loads(line) for line in journal.splitlines())
    trial.status_is("changed")
    assert int(trial.text("stat -c %s /var/lib/rollout/*/run-do-1.log")) > 60_000_000
    trial.text(QUIET)
    trial.goes_back("rolled_back", words=("--accept-drift",))


MOMENTS = ("backup", "change")


@pytest.mark.matrix
@pytest.mark.parametrize("way", ["resume", "rollback"])
@pytest.mark.parametrize("phase", MOMENTS)
def test_a_login_shell_that_does_not_stop_talking(trial: Trial, phase: str, way: str) -> None:
    """The connection is cut at its limit; what runs on the host is not called failed, and is found again later."""
    trial.fault = f"host floods the connection at {phase}"
    target = trial.plan()
    process = trial.strike("STOP", "after", "phase_started", phase)
    trial.text(FLOODING_SHELL)
    trial.go_on(process)
    ended = trial.ended(process)
    assert ended.code == 4
    assert "wrote more than" in ended.json["hosts"][0]["error"]
    trial.status_is("unknown" if phase == "change" else "failed")
    trial.text(CALM_SHELL)
    trial.ends(way, target)
