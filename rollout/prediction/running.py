"""Under which policy the running server keeps its list."""

from collections.abc import Mapping
from typing import Literal

from rollout.versions import FIX_RELEASES, Release, ServerVersion, fix_status

RunningPolicy = Literal["mariadb-10.4", "mariadb-10.5", "mariadb-fix"]


def running_policy(version: ServerVersion, declared: Mapping[str, Release]) -> RunningPolicy | None:
    """Return the policy, or None where the version does not tell it (Enterprise, a series younger than the table).

    `declared` is the host's own `rollout_fix_releases`. A series that is declared as a rehearsal keeps its list as
    before the fix, whatever its number says: that is what a rehearsal is.
    """
    before_fix: RunningPolicy = "mariadb-10.4" if version.upstream[:2] < (10, 5) else "mariadb-10.5"
    own = declared.get(version.series)
    if own is not None and not own.carries_lru_fix and version.is_mariadb:
        return before_fix
    match fix_status(version, (), {**FIX_RELEASES, **declared}):
        case "unknown":
            return None
        case "present":
            return "mariadb-fix"
        case _:
            return before_fix
