"""Versions of MariaDB servers: what the wild strings mean, how they compare, and which release carries the LRU fix."""

from dataclasses import dataclass
from typing import Literal

Flavour = Literal["mariadb", "mariadb-enterprise", "mysql", "percona"]


@dataclass(frozen=True)
class ServerVersion:
    """One version as a program printed it.

    `upstream` is (major, minor, patch); `enterprise` is the fourth number of an Enterprise build and None elsewhere.
    """

    flavour: Flavour
    upstream: tuple[int, int, int]
    raw: str
    enterprise: int | None = None

    @property
    def series(self) -> str:
        """Major and minor, such as `11.8`."""
        return f"{self.upstream[0]}.{self.upstream[1]}"

    def __str__(self) -> str:
        text = ".".join(map(str, self.upstream))
        return text if self.enterprise is None else f"{text}-{self.enterprise}"
