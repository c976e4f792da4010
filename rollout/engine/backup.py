"""The backup, taken and prepared before anything changes, by the version that runs."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from rollout.engine.hooks import run_program
from rollout.engine.look import its_socket, its_unit, login_option, was_active
from rollout.engine.preflight import backup_tool_package, needs_backup
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import run_detached
from rollout.errors import WrongState
from rollout.facts.model import Facts
from rollout.journal import dump_synced
from rollout.printable import printable
from rollout.settings import Hook

BACKUP_LIMIT_SECONDS = 24 * 3600.0
ACCEPT_SECONDS = 60

How: TypeAlias = Literal["mariadb-backup", "mariadb-dump", "copy", "command", "accepted"]


@dataclass(frozen=True)
class Backup:
    """How a backup came to be and where it lies.

    Of one that we took ourselves its bytes, and the checksum of the list of its files' checksums; of another one what
    was said of it.
    """

    how: How
    directory: str = ""
    size_bytes: int | None = None
    manifest_sha256: str = ""
    said: str = ""

    @property
    def details(self) -> dict[str, Any]:
        """What the journal keeps of it."""
        values = {"how": self.how, "directory": self.directory, "manifest_sha256": self.manifest_sha256}
        values |= {"said": self.said}
        return {name: value for name, value in {**values, "bytes": self.size_bytes}.items() if value not in ("", None)}


def back_up(run: HostRun, facts: Facts) -> Backup | None:
    """Take, prepare and judge the backup; None when this run takes none. Done once, however often it is asked for.

    A fresh one that others took is accepted where the settings say how to ask for it. Raises `WrongState` when the
    backup is not what it must be: the change is not begun then.
    """
    if not needs_backup(run):
        return None
    command = run.host.settings.backup_command
    backup = _accepted(run) or (_by_command(run, command) if command else _taken(run, facts))
    dump_synced(run.folder / "backup.json", asdict(backup))
    return backup


def directory_of(run: HostRun) -> str:
    """Return the folder on the host in which this run's backup lies."""
    return f"{run.host.settings.backup_directory}/{run.run_id}"


def _taken(run: HostRun, facts: Facts) -> Backup:
    """Take the backup with the server's own tools; a server that is stopped is copied, file by file."""
    directory = directory_of(run)
    how: How = "mariadb-dump" if run.host.settings.backup_method == "mariadb-dump" else "mariadb-backup"
    how = how if was_active(its_unit(run, facts)) else "copy"
    tool = f"{run.here}/tool/usr/bin/mariadb-backup" if backup_tool_package(facts) else "mariadb-backup"
    text = script(
        "backup",
        here=run.here,
        directory=directory,
        method=how,
        tool=tool,
        login=login_option(run),
        socket=its_socket(facts),
        unit=its_unit(run, facts).id,
    )
    ended = run_detached(run, "backup", text, timeout_seconds=BACKUP_LIMIT_SECONDS)
    if ended.exit_status != 0:
        raise WrongState(run.name, f"the backup failed: {ended.last_words}", hint=f"Its log: {directory}/backup.log")
    said = run.ask(f"cat {run.here}/backup.done").check("reading the backup's seal").text.split()
    if len(said) != 3:
        raise WrongState(run.name, f"the backup's seal is broken: {said}")
    return Backup(how, directory, int(said[1]), said[2])


def _by_command(run: HostRun, command: Hook) -> Backup:
    """Have the user's own command take the backup, a snapshot for instance; only its exit status tells how it went."""
    ran = run_program(run, "backup", command, DIRECTORY=directory_of(run))
    if ran.exit_status:
        raise WrongState(run.name, f"the backup failed: {ran.told}")
    return Backup("command", said=ran.told)


def _accepted(run: HostRun) -> Backup | None:
    """Return the backup that others took, if it is fresh enough; None where there is none, or nobody can tell."""
    accept = run.host.settings.backup_accept
    if accept is None:
        return None
    text = script("accept", command=accept.command, limit_seconds=ACCEPT_SECONDS)
    result = run.ask(text, timeout_seconds=ACCEPT_SECONDS + 30)
    now, _, said = result.text.partition("\n")
    began = _moment(said.strip()) if result.ok else None
    if began is None or not 0 <= float(now) - began <= accept.max_age:
        return None
    return Backup("accepted", said=f"{printable(said.strip())}, {(float(now) - began) / 3600:.1f} h ago")


def _moment(said: str) -> float | None:
    """Read seconds since the epoch, or an ISO 8601 moment with its offset; None for anything else."""
    try:
        return float(said)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None
