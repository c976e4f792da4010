"""Under which policy the running server keeps its list."""

from collections.abc import Mapping
from typing import Literal

from rollout.versions import Release, ServerVersion, fix_status

RunningPolicy = Literal["mariadb-10.4", "mariadb-10.5", "mariadb-fix"]


def running_policy(version: ServerVersion, releases: Mapping[str, Release]) -> RunningPolicy | None:
    """Return the policy, or None where the version does not tell it (Enterprise, a series younger than the table).

    `releases` is the table of `versions.fix_releases`. A rehearsal release keeps its list as the one before it does.
    """
    match fix_status(version, (), releases):
        case "unknown":
            return None
        case "present":
            return "mariadb-fix"
        case _:
            return "mariadb-10.4" if version.upstream[:2] < (10, 5) else "mariadb-10.5"
