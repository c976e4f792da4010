"""One host under one fault: strike it at an exact moment, and ask of it what the matrix of faults asks.

Every question is a cell of the matrix: `status` names the state rightly, `resume` ends well, `rollback` ends where the
host started (the undo law), and the `data` is intact. `fault_table` prints them at the end.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fault_table import PROPERTY
from product import Product, Ran
from undo_law import differences, snapshot, table_checksums

from rollout.lab.rehearsal import Rehearsal

HOST = "db1"
STRUCK = str(Path(__file__).with_name("struck.py"))
MOMENT_SECONDS = 300.0
Rows = Mapping[tuple[str, str], str]

# What the host shows when a phase is in full swing, and not only begun.
SWING = {
    "preflight": "ls /var/lib/rollout/*/archives/mariadb-server*.deb",
    "backup": "ls /var/backups/rollout/*/data/ibdata1",
    "change": "grep -q 'Unpacking mariadb-server' /var/lib/rollout/*/run-do-*.log",
}
AS_PLANNED = """mariadb -N -e 'SELECT VERSION(), @@version_malloc_library'
ls -d /var/lib/rollout/lock 2>/dev/null || echo free"""


@dataclass
class Trial:
    """The host db1 of a fleet, as one test breaks it. `first` is what it was like before anything was done to it."""

    fleet: Rehearsal
    product: Product
    first: Rows
    note: Callable[[str, object], None]
    fault: str = ""

    def plan(self) -> str:
        """Publish the newer release and plan for it; return the version that the host is to come to."""
        self.fleet.dirty(HOST)
        if not self.fleet.lab.published:
            self.fleet.publish()
        return str(self.product.plan("--host", HOST, "--json").json["hosts"][0]["version"]["target"])

    def text(self, script: str) -> str:
        """Return what a script prints that runs as root in the host, without SSH."""
        return self.fleet.text(HOST, script)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start the saved plan's apply."""
        return self.product.start("apply", "--yes", "--json", *words)

    def strike(
        self, stroke: str, when: str, event: str, phase: str = "", words: tuple[str, ...] = ()
    ) -> "subprocess.Popen[str]":
        """Start an apply and return when it was killed (KILL) or stands still (STOP) at that line of its journal."""
        struck = replace(self.product, program=(STRUCK, stroke, when, event, phase))
        process = struck.start("apply", "--yes", "--json", *words)
        deadline = time.monotonic() + MOMENT_SECONDS
        while time.monotonic() < deadline:
            wanted = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT
            seen = os.waitid(os.P_PID, process.pid, wanted)
            if seen is not None and seen.si_status in (signal.SIGKILL, signal.SIGSTOP):
                if stroke == "KILL":
                    process.communicate()
                return process
            if seen is not None:
                out, complaint = process.communicate()
                raise AssertionError(f"the run ended before {event} {phase}: {out} {complaint}")
            time.sleep(0.02)
        raise AssertionError(f"{event} {phase} was never written")

    def go_on(self, process: "subprocess.Popen[str]") -> None:
        """Let a program that stands still go on."""
        process.send_signal(signal.SIGCONT)

    def in_full_swing(self, phase: str, *words: str) -> "subprocess.Popen[str]":
        """Start an apply and return in the middle of the work of a phase."""
        process = self.start(*words)
        deadline = time.monotonic() + MOMENT_SECONDS
        while self.fleet.shell(HOST, SWING[phase]).returncode:
            assert process.poll() is None, f"the run ended before {phase} was in full swing"
            assert time.monotonic() < deadline, f"{phase} was never in full swing"
            time.sleep(0.05)
        return process

    @staticmethod
    def kill(process: "subprocess.Popen[str]") -> None:
        """Kill the controller as a power cut would."""
        process.kill()
        process.communicate()

    @staticmethod
    def ended(process: "subprocess.Popen[str]") -> Ran:
        """Wait for the end of a program that was started."""
        out, complaint = process.communicate(timeout=900)
        assert "Traceback" not in complaint, complaint
        return Ran(process.returncode, out, complaint)

    @contextmanager
    def cell(self, column: str, paths: int = 0) -> Iterator[None]:
        """Note for the table whether what is asserted inside holds."""
        held = False
        try:
            yield
            held = True
        finally:
            self.note(PROPERTY, (self.fault, column, held, paths))

    def status_is(self, *statuses: str) -> dict[str, Any]:
        """Hold what `rollout status` says against the truth; return its row of the host."""
        with self.cell("status"):
            rows = self.product.run("status", "--json").json["hosts"]
            row: dict[str, Any] = next(row for row in rows if row["name"] == HOST)
            assert row["status"] in statuses, row
        return row

    def data_is_intact(self) -> None:
        """Hold the checksum of every table against that of the beginning."""
        with self.cell("data"):
            tables = {key: state for key, state in self.first.items() if key[0] == "table"}
            assert len(tables) >= 5
            assert table_checksums(self.fleet, HOST) == tables

    def arrived(self, target: str, ended: Ran, restarts: int | None = 1) -> None:
        """Hold a run that ended well, and its host, against the plan. Ask inside of a cell."""
        row = ended.json["hosts"][0]
        assert (row["status"], ended.code) == ("changed", 0), f"{row} {ended.err}"
        assert restarts is None or row["restarts"] == restarts, row
        server, lock = self.text(AS_PLANNED).splitlines()
        assert server.startswith(f"{target}-MariaDB")
        assert "\tjemalloc" in server
        assert lock == "free"

    def resumes(self, target: str, *words: str, restarts: int | None = 1) -> None:
        """Go on with the run: it ends with the host changed, by one start of the server, and no data lost."""
        with self.cell("resume"):
            self.arrived(
                target, self.product.run("apply", "--resume", "--yes", "--json", *words, expect=None), restarts
            )
        self.data_is_intact()

    def goes_back(self, *statuses: str, words: tuple[str, ...] = ()) -> None:
        """Take the host back: it ends where it started, by the undo law, and holds no lock."""
        with self.cell("rollback", paths=len(self.first)):
            ended = self.product.run("rollback", "--host", HOST, "--json", *words, expect=None)
            row = ended.json["hosts"][0]
            assert (row["status"] in (statuses or ("rolled_back",)), ended.code) == (True, 0), f"{row} {ended.err}"
            self.is_as_at_first()
        self.data_is_intact()

    def ends(self, way: str, target: str, *statuses: str, restarts: int | None = 1) -> None:
        """End it in one of the two ways: `resume` ends well, or else rollback ends where the host started."""
        if way == "resume":
            self.resumes(target, restarts=restarts)
        else:
            self.goes_back(*statuses)

    def is_as_at_first(self) -> None:
        """Hold the host against its first state. Ask inside of a cell."""
        assert differences(self.first, snapshot(self.fleet, HOST)) == []
        assert self.text("ls -d /var/lib/rollout/lock 2>/dev/null || echo free") == "free"
