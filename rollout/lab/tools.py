"""How the lab starts other programs on this machine."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rollout.errors import LabProblem

# Before a program that mounts: what it mounts and starts is gone when it ends, and it ends when this program ends.
APART = (
    *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    "--propagation=private",
)
FILES = Path(__file__).parent / "files"


def run(words: Sequence[str | Path], *, doing: str, stdin: bytes = b"") -> str:
    """Run a program to its end and return what it wrote to stdout.

    Raises `LabProblem` that names `doing` and the last lines of the program's complaint when it fails.
    """
    ended = subprocess.run([str(word) for word in words], input=stdin, capture_output=True, check=False)
    if ended.returncode:
        raise LabProblem(f"{doing} failed: {words[0]} ended with {ended.returncode}", hint=_last_lines(ended))
    return ended.stdout.decode("utf-8", "replace")


def succeeds(words: Sequence[str | Path]) -> bool:
    """Whether a program ends with 0; what it says is thrown away."""
    return subprocess.run([str(word) for word in words], capture_output=True, check=False).returncode == 0


def _last_lines(ended: subprocess.CompletedProcess[bytes]) -> str:
    said = (ended.stderr.strip() or ended.stdout.strip()).decode("utf-8", "replace")
    return "\n  ".join(said.splitlines()[-6:])
