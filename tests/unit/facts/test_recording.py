"""Recordings are written so that the program reads them again."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from rollout.cli.app import app, main
from rollout.errors import UsageProblem
from rollout.facts.recording import RecordedLook, prepare_recording, write_recording
from rollout.resources import shipped

EXAMPLE = shipped("inventories") / "example"


def recorded(*names: str) -> list[RecordedLook]:
    """Take looks from the example."""
    return [RecordedLook((EXAMPLE / "db3" / name).read_bytes(), datetime(2026, 1, 2, tzinfo=UTC)) for name in names]


def test_meta_tells_what_the_bytes_have_to_be(tmp_path: Path) -> None:
    """Size and SHA-256 of each look stand in meta.json, further looks in their order."""
    looks = recorded("probe.out", "probe-2.out")
    prepare_recording(tmp_path / "kept")
    write_recording(tmp_path / "kept", {"orders1": looks})
    meta = json.loads((tmp_path / "kept" / "orders1" / "meta.json").read_text())
    assert (meta["schema"], meta["host"], meta["taken_at"]) == (1, "orders1", "2026-01-02T00:00:00+00:00")
    for entry, name in ((meta, "probe.out"), (meta["further"][0], "probe-2.out")):
        raw = (tmp_path / "kept" / "orders1" / name).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(raw), hashlib.sha256(raw).hexdigest())


def test_a_recording_is_an_inventory(tmp_path: Path) -> None:
    """`rollout facts DIR` reads what `--record DIR` wrote, and recording a recording changes nothing in it."""
    kept = tmp_path / "kept"
    first = CliRunner().invoke(app, ["facts", str(EXAMPLE), "--record", str(kept), "--sample", "0", "--json"])
    assert first.exit_code == 0
    again = CliRunner().invoke(app, ["facts", str(kept), "--sample", "0", "--json"])
    assert again.stdout == first.stdout
    assert (kept / "db1" / "probe-2.out").read_bytes() == (EXAMPLE / "db1" / "probe-2.out").read_bytes()


def test_a_folder_that_is_no_recording_is_left_alone(tmp_path: Path) -> None:
    """Nothing is written beside somebody's own files."""
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UsageProblem, match="no recording"):
        prepare_recording(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_host_whose_name_is_no_folder_is_not_recorded(tmp_path: Path) -> None:
    """A name from an inventory never leads out of the folder."""
    prepare_recording(tmp_path / "kept")
    with pytest.raises(UsageProblem, match="no name for a folder"):
        write_recording(tmp_path / "kept", {"../db1": recorded("probe.out")})
    assert not (tmp_path / "db1").exists()


def test_hosts_recorded_before_are_kept(tmp_path: Path) -> None:
    """A second run into the same folder adds its hosts."""
    prepare_recording(tmp_path)
    write_recording(tmp_path, {"a": recorded("probe.out", "probe-2.out")})
    prepare_recording(tmp_path)
    write_recording(tmp_path, {"b": recorded("probe.out"), "a": recorded("probe.out")})
    assert (tmp_path / "inventory.yml").read_text().splitlines()[-2:] == ["    a: null", "    b: null"]
    assert not (tmp_path / "a" / "probe-2.out").exists()


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda raw: raw[:5000], "cut off: 5000 of"),
        (lambda raw: raw.replace(b"system", b"System"), "altered"),
    ],
)
def test_a_spoiled_recording_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil, complaint: str
) -> None:
    """A recording that was cut off or altered is named with its file, and nothing of it is shown."""
    prepare_recording(tmp_path)
    write_recording(tmp_path, {"db1": recorded("probe.out")})
    file = tmp_path / "db1" / "probe.out"
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(SystemExit) as ended:
        main(["facts", str(tmp_path)])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert str(file) in told
    assert complaint in told
    assert "Traceback" not in told


def test_a_fix_release_that_is_no_release_is_a_mistake_of_the_inventory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table of fix releases takes three numbers; anything else is named with file and path before any host."""
    prepare_recording(tmp_path)
    write_recording(tmp_path, {"db1": recorded("probe.out")})
    inventory = tmp_path / "inventory.yml"
    wrong = '    rollout_fix_releases: {"11.8": {version: latest}}\n'
    inventory.write_text(inventory.read_text().replace("  vars:\n", f"  vars:\n{wrong}"))
    with pytest.raises(SystemExit) as ended:
        main(["facts", str(tmp_path)])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert "inventory.yml:4" in told
    assert "Traceback" not in told
