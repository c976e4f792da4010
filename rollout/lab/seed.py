"""The layer of one host between the base tree and what the host writes: its name, keys, addresses, options.

It is made once and never written by the host, so that a reset is only the layer above thrown away.
"""

import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

from rollout.lab.layout import Place, Wiring
from rollout.lab.profile import HostProfile
from rollout.lab.tools import run

WRITER = "rollout-demo-writer.service"
WANTS = "etc/systemd/system/multi-user.target.wants"
ADMIN = 1000  # the user that setup.sh makes


def make_seed(place: Place, base: Path, host: Wiring, fleet: Sequence[Wiring], profile: HostProfile) -> None:
    """Make the seed layer of `host` in a folder beside its place and move it there when all is done."""
    folder = place.host(host.host)
    if (folder / "seed").is_dir():
        return
    new = folder / "seed.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    files = {
        "etc/hostname": f"{host.host}\n",
        "etc/hosts": _hosts(host, fleet, profile),
        "etc/machine-id": f"{uuid.uuid5(uuid.NAMESPACE_DNS, host.machine).hex}\n",
        "etc/mysql/mariadb.conf.d/90-rehearsal.cnf": _options(host, fleet),
        "home/admin/.ssh/authorized_keys": place.key.with_suffix(".pub").read_text(),
        **profile.files,
    }
    for path, text in files.items():
        _write(new, base, path, text)
    _own(new / "home/admin", ADMIN)
    key = new / "etc/ssh/ssh_host_ed25519_key"
    _folder(new, base, "etc/ssh")
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host.host, "-f", key], doing="making a host key")
    if profile.writer:
        _folder(new, base, WANTS)
        (new / WANTS / WRITER).symlink_to(f"/etc/systemd/system/{WRITER}")
    new.rename(folder / "seed")


def host_key(place: Place, host: Wiring) -> str:
    """Return the public host key of a host: type and key."""
    line = (place.host(host.host) / "seed/etc/ssh/ssh_host_ed25519_key.pub").read_text()
    return " ".join(line.split()[:2])


def _hosts(host: Wiring, fleet: Sequence[Wiring], profile: HostProfile) -> str:
    """Return /etc/hosts. A host that cannot resolve its own name makes sudo complain, as many real ones do."""
    named = [other for other in fleet if profile.knows_own_name or other != host]
    return "".join(["127.0.0.1 localhost\n", *(f"{other.address} {other.host}\n" for other in named)])


def _options(host: Wiring, fleet: Sequence[Wiring]) -> str:
    number = 1 + fleet.index(host)
    return f"[mariadbd]\nserver_id={number}\nreport_host={host.address}\n"


def _write(new: Path, base: Path, path: str, text: str) -> None:
    _folder(new, base, str(Path(path).parent))
    (new / path).write_text(text)
    if "/.ssh/" in path:
        (new / path).chmod(0o600)


def _folder(new: Path, base: Path, path: str) -> None:
    """Make a folder and its parents; each looks as in the base tree, because the layer's own look would cover it."""
    for folder in (*reversed(Path(path).parents), Path(path)):
        if (new / folder).is_dir():
            continue
        (new / folder).mkdir(mode=0o700 if folder.name == ".ssh" else 0o755)
        if (base / folder).is_dir():
            shutil.copystat(base / folder, new / folder)
            there = (base / folder).stat()
            os.chown(new / folder, there.st_uid, there.st_gid)


def _own(folder: Path, user: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user)
