"""The rpm world of the fleet: a base tree of its own, made of bookworm's, and the repository in dnf's form.

Nothing is fetched but rpm, dnf and zypper themselves: the RPMs are built in the tree from the files of the debs, with
the scriptlets of the real ones. The repository holds both releases from the start; which one it offers is its index.
A host of kind `suse` is the same tree whose /etc/os-release says that it is of the SUSE family, so that zypper is its
package manager.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rollout.lab.layout import Distro
from rollout.lab.profile import HostProfile
from rollout.lab.tools import FILES, run

WORLD: tuple[Distro, ...] = ("rpm", "suse")
TOOLS = ("dnf", "zypper", "libzypp-config", "rpm", "createrepo-c", "cpio")
SCRIPT = "rpm.sh"
EXTRA = "extra"  # the repository that no host has enabled


def as_kind(distro: Distro, profile: HostProfile) -> HostProfile:
    """Return the profile of a host with what sets its kind apart: which family it says that it is of."""
    if distro != "suse":
        return profile
    return replace(profile, files={**profile.files, "etc/os-release": (FILES / "suse-os-release").read_text()})


def recipe(underneath: str) -> str:
    """Return a digest of all that decides what is in the tree: bookworm's own recipe, and ours."""
    text = repr((underneath, TOOLS)).encode() + (FILES / SCRIPT).read_bytes()
    return hashlib.sha256(text).hexdigest()[:12]


def copy_tree(source: Path, building: Path) -> None:
    """Copy the finished tree of bookworm, data and all, and fetch what makes it a host of the rpm world."""
    run(["cp", "-a", "--reflink=auto", source / "root", building / "root"], doing="copying the tree of bookworm")
    repository = building / "repository"
    (repository / "tools/partial").mkdir(parents=True)
    for name in ("old", "new"):
        run(["cp", "-a", source / name, repository / name], doing=f"copying the {name} packages")
    settings = [
        f"Dir::State::status={building}/root/var/lib/dpkg/status",
        f"Dir::Etc::sourcelist={source}/sources.list",
        "Dir::Etc::sourceparts=/dev/null",
        f"Dir::State::lists={building}/lists",
        f"Dir::Cache={building}/cache",
        f"Dir::Cache::archives={repository}/tools",
        "APT::Sandbox::User=root",
    ]
    (building / "lists/partial").mkdir(parents=True)
    (building / "cache").mkdir()
    apt = ["apt-get", "-q", "-y", *(word for setting in settings for word in ("-o", setting))]
    run([*apt, "update"], doing="fetching package lists")
    run(
        [*apt, "--no-install-recommends", "--download-only", "install", *TOOLS], doing="downloading rpm, dnf and zypper"
    )
    (repository / "tools/partial").rmdir()
    for name in ("lists", "cache"):
        shutil.rmtree(building / name)


def take_out(building: Path) -> None:
    """Take the RPMs that were built in the tree out of it."""
    made = building / "root/srv/made"
    for name in ("old", "new", EXTRA):
        shutil.move(made / name, building / name)
    made.rmdir()


def write_repository(repository: Path, folders: Sequence[Path]) -> None:
    """Make `repository` offer the RPMs of `folders`, by the index of the last one; readers see one state or the other.

    The index's parts are named after their content, so that only `repomd.xml` has to be replaced.
    """
    (repository / "repodata").mkdir(parents=True, exist_ok=True)
    for folder in folders:
        for package in folder.glob("*.rpm"):
            if not (repository / package.name).exists():
                shutil.copy(package, repository / package.name)
    parts = folders[-1] / "repodata"
    for part in sorted(parts.iterdir(), key=lambda file: file.name == "repomd.xml"):
        new = repository / "repodata" / f"{part.name}.new"
        shutil.copy(part, new)
        new.replace(repository / "repodata" / part.name)
    extra = folders[0].with_name(EXTRA)
    if not (repository / EXTRA).exists():
        shutil.copytree(extra, repository / EXTRA)


def offers(repository: Path, newest: Path) -> bool:
    """Whether the repository offers what the folder `newest` holds: its index is that folder's."""
    now, wanted = (folder / "repodata/repomd.xml" for folder in (repository, newest))
    return now.is_file() and now.read_bytes() == wanted.read_bytes()
