"""sysbench on a host of the lab: this machine's own, with its libraries, in a folder of its own behind a wrapper."""

import io
import subprocess
import tarfile
from pathlib import Path

from rollout.lab.rehearsal import Rehearsal

HOME = "usr/local/lib/sysbench"
WRAPPER = f'#!/bin/sh\nLD_LIBRARY_PATH=/{HOME} exec /{HOME}/sysbench "$@"\n'
OF_THE_SYSTEM = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so")


def give_sysbench(fleet: Rehearsal, host: str) -> None:
    """Put sysbench (Debian package, installed on this machine) into a host whose package list must not change."""
    binary = Path("/usr/bin/sysbench")
    needed = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=True).stdout
    libraries = [Path(line.split()[2]) for line in needed.splitlines() if "=> /" in line]
    kept = [path for path in libraries if not path.name.startswith(OF_THE_SYSTEM)]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        for path in (binary, *kept):
            archive.add(path, f"{HOME}/{path.name}")
        entry = tarfile.TarInfo("usr/bin/sysbench")
        entry.size, entry.mode = len(WRAPPER), 0o755
        archive.addfile(entry, io.BytesIO(WRAPPER.encode()))
    fleet.shell(host, "tar -C / --no-same-owner -xf -", buffer.getvalue()).check_returncode()
    assert fleet.text(host, "sysbench --version").startswith("sysbench 1.")
