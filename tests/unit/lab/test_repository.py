"""The package repository of a fleet."""

import gzip
import hashlib
from pathlib import Path

from rollout.lab.repository import INDEX, write_index


def release(folder: Path, version: str) -> Path:
    """Lay out a folder with one package as the base tree holds it."""
    folder.mkdir()
    (folder / f"server_{version}.deb").write_text(version)
    (folder / INDEX).write_text(f"Package: server\nVersion: {version}\nFilename: ./server_{version}.deb\n\n")
    return folder


def test_publishing_and_taking_back_leave_only_what_was_named(tmp_path: Path) -> None:
    """The newer release is offered beside the older one, and is gone from index and folder when taken back."""
    old, new, repository = release(tmp_path / "old", "1"), release(tmp_path / "new", "2"), tmp_path / "repository"
    write_index(repository, [old], codename="bookworm")
    first = sorted(path.name for path in repository.iterdir())
    write_index(repository, [old, new], codename="bookworm")
    assert b"Version: 1\n" in gzip.decompress((repository / "Packages.gz").read_bytes())
    assert b"Version: 2\n" in gzip.decompress((repository / "Packages.gz").read_bytes())
    assert (repository / "server_2.deb").exists()
    write_index(repository, [old], codename="bookworm")
    assert sorted(path.name for path in repository.iterdir()) == first == ["Packages.gz", "Release", "server_1.deb"]
    assert (new / "server_2.deb").exists()


def test_the_release_file_bears_the_digest_of_the_index(tmp_path: Path) -> None:
    """Apt compares digests: those of the plain and of the packed index are both named."""
    write_index(tmp_path / "repository", [release(tmp_path / "old", "1")], codename="trixie")
    packed = (tmp_path / "repository/Packages.gz").read_bytes()
    text = (tmp_path / "repository/Release").read_text()
    for name, data in (("Packages", gzip.decompress(packed)), ("Packages.gz", packed)):
        assert f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" in text
