"""The controller is killed before and after every line that a host writes into the journal.

Where nothing is done between two lines the moment after the first is the moment before the second, and stands here
once.
"""

import pytest
from trial import Trial

pytestmark = pytest.mark.fleet

# A line, and what is true there: the host's status, and what a rollback comes to.
PENDING, BEGUN, DONE = ("pending", "ok"), ("unknown", "rolled_back"), ("changed", "rolled_back")
LINES = (
    ("after", "run_started", "", PENDING),
    ("after", "phase_started", "lock", ("unknown", "ok")),
    ("before", "phase_ended", "lock", BEGUN),
    ("after", "phase_ended", "lock", BEGUN),
    ("before", "phase_ended", "probe", BEGUN),
    ("after", "phase_ended", "probe", BEGUN),
    ("after", "phase_started", "preflight", BEGUN),
    ("before", "phase_ended", "preflight", BEGUN),
    ("after", "phase_ended", "preflight", BEGUN),
    ("before", "phase_ended", "baseline", BEGUN),
    ("after", "phase_ended", "baseline", BEGUN),
    ("after", "phase_started", "backup", BEGUN),
    ("before", "phase_ended", "backup", BEGUN),
    ("after", "phase_ended", "backup", BEGUN),
    ("after", "phase_started", "way_back", BEGUN),
    ("before", "phase_ended", "way_back", BEGUN),
    ("after", "phase_ended", "way_back", BEGUN),
    ("after", "phase_started", "change", BEGUN),
    ("before", "phase_ended", "change", BEGUN),
    ("after", "phase_ended", "change", BEGUN),
    ("before", "phase_ended", "proof", BEGUN),
    ("after", "phase_ended", "proof", BEGUN),
    ("before", "phase_ended", "soak", BEGUN),
    ("after", "phase_ended", "soak", BEGUN),
    ("after", "phase_started", "unlock", BEGUN),
    ("before", "phase_ended", "unlock", BEGUN),
    ("after", "phase_ended", "unlock", BEGUN),
    ("after", "finished", "", DONE),
    ("after", "run_ended", "", DONE),
)
# Tried on every run of the tests; the other cells are those of the long matrix (make fault-test).
QUICK_RESUME = {("before", "preflight"), ("after", "way_back")}
QUICK_ROLLBACK = {("before", "change")}


def cells(quick: set[tuple[str, str]]) -> list[object]:
    """Make the parameters of a test, all but the quick ones marked as long."""
    return [
        pytest.param(
            *line,
            id=" ".join(filter(None, line[:3])),
            marks=[] if line[1] == "phase_ended" and (line[0], line[2]) in quick else [pytest.mark.matrix],
        )
        for line in LINES
    ]


@pytest.mark.parametrize(("when", "event", "phase", "truth"), cells(QUICK_RESUME))
def test_killed_at_a_line_and_resumed(trial: Trial, when: str, event: str, phase: str, truth: tuple[str, str]) -> None:
    """`status` knows the host's state, and `--resume` brings it to its end with one start of the server."""
    trial.fault = f"controller killed {when} {event} {phase}".strip()
    target = trial.plan()
    trial.strike("KILL", when, event, phase)
    trial.status_is(truth[0])
    if event == "run_ended":
        with trial.cell("resume"):
            refused = trial.product.run("apply", "--resume", "--yes", expect=2)
            assert "was cut off" in refused.err
        trial.data_is_intact()
    else:
        trial.resumes(target)


@pytest.mark.parametrize(("when", "event", "phase", "truth"), cells(QUICK_ROLLBACK))
def test_killed_at_a_line_and_rolled_back(
    trial: Trial, when: str, event: str, phase: str, truth: tuple[str, str]
) -> None:
    """From the same point `rollback` ends where the host started."""
    trial.fault = f"controller killed {when} {event} {phase}".strip()
    trial.plan()
    trial.strike("KILL", when, event, phase)
    trial.status_is(truth[0])
    trial.goes_back(truth[1])


@pytest.mark.matrix
def test_killed_before_the_first_line(trial: Trial) -> None:
    """A run that wrote nothing has never been: nothing to see, nothing to resume, and the plan can be applied."""
    trial.fault = "controller killed before run_started"
    target = trial.plan()
    trial.strike("KILL", "before", "run_started")
    with trial.cell("status"):
        assert "no run has been made yet" in trial.product.run("status", expect=2).err
    with trial.cell("resume"):
        assert "no run has been made yet" in trial.product.run("apply", "--resume", "--yes", expect=2).err
        trial.arrived(target, trial.product.run("apply", "--yes", "--json"))
    trial.goes_back()


SWINGS = [
    pytest.param(phase, marks=[pytest.mark.matrix] * (phase != "change")) for phase in ("preflight", "backup", "change")
]


@pytest.mark.parametrize("phase", SWINGS)
def test_killed_in_full_swing_and_resumed(trial: Trial, phase: str) -> None:
    """Killed in the middle of the downloads, of the backup, of the packages' unpacking: resume ends well."""
    trial.fault = f"controller killed in the midst of {phase}"
    target = trial.plan()
    trial.kill(trial.in_full_swing(phase))
    trial.status_is("unknown")
    trial.resumes(target)


@pytest.mark.parametrize(
    "phase", [pytest.param(p.values[0], marks=[pytest.mark.matrix] * (p.values[0] != "backup")) for p in SWINGS]
)
def test_killed_in_full_swing_and_rolled_back(trial: Trial, phase: str) -> None:
    """The same, taken back: what runs is waited for, then undone."""
    trial.fault = f"controller killed in the midst of {phase}"
    trial.plan()
    trial.kill(trial.in_full_swing(phase))
    trial.status_is("unknown")
    trial.goes_back()
