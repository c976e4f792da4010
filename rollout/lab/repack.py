"""Stand-ins for releases that no archive has: the same files under a higher version."""

from collections.abc import Iterable
from pathlib import Path

from rollout.lab.tools import run

SERVER = "mariadb-server"
SNIPPET = "etc/mysql/mariadb.conf.d/99-rehearsal-version.cnf"


def repack(debs: Iterable[Path], into: Path, *, old: str, new: str, says: str) -> None:
    """Write each package of version `old` again as version `new`, and say in its description what it is.

    The server's package carries an option file that makes the server report `says` as its version. It is no conffile:
    dpkg would keep one on a downgrade, and the old server would go on saying the new version.
    """
    for deb in debs:
        tree = into / f"{deb.stem}.tree"
        run(["dpkg-deb", "--raw-extract", deb, tree], doing=f"unpacking {deb.name}")
        name = _edit_control(tree / "DEBIAN/control", old, new)
        if name == SERVER:
            (tree / SNIPPET).write_text(
                f"# A stand-in: it exercises the road, not the fix.\n[mariadbd]\nversion={says}\n"
            )
        run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, into], doing=f"packing {deb.name}")
        run(["rm", "-rf", tree], doing="removing the unpacked package")


def _edit_control(control: Path, old: str, new: str) -> str:
    """Raise the version in a control file; return the package's name."""
    text = control.read_text().replace(old, new)
    lines = [
        f"{line} (stand-in of the rehearsal fleet)" if line.startswith("Description:") else line
        for line in text.splitlines()
    ]
    control.write_text("\n".join(lines) + "\n")
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("Package:"))
