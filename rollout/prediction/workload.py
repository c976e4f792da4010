"""A workload that somebody describes in a file: its schema, and how the file is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.documents import compose, read_text
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
# A tenth of a nanosecond to a quarter of an hour: what is outside is a slip, and arithmetic ends there.
Microseconds = Annotated[float, Field(ge=1e-4, le=1e9)]
PAGE_SIZES = (4096, 8192, 16384, 32768, 65536)


class Zipf(BaseModel):
    """Page number r is read with a probability that falls as r ** -zipf."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    zipf: float = Field(gt=0, lt=3)


class Pareto(BaseModel):
    """A share `pareto[0]` of the pages gets the share `pareto[1]` of the reads, and so on within it (sysbench's)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pareto: tuple[Annotated[float, Field(gt=0, lt=1)], Annotated[float, Field(gt=0, lt=1)]]


def _kind_of_access(given: object) -> str | None:
    if isinstance(given, dict):
        return next((kind for kind in ("zipf", "pareto") if kind in given), None)
    if isinstance(given, Zipf | Pareto):
        return "zipf" if isinstance(given, Zipf) else "pareto"
    return "uniform" if given == "uniform" else None


Access = Annotated[
    Annotated[Literal["uniform"], Tag("uniform")] | Annotated[Zipf, Tag("zipf")] | Annotated[Pareto, Tag("pareto")],
    Discriminator(
        _kind_of_access,
        custom_error_type="access",
        custom_error_message="is one of `uniform`, `{zipf: 0.9}` and `{pareto: [0.2, 0.8]}`",
    ),
]
ThinkTime = Annotated[
    Annotated[Microseconds, Tag("number")] | Annotated[dict[PolicyName, Microseconds], Tag("map")],
    Discriminator(lambda given: "map" if isinstance(given, dict) else "number"),
]


class DescribedWorkload(BaseModel):
    """A workload file. Sizes are bytes (or `100GiB`), times are microseconds and milliseconds as named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    threads: int = Field(gt=0, le=4096, description="threads that ask again as soon as they are answered")
    cores: int = Field(gt=0, le=4096, description="cores of the server")
    page_bytes: Size = Field(16384, description="innodb_page_size")
    pool_bytes: Size = Field(ge=2**20, le=2**46, description="innodb_buffer_pool_size")
    data_bytes: Size = Field(ge=2**16, le=2**50, description="pages of the working set")
    unread_bytes: Size | None = Field(None, description="pages in the list that nobody reads; leave out if not known")
    leaf_reads_per_query: float = Field(ge=1e-3, le=1e6, description="page touches below the root and branch pages")
    access: Access = "uniform"
    think_us_per_query: ThinkTime = Field(description="all of a thread's time for one query when nothing is promoted")
    cpu_us_per_query: Microseconds | None = Field(None, description="the part of it on a core; left out: all of it")
    read_us: float = Field(
        0.0, ge=0, le=1e9, description="device time of one page that is missed, on top of the think time"
    )
    mutex_us: tuple[Microseconds, Microseconds, Microseconds] | None = Field(
        None, description="time of one operation on a mutex that others wait for: low, mid, high as measured there"
    )
    old_blocks_pct: int = Field(37, ge=5, le=95)
    old_blocks_time_ms: int = Field(1000, ge=0, le=4294967295)
    lru_scan_depth: int = Field(1536, ge=100, le=4294967295)
    instances: int = Field(8, ge=1, le=64, description="innodb_buffer_pool_instances, used by mariadb-10.4 alone")
    clock_started: bool | None = Field(None, description="mariadb-10.4: was a page ever evicted since the start?")

    @field_validator("page_bytes")
    @classmethod
    def _a_page_size_of_innodb(cls, given: int) -> int:
        if given not in PAGE_SIZES:
            raise ValueError(f"is one of {', '.join(map(str, PAGE_SIZES))}")
        return given

    @field_validator("unread_bytes")
    @classmethod
    def _unread_pages_have_room(cls, given: int | None, others: ValidationInfo) -> int | None:
        if given is not None and given >= others.data.get("pool_bytes", given + 1):
            raise ValueError("pages that nobody reads are pages of the pool: less than pool_bytes")
        return given

    @field_validator("think_us_per_query")
    @classmethod
    def _think_time_is_complete(cls, given: float | dict[PolicyName, float]) -> float | dict[PolicyName, float]:
        if isinstance(given, dict) and "mariadb-fix" not in given:
            raise ValueError("by policy it needs at least mariadb-fix; the others fall back to it")
        return given

    @field_validator("cpu_us_per_query")
    @classmethod
    def _cpu_time_is_a_part(cls, given: float | None, others: ValidationInfo) -> float | None:
        think = others.data.get("think_us_per_query", given) or 0.0
        if given is not None and given > (max(think.values()) if isinstance(think, dict) else think):
            raise ValueError("is a part of think_us_per_query, and larger here")
        return given

    @field_validator("mutex_us")
    @classmethod
    def _mutex_time_rises(cls, given: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if given and list(given) != sorted(given):
            raise ValueError("rises: low, mid, high")
        return given

    def think_us(self, policy: PolicyName) -> float:
        """Return the think time of a policy, that of the fix where the file gives none for it."""
        given = self.think_us_per_query
        return given.get(policy, given["mariadb-fix"]) if isinstance(given, dict) else given


def load_workload(path: Path) -> DescribedWorkload:
    """Read a workload file; raises `ConfigProblem` with every mistake in it, each with its line."""
    text = read_text(path)
    node = compose(text, str(path))
    if not isinstance(node, yaml.MappingNode):
        raise ConfigProblem([Mistake(str(path), 0, "is empty, or no mapping of keys to values")], hint=_HINT)
    try:
        return DescribedWorkload.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:  # a tag or a key that plain YAML does not know
        raise ConfigProblem([Mistake(str(path), 0, f"is no plain YAML: {' '.join(str(error).split())}")]) from error
    except ValidationError as error:
        raise ConfigProblem(_mistakes(error, str(path), node), hint=_HINT) from error


_HINT = "`rollout predict --help` shows a workload file with every key that is needed"


def _mistakes(error: ValidationError, file: str, node: yaml.MappingNode) -> Iterator[Mistake]:
    lines = {str(key.value): key.start_mark.line + 1 for key, _value in node.value}
    for mistake in error.errors():
        key = str(mistake["loc"][0]) if mistake["loc"] else ""
        yield Mistake(file, lines.get(key, 0), _sentence(mistake["type"], mistake["loc"], mistake["msg"]), key)


def _sentence(kind: str, where: tuple[Any, ...], message: str) -> str:
    if kind == "missing":
        return "is missing" if len(where) == 1 else "has too few numbers"
    if kind == "extra_forbidden" and len(where) == 1:
        return "is no key of a workload file"
    inner = [str(part) for part in where[2 if where[:1] in _TAGGED else 1 :] if part != "[key]"]
    return f"{'.'.join(inner)}: {message}" if inner else message.removeprefix("Value error, ")


_TAGGED = (("access",), ("think_us_per_query",))  # the second part of their place names the branch of the schema
