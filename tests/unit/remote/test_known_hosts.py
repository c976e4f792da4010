"""A known_hosts file is read as OpenSSH reads it."""

import subprocess
from pathlib import Path

import pytest
from conftest import key, tool

from rollout.errors import UsageProblem
from rollout.remote.known_hosts import fingerprint, known_keys, remember

NAMES = ("db1", "db2", "[db1]:2222", "[10.0.0.1]:2222", "10.0.0.1", "db1.example.com", "db9.example.com", "x")


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The type and the base64 of a public key."""
    file = key(tmp_path_factory.mktemp("keys") / "k")
    return " ".join(file.with_suffix(".pub").read_text().split()[:2])


def found(file: Path, name: str) -> list[int]:
    """Return the lines of `file` that speak of `name`, as this program reads it."""
    return [known.line for known in known_keys((str(file),), name)]


def openssh_finds(file: Path, name: str) -> list[int]:
    """Return the same as ssh-keygen tells it."""
    said = subprocess.run(
        [tool("ssh-keygen"), "-F", name, "-f", str(file)], capture_output=True, text=True, check=False
    )
    return [int(line.split("line ")[1].split()[0]) for line in said.stdout.splitlines() if line.startswith("# Host")]


def test_names_ports_wildcards_and_negation_mean_what_they_mean_to_ssh(tmp_path: Path, public: str) -> None:
    """For each name the same lines are found as by ssh-keygen -F."""
    patterns = (
        "db1",
        "db1,10.0.0.1",
        "*.example.com",
        "!db9.example.com,*.example.com",
        "[db1]:2222",
        "[10.0.0.1]:2222",
    )
    file = tmp_path / "known"
    lines = [f"{pattern} {public} a comment" for pattern in (*patterns, "db?", "DB1", "[*]:2222", "*")]
    file.write_text("\n".join(["# a comment", "", *lines, "broken", "db1 ssh-ed25519"]) + "\n")
    assert {name: found(file, name) for name in NAMES} == {name: openssh_finds(file, name) for name in NAMES}
    assert found(file, "db1")


def test_hashed_names_are_found(tmp_path: Path, public: str) -> None:
    """A file that ssh-keygen -H has hashed still knows its hosts."""
    file = tmp_path / "known"
    file.write_text(f"db1 {public}\n[db1]:2222 {public}\n")
    subprocess.run([tool("ssh-keygen"), "-H", "-f", str(file)], check=True, capture_output=True)
    assert "db1" not in file.read_text()
    assert {name: found(file, name) for name in NAMES} == {name: openssh_finds(file, name) for name in NAMES}
    assert found(file, "[db1]:2222") == [2]


def test_markers_are_told_apart(tmp_path: Path, public: str) -> None:
    """A revoked key is marked, and a certificate authority is no host key."""
    file = tmp_path / "known"
    file.write_text(f"@cert-authority * {public}\n@revoked db1 {public}\ndb1 {public}\n")
    assert [(known.line, known.revoked) for known in known_keys((str(file),), "db1")] == [(2, True), (3, False)]


def test_files_that_are_not_there_know_nobody(tmp_path: Path) -> None:
    """As with ssh, the usual places need not exist."""
    assert known_keys((str(tmp_path / "gone"),), "db1") == ()


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A folder in the place of the file is not taken for an empty file."""
    with pytest.raises(UsageProblem, match=f"{tmp_path} cannot be read: Is a directory"):
        known_keys((str(tmp_path),), "db1")


def test_a_key_is_remembered_in_a_file_without_a_last_newline(tmp_path: Path, public: str) -> None:
    """The line before stays whole, and the file is its owner's alone when it is new."""
    kind, text = public.split()
    file = tmp_path / "new" / "known"
    file.parent.mkdir()
    file.write_text(f"db1 {public}")
    before = known_keys((str(file),), "db1")[0]
    remember(str(file), "[db2]:2222", kind, before.key)
    assert file.read_text() == f"db1 {kind} {text}\n[db2]:2222 {kind} {text}\n"
    fresh = tmp_path / "fresh" / "known"
    remember(str(fresh), "db3", kind, before.key)
    assert (fresh.stat().st_mode & 0o777, fresh.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert fingerprint(known_keys((str(fresh),), "db3")[0].key) == fingerprint(before.key)
