"""Control groups of the lab: each host has its own, so that its processes are known exactly and end completely."""

import os
import signal
import time
from pathlib import Path

from rollout.errors import LabProblem

MOUNT = Path("/sys/fs/cgroup")


def hierarchies() -> tuple[Path, ...]:
    """Return the hierarchies in which systemd keeps services: both of a hybrid machine, or the only one."""
    hybrid = tuple(path for path in (MOUNT / "systemd", MOUNT / "unified") if path.is_dir())
    return hybrid or (MOUNT,)


def groups_of(fleet: str, host: str = "") -> tuple[Path, ...]:
    """Return the control groups of a fleet, or of one of its hosts, one in each hierarchy."""
    return tuple(top / f"rollout-lab-{fleet}" / host for top in hierarchies())


def groups_of_base(distro: str) -> tuple[Path, ...]:
    """Return the control groups in which a base tree is made; nspawn would leave its own beside the caller's."""
    return tuple(top / f"rollout-base-{distro}" for top in hierarchies())


def processes(groups: tuple[Path, ...]) -> set[int]:
    """Return the ids of all processes in these groups and below."""
    # os.walk passes over groups that go while it walks, as those of a booting host do; Path.rglob raises.
    folders = (folder for group in groups for folder, _, _ in os.walk(group))
    return {int(pid) for folder in folders for pid in _lines(Path(folder) / "cgroup.procs")}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # the group went between listing and reading
        return []


def end_all(groups: tuple[Path, ...], *, within_seconds: float = 10.0) -> None:
    """End every process in these groups and remove the groups; nothing happens when there are none.

    Raises `LabProblem` when a process is still there after `within_seconds`.
    """
    deadline = time.monotonic() + within_seconds
    while pids := processes(groups):
        if time.monotonic() > deadline:
            raise LabProblem(f"processes {sorted(pids)} do not end", hint="look at them with `ps -p` and end them")
        for pid in pids:
            _kill(pid)
        time.sleep(0.02)
    while not all(_remove(group) for group in groups):
        if time.monotonic() > deadline:
            raise LabProblem(f"control groups stay busy: {', '.join(map(str, groups))}")
        time.sleep(0.02)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _remove(group: Path) -> bool:
    """Remove a group and those below it; False while the kernel still counts a process that has just ended."""
    try:
        for folder, _, _ in os.walk(group, topdown=False):
            os.rmdir(folder)  # noqa: PTH106 - os.walk gives text
    except OSError:
        return not group.exists()
    return True
