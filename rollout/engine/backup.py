"""The backup, taken and prepared before anything changes, by the version that runs."""

from dataclasses import dataclass

from rollout.engine.look import its_socket, login_option
from rollout.engine.preflight import backup_tool_package, needs_backup
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import run_detached
from rollout.errors import WrongState
from rollout.facts.model import Facts

BACKUP_LIMIT_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Backup:
    """Where the backup lies, its size, and the checksum of the list of its files' checksums."""

    directory: str
    size_bytes: int
    manifest_sha256: str


def back_up(run: HostRun, facts: Facts) -> Backup | None:
    """Take, prepare and judge the backup; None when this run takes none. Done once, however often it is asked for.

    Raises `WrongState` when the backup is not what it must be: the change is not begun then.
    """
    if not needs_backup(run):
        return None
    directory = f"{run.host.settings.backup_directory}/{run.run_id}"
    tool = f"{run.here}/tool/usr/bin/mariadb-backup" if backup_tool_package(facts) else "mariadb-backup"
    text = script(
        "backup",
        here=run.here,
        directory=directory,
        method=run.host.settings.backup_method,
        tool=tool,
        login=login_option(run),
        socket=its_socket(facts),
    )
    ended = run_detached(run, "backup", text, timeout_seconds=BACKUP_LIMIT_SECONDS)
    if ended.exit_status != 0:
        raise WrongState(run.name, f"the backup failed: {ended.last_words}", hint=f"Its log: {directory}/backup.log")
    said = run.ask(f"cat {run.here}/backup.done").check("reading the backup's seal").text.split()
    if len(said) != 3:
        raise WrongState(run.name, f"the backup's seal is broken: {said}")
    return Backup(directory, int(said[1]), said[2])
