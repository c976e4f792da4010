"""Hosts from a recording: what the probe printed there once, answered again without any host.

A recording is a folder: `meta.json`, `probe.out` (the bytes of the probe's standard output), and, when the host was
looked at more than once, `probe-2.out`, `probe-3.out`, each with its own entry in `meta.json`.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rollout.errors import ConfigProblem, Mistake, UsageProblem
from rollout.remote.transport import Result
from rollout.settings import Host

PROBE_MARKER = "# rollout probe"  # the first line of the one script that a recorded host answers


class Recording(BaseModel):
    """`meta.json`: which host it was, when, and what the bytes of `probe.out` have to be."""

    model_config = ConfigDict(frozen=True)

    schema_number: int = Field(alias="schema", ge=1, le=1)
    host: str
    taken_at: datetime
    size_bytes: int = Field(alias="bytes", ge=0)
    sha256: str
    further: tuple["FurtherProbe", ...] = Field(default=(), description="probe-2.out, probe-3.out, … in this order")


class FurtherProbe(BaseModel):
    """One more look at the same host, seconds later."""

    model_config = ConfigDict(frozen=True)

    taken_at: datetime
    size_bytes: int = Field(alias="bytes", ge=0)
    sha256: str


def refuse_recorded(hosts: Iterable[Host]) -> None:
    """Raise `UsageProblem` where one of `hosts` is a recording: it cannot be changed or measured."""
    recorded = [host.name for host in hosts if host.connection.kind == "recorded"]
    if recorded:
        raise UsageProblem(f"recorded hosts can only be looked at: {', '.join(recorded)}")


class RecordedTransport:
    """Answers the probe with recorded bytes, the n-th time with the n-th, and refuses everything else."""

    def __init__(self, host_name: str, folder: Path) -> None:
        self._host_name = host_name
        self._folder = folder
        self._answers: tuple[bytes, ...] = ()
        self._asked = 0

    def run(
        self,
        script: str,
        stdin: bytes = b"",  # noqa: ARG002 - the signature is that of Transport.run
        *,
        timeout_seconds: float = 60.0,  # noqa: ARG002
        privileged: bool = True,  # noqa: ARG002
    ) -> Result:
        """Answer the probe. Raises `UsageProblem` for another script, `ConfigProblem` for a spoiled recording."""
        if script.partition("\n")[0].strip() != PROBE_MARKER:
            raise UsageProblem(
                f"{self._host_name}: a recorded host can only be looked at",
                hint=f"It stands for {self._folder}; commands that change or measure a host need a real one.",
            )
        self._answers = self._answers or recorded_answers(self._folder)
        answer = self._answers[min(self._asked, len(self._answers) - 1)]
        self._asked += 1
        return Result(self._host_name, 0, answer, b"", 0.0)

    def close(self) -> None:
        """Do nothing: there is no connection."""


def recorded_answers(folder: Path) -> tuple[bytes, ...]:
    """Read and check all probes of a recording. Raises `ConfigProblem` with everything that is wrong in it."""
    meta = _meta(folder)
    looks = [("probe.out", meta.size_bytes, meta.sha256)]
    looks += [(f"probe-{n}.out", look.size_bytes, look.sha256) for n, look in enumerate(meta.further, 2)]
    answers, mistakes = [], []
    for name, size_bytes, sha256 in looks:
        answer, wrong = _read(folder / name, size_bytes, sha256)
        answers.append(answer)
        mistakes += [Mistake(str(folder / name), 0, wrong)] if wrong else []
    if mistakes:
        raise ConfigProblem(mistakes, hint="Record the host again: rollout facts INVENTORY --record DIR")
    return tuple(answers)


def _meta(folder: Path) -> Recording:
    file = folder / "meta.json"
    try:
        return Recording.model_validate_json(file.read_bytes())
    except OSError as fault:
        hint = "A recording is a folder with meta.json and probe.out, made by: rollout facts INVENTORY --record DIR"
        raise ConfigProblem([Mistake(str(file), 0, f"cannot be read: {fault.strerror}")], hint=hint) from fault
    except ValidationError as fault:
        wrong = [(".".join(map(str, error["loc"])), error["msg"]) for error in fault.errors(include_url=False)]
        raise ConfigProblem(Mistake(str(file), 0, message, path) for path, message in wrong) from fault


def _read(file: Path, size_bytes: int, sha256: str) -> tuple[bytes, str]:
    """Return the bytes of one probe and what is wrong with them, empty when nothing is."""
    try:
        answer = file.read_bytes()
    except OSError as fault:
        return b"", f"cannot be read: {fault.strerror}"
    if len(answer) < size_bytes:
        return answer, f"the recording is cut off: {len(answer)} of {size_bytes} bytes"
    if hashlib.sha256(answer).hexdigest() != sha256:
        return answer, "the recording was altered: its SHA-256 is not the one in meta.json"
    return answer, ""
