"""A recording answers the probe and nothing else, and a spoiled one is refused."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rollout.errors import ConfigProblem, UsageProblem
from rollout.remote.recorded import PROBE_MARKER, RecordedTransport

PROBE = f"{PROBE_MARKER}\nuname -a\n"
LOOKS = (b"first look\n", b"second look\n")


def entry(answer: bytes) -> dict[str, object]:
    """Describe one answer as meta.json does."""
    return {"taken_at": "2026-11-30T09:00:00Z", "bytes": len(answer), "sha256": hashlib.sha256(answer).hexdigest()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recording of two looks at one host."""
    (tmp_path / "probe.out").write_bytes(LOOKS[0])
    (tmp_path / "probe-2.out").write_bytes(LOOKS[1])
    meta = {"schema": 1, "host": "db1", **entry(LOOKS[0]), "further": [entry(LOOKS[1])]}
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    return tmp_path


def complaint(folder: Path) -> str:
    """Return what is said about a recording that cannot be used."""
    with pytest.raises(ConfigProblem) as caught:
        RecordedTransport("db1", folder).run(PROBE)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_the_nth_look_gets_the_nth_answer_and_the_last_repeats(folder: Path) -> None:
    """Two recordings a few seconds apart stand for two looks at the host."""
    transport = RecordedTransport("db1", folder)
    assert [transport.run(PROBE).stdout for _ in range(3)] == [LOOKS[0], LOOKS[1], LOOKS[1]]


def test_a_recorded_host_can_only_be_looked_at(folder: Path) -> None:
    """Every other script is refused with exit code 2, so nothing is believed to have been done."""
    with pytest.raises(UsageProblem, match="db1: a recorded host can only be looked at") as caught:
        RecordedTransport("db1", folder).run("apt-get update\n# rollout probe\n")
    assert caught.value.exit_code == 2


def test_a_cut_recording_says_where_it_was_cut(folder: Path) -> None:
    """Missing bytes are counted."""
    (folder / "probe.out").write_bytes(LOOKS[0][:4])
    assert f"{folder}/probe.out: the recording is cut off: 4 of 11 bytes" in complaint(folder)


def test_an_altered_recording_is_refused(folder: Path) -> None:
    """Every spoiled file is named at once."""
    (folder / "probe.out").write_bytes(b"first l00k\n")
    (folder / "probe-2.out").unlink()
    said = complaint(folder)
    assert f"{folder}/probe.out: the recording was altered: its SHA-256 is not the one in meta.json" in said
    assert f"{folder}/probe-2.out: cannot be read: No such file or directory" in said


def test_a_folder_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    """The message says what a recording consists of."""
    assert "meta.json: cannot be read: No such file or directory" in complaint(tmp_path)


def test_a_broken_description_names_the_fields(folder: Path) -> None:
    """All mistakes of meta.json come at once."""
    (folder / "meta.json").write_text('{"schema": 2, "host": "db1", "bytes": -1, "sha256": "x"}')
    said = complaint(folder)
    assert all(f"meta.json: {field}: " in said for field in ("schema", "taken_at", "bytes"))


def test_a_recorded_host_loads_no_fabric() -> None:
    """The example that runs without any host starts at once."""
    code = (
        "import sys, rollout.remote, rollout.remote.pool; sys.exit({'fabric', 'paramiko'} & set(sys.modules) != set())"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
