"""Programs of the user's on the controller: bounded in time and words; hooks of playbook and settings together."""

import os
import time

import pytest
from pydantic import ValidationError

from rollout.engine.program import run_here
from rollout.settings import Hook, HookSet, Settings


def test_a_program_is_told_its_environment_and_nothing_else() -> None:
    """No shell reads its words, and standard input is empty."""
    said = run_here(["sh", "-c", 'cat; echo "$A|$1|$HOME"', "sh", "$(id) `id` ;"], {"A": "a b"}, 10)
    assert (said.exit_status, said.output) == (0, b"a b|$(id) `id` ;|\n")


def test_only_the_end_of_a_flood_is_kept() -> None:
    """A program that never stops talking fills neither memory nor the journal."""
    said = run_here(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo the end; exit 7"], dict(os.environ), 30)
    assert said.exit_status == 7
    assert len(said.output) == 4000
    assert said.output.endswith(b"xthe end\n")


def test_a_program_that_takes_too_long_is_ended_with_all_it_started() -> None:
    """Also where it will not listen to the first signal."""
    began = time.monotonic()
    said = run_here(["sh", "-c", "trap '' TERM; echo begun; sleep 77 & wait; sleep 77"], dict(os.environ), 0.3)
    assert (said.exit_status, said.output) == (124, b"begun\n")
    assert time.monotonic() - began < 20


def test_what_it_leaves_in_the_background_is_not_waited_for() -> None:
    """A daemon that holds the output open does not hold the run."""
    began = time.monotonic()
    assert run_here(["sh", "-c", "sleep 5 & echo done"], dict(os.environ), 30).output == b"done\n"
    assert time.monotonic() - began < 4


def test_a_program_that_is_not_there_says_so() -> None:
    """As a shell would: 127."""
    said = run_here(["/no/such/program"], {}, 5)
    assert (said.exit_status, said.output) == (127, b"/no/such/program: No such file or directory")


def test_a_playbook_s_hooks_are_over_a_host_s_event_by_event() -> None:
    """An event that the playbook names, even with no hook at all, is the playbook's."""
    host = HookSet.model_validate({"drain": {"command": "a"}, "notify": {"command": "n"}, "after": {"command": "x"}})
    playbook = HookSet.model_validate({"drain": [{"command": ["b", "c d"]}], "after": []})
    both = playbook.over(host)
    assert [hook.command for hook in both.drain] == [("b", "c d")]
    assert [hook.command for hook in both.notify] == [("n",)]
    assert both.after == ()
    assert Hook(command=("b", "c d")).told == "b 'c d' on the controller (at most 60 s)"


def test_settings_of_backups_and_stops_are_read_as_people_write_them() -> None:
    """Ages with a unit, true for the defaults, windows parted by commas."""
    settings = Settings.model_validate(
        {
            "backup_accept": {"command": "age", "max_age": "1.5h"},
            "shorter_stop": True,
            "window": "Sun 02:00-05:00 UTC, Wed 01:00-02:00 UTC",
        }
    )
    assert settings.backup_accept is not None
    assert settings.backup_accept.max_age == 5400
    assert settings.shorter_stop is not None
    assert settings.shorter_stop.wait_seconds == 300
    assert settings.window == ("Sun 02:00-05:00 UTC", "Wed 01:00-02:00 UTC")
    assert Settings.model_validate({"shorter_stop": False}).shorter_stop is None
    with pytest.raises(ValidationError, match="'soon' is no age"):
        Settings.model_validate({"backup_accept": {"command": "age", "max_age": "soon"}})
    with pytest.raises(ValidationError, match="is no window"):
        Settings.model_validate({"window": "whenever"})
