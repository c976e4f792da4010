"""One thing that the plan has to say about hosts: a code, how grave it is, and a sentence."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """`code` is known to `rollout explain`; a `blocker` keeps its `hosts` from being changed, a `warning` does not."""

    code: str
    severity: Literal["blocker", "warning"]
    hosts: tuple[str, ...]
    message: str
