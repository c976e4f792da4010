"""How a run is followed: a line an event in a log file or CI, and the same lines with a spinner on a terminal."""

from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import click
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from rollout.journal import Event
from rollout.printable import printable

COLOURS = {"changed": "green", "ok": "green", "rolled_back": "green", "failed": "red", "recovered": "yellow"}


class Progress:
    """Shows events on stderr, and writes them as NDJSON where `--events` asks for it."""

    def __init__(self, *, quiet: bool, events: str | None) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._events: IO[str] | None = _open(events)
        self._status: Status | None = None
        self._at_work: dict[str, str] = {}

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()
        if self._events:
            self._events.close()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if self._events:
            self._events.write(event.model_dump_json() + "\n")
            self._events.flush()
        line = told(event)
        if line:
            colour = COLOURS.get(str(event.data.get("status")), "")
            clock = datetime.fromtimestamp(event.time).astimezone().strftime("%H:%M:%S")
            text = f"{clock} {escape(line)}"
            self._console.print(f"[{colour}]{text}[/]" if colour else text, soft_wrap=True)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        if event.event == "phase_started":
            self._at_work[event.host] = str(event.data["phase"])
        elif event.event == "finished":
            self._at_work.pop(event.host, None)
        if self._status:
            now = ", ".join(f"{host}: {phase.replace('_', ' ')}" for host, phase in self._at_work.items())
            self._status.update(escape(printable(now) or "between hosts"))


def told(event: Event) -> str:
    """Say an event in one line; empty for those that need no line of their own."""
    data = event.data
    if event.event == "run_started":
        return f"run {data.get('run_id')}: {data.get('kind')} on {', '.join(data.get('hosts', []))}"
    if event.event == "phase_ended":
        seconds = f"{data.get('seconds', 0):.1f} s"
        # Nothing else tells of a notice that failed: every other phase that fails stands in the host's outcome.
        reason = f": {data['error']}" if data["phase"] == "notify" and data.get("error") else ""
        return printable(f"{event.host}: {data['phase'].replace('_', ' ')} {data.get('status')} ({seconds}){reason}")
    if event.event == "finished":
        downtime = data.get("downtime_seconds")
        extra = f", {data['restarts']} restart" if data.get("restarts") else ""
        extra += f", {downtime:.1f} s without an answer" if downtime is not None else ""
        reason = f": {data['error']}" if data.get("error") else ""
        return printable(f"{event.host}: {str(data['status']).upper()}{extra}{reason}")
    if event.event == "run_ended" and data.get("stopped"):
        return f"stopped: {data['stopped']}"
    return ""


def _open(events: str | None) -> IO[str] | None:
    if events is None:
        return None
    if events == "-":
        return click.open_file("-", "w")
    return Path(events).open("a")
