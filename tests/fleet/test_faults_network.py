"""The way to the host breaks in each phase, for five seconds and for ever; sshd ends; the host goes down."""

import subprocess
import time

import pytest
from trial import HOST, Trial

pytestmark = pytest.mark.fleet

# The last line before the work of each phase begins: there the program stands still until the cable is out.
BEFORE_WORK = {
    "lock": ("phase_started", "lock"),
    "probe": ("phase_ended", "lock"),
    "preflight": ("phase_started", "preflight"),
    "baseline": ("phase_ended", "preflight"),
    "backup": ("phase_started", "backup"),
    "way_back": ("phase_started", "way_back"),
    "change": ("phase_started", "change"),
    "proof": ("phase_ended", "change"),
    "soak": ("phase_ended", "proof"),
    "unlock": ("phase_started", "unlock"),
}
AFTER_THE_CHANGE_BEGAN = ("change", "proof", "soak", "unlock")
IN_SWING = ("backup", "change")
MOMENTS = [(phase, False) for phase in BEFORE_WORK] + [(phase, True) for phase in IN_SWING]
SHORT_PATIENCE = ("--patience", "5")


def cells(quick: set[tuple[str, bool]]) -> list[object]:
    """Make the parameters of a test: each phase, at its begin and in full swing."""
    return [
        pytest.param(
            phase,
            swing,
            id=f"in the midst of {phase}" if swing else f"at the begin of {phase}",
            marks=[] if (phase, swing) in quick else [pytest.mark.matrix],
        )
        for phase, swing in MOMENTS
    ]


def cut(trial: Trial, phase: str, swing: bool, *words: str) -> "subprocess.Popen[str]":
    """Start an apply and pull the host's cable at the begin of a phase, or in the midst of its work."""
    if swing:
        process = trial.in_full_swing(phase, *words)
        trial.fleet.lab.cut_network(HOST)
        return process
    process = trial.strike("STOP", "after", *BEFORE_WORK[phase], words=words)
    trial.fleet.lab.cut_network(HOST)
    trial.go_on(process)
    return process


def lost(trial: Trial, phase: str, swing: bool) -> None:
    """Cut the host off for good, wait until the run gives up, hold `status` against the truth, mend the cable."""
    process = cut(trial, phase, swing, *SHORT_PATIENCE)
    ended = trial.ended(process)
    trial.fleet.lab.restore_network(HOST)
    assert ended.code == 4, ended
    trial.status_is("unknown" if phase in AFTER_THE_CHANGE_BEGAN else "unreachable")


def name(phase: str, swing: bool, how: str) -> str:
    """Name the row of the matrix."""
    return f"network cut {how} {'in the midst of' if swing else 'at'} {phase}"


@pytest.mark.parametrize(("phase", "swing"), cells({("change", True)}))
def test_cut_for_five_seconds(trial: Trial, phase: str, swing: bool) -> None:
    """The run goes on by itself, nothing is started twice, and the host can be taken back afterwards."""
    trial.fault = name(phase, swing, "for 5 s")
    target = trial.plan()
    process = cut(trial, phase, swing)
    time.sleep(5)
    trial.fleet.lab.restore_network(HOST)
    ended = trial.ended(process)
    with trial.cell("resume"):
        trial.arrived(target, ended)
        assert trial.text("ls /var/lib/rollout/*/run-do-*.started | wc -l") == "1"
    trial.status_is("changed")
    trial.goes_back()


@pytest.mark.parametrize(("phase", "swing"), cells({("change", True)}))
def test_cut_for_ever_and_resumed(trial: Trial, phase: str, swing: bool) -> None:
    """The run ends and says so; when the network is back, `--resume` finds out how far the host came."""
    trial.fault = name(phase, swing, "for ever")
    target = trial.plan()
    lost(trial, phase, swing)
    trial.resumes(target)


@pytest.mark.parametrize(("phase", "swing"), cells(set()))
def test_cut_for_ever_and_rolled_back(trial: Trial, phase: str, swing: bool) -> None:
    """The same, taken back."""
    trial.fault = name(phase, swing, "for ever")
    trial.plan()
    lost(trial, phase, swing)
    trial.goes_back("ok" if phase == "lock" else "rolled_back")


STOP_SSH = """systemctl stop ssh
for process in /proc/[0-9]*; do
  case $(readlink $process/exe) in /usr/sbin/sshd*) kill -KILL ${process#/proc/} || : ;; esac
done"""


@pytest.mark.matrix
def test_sshd_ends_for_five_seconds_while_packages_move(trial: Trial) -> None:
    """Connections are reset and new ones refused: the controller attaches again when sshd is back."""
    trial.fault = "sshd stopped for 5 s in the midst of change"
    target = trial.plan()
    process = trial.in_full_swing("change")
    trial.text(STOP_SSH)
    time.sleep(5)
    trial.text("systemctl start ssh")
    with trial.cell("resume"):
        trial.arrived(target, trial.ended(process))
        assert trial.text("ls /var/lib/rollout/*/run-do-*.started | wc -l") == "1"
    trial.status_is("changed")
    trial.goes_back()


@pytest.mark.matrix
@pytest.mark.parametrize("way", ["resume", "rollback"])
def test_sshd_ends_for_good_while_packages_move(trial: Trial, way: str) -> None:
    """Refused connections end the operator's patience: `unknown`, and do.sh ends by itself."""
    trial.fault = "sshd stopped for ever in the midst of change"
    target = trial.plan()
    process = trial.in_full_swing("change", *SHORT_PATIENCE)
    trial.text(STOP_SSH)
    assert trial.ended(process).code == 4
    trial.status_is("unknown")
    trial.text("systemctl start ssh")
    trial.ends(way, target)


def test_a_host_that_reboots_while_packages_move(trial: Trial) -> None:
    """The unit vanishes with the host; the change is begun again after the boot and ends well, and can be undone."""
    trial.fault = "reboot in the midst of change"
    target = trial.plan()
    process = trial.in_full_swing("change")
    trial.fleet.lab.reboot(HOST)
    with trial.cell("resume"):
        trial.arrived(target, trial.ended(process), restarts=None)
    trial.status_is("changed")
    trial.goes_back()


@pytest.mark.matrix
@pytest.mark.parametrize("way", ["resume", "rollback"])
@pytest.mark.parametrize("phase", ["change", "backup"])
def test_the_power_goes_at_both_ends(trial: Trial, phase: str, way: str) -> None:
    """Host and controller lose their power at once: nobody is there to say anything, and all can be told later.

    A backup that ended half-way is taken anew, and a run that changed nothing leaves nothing.
    """
    trial.fault = f"power cut of host and controller in the midst of {phase}"
    target = trial.plan()
    process = trial.in_full_swing(phase)
    trial.fleet.lab.power_off(HOST)
    trial.kill(process)
    trial.fleet.lab.power_on(HOST)
    trial.status_is("unknown")
    trial.ends(way, target, restarts=None)
