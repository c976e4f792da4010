"""Base trees: a Debian system with the database and its data, made once, and put below every host."""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rollout.errors import LabProblem
from rollout.lab.apt import OFFERED, SIBLINGS, TreeApt, pinned, sources
from rollout.lab.cgroups import end_all, groups_of_base
from rollout.lab.layout import Distro, cache_folder
from rollout.lab.repack import repack
from rollout.lab.repository import index_of, write_index
from rollout.lab.rpm import SCRIPT as RPM_SCRIPT
from rollout.lab.rpm import WORLD, copy_tree, recipe, take_out
from rollout.lab.tools import APART, FILES, run

SYSTEM = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "iproute2", "ca-certificates", "procps"),
    *("libcap2-bin", "psmisc"),
)
BACKUP = "mariadb-backup"
STAND_IN_RECIPE = 3  # raise it when repacking changes what is in a stand-in
RECIPE = ("setup.sh", "load.sh", "demo.sql", "rollout-demo-writer", "rollout-demo-writer.service")


class BaseRecord(BaseModel):
    """What `base.json` says about a finished base tree: package versions of the server, old and new.

    `stand_in` says that no archive has the new one: it is the old one under the number of the next release.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal[1] = Field(default=1, alias="schema")
    distro: Distro
    old: str
    new: str
    stand_in: bool = False


@dataclass(frozen=True)
class Base:
    """A finished base tree: `root`, and the packages of the old and of the newer release with their indexes."""

    folder: Path
    record: BaseRecord

    @property
    def root(self) -> Path:
        """The tree below every host."""
        return self.folder / "root"

    @property
    def old(self) -> Path:
        """The packages that the repository holds from the start."""
        return self.folder / "old"

    @property
    def new(self) -> Path:
        """The packages that `publish` adds."""
        return self.folder / "new"


def upstream(version: str) -> str:
    """Return the upstream part of a package version: 11.8.9 of 1:11.8.9+ds-0+deb13u1, 10.11.18 of 10.11.18-1.el9."""
    return version.split(":", 1)[-1].rsplit("-", 1)[0].split("+", maxsplit=1)[0]


def series(version: str) -> str:
    """Return the series of a Debian version: 10.11 of 1:10.11.18-0+deb12u1."""
    return ".".join(upstream(version).split(".")[:2])


def base_for(distro: Distro, say: Callable[[str], None]) -> Base:
    """Return the base tree of `distro`, from the cache, or made now (a few minutes, and the archive is needed)."""
    folder = base_folder(distro)
    tree = _tree_of(distro)
    underneath = base_for("bookworm", say) if tree == "rpm" and not (folder / "base.json").is_file() else None
    with _locked(cache_folder(), tree, say):
        if not (folder / "base.json").is_file():
            say(f"Making the base tree of {tree}; this is done once and takes a few minutes.")
            _make(distro, folder, say) if underneath is None else _make_rpm(underneath, folder, say)
    return load(folder)


def base_folder(distro: Distro) -> Path:
    """Return where the base tree of `distro` is kept, made or not."""
    tree = _tree_of(distro)
    return cache_folder() / f"{tree}-{recipe(_recipe()) if tree == 'rpm' else _recipe()}"


def _tree_of(distro: Distro) -> Distro:
    """Return whose tree the hosts of `distro` stand on: the rpm world has one, with dnf and zypper in it."""
    return "rpm" if distro in WORLD else distro


def load(folder: Path) -> Base:
    """Return the finished base tree in `folder`; raises `LabProblem` when there is none."""
    try:
        return Base(folder, BaseRecord.model_validate_json((folder / "base.json").read_bytes()))
    except FileNotFoundError:
        hint = "`rollout lab down` and `rollout lab up` make it again"
        raise LabProblem(f"the base tree {folder} is gone", hint=hint) from None


def _recipe() -> str:
    """Return a digest of all that decides what is in a base tree, so that a changed recipe makes a new one."""
    digest = hashlib.sha256(repr((SYSTEM, SIBLINGS, OFFERED, BACKUP, STAND_IN_RECIPE)).encode())
    for name in RECIPE:
        digest.update((FILES / name).read_bytes())
    return digest.hexdigest()[:12]


@contextmanager
def _locked(cache: Path, distro: Distro, say: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time make the tree of a distribution; the others wait and find it made."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{distro}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another run that makes the base tree of {distro}.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(distro: Distro, folder: Path, say: Callable[[str], None]) -> None:
    """Make the tree in a folder beside its place and move it there when all is done."""
    building = _begin(distro, folder)
    root = building / "root"
    (building / "sources.list").write_text(sources(distro))
    say("  system")
    words = [
        *APART,
        "mmdebstrap",
        "--quiet",
        "--variant=apt",
        "--skip=cleanup/apt/lists",
        f"--include={','.join(SYSTEM)}",
    ]
    run([*words, distro, root, building / "sources.list"], doing=f"making a tree of {distro}")
    say("  packages, old and newer")
    record = _fetch(distro, building)
    say("  database and its data")
    _install(building, record)
    _finish(building, folder, record)


def _make_rpm(underneath: Base, folder: Path, say: Callable[[str], None]) -> None:
    """Make the tree of the rpm world from bookworm's: system and data are there already."""
    building = _begin("rpm", folder)
    old, new = upstream(underneath.record.old), upstream(underneath.record.new)
    say("  a copy of bookworm's tree, rpm, dnf and zypper")
    copy_tree(underneath.folder, building)
    record = BaseRecord(distro="rpm", old=f"{old}-1.el9", new=f"{new}-1.el9", stand_in=underneath.record.stand_in)
    say("  the database as RPMs")
    _inside(building, record, RPM_SCRIPT, [old, new])
    take_out(building)
    shutil.rmtree(building / "repository")
    _finish(building, folder, record)


def _begin(distro: Distro, folder: Path) -> Path:
    building = folder.with_name(folder.name + ".building")
    end_all(groups_of_base(distro))  # of a run that was killed
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    return building


def _finish(building: Path, folder: Path, record: BaseRecord) -> None:
    (building / "base.json").write_text(record.model_dump_json(by_alias=True, indent=2))
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)


def _fetch(distro: Distro, building: Path) -> BaseRecord:
    """Download the release to start from and the newer one; where the archive has only one, make a stand-in."""
    apt = TreeApt(building / "root")
    versions = apt.versions("mariadb-server")
    if not versions:
        raise LabProblem(f"the archive of {distro} offers no mariadb-server")
    stand_in = len(versions) == 1
    old = versions[0] if stand_in else versions[1]
    apt.download([*pinned((*SIBLINGS, BACKUP), old), *OFFERED], building / "old")
    if stand_in:
        new = _stand_in(building, old)
    else:
        new = versions[0]
        apt.download(pinned((*SIBLINGS, BACKUP), new), building / "new")
    for name in ("old", "new"):
        index_of(building / name)
    return BaseRecord(distro=distro, old=old, new=new, stand_in=stand_in)


def _stand_in(building: Path, old: str) -> str:
    """Make packages of the next release, which no archive has; return their version."""
    says = next_release(upstream(old))
    new = old.replace(upstream(old), says) + "+rehearsal1"
    (building / "new").mkdir()
    debs = sorted((building / "old").glob(f"*_{old.replace(':', '%3a')}_*.deb"))
    prints = (f"{upstream(old)}-MariaDB", f"{says}-MariaDB")
    repack(debs, building / "new", old=old, new=new, prints=prints)
    return new


def next_release(version: str) -> str:
    """Return the release after an upstream version: 11.8.10 of 11.8.9."""
    front, patch = version.rsplit(".", 1)
    return f"{front}.{int(patch) + 1}"


def _install(building: Path, record: BaseRecord) -> None:
    """Install the old release in the tree from the fleet's own repository, and load the data."""
    root = building / "root"
    repository = building / "repository"
    write_index(repository, [building / "old"], codename=record.distro)
    for name, place in (
        ("rollout-demo-writer", "usr/local/sbin/rollout-demo-writer"),
        ("rollout-demo-writer.service", "etc/systemd/system/rollout-demo-writer.service"),
    ):
        shutil.copy(FILES / name, root / place)
    (root / "usr/local/sbin/rollout-demo-writer").chmod(0o755)
    _inside(building, record, "setup.sh", pinned(SIBLINGS, record.old))
    _inside(building, record, "load.sh", [], stdin=(FILES / "demo.sql").read_bytes())
    shutil.rmtree(repository)


def _inside(building: Path, record: BaseRecord, script: str, arguments: list[str], *, stdin: bytes = b"") -> None:
    """Run one of our scripts in the tree, with namespaces and groups of its own that go when it ends."""
    groups = groups_of_base(record.distro)
    for group in groups:
        group.mkdir(exist_ok=True)
    enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups)
    # nspawn wants to remove its propagation folder at the end, and refuses to do so on a disk.
    hide = 'mkdir -p /run/systemd; mount -t tmpfs tmpfs /run/systemd; exec systemd-nspawn "$@"'
    words = ["sh", "-ec", f'{enter}exec "$@"', "sh", *APART, "sh", "-ec", hide, "sh"]
    nspawn = ["--quiet", "--register=no", "--keep-unit", "--pipe", f"--machine=rollout-base-{record.distro}"]
    tree = [f"--directory={building / 'root'}", f"--bind-ro={building / 'repository'}:/srv/repo"]
    shell = ["/bin/sh", "-c", (FILES / script).read_text(), script, *arguments]
    try:
        run([*words, *nspawn, *tree, *shell], doing=f"{script} in the base tree", stdin=stdin)
    finally:
        end_all(groups)
