"""Checks of the topology: the same stream and the same cluster as before."""

from rollout.checks.model import Judgement, Situation, asked, held, not_known, skipped
from rollout.facts.model import Channel, Galera
from rollout.facts.unknown import Known, Unknown

_STOPPED = "the server is stopped, as before"


def replication(situation: Situation) -> Judgement:
    """Hold each replication channel against what it was, or else against `runs, without an error`."""
    expected = "every channel runs" if situation.before is None else "every channel as before, without an error"
    if not situation.expected.active:
        return skipped(expected, _STOPPED)
    channels = situation.after.replication.channels
    before: Known[tuple[Channel, ...]] = situation.before.replication.channels if situation.before else ()
    if isinstance(channels, Unknown):
        return not_known(expected, channels)
    if isinstance(before, Unknown):
        return not_known(expected, before)
    earlier, now = {one.name: one for one in before}, {one.name: one for one in channels}
    if not earlier and not now:
        return skipped(expected, "this server is no replica")
    gone = [f"channel {name!r} is gone" for name in earlier if name not in now]
    wrong = gone + [text for one in channels if (text := _channel(one, earlier.get(one.name)))]
    evidence = asked("mariadb --execute 'SHOW ALL REPLICAS STATUS\\G'", "\n".join(map(_shown, channels)))
    if wrong and all(_on_its_way(one) for one in channels if _channel(one, earlier.get(one.name))) and not gone:
        return Judgement("warn", expected, "; ".join(wrong), evidence)
    return held(not wrong, expected, "; ".join(wrong) or f"{len(channels)} as wanted", evidence)


def _channel(now: Channel, before: Channel | None) -> str:
    """Say what is wrong with a channel, empty for nothing; what stood still before may stand still now."""
    name = f"channel {now.name!r}"
    if before and (now.source_host, now.source_port) != (before.source_host, before.source_port):
        return f"{name} follows {now.source_host}:{now.source_port}, before {before.source_host}:{before.source_port}"
    if before and now.using_gtid != before.using_gtid:
        return f"{name} uses GTID {now.using_gtid}, before {before.using_gtid}"
    still = [kind for kind, state in _threads(now).items() if state != "Yes"]
    if before:
        still = [kind for kind in still if _threads(before)[kind] == "Yes"]
    if still:
        return f"{name}: its {still[0]} thread says {_threads(now)[still[0]]}: {now.last_error or 'no error'}"
    return ""


def _threads(channel: Channel) -> dict[str, str]:
    return {"io": channel.io_running, "sql": channel.sql_running}


def _on_its_way(channel: Channel) -> bool:
    """Whether it only waits for its source: just started, nothing has failed."""
    return not channel.last_error and channel.sql_running == "Yes" and channel.io_running in ("Connecting", "Preparing")


def _shown(one: Channel) -> str:
    return (
        f"{one.name or '(default)'} {one.source_host}:{one.source_port} io={one.io_running} sql={one.sql_running} "
        f"behind={one.seconds_behind} gtid={one.using_gtid} error={one.last_error or 'none'}"
    )


def wsrep(situation: Situation) -> Judgement:
    """Hold a Galera node against Synced, Primary, and the cluster's size before."""
    expected = "Synced in the primary component"
    if not situation.expected.active:
        return skipped(expected, _STOPPED)
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
