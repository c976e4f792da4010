"""Stand-ins for releases that no archive has: the same files under a higher version."""

from collections.abc import Iterable
from pathlib import Path

from rollout.lab.restamp import restamp
from rollout.lab.tools import run

FOLDERS = ("usr/sbin", "usr/bin")


def repack(debs: Iterable[Path], into: Path, *, old: str, new: str, prints: tuple[str, str]) -> None:
    """Write each package of version `old` again as version `new`, and say in its description what it is.

    `prints` are the release as the programs print it and as they shall: `11.8.9-MariaDB`, `11.8.10-MariaDB`. The
    programs themselves are changed, not an option file: what runs, what lies on disk and what the package system says
    must agree, as they do for a real release.
    """
    for deb in debs:
        tree = into / f"{deb.stem}.tree"
        run(["dpkg-deb", "--raw-extract", deb, tree], doing=f"unpacking {deb.name}")
        _edit_control(tree / "DEBIAN/control", old, new)
        (tree / "DEBIAN/md5sums").unlink(missing_ok=True)  # its sums are of the bytes before
        for folder in FOLDERS:
            for program in sorted((tree / folder).glob("*")):
                if program.is_file() and not program.is_symlink():
                    restamp(program, *prints)
        run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, into], doing=f"packing {deb.name}")
        run(["rm", "-rf", tree], doing="removing the unpacked package")


def _edit_control(control: Path, old: str, new: str) -> None:
    """Raise the version in a control file."""
    text = control.read_text().replace(old, new)
    lines = [
        f"{line} (stand-in of the rehearsal fleet)" if line.startswith("Description:") else line
        for line in text.splitlines()
    ]
    control.write_text("\n".join(lines) + "\n")
