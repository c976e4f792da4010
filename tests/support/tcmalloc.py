"""tcmalloc of the distribution, preloaded on a host of the fleet by a drop-in as somebody would write it by hand."""

from pathlib import Path

from rollout.lab.apt import TreeApt, sources
from rollout.lab.rehearsal import Rehearsal
from rollout.lab.tools import run

PACKAGE = "libtcmalloc-minimal4"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
DROP_INS = "/etc/systemd/system/mariadb.service.d"
OVERRIDE = f"{DROP_INS}/override.conf"


def preload_tcmalloc(fleet: Rehearsal, host: str, folder: Path) -> None:
    """Install the package on a host, have its server preload it, and restart that. `folder` takes what is fetched."""
    fleet.dirty(host)
    (deb,) = _package(fleet, host, folder).glob(f"{PACKAGE}_*.deb")
    done = fleet.shell(host, "cat >/tmp/it.deb && dpkg -i /tmp/it.deb && rm /tmp/it.deb", deb.read_bytes())
    assert done.returncode == 0, done.stderr
    fleet.text(
        host,
        f"""mkdir -p {DROP_INS}; printf '[Service]\\nEnvironment=LD_PRELOAD={LIBRARY}\\n' >{OVERRIDE}
        systemctl daemon-reload && systemctl restart mariadb""",
    )


def _package(fleet: Rehearsal, host: str, folder: Path) -> Path:
    """Fetch the package for a host as it is from the archive that the host was made from: the lab does not offer it."""
    root = folder / "apt"
    for name in ("etc/apt/sources.list.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/lib/dpkg"):
        (root / name).mkdir(parents=True)
    (root / "etc/apt/sources.list").write_text(sources(fleet.lab.record.distro))
    (root / "var/lib/dpkg/status").write_text(fleet.text(host, "cat /var/lib/dpkg/status") + "\n")
    dpkg = root / "var/lib/dpkg/status"
    options = ["-o", f"Dir={root}", "-o", f"Dir::State::status={dpkg}", "-o", "APT::Sandbox::User=root"]
    run(["apt-get", *options, "-q", "update"], doing="fetching the lists of the archive")
    TreeApt(root).download([PACKAGE], folder / "packages")
    return folder / "packages"
