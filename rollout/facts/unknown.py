"""Unknown as a value of its own: what a probe could not find out, and why.

`None` in a fact means that the thing is known not to be there; `Unknown` means that nobody could tell. An `Unknown`
has no truth value, so that no `if` takes it for "no" by accident.
"""

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True)
class Unknown:
    """A fact that could not be found out; `reason` is a sentence for people."""

    reason: str

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown fact has no truth value ({self.reason}); ask isinstance(value, Unknown) first")


Known: TypeAlias = T | Unknown


def known_or(value: Known[T], otherwise: D) -> T | D:
    """Return the value, or `otherwise` where it is unknown: for the few places that may name what stands in for it."""
    return otherwise if isinstance(value, Unknown) else value


def blank(kind: type[D], reason: str) -> D:
    """Build a domain of facts in which nothing is known, all for one reason; fields with a default keep it.

    `kind` is a dataclass whose fields are all `Known[...]`, such as `System` or `Server`.
    """
    dataclass_kind: Any = kind
    unknown: D = kind(**{item.name: Unknown(reason) for item in fields(dataclass_kind) if item.default is MISSING})
    return unknown
