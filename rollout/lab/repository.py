"""The flat package repository of a fleet, which each host sees read-only as /srv/repo.

Only a compressed index is written: apt would link its lists to a plain one in place, and a release would be seen
before the host has refreshed its lists.
"""

import gzip
import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rollout.lab.tools import run

INDEX = "index"  # what apt-ftparchive says about the packages of one folder


def index_of(packages: Path) -> None:
    """Write down what stands in the packages of a folder, once, so that publishing takes no time."""
    words: list[str | Path] = ["sh", "-c", 'cd "$1" && apt-ftparchive packages .', "sh", packages]
    (packages / INDEX).write_text(run(words, doing=f"indexing {packages.name}"))


def write_index(repository: Path, folders: Sequence[Path], *, codename: str) -> None:
    """Make `repository` hold the packages of `folders` and nothing else; readers see the old state or the new one."""
    repository.mkdir(parents=True, exist_ok=True)
    wanted = {deb.name: deb for folder in folders for deb in folder.glob("*.deb")}
    for name, deb in wanted.items():
        if not (repository / name).exists():
            _link_or_copy(deb, repository / name)
    index = "".join((folder / INDEX).read_text() for folder in folders).encode()
    packed = gzip.compress(index, mtime=0)
    _replace(repository / "Packages.gz", packed)
    _replace(repository / "Release", _release({"Packages": index, "Packages.gz": packed}, codename).encode())
    for deb in repository.glob("*.deb"):
        if deb.name not in wanted:
            deb.unlink()


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another filesystem
        target.write_bytes(source.read_bytes())


def _replace(file: Path, content: bytes) -> None:
    new = file.with_name(file.name + ".new")
    new.write_bytes(content)
    new.replace(file)


def _release(indexes: Mapping[str, bytes], codename: str) -> str:
    """Return the Release file. Apt wants the plain index named there even when only the packed one is offered."""
    now = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in indexes.items())
    names = f"Origin: rollout-lab\nLabel: rollout-lab\nSuite: {codename}\nCodename: {codename}\n"
    return f"{names}Date: {now}\nSHA256:\n{sums}"
