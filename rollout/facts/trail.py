"""What the server and the program left behind on the host: logs, starts, backups, and who reads the LRU's counters."""

import re

from rollout.facts.database import Database
from rollout.facts.frame import Answers, lines, read
from rollout.facts.model import KeptBackup, Trail
from rollout.facts.unknown import Known, Unknown

_PREPARED = re.compile(r"backup_type = (full-prepared|log-applied)")


def parse_trail(answers: Answers, database: Database) -> Trail:
    """Read the trail's facts."""
    journal = answers.text("journal", otherwise="no start of the unit whose journal could be asked")
    return Trail(
        error_lines=_error_lines(answers, journal),
        loader_lines=read(journal, lambda text: _with(text, "ld.so: object")),
        invocations=read(answers.text("invocations", otherwise="no unit whose journal could be asked"), lines),
        backups=read(answers.text("backups"), parse_backups),
        monitoring=_monitoring(answers, database),
    )


def parse_backups(text: str) -> tuple[KeptBackup, ...]:
    """Read rows of path, KiB and checkpoints, whose lines are parted by `;`.

    mariadb-backup writes `backup_type = full-backuped` first; when the backup has been prepared it writes
    `full-prepared` or, as 10.11 was seen to do, `log-applied`.
    """
    rows = (row.split("\t") for row in lines(text))
    return tuple(
        KeptBackup(path, _PREPARED.search(saved) is not None, int(kib) * 1024, saved.replace(";", "\n").strip())
        for path, kib, saved in rows
    )


def _with(text: str, words: str) -> tuple[str, ...]:
    return tuple(row for row in lines(text) if words in row)


def _error_lines(answers: Answers, journal: Known[str]) -> Known[tuple[str, ...]]:
    """Return the complaints of the server, from the unit's journal and from the error log where it has one."""
    logged = answers.text("error-log") if answers.first("error-log") else ""
    if isinstance(logged, Unknown):
        return logged
    return read(journal, lambda text: (*_with(text, "[ERROR]"), *lines(logged)))


def _monitoring(answers: Answers, database: Database) -> Known[tuple[str, ...]]:
    """Return the files and the statements; of a server that does not answer, the files are not the whole truth."""
    files = read(answers.text("monitoring"), lines)
    asked = read(database.table("digests"), lambda rows: tuple(row["digest"] for row in rows))
    return read(files, lambda found: read(asked, lambda statements: (*found, *statements)))
