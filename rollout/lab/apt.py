"""The machine's own apt, pointed at a base tree: which versions there are, and the packages themselves."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rollout.errors import LabProblem
from rollout.lab.layout import Distro
from rollout.lab.tools import run

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SIBLINGS = (
    *("mariadb-server", "mariadb-server-core", "mariadb-client", "mariadb-client-core", "mariadb-common"),
    *("libmariadb3", "mariadb-plugin-provider-bzip2", "mariadb-plugin-provider-lz4", "mariadb-plugin-provider-lzma"),
    *("mariadb-plugin-provider-lzo", "mariadb-plugin-provider-snappy"),
)
OFFERED = ("libjemalloc2", "rsync", "galera-4", "fish", "locales")


def sources(distro: Distro) -> str:
    """Return the lines of a sources.list for `distro`, from the archives that this machine itself uses.

    Raises `LabProblem` when this machine has no Debian archive among its sources.
    """
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    offered = [line.split() for line in run(words, doing="asking apt for its sources").splitlines()]
    own = _codename()
    lines = [
        f"deb [signed-by={KEYRING}] {uri} {release.replace(own, distro)} main"
        for uri, release, component in offered
        if component == "main" and release in {own, f"{own}-updates", f"{own}-security"}
    ]
    if not lines:
        raise LabProblem(
            f"no Debian archive of {own} among the sources of apt",
            hint="the base tree of a host is made from the archive that this machine uses: a Debian machine has one",
        )
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _codename() -> str:
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if line.count("=") == 1
    )
    return release.get("VERSION_CODENAME", "").strip('"') or "unknown"


@dataclass(frozen=True)
class TreeApt:
    """Apt as the base tree at `root` would see it, run from outside with this machine's network settings."""

    root: Path

    def versions(self, package: str) -> list[str]:
        """Return the versions of `package` on offer, newest first."""
        table = run(["apt-cache", *self._settings(), "madison", package], doing=f"asking for versions of {package}")
        return list(dict.fromkeys(line.split("|")[1].strip() for line in table.splitlines() if line.count("|") >= 2))

    def download(self, packages: Iterable[str], into: Path) -> None:
        """Put `packages` (name or name=version) and all that they need in the tree as .deb files into a folder."""
        (into / "partial").mkdir(parents=True, exist_ok=True)
        words = ["apt-get", *self._settings(), "-o", f"Dir::Cache::archives={into}", "-q", "-y"]
        run([*words, "--no-install-recommends", "--download-only", "install", *packages], doing="downloading packages")
        (into / "lock").unlink(missing_ok=True)
        (into / "partial").rmdir()

    def _settings(self) -> list[str]:
        status = self.root / "var/lib/dpkg/status"
        return ["-o", f"Dir={self.root}", "-o", f"Dir::State::status={status}", "-o", "APT::Sandbox::User=root"]


def pinned(packages: Iterable[str], version: str) -> list[str]:
    """Return each package as `name=version`."""
    return [f"{name}={version}" for name in packages]
