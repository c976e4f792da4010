"""Recordings: the output of probes kept in a folder, to be read again without any host.

DIR/inventory.yml names the hosts; DIR/<host>/ holds meta.json and probe.out, and probe-2.out and so on where the host
was looked at more than once.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from rollout.errors import UsageProblem

SCHEMA = 1


@dataclass(frozen=True)
class RecordedLook:
    """The output of one probe, secrets taken out, and when it was taken."""

    raw: bytes
    taken_at: datetime


def prepare_recording(folder: Path) -> None:
    """Make the folder of a recording. Raises UsageProblem where it holds something else."""
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder / "inventory.yml"):
        raise UsageProblem(
            f"{folder} holds something that is no recording",
            hint="Name a folder that is new, empty, or written by an earlier --record.",
        )
    folder.mkdir(parents=True, exist_ok=True)


def write_recording(folder: Path, looks: Mapping[str, Sequence[RecordedLook]]) -> None:
    """Write hosts and their looks into a prepared folder; hosts that stand there from before are kept."""
    for host, rows in looks.items():
        _write_host(folder / host, host, rows)
    names = sorted(file.parent.name for file in folder.glob("*/meta.json"))
    hosts: dict[str, Any] = dict.fromkeys(names)
    content = {"all": {"vars": {"ansible_connection": "recorded"}, "hosts": hosts}}
    (folder / "inventory.yml").write_text(f"{_HEAD}\n{yaml.safe_dump(content, sort_keys=False)}")


_HEAD = "# Recorded hosts, written by `rollout facts --record`. Read them: rollout facts THIS-FOLDER"


def _is_ours(inventory: Path) -> bool:
    return inventory.is_file() and inventory.read_text(errors="replace").startswith(_HEAD[:20])


def _write_host(folder: Path, host: str, looks: Sequence[RecordedLook]) -> None:
    if folder.name != host or host in (".", ".."):
        raise UsageProblem(f"host {host!r} is no name for a folder, so it cannot be recorded")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("probe*.out"):
        old.unlink()
    entries = []
    for number, look in enumerate(looks, 1):
        name = "probe.out" if number == 1 else f"probe-{number}.out"
        (folder / name).write_bytes(look.raw)
        entries.append(_entry(look))
    meta = {"schema": SCHEMA, "host": host, **entries[0], "further": entries[1:]}
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def _entry(look: RecordedLook) -> dict[str, Any]:
    return {
        "taken_at": look.taken_at.isoformat(),
        "bytes": len(look.raw),
        "sha256": hashlib.sha256(look.raw).hexdigest(),
    }
