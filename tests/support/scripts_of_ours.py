"""The scripts that the engine sends to a host, rendered for a test."""

from rollout.changes.render import shell_scripts
from rollout.resources import PACKAGE

ENGINE = shell_scripts(PACKAGE / "engine" / "scripts")


def prelude(manager: str) -> str:
    """Return what do.sh and undo.sh of a host begin with."""
    return ENGINE(
        "prelude",
        manager=manager,
        name="do.sh",
        purpose="a test",
        run_id="1",
        host="db1",
        directory="/var/lib/rollout/1",
        unit="mariadb.service",
        socket="/run/mysqld/mysqld.sock",
        was_active=True,
        unit_file_state="enabled",
        start_limit_seconds=900,
        defaults_file="",
    )
