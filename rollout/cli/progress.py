"""How a run is followed: a line an event in a log file or CI; on a terminal what came of each, above a line that stays.

With more than a few hosts at work the phases of each would fill a screen in seconds. So on a terminal a phase that
went well stands only in the line that stays, which is cut to the screen's width; a log file gets every one.
"""

import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from rollout.journal import Event
from rollout.printable import printable

FEW_HOSTS = 3  # of so many every phase is told on a terminal, too
NAMED_HOSTS = 6
WELL = ("changed", "ok", "rolled_back", "skipped")
COLOURS = {"changed": "green", "ok": "green", "rolled_back": "green", "failed": "red", "recovered": "yellow"}


class Progress:
    """Shows events on stderr, and writes them as NDJSON where `--events` asks for it."""

    def __init__(self, *, quiet: bool, events: str | None) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._events: IO[str] | None = _open(events)
        self._status: Status | None = None
        self._at_work = AtWork()
        self._terse = False

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._status = self._console.status(self._at_work)
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
        if line and self._worth_a_line(event):
            colour = COLOURS.get(str(event.data.get("status")), "")
            clock = datetime.fromtimestamp(event.time).astimezone().strftime("%H:%M:%S")
            text = f"{clock} {escape(line)}"
            self._console.print(f"[{colour}]{text}[/]" if colour else text, soft_wrap=True)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        self._at_work.see(event)
        if event.event == "run_started" and self._status:
            self._terse = len(event.data.get("hosts", [])) > FEW_HOSTS

    def _worth_a_line(self, event: Event) -> bool:
        return not (self._terse and event.event == "phase_ended" and event.data.get("status") == "done")


class AtWork:
    """The line that stays: how many hosts are done, and what the others are at, longest first; cut to the width."""

    def __init__(self) -> None:
        self._hosts = 0
        self._ended: dict[str, str] = {}
        self._since: dict[str, tuple[str, float]] = {}

    def see(self, event: Event) -> None:
        """Take in one event."""
        if event.event == "run_started":
            self._hosts = len(event.data.get("hosts", []))
            self._ended = dict(event.data.get("settled", {}))
        elif event.event == "phase_started":
            self._since[event.host] = (str(event.data["phase"]).replace("_", " "), event.time)
            self._ended.pop(event.host, None)
        elif event.event == "finished":
            self._since.pop(event.host, None)
            self._ended[event.host] = str(event.data.get("status"))

    def line(self, now: float) -> str:
        """Say where the run stands at `now` (seconds since the epoch)."""
        well = sum(status in WELL for status in self._ended.values())
        bad = len(self._ended) - well
        counts = f"{well} of {self._hosts} done{f', {bad} not' if bad else ''}"
        at = sorted(self._since.items(), key=lambda item: item[1][1])
        return " | ".join([counts, *(f"{host} {phase} {now - since:.0f} s" for host, (phase, since) in at)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the line anew at each turn of the spinner."""
        text = Text(printable(self.line(time.time())))
        text.truncate(options.max_width, overflow="ellipsis")
        yield text


def told(event: Event) -> str:
    """Say an event in one line; empty for those that need no line of their own."""
    data = event.data
    if event.event == "run_started":
        settled = list(data.get("settled", ()))
        before = f"; done before: {_named(settled)}" if settled else ""
        return f"run {data.get('run_id')}: {data.get('kind')} on {_named(data.get('hosts', []))}{before}"
    if event.event == "phase_ended":
        seconds = f"{data.get('seconds', 0):.1f} s"
        if data.get("at_restart"):
            reason = f"; at the restart {'; '.join(data['at_restart'])}"
            return printable(f"{event.host}: variables {data.get('status')} ({seconds}){reason}")
        # Nothing else tells of a notice that failed: every other phase that fails stands in the host's outcome.
        why = str(data.get("error", "")).removeprefix(f"{event.host}: ") if data["phase"] == "notify" else ""
        reason = f": {why}" if why else ""
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


def _named(hosts: list[str]) -> str:
    """Name a few hosts, and count the rest."""
    shown = ", ".join(hosts[:NAMED_HOSTS])
    return shown if len(hosts) <= NAMED_HOSTS else f"{shown} and {len(hosts) - NAMED_HOSTS} more"


def _open(events: str | None) -> IO[str] | None:
    if events is None:
        return None
    if events == "-":
        return click.open_file("-", "w")
    return Path(events).open("a")
