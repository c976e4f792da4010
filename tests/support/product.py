"""The product as a user runs it: the real program in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """How a command ended: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Product:
    """The program with an inventory and a state directory. `program` is what Python is told to run."""

    inventory: Path
    state: Path
    program: tuple[str, ...] = ("-m", "rollout")

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command and do not wait."""
        return subprocess.Popen(
            self._command(words),
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *words: str, expect: int | None = 0) -> Ran:
        """Run a command; a code other than `expect` (None: any) fails the test with all that was said."""
        done = subprocess.run(
            self._command(words),
            env=self._environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=900,
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        if expect is not None:
            assert ran.code == expect, f"rollout {' '.join(words)} ended with {ran.code}\n{ran.out}\n{ran.err}"
        assert "Traceback" not in ran.err, ran.err
        return ran

    def plan(self, *words: str, expect: int | None = 0) -> Ran:
        """Plan without sampling."""
        return self.run("plan", str(self.inventory), "--sample", "0", *words, expect=expect)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "ROLLOUT_STATE": str(self.state)}

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, *self.program, *words]
