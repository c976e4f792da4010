"""What a fleet needs of this machine, refused with the arithmetic before anything is started."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rollout.errors import UsageProblem

INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
# Measured on running hosts, rounded up: resident memory of all processes, disk below the overlay after the first
# start of the server, tasks, inotify instances of systemd, journald, logind, dbus and login sessions.
HOST_MEMORY_BYTES = 300 << 20
HOST_DISK_BYTES = 200 << 20
HOST_TASKS = 100
HOST_INOTIFY = 16
BASE_DISK_BYTES = 3 << 30
PROGRAMS = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "apt-ftparchive": "apt-utils",
    "ip": "iproute2",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "dpkg-deb": "dpkg",
}
INSTEAD = (
    "`rollout facts inventories/example` and every other command on a recorded inventory work without any host;"
    " `rollout plan` and `rollout apply` work on hosts of your own over SSH"
)


def check_machine() -> None:
    """Raise `UsageProblem` in one sentence when this machine cannot hold a rehearsal fleet at all."""
    if sys.platform != "linux":
        raise UsageProblem(f"the rehearsal fleet needs Linux, and this is {sys.platform}", hint=INSTEAD)
    if os.geteuid() != 0:
        raise UsageProblem(
            "the rehearsal fleet needs root: it makes namespaces, mounts and links on this machine", hint=INSTEAD
        )
    missing = sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
    if missing:
        raise UsageProblem(
            f"the rehearsal fleet needs Debian packages that are not installed: {' '.join(missing)}",
            hint=f"`make debian`, or: apt-get install {' '.join(missing)}",
        )


def check_room(hosts: int, *, folder: Path, with_base: bool) -> None:
    """Raise `UsageProblem` with the arithmetic when memory, disk or tasks do not suffice for `hosts` more hosts.

    `folder` is where they will lie; it need not be there yet.
    """
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    disk = hosts * HOST_DISK_BYTES + (BASE_DISK_BYTES if with_base else 0)
    for what, need, have in (
        ("MiB of memory", hosts * HOST_MEMORY_BYTES >> 20, _available_memory_bytes() >> 20),
        ("MiB of disk", disk >> 20, shutil.disk_usage(there).free >> 20),
        ("tasks", hosts * HOST_TASKS, _free_tasks()),
    ):
        if need > have:
            raise UsageProblem(
                f"{hosts} hosts need {need} {what} ({need // hosts} each), and this machine has {have} left",
                hint=f"{hosts * have // need} hosts would fit",
            )


def inotify_needed(hosts: int) -> int:
    """Return the limit on inotify instances that lets `hosts` hosts live beside what root uses now."""
    return _inotify_in_use() + hosts * HOST_INOTIFY


def _inotify_in_use() -> int:
    return sum(_target(link) == "anon_inode:inotify" for link in _open_files())


def _open_files() -> Iterator[Path]:
    """Yield the open files of all processes; one that ends while it is looked at has none."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield from (process / "fd").iterdir()


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # the process closed it or went
        return ""


def _available_memory_bytes() -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) << 10


def _free_tasks() -> int:
    """Return how many more tasks the kernel would allow: the smaller of pid_max and threads-max, less those there."""
    limits = (int(Path(f"/proc/sys/kernel/{name}").read_text()) for name in ("pid_max", "threads-max"))
    running = int(Path("/proc/loadavg").read_text().split()[3].split("/")[1])
    return min(limits) - running
