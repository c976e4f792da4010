"""What a topology demands of the order: constraints for the waves, cycles, and versions that must not cross."""

from collections.abc import Iterator, Mapping, Sequence

from rollout.plan.finding import Finding
from rollout.plan.topology import Topology
from rollout.plan.waves import Constraints
from rollout.versions import Upstream

Edges = dict[str, set[str]]


def constraints(graph: Topology, *, replicas_together: bool = False) -> Constraints:
    """Return the order that `graph` demands.

    Each replica comes before its primary and, where the primary is a node of a cluster, before every node of it.
    Nodes of a cluster go one at a time; so do the replicas of one primary, unless `replicas_together`; and so do the
    hosts of a replication cycle, those that are read-only first.
    """
    after = _edges(graph)
    cycles = _cycles(after)
    for cycle in cycles:
        _open(cycle, after, graph)
    groups = [frozenset(cluster.nodes) for cluster in graph.clusters] + [frozenset(cycle) for cycle in cycles]
    if not replicas_together:
        groups += [frozenset(graph.replicas_of(name)) for name in graph.members]
    return Constraints(
        after={name: frozenset(before) for name, before in after.items() if before},
        one_at_a_time=tuple(dict.fromkeys(group for group in groups if len(group) > 1)),
        primaries={name: frozenset(graph.replicas_of(name)) for name in graph.members if graph.replicas_of(name)},
    )


def order_findings(graph: Topology, targets: Mapping[str, Upstream]) -> tuple[Finding, ...]:
    """Return what speaks against taking hosts to `targets` (host of the run -> upstream version).

    A host without a target stays at the version it runs. A replica must be at least as new as its primary, patch
    releases included (MariaDB's manual, "Replication Overview").
    """
    return (*_cycle_findings(graph), *_version_findings(graph, targets))


def _edges(graph: Topology) -> Edges:
    """Map each host to those that must be changed before it."""
    after: Edges = {name: set() for name in graph.members}
    for link in graph.links:
        if link.primary is None:
            continue
        cluster = graph.cluster_of(link.primary)
        unit = cluster.nodes if cluster else (link.primary,)
        for name in unit:
            if link.replica not in unit:
                after[name].add(link.replica)
    return after


def _cycles(after: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of hosts that wait for each other, each in the order of `after`.

    Two hosts are of one group when each is reached from the other.
    """
    reach = {name: _reached(name, after) for name in after}
    found: list[list[str]] = []
    for name in after:
        group = [other for other in reach if other in reach[name] and name in reach[other]]
        if len(group) > 1 and group not in found:
            found.append(group)
    return found


def _reached(start: str, after: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = list(after[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead.extend(after[name])
    return seen


def _open(cycle: Sequence[str], after: Edges, graph: Topology) -> None:
    """Take the cycle's own edges out; hosts that take writes come after those that are read-only."""
    writable = {name for name in cycle if graph.members[name].read_only is not True}
    for name in cycle:
        after[name] -= set(cycle)
        if name in writable and len(writable) < len(cycle):
            after[name] |= set(cycle) - writable


def _cycle_findings(graph: Topology) -> Iterator[Finding]:
    for cycle in _cycles(_edges(graph)):
        writable = [name for name in cycle if graph.members[name].read_only is not True]
        ring = f"{', '.join(cycle)} replicate from each other"
        if len(writable) > 1:
            text = f"{ring}, and {', '.join(writable)} take writes: in any order one of them is older than its primary"
            yield Finding("replication_cycle", "blocker", tuple(cycle), text)
        else:
            last = f"; {writable[0]}, which takes the writes, goes last" if writable else ""
            yield Finding("replication_ring_read_only", "warning", tuple(cycle), f"{ring}: one at a time{last}")


def _version_findings(graph: Topology, targets: Mapping[str, Upstream]) -> Iterator[Finding]:
    now = {name: one.version.upstream for name, one in graph.members.items() if one.version}
    then = {**now, **targets}
    pairs = dict.fromkeys((link.replica, link.primary) for link in graph.links)
    for replica, primary in pairs:
        if primary is None or primary == replica or not _falls_behind(then, replica, primary, targets):
            continue
        texts = {name: _dotted(then[name]) if name in then else "an unknown version" for name in (replica, primary)}
        if replica in targets and replica in now and targets[replica] < now[replica]:
            text = f"{replica} would run {texts[replica]}, older than its primary {primary} ({texts[primary]})"
            yield Finding("replica_would_be_older", "blocker", (replica,), f"{text}: take the primary back first")
        elif primary in targets:
            text = f"{primary} would run {texts[primary]} while its replica {replica} runs {texts[replica]}"
            yield Finding("replica_would_be_older", "blocker", (primary,), f"{text}: change it first")
        else:
            text = f"{replica} ({texts[replica]}) is older than its primary {primary} ({texts[primary]})"
            yield Finding("replica_is_older", "warning", (replica,), text)


def _falls_behind(then: Mapping[str, Upstream], replica: str, primary: str, targets: Mapping[str, Upstream]) -> bool:
    """Whether a replica ends older than its primary; one of unknown version does when its primary is changed."""
    if replica in then and primary in then:
        return then[replica] < then[primary]
    return primary in targets


def _dotted(version: Upstream) -> str:
    return ".".join(map(str, version))
