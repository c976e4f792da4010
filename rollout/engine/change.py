"""The change itself: do.sh in a unit of its own on the host, which goes on whether or not anybody is connected."""

from collections.abc import Callable
from dataclasses import dataclass

from rollout.engine.downtime import longest_gap_seconds
from rollout.engine.look import its_socket, its_unit, login_option, was_active
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import Ended, attach, run_detached, start_only
from rollout.errors import WrongState
from rollout.facts.model import Facts

CHANGE_LIMIT_SECONDS = 6 * 3600.0
WATCH_LIMIT_SECONDS = 7 * 3600
TAKEN_BACK = 20  # exit statuses of do.sh
WAY_BACK_FAILED = 21
TRIES = 20  # of undo.sh; each is asked for by a person


@dataclass(frozen=True)
class Made:
    """How do.sh ended. `taken_back` tells what it did about a failure by itself: None when it did nothing."""

    ended: Ended
    taken_back: bool | None
    downtime_seconds: float | None


def make(run: HostRun, facts: Facts) -> Made:
    """Run do.sh, or attach to it when it runs already, and wait for its end. It is never started twice at once."""
    text = f"exec sh {run.here}/do.sh"
    ended, downtime_seconds = watched(
        run, facts, lambda: run_detached(run, "do", text, timeout_seconds=CHANGE_LIMIT_SECONDS)
    )
    return Made(ended, {TAKEN_BACK: True, WAY_BACK_FAILED: False}.get(ended.exit_status), downtime_seconds)


def take_back(run: HostRun, argument: str = "") -> Ended:
    """Run undo.sh in a unit of its own and wait for its end."""
    name = f"undo-{run.run_id}" if run.record_id else "undo"
    return run_detached(run, name, f"exec sh {run.here}/undo.sh {argument}", timeout_seconds=CHANGE_LIMIT_SECONDS)


def take_back_again(run: HostRun) -> Ended:
    """Run undo.sh once more where it failed before, under a name of its own each time, and wait for its end."""
    for number in range(2, TRIES):
        name = f"undo-{number}"
        before = attach(run, name, timeout_seconds=CHANGE_LIMIT_SECONDS)
        if before is None:
            return run_detached(run, name, f"exec sh {run.here}/undo.sh", timeout_seconds=CHANGE_LIMIT_SECONDS)
        if before.exit_status == 0:
            return before
    raise WrongState(run.name, f"undo.sh has failed {TRIES} times, see {run.here}")


def wait_for_change(run: HostRun) -> None:
    """Wait for a do.sh that still runs on the host, and end its watcher: nothing is taken back under its hands.

    A load ends as soon as it sees `stop`; a change does not look, and goes on to its end.
    """
    run.ask(f"echo 'taken back' >{run.here}/stop").check("asking a load to stop")
    attach(run, "do", timeout_seconds=CHANGE_LIMIT_SECONDS)
    run.ask(f"umask 077; : >{run.here}/watch-{run.record_id}.stop").check("ending the watcher of the run")


def watched(run: HostRun, facts: Facts, act: Callable[[], Ended]) -> tuple[Ended, float | None]:
    """Do `act` while one process on the host asks the server again and again; return its end and what was seen.

    A server that is stopped is not asked: a question at a socket that systemd holds would start it.
    """
    if not was_active(its_unit(run, facts)):
        return act(), None
    file = f"{run.here}/watch-{run.run_id}"
    text = script(
        "watch", file=file, limit_seconds=WATCH_LIMIT_SECONDS, login=login_option(run), socket=its_socket(facts)
    )
    start_only(run, f"watch-{run.run_id}", text)
    ended = act()
    stop = (
        f"umask 077; : >{file}.stop; i=0; "
        f"while ! grep -q end {file} 2>/dev/null && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done; "
        f"cat {file} 2>/dev/null || :"
    )
    return ended, longest_gap_seconds(run.ask(stop).check("reading the watcher").text.splitlines())
