"""How a run is followed on a terminal of 80 columns, in a log file, and by a program."""

import json
import re
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rollout.cli.progress import AtWork, Progress, told
from rollout.journal import Event

HOSTS = [f"db{number:02}" for number in range(1, 41)]
NOW = time.time()
EVENTS = (
    Event(time=NOW, host="", event="run_started", data={"run_id": "r", "kind": "apply", "hosts": HOSTS}),
    *(
        Event(time=NOW - 100 + place, host=host, event="phase_started", data={"phase": "way_back"})
        for place, host in enumerate(HOSTS[:9])
    ),
    Event(time=NOW, host="db01", event="phase_ended", data={"phase": "way_back", "status": "done", "seconds": 1.5}),
    Event(time=NOW, host="db01", event="finished", data={"status": "changed", "restarts": 1, "downtime_seconds": 4.25}),
    Event(time=NOW, host="db02", event="phase_ended", data={"phase": "way_back", "status": "failed", "seconds": 2}),
    Event(time=NOW, host="db02", event="finished", data={"status": "failed", "error": "\x1b[2Jno room"}),
)


def followed(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, events: str | None = None) -> str:
    """Return what is written while the events come in."""
    screen = StringIO()

    def console(**_given: object) -> Console:
        return Console(file=screen, width=80, height=24, force_terminal=terminal, color_system=None, highlight=False)

    monkeypatch.setattr("rollout.cli.progress.Console", console)
    with Progress(quiet=False, events=events) as progress:
        for event in EVENTS:
            progress(event)
    return screen.getvalue()


def test_the_line_that_stays_counts_and_names_the_oldest_first() -> None:
    """Two of forty have ended, one of them badly; the host that is at it for longest stands first."""
    at_work = AtWork()
    for event in EVENTS:
        at_work.see(event)
    assert at_work.line(NOW).startswith("1 of 40 done, 1 not | db03 way back 98 s | db04 way back 97 s | db05 ")


def test_a_run_that_goes_on_counts_what_was_done_before() -> None:
    """Three of forty were changed by the part that was cut off."""
    data = {"run_id": "r", "kind": "apply", "hosts": HOSTS, "settled": dict.fromkeys(HOSTS[:3], "changed")}
    start = Event(time=NOW, host="", event="run_started", data=data)
    at_work = AtWork()
    at_work.see(start)
    assert at_work.line(NOW) == "3 of 40 done"
    assert told(start).endswith("and 34 more; done before: db01, db02, db03")


def test_no_line_of_forty_hosts_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns phases that went well are not told one by one, and nothing from a host moves the cursor."""
    seen = followed(monkeypatch, terminal=True)
    lines = [re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]", seen)]
    assert max(map(len, lines)) <= 80
    assert not any("way back done" in line for line in lines)
    assert any("db02: way back failed (2.0 s)" in line for line in lines)
    assert any("db01: CHANGED, 1 restart, 4.2 s without an answer" in line for line in lines)
    assert any("db02: FAILED: \\x1b[2Jno room" in line for line in lines)
    assert any("db01, db02, db03, db04, db05, db06 and 34 more" in line for line in lines)


def test_a_log_file_gets_every_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain lines with the time, no control characters at all."""
    seen = followed(monkeypatch, terminal=False)
    assert "\x1b" not in seen
    assert "db01: way back done (1.5 s)" in seen


def test_a_notice_that_failed_names_its_host_once() -> None:
    """The journal's error bears the host's name, and so does the line."""
    data = {"phase": "notify", "status": "failed", "seconds": 0.5, "error": "db1: hook notify: false: exit status 1"}
    event = Event(time=NOW, host="db1", event="phase_ended", data=data)
    assert told(event) == "db1: notify failed (0.5 s): hook notify: false: exit status 1"


def test_a_program_gets_every_event(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """--events holds one JSON object a line, those of the journal."""
    followed(monkeypatch, terminal=False, events=str(tmp_path / "events"))
    read = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert [one["event"] for one in read] == [event.event for event in EVENTS]
