"""That a backup restores: a copy of it is started as a second server, and all its tables are read.

The rows are not compared with the live server's: it goes on writing, and to checksum its tables would pull all of them
through the buffer pool that the backup takes care to leave alone. What can be compared is which tables there are; the
checksums of the restored ones are kept beside the backup.
"""

from rollout.engine.backup import Backup
from rollout.engine.look import its_unit
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import run_detached
from rollout.errors import WrongState
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or

RESTORE_LIMIT_SECONDS = 12 * 3600.0
MEMORY_MIB = 512  # that the second server takes at the most, with its pool of 64 MiB
OWN_SCHEMAS = frozenset({"information_schema", "performance_schema", "sys", "mysql"})


def verify_restore(run: HostRun, facts: Facts, backup: Backup | None) -> int:
    """Start a copy of the backup and read it; return how many tables were read. The copy is removed again.

    Raises `WrongState` when it does not start, a table cannot be read or is missing, there is no room for the copy or
    no memory for the server, or the backup is of a kind that cannot be started.
    """
    if backup is None or backup.how not in ("mariadb-backup", "copy"):
        kind = backup.how if backup else "no backup at all"
        raise WrongState(run.name, f"--verify-restore: what there is cannot be started: {kind}")
    text = script(
        "verify_restore",
        here=run.here,
        directory=backup.directory,
        unit=its_unit(run, facts).id,
        memory_mib=MEMORY_MIB,
        lower_case=known_or(facts.server.variables, {}).get("lower_case_table_names", "0"),
    )
    ended = run_detached(run, "restore", text, timeout_seconds=RESTORE_LIMIT_SECONDS)
    if ended.exit_status:
        raise WrongState(run.name, f"the backup does not restore: {ended.last_words}")
    said = run.ask(f"cd {run.here} && cat restored.schemas").check("reading what was restored").text
    restored = {name: int(count) for name, _, count in (line.partition("\t") for line in said.splitlines())}
    live = known_or(facts.server.schemas, {})
    lost = [
        f"{name} has {restored.get(name, 0)} tables in the backup and {count} on the server"
        for name, count in live.items()
        if name not in OWN_SCHEMAS and restored.get(name, 0) < count
    ]
    if lost:
        raise WrongState(run.name, f"the backup lacks tables: {'; '.join(lost)}")
    return sum(restored.get(name, 0) for name in live if name not in OWN_SCHEMAS)
