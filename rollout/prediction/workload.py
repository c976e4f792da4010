"""A workload that somebody describes in a file: its schema, and how the file is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from rollout.errors import ConfigProblem, Mistake
from rollout.prediction.sizes import parsed_bytes

PolicyName = Literal[
    "lru",
    "mariadb-10.4",
    "mariadb-10.5",
    "mariadb-fix",
    "lazy-accessed",
    "never-promote",
    "clock-sweep",
    "optimal",
]
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)
Size = Annotated[int, BeforeValidator(parsed_bytes), Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class Zipf(BaseModel):
    """Page number r is read with a probability that falls as r ** -zipf."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    zipf: float = Field(gt=0, lt=3)


class Pareto(BaseModel):
    """A share `pareto[0]` of the pages gets the share `pareto[1]` of the reads, and so on within it (sysbench's)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pareto: tuple[Annotated[float, Field(gt=0, lt=1)], Annotated[float, Field(gt=0, lt=1)]]


class DescribedWorkload(BaseModel):
    """A workload file. Sizes are bytes (or `100GiB`), times are microseconds and milliseconds as named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    threads: int = Field(gt=0, le=4096, description="threads that ask again as soon as they are answered")
    cores: int = Field(gt=0, description="cores of the server")
    pool_bytes: Size = Field(gt=0, description="innodb_buffer_pool_size")
    data_bytes: Size = Field(gt=0, description="pages of the working set")
    unread_bytes: Size | None = Field(None, description="pages in the list that nobody reads; leave out if not known")
    leaf_reads_per_query: float = Field(gt=0, description="page touches below the root and branch pages")
    access: Literal["uniform"] | Zipf | Pareto = "uniform"
    think_us_per_query: Positive | dict[PolicyName, Positive] = Field(
        description="all of a thread's time for one query when nothing is promoted"
    )
    cpu_us_per_query: Positive | None = Field(None, description="the part of it on a core; left out: all of it")
    read_us: float = Field(0.0, ge=0, description="device time of one page that is missed, on top of the think time")
    mutex_us: tuple[Positive, Positive, Positive] | None = Field(
        None, description="time of one operation on a mutex that others wait for: low, mid, high as measured there"
    )
    page_bytes: Size = Field(16384, description="innodb_page_size")
    old_blocks_pct: int = Field(37, ge=5, le=95)
    old_blocks_time_ms: int = Field(1000, ge=0, le=4294967295)
    lru_scan_depth: int = Field(1536, ge=100)
    instances: int = Field(8, ge=1, le=64, description="innodb_buffer_pool_instances, used by mariadb-10.4 alone")
    clock_started: bool | None = Field(None, description="mariadb-10.4: was a page ever evicted since the start?")

    @model_validator(mode="after")
    def _think_time_is_complete(self) -> "DescribedWorkload":
        if isinstance(self.think_us_per_query, dict) and "mariadb-fix" not in self.think_us_per_query:
            raise ValueError("think_us_per_query by policy needs at least mariadb-fix; the others fall back to it")
        if self.mutex_us and list(self.mutex_us) != sorted(self.mutex_us):
            raise ValueError("mutex_us rises: low, mid, high")
        return self

    def think_us(self, policy: PolicyName) -> float:
        """Return the think time of a policy, that of the fix where the file gives none for it."""
        given = self.think_us_per_query
        return given.get(policy, given["mariadb-fix"]) if isinstance(given, dict) else given


def load_workload(path: Path) -> DescribedWorkload:
    """Read a workload file; raises `ConfigProblem` with every mistake in it, each with its line."""
    try:
        text = path.read_text("utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except OSError as error:
        raise ConfigProblem([Mistake(str(path), 0, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigProblem([Mistake(str(path), 0, "is no text in UTF-8")]) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigProblem([Mistake(str(path), line, f"is no YAML: {error.problem}")]) from error
    if not isinstance(node, yaml.MappingNode):
        raise ConfigProblem([Mistake(str(path), 0, "is empty, or no mapping of keys to values")], hint=_HINT)
    try:
        return DescribedWorkload.model_validate(document)
    except ValidationError as error:
        raise ConfigProblem(_mistakes(error, str(path), node), hint=_HINT) from error


_HINT = "`rollout predict --help` shows a workload file with every key that is needed"


def _mistakes(error: ValidationError, file: str, node: yaml.MappingNode) -> Iterator[Mistake]:
    lines = {str(key.value): key.start_mark.line + 1 for key, _value in node.value}
    told = set()
    for mistake in error.errors():
        key = str(mistake["loc"][0]) if mistake["loc"] else ""
        if key and key in told:
            continue  # each branch of a union complains on its own: the first one is enough
        told.add(key)
        yield Mistake(file, lines.get(key, 0), _sentence(mistake["type"], mistake["msg"]), key)


def _sentence(kind: str, message: str) -> str:
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no key of a workload file"
    return message.removeprefix("Value error, ")
