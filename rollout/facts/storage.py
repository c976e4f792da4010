"""Room on the file systems that matter, and the identity of the data."""

import re

from rollout.facts.frame import Answer, Answers, lines, read
from rollout.facts.model import PathFacts, Storage
from rollout.facts.unknown import Known, Unknown


def parse_storage(answers: Answers) -> Storage:
    """Read the facts of each place; of one that is not known (the data of a server that is not there), why."""

    def place(name: str) -> Known[PathFacts]:
        answer = answers.first(f"room-{name}")
        return room(answer) if answer else Unknown("where it is is not known")

    return Storage(
        datadir=place("datadir"),
        ibdata1=_there(place("ibdata1")),
        mysql_schema=_there(place("mysql_schema")),
        log_group_home=place("log_group_home"),
        tmpdir=place("tmpdir"),
        var_lib_mysql=place("var_lib_mysql"),
        package_cache=place("package_cache"),
        backup_directory=place("backup_directory"),
        run_directory=place("run_directory"),
        moved_datadirs=read(answers.text("moved"), lines),
        datadir_bytes=_datadir_bytes(answers),
    )


def room(answer: Answer) -> Known[PathFacts]:
    """Read one place: `present` or `absent`, device and inode, and df's row of the file system."""
    return read(answer.text, lambda text: _path_facts(answer.argument, text))


def _path_facts(path: str, text: str) -> PathFacts:
    rows = lines(text)
    exists = {"present": True, "absent": False}[rows[0]]
    device, inode = (int(word) for word in rows[1].split())
    filesystem, total, _, free, _, mount_point = _df_row(rows[-1])
    return PathFacts(
        path=path,
        exists=exists,
        device=device if exists else None,
        inode=inode if exists else None,
        filesystem=filesystem,
        mount_point=mount_point,
        total_bytes=int(total) * 1024,
        free_bytes=int(free) * 1024,
    )


def _df_row(row: str) -> tuple[str, ...]:
    """Read a row of `df -P -T -k` from its type on: total, used, free, share, mount point (that may have blanks)."""
    found = re.search(r"(\S+) +(\d+) +(\d+) +(-?\d+) +(\d+%|-) +(/.*)$", row)
    if found is None:
        raise ValueError("no row of df")
    return found.groups()


def _there(place: Known[PathFacts]) -> Known[PathFacts | None]:
    """Return None for what is not there, so that a lost file does not look like one with another inode."""
    return place if isinstance(place, Unknown) or place.exists else None


def _datadir_bytes(answers: Answers) -> Known[int | None]:
    if answers.first("datadir-bytes") is None:
        return Unknown("counted only with --deep")
    return read(answers.text("datadir-bytes"), lambda text: int(text.split()[0]) * 1024)
