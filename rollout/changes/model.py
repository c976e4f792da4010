"""What a room of changes hands out: frozen values that a person reads, a file keeps and an engine runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rollout.versions import FixStatus

Kind = Literal["packages", "allocator"]


@dataclass(frozen=True)
class Change:
    """One change of one host. `do` and `undo` are the very shell text that will run there, inside do.sh and undo.sh.

    `before` and `after` are flat maps of scalars: package to version for `packages`; `running`, `others_mapped`,
    `library`, `drop_in`, `drop_in_path` and `package` for `allocator`. Two changes are the same change when they are
    equal.
    """

    kind: Kind
    summary: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]
    why: str
    do: str
    undo: str
    reversible: bool = True
    restarts: bool = True


@dataclass(frozen=True)
class Finding:
    """A blocker or a warning: a code that `rollout explain` knows, and what it means on this host."""

    code: str
    message: str


@dataclass(frozen=True)
class Assessment:
    """What one host needs. `target` is the upstream version aimed at, None where the packages stay."""

    changes: tuple[Change, ...] = ()
    blockers: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    fix: FixStatus = "unknown"
    target: str | None = None
    library: str | None = None
