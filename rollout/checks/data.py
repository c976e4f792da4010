"""Checks of the data and of the topology: the same files, the same tables, the same stream as before."""

from collections.abc import Mapping

from rollout.checks.model import Judgement, Situation, asked, first_unknown, held, not_known, skipped
from rollout.facts.model import Channel, Galera, PathFacts
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


def replication(situation: Situation) -> Judgement:
    """Hold each replication channel against what it was, or else against `runs, without an error`."""
    expected = "every channel runs" if situation.before is None else "every channel as before, without an error"
    channels = situation.after.replication.channels
    before: Known[tuple[Channel, ...]] = situation.before.replication.channels if situation.before else ()
    if isinstance(channels, Unknown):
        return not_known(expected, channels)
    if isinstance(before, Unknown):
        return not_known(expected, before)
    earlier, now = {one.name: one for one in before}, {one.name: one for one in channels}
    if not earlier and not now:
        return skipped(expected, "this server is no replica")
    wrong = [f"channel {name!r} is gone" for name in earlier if name not in now]
    wrong += [text for one in channels if (text := _channel(one, earlier.get(one.name)))]
    evidence = asked("mariadb --execute 'SHOW ALL REPLICAS STATUS\\G'", "\n".join(map(_shown, channels)))
    return held(not wrong, expected, "; ".join(wrong) or f"{len(channels)} as wanted", evidence)


def _channel(now: Channel, before: Channel | None) -> str:
    """Say what is wrong with a channel, empty for nothing; what stood still before may stand still now."""
    name = f"channel {now.name!r}"
    if before and (now.source_host, now.source_port) != (before.source_host, before.source_port):
        return f"{name} follows {now.source_host}:{now.source_port}, before {before.source_host}:{before.source_port}"
    if before and now.using_gtid != before.using_gtid:
        return f"{name} uses GTID {now.using_gtid}, before {before.using_gtid}"
    threads = (
        ("io", now.io_running, before and before.io_running),
        ("sql", now.sql_running, before and before.sql_running),
    )
    for kind, state, earlier in threads:
        if state != "Yes" and (earlier is None or earlier == "Yes"):
            return f"{name}: its {kind} thread says {state}{': ' + now.last_error if now.last_error else ''}"
    return ""


def _shown(one: Channel) -> str:
    return (
        f"{one.name or '(default)'} {one.source_host}:{one.source_port} io={one.io_running} sql={one.sql_running} "
        f"behind={one.seconds_behind} gtid={one.using_gtid} error={one.last_error or 'none'}"
    )


def wsrep(situation: Situation) -> Judgement:
    """Hold a Galera node against Synced, Primary, and the cluster's size before."""
    expected = "Synced in the primary component"
    galera = situation.after.replication.galera
    earlier = situation.before.replication.galera if situation.before else None
    if isinstance(galera, Unknown):
        return not_known(expected, galera)
    if isinstance(earlier, Unknown):
        return not_known(expected, earlier)
    if galera is None:
        return (
            held(earlier is None, expected, "no Galera node any more")
            if earlier
            else skipped(expected, "no Galera node")
        )
    found = f"{galera.state}, {galera.cluster_status}, size {galera.cluster_size}"
    evidence = asked("mariadb --execute \"SHOW GLOBAL STATUS LIKE 'wsrep_%'\"", found)
    size = earlier.cluster_size if earlier else 1
    wanted = expected if earlier is None else f"{expected}, size {size}"
    return held(_synced(galera) and galera.cluster_size >= size, wanted, found, evidence)


def _synced(node: Galera) -> bool:
    return node.state == "Synced" and node.ready and node.connected and node.cluster_status == "Primary"
