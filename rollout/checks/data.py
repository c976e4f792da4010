"""Checks of the data: the same files and the same tables as before."""

from collections.abc import Mapping

from rollout.checks.model import Judgement, Situation, asked, first_unknown, held, not_known, skipped
from rollout.facts.model import PathFacts
from rollout.facts.unknown import Known, Unknown

SYSTEM_SCHEMAS = frozenset({"information_schema", "performance_schema", "mysql", "sys"})


def datadir_identity(situation: Situation) -> Judgement:
    """Hold device and inode of the data directory against those before; a copy or a fresh one has others."""
    after, before = situation.after.storage, situation.before
    expected = "the data directory of before, none moved aside"
    unknown = first_unknown(after.datadir, after.ibdata1, after.mysql_schema, after.moved_datadirs)
    if unknown is not None:
        return not_known(expected, unknown)
    now = [_identity(value) for value in (after.datadir, after.ibdata1, after.mysql_schema)]
    evidence = asked("stat --format='%n %d:%i' DATADIR DATADIR/ibdata1 DATADIR/mysql", "\n".join(now))
    if before is None:
        return skipped(expected, "no facts from before to hold it against")
    earlier = (before.storage.datadir, before.storage.ibdata1, before.storage.mysql_schema)
    unknown = first_unknown(*earlier, before.storage.moved_datadirs)
    if unknown is not None:
        return not_known(expected, unknown)
    moved = _new(after.moved_datadirs, before.storage.moved_datadirs)
    if moved:
        return Judgement("fail", expected, f"moved aside: {', '.join(moved)}", evidence, "datadir_moved")
    then = [_identity(value) for value in earlier]
    return held(now == then, expected, "the same" if now == then else f"was {'; '.join(then)}", evidence)


def _identity(place: Known[PathFacts | None]) -> str:
    if place is None or isinstance(place, Unknown):
        return "(not there)"
    return f"{place.path} {place.device}:{place.inode}"


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
