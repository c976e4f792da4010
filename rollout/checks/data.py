"""Checks of the data: the same files and the same tables as before."""

from collections.abc import Mapping

from rollout.checks.model import Judgement, Situation, asked, first_unknown, held, not_known, skipped
from rollout.facts.model import Facts, PathFacts
from rollout.facts.unknown import Known, Unknown, known_or

SYSTEM_SCHEMAS = frozenset({"information_schema", "performance_schema", "mysql", "sys"})


def datadir_identity(situation: Situation) -> Judgement:
    """Hold device and inode of the data directory against those before; a copy or a fresh one has others.

    A boot gives devices without a number of their own (overlayfs, btrfs, NFS, device mapper) another one, so across a
    boot the file system's type and mount point stand for the device (`st_dev` in inode(7)).
    """
    after, before = situation.after.storage, situation.before
    expected = "the data directory of before, none moved aside"
    unknown = first_unknown(after.datadir, after.ibdata1, after.mysql_schema, after.moved_datadirs)
    if unknown is not None:
        return not_known(expected, unknown)
    places = (after.datadir, after.ibdata1, after.mysql_schema)
    command = "stat --format='%n %d:%i' DATADIR DATADIR/ibdata1 DATADIR/mysql"
    evidence = asked(command, "\n".join(_identity(place, rebooted=False) for place in places))
    if before is None:
        return skipped(expected, "no facts from before to hold it against")
    rebooted = _rebooted(before, situation.after)
    earlier = (before.storage.datadir, before.storage.ibdata1, before.storage.mysql_schema)
    unknown = first_unknown(*earlier, before.storage.moved_datadirs)
    if unknown is not None:
        return not_known(expected, unknown)
    moved = _new(after.moved_datadirs, before.storage.moved_datadirs)
    if moved:
        return Judgement("fail", expected, f"moved aside: {', '.join(moved)}", evidence, "datadir_moved")
    now = [_identity(place, rebooted=rebooted) for place in places]
    then = [_identity(place, rebooted=rebooted) for place in earlier]
    return held(now == then, expected, "the same" if now == then else f"was {'; '.join(then)}", evidence)


def _rebooted(before: Facts, after: Facts) -> bool:
    """Whether the host is known to have booted in between; where nobody can tell, the device's number counts."""
    then, now = known_or(before.system.boot_id, None), known_or(after.system.boot_id, None)
    return None not in (then, now) and then != now


def _identity(place: Known[PathFacts | None], *, rebooted: bool) -> str:
    if place is None or isinstance(place, Unknown):
        return "(not there)"
    device = f"{place.filesystem} at {place.mount_point}" if rebooted else str(place.device)
    return f"{place.path} {device}:{place.inode}"


def _new(after: Known[tuple[str, ...]], before: Known[tuple[str, ...]]) -> list[str]:
    known = () if isinstance(before, Unknown) else before
    return [] if isinstance(after, Unknown) else [path for path in after if path not in known]


def schemas_tables(situation: Situation) -> Judgement:
    """Hold schemas and their numbers of tables against those before; the server's own schemas need only be there."""
    expected = "the schemas and tables of before"
    if situation.before is None:
        return skipped(expected, "no facts from before to hold it against")
    if situation.after.server.running is None and not situation.expected.active:
        return skipped(expected, "the server is stopped, as it was before")
    after, before = situation.after.server.schemas, situation.before.server.schemas
    if isinstance(before, Unknown):
        return not_known(expected, before)
    return not_known(expected, after) if isinstance(after, Unknown) else _tables(expected, before, after)


def _tables(expected: str, before: Mapping[str, int], after: Mapping[str, int]) -> Judgement:
    lost, gained = _differences(before, after), _differences(after, before)
    command = "SELECT table_schema, COUNT(*) FROM information_schema.tables GROUP BY table_schema"
    rows = "\n".join(f"{name}\t{count}" for name, count in sorted(after.items()))
    evidence = asked(f"mariadb --batch --execute '{command}'", rows)
    if lost:
        return Judgement("fail", expected, f"lost: {', '.join(lost)}", evidence)
    if gained:
        return Judgement("warn", expected, f"more than before: {', '.join(gained)}", evidence)
    return Judgement("pass", expected, f"{len(after)} schemas, {sum(after.values())} tables", evidence)


def _differences(one: Mapping[str, int], other: Mapping[str, int]) -> list[str]:
    """Name the schemas of which `one` has more than `other`."""
    lines = [f"schema {name}" for name in sorted(one) if name not in other]
    return lines + [
        f"{one[name] - other[name]} tables of {name}"
        for name in sorted(one)
        if name in other and name not in SYSTEM_SCHEMAS and one[name] > other[name]
    ]
