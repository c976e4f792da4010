"""What a measurement came to, as it is kept: figures, and everything that is needed to repeat it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rollout.errors import ConfigProblem, Mistake, UsageProblem
from rollout.journal import dump_synced

FILE = "bench.json"


class Measurement(BaseModel):
    """One measured value of one arm or case: every run of it, in the order in which they were made. `unit` is words."""

    model_config = ConfigDict(frozen=True)

    name: str
    values: tuple[float, ...]
    unit: str = ""
    note: str = ""

    @property
    def mean(self) -> float:
        """The mean of the runs."""
        return sum(self.values) / len(self.values)


class Part(BaseModel):
    """An arm of a memory bench or a case of an LRU bench, with its measurements by name."""

    model_config = ConfigDict(frozen=True)

    label: str
    measurements: tuple[Measurement, ...]
    facts: Mapping[str, str] = Field(default_factory=dict)

    def named(self, name: str) -> Measurement | None:
        """Return the measurement of that name, None where it was not made."""
        return next((one for one in self.measurements if one.name == name), None)


class Result(BaseModel):
    """A whole measurement on one host. `about` holds settings, versions, seed and commands; `order` the runs' arms."""

    model_config = ConfigDict(frozen=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    kind: Literal["memory", "lru"]
    host: str
    run_id: str
    about: Mapping[str, Any]
    order: tuple[str, ...]
    parts: tuple[Part, ...]
    remarks: tuple[str, ...] = ()
    started_at: float = 0.0

    def part(self, label: str) -> Part | None:
        """Return the part of that label."""
        return next((one for one in self.parts if one.label == label), None)


@dataclass(frozen=True)
class Kept:
    """A result and the folder of its host, in which the samples lie as the host wrote them."""

    folder: Path
    result: Result

    @property
    def raw(self) -> Path:
        """The files of the host."""
        return self.folder / "raw"


def keep(folder: Path, result: Result, started_at: float) -> None:
    """Write a result into the folder of its host."""
    timed = result.model_copy(update={"started_at": started_at})
    dump_synced(folder / FILE, timed.model_dump(mode="json", by_alias=True))


def kept_in(folder: Path) -> Kept:
    """Read the result in the folder of a host; raises `ConfigProblem` when it cannot be read."""
    return Kept(folder, _read(folder / FILE))


def kept_one(run_folder: Path) -> Kept:
    """Return the result of a run on one host; raises `UsageProblem` when the run measured nothing."""
    found = sorted(run_folder.glob(f"hosts/*/{FILE}"))
    if not found:
        raise UsageProblem(f"run {run_folder.name} measured nothing", hint="rollout history lists the runs.")
    return kept_in(found[0].parent)


def _read(path: Path) -> Result:
    try:
        return Result.model_validate(json.loads(path.read_text()))
    except json.JSONDecodeError as error:
        raise ConfigProblem([Mistake(str(path), error.lineno, "the file is cut off or is no JSON")]) from error
    except ValidationError as error:
        raise ConfigProblem([Mistake(str(path), 0, "this is no measurement of this version of rollout")]) from error
