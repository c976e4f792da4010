"""Packages that the fleet does not offer, and tcmalloc preloaded as somebody would do it by hand."""

from pathlib import Path

from rollout.lab.apt import TreeApt, sources
from rollout.lab.rehearsal import Rehearsal
from rollout.lab.tools import run

PACKAGE = "libtcmalloc-minimal4"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
DROP_INS = "/etc/systemd/system/mariadb.service.d"
OVERRIDE = f"{DROP_INS}/override.conf"


def install(fleet: Rehearsal, host: str, folder: Path, *packages: str) -> None:
    """Install packages on a host from the archive that it was made from. `folder` takes what is fetched, once."""
    fleet.dirty(host)
    debs = sorted(_fetched(fleet, host, folder, packages).glob("*.deb"))
    for deb in debs:
        fleet.shell(host, f"mkdir -p /tmp/debs && cat >/tmp/debs/{deb.name}", deb.read_bytes())
    done = fleet.shell(host, "dpkg -i /tmp/debs/*.deb && rm -r /tmp/debs")
    assert done.returncode == 0, done.stderr


def preload_tcmalloc(fleet: Rehearsal, host: str, folder: Path) -> None:
    """Install tcmalloc on a host, have its server preload it, and restart that."""
    install(fleet, host, folder, PACKAGE)
    fleet.text(
        host,
        f"""mkdir -p {DROP_INS}; printf '[Service]\\nEnvironment=LD_PRELOAD={LIBRARY}\\n' >{OVERRIDE}
        systemctl daemon-reload && systemctl restart mariadb""",
    )


def _fetched(fleet: Rehearsal, host: str, folder: Path, packages: tuple[str, ...]) -> Path:
    """Fetch packages for a host as it is from the archive that the host was made from: the lab does not offer them."""
    root = folder / "apt"
    for name in ("etc/apt/sources.list.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/lib/dpkg"):
        (root / name).mkdir(parents=True)
    (root / "etc/apt/sources.list").write_text(sources(fleet.lab.record.distro))
    (root / "var/lib/dpkg/status").write_text(fleet.text(host, "cat /var/lib/dpkg/status") + "\n")
    dpkg = root / "var/lib/dpkg/status"
    options = ["-o", f"Dir={root}", "-o", f"Dir::State::status={dpkg}", "-o", "APT::Sandbox::User=root"]
    run(["apt-get", *options, "-q", "update"], doing="fetching the lists of the archive")
    TreeApt(root).download(packages, folder / "packages")
    return folder / "packages"
