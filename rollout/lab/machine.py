"""One rehearsal host: start it, end it, look inside it, cut it off."""

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rollout.errors import LabProblem
from rollout.lab.cgroups import end_all, groups_of, processes
from rollout.lab.layout import Place, Wiring
from rollout.lab.tools import FILES, run, succeeds

START_SECONDS = 180.0  # three on an idle machine; a busy one may take its time
JOINED = "/var/lib/rollout-lab-joined"
DISCARDED = "discarded-"
ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/root")


@dataclass(frozen=True)
class Machine:
    """A host of the fleet at `place`, standing on the base tree `base`. The address `unanswered` gets no answer."""

    place: Place
    wiring: Wiring
    base: Path
    unanswered: str = "-"

    @property
    def folder(self) -> Path:
        """The folder with the layers of the host, its console log and the id of its keeper."""
        return self.place.host(self.wiring.host)

    @property
    def groups(self) -> tuple[Path, ...]:
        """The control groups that hold every process of the host."""
        return groups_of(self.place.name, self.wiring.host)

    def start(self) -> None:
        """Boot the host unless it is up; returns at once, see `wait`."""
        if processes(self.groups):
            return
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._unlink()
        (self.folder / "keeper.pid").unlink(missing_ok=True)
        with (self.folder / "console.log").open("wb") as log:
            subprocess.run(self._keeper(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True, env=_nspawn())

    def _keeper(self) -> list[str]:
        apart = ["setsid", "--fork", "unshare", "--mount", "--net", "--propagation=private", "sh", FILES / "boot.sh"]
        wire = self.wiring
        names = [wire.machine, wire.host, self.folder, self.base, f"{wire.address}/24", wire.mac, wire.link]
        more = [os.getpid(), wire.bridge, self.place.repository, self.unanswered, *self.groups]
        return [str(word) for word in (*apart, *names, *more)]

    def leader(self) -> int | None:
        """Return the id of the host's systemd as this machine sees it, None while there is none."""
        return next((pid for pid in sorted(processes(self.groups)) if _is_first(pid)), None)

    def wait(self, *, seconds: float = START_SECONDS) -> None:
        """Wait until systemd has started everything, sshd too; raises `LabProblem` with the console's end."""
        deadline = time.monotonic() + seconds
        while not self._settled():
            started = (self.folder / "keeper.pid").exists()
            if time.monotonic() > deadline or (started and not processes(self.groups)):
                raise LabProblem(f"{self.wiring.host} did not come up", hint=self._console())
            time.sleep(0.1)

    def _settled(self) -> bool:
        leader = self.leader()
        if leader is None or not Path(f"/proc/{leader}/root/run/systemd/private").exists():
            return False
        state = self.shell("systemctl is-system-running").stdout.strip()
        return state in {b"running", b"degraded"}

    def shell(self, script: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """Run `script` as root inside the host without SSH and without its network; raises `LabProblem` when down."""
        leader = self.leader()
        if leader is None:
            raise LabProblem(f"{self.wiring.host} is not running", hint="`rollout lab up` starts it again")
        enter = ["nsenter", "--target", str(leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--"]
        words = [*enter, "/usr/bin/env", "-i", *ENVIRONMENT, "/bin/sh", "-c", script]
        return subprocess.run(words, input=stdin, capture_output=True, check=False)

    def join(self, script: str) -> None:
        """Run `script` once in the life of the host's written layer; raises `LabProblem` when it fails."""
        if not script or self.shell(f"test -e {JOINED}").returncode == 0:
            return
        ended = self.shell(script)
        if ended.returncode:
            complaint = ended.stderr.decode("utf-8", "replace").strip()
            raise LabProblem(f"{self.wiring.host} could not join the others", hint=complaint)
        self.shell(f"touch {JOINED}")

    def end(self) -> None:
        """Take the power away: every process ends at once, what the host has written stays."""
        end_all(self.groups)
        self._unlink()

    def forget(self) -> None:
        """Set aside all that the host has written since it was made; it must have been ended before."""
        for name in ("upper", "work"):
            if (self.folder / name).is_dir():
                (self.folder / name).rename(Path(tempfile.mkdtemp(prefix=DISCARDED, dir=self.folder)) / name)

    def discard(self) -> None:
        """Remove what was set aside; it may take a second, so the host is started before."""
        for folder in self.folder.glob(f"{DISCARDED}*"):
            shutil.rmtree(folder)

    def link_up(self, up: bool) -> None:
        """Cut the host off the network, or join it again, at the controller's end of its cable."""
        run(["ip", "link", "set", self.wiring.link, "up" if up else "down"], doing=f"setting {self.wiring.link}")
        # A question for the host's hardware address that went out while it was cut off would fail the next connection.
        succeeds(["ip", "neigh", "flush", "to", self.wiring.address, "dev", self.wiring.bridge])

    def _unlink(self) -> None:
        succeeds(["ip", "link", "delete", self.wiring.link])

    def _console(self) -> str:
        log = self.folder / "console.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n  ".join([f"the end of {log}:", *(line[:160] for line in lines[-8:])])


def _nspawn() -> dict[str, str]:
    """Return the environment of the keeper: the unified hierarchy, which newer systemd wants, serves the older too."""
    return {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}


def _is_first(pid: int) -> bool:
    """Whether a process is the first one of a process namespace below ours."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # gone
        return False
    inner = next((line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")), [])
    return len(inner) > 1 and inner[-1] == "1"
