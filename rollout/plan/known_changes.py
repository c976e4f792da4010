"""Which known changes between the running and the target release bear on a host, and what they forbid."""

from collections.abc import Callable, Iterator, Mapping

from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.plan.finding import Finding
from rollout.plan.topology import Cluster, Topology
from rollout.versions import KNOWN_CHANGES, KnownChange, Upstream, known_changes

# EL 8 has 239 and Ubuntu 20.04 has 245: the two on which the changed capabilities were seen to end with 218.
_OLD_SYSTEMD = 245
_SCRIPTS_PACKAGE = "mariadb-server-galera"
_LOST_GTID = next(change for change in KNOWN_CHANGES if change.code == "replica_gtid")


def change_findings(facts: Facts, target: Upstream) -> tuple[Finding, ...]:
    """Return what the releases on the way to `target` change for this host, each as a finding with its code.

    A change that the facts show not to bear on the host is left out; one of which that is not known is kept.
    """
    running = facts.server.running
    if isinstance(running, Unknown) or running is None:
        return ()
    ahead = {change.code: change for change in known_changes(running.upstream, target)}  # the last of each kind
    found = [_finding(facts, change) for change in ahead.values()]
    return (*(one for one in found if one), *_lost_gtid(facts, running.upstream))


def rollback_findings(graph: Topology, targets: Mapping[str, Upstream]) -> tuple[Finding, ...]:
    """Return what forbids taking nodes of a Galera cluster back to `targets` (host -> upstream version).

    A bump of the cluster's protocol takes effect once the last node runs the release that brought it. Until then a
    node may go back alone; after that none may, and only a cluster that is stopped whole can.
    """
    found = (_raised(graph, cluster, targets) for cluster in graph.clusters)
    return tuple(finding for finding in found if finding)


def _finding(facts: Facts, change: KnownChange) -> Finding | None:
    bears = BEARS_ON[change.code](facts)
    if bears is False:
        return None
    doubt = f" (whether this host is concerned is not known: {bears.reason})" if isinstance(bears, Unknown) else ""
    text = f"{_dotted(change.release)}: {change.text}{doubt}"
    return Finding(change.code, "blocker" if change.code in _BLOCKS else "warning", (facts.host,), text)


def _always(_facts: Facts) -> Known[bool]:
    return True


def _is_node(facts: Facts) -> Known[bool]:
    node = facts.replication.galera
    return node if isinstance(node, Unknown) else node is not None


def _lacks_cluster_scripts(facts: Facts) -> Known[bool]:
    items = facts.packages.items
    if isinstance(items, Unknown):
        return False if _is_node(facts) is False else items
    there = any(item.installed and item.name.lower() == _SCRIPTS_PACKAGE for item in items)
    return False if there else _is_node(facts)


def _follows_by_gtid(facts: Facts) -> Known[bool]:
    channels = facts.replication.channels
    return channels if isinstance(channels, Unknown) else any(one.using_gtid != "No" for one in channels)


def _old_systemd(facts: Facts) -> Known[bool]:
    version = facts.system.systemd_version
    return version if isinstance(version, Unknown) else version <= _OLD_SYSTEMD


def _raw_devices(facts: Facts) -> Known[bool]:
    variables = facts.server.variables
    return variables if isinstance(variables, Unknown) else "raw" in variables.get("innodb_data_file_path", "")


def _selinux(facts: Facts) -> Known[bool]:
    mode = facts.system.selinux
    return mode if isinstance(mode, Unknown) else mode is not None


def _mysqld_opts(facts: Facts) -> Known[bool]:
    unit = facts.unit
    if isinstance(unit, Unknown) or unit is None:
        return unit if isinstance(unit, Unknown) else False
    return unit.environment if isinstance(unit.environment, Unknown) else "MYSQLD_OPTS" in unit.environment


# Whether a change bears on a host, by the change's code.
BEARS_ON: Mapping[str, Callable[[Facts], Known[bool]]] = {
    "memory_pressure": _always,
    "unit_capabilities": _old_systemd,
    "unit_private_devices": _raw_devices,
    "selinux_package": _selinux,
    "galera_protocol": _is_node,
    "unit_hardening": _always,
    "galera_dependency": _is_node,
    "galera_scripts": _lacks_cluster_scripts,
    "mysqld_opts": _mysqld_opts,
    "replica_gtid": _follows_by_gtid,
}
# Without the scripts a node can neither bootstrap nor take a state transfer: it would not come back.
_BLOCKS = frozenset({"galera_scripts"})


def _lost_gtid(facts: Facts, running: Upstream) -> Iterator[Finding]:
    """Name channels that may have lost their GTID mode on the release that lost it."""
    if not (_LOST_GTID.release <= running and (_LOST_GTID.mended is None or running < _LOST_GTID.mended)):
        return
    lost = [one.name or "(default)" for one in known_or(facts.replication.channels, ()) if one.using_gtid == "No"]
    if lost:
        text = f"{', '.join(lost)}: without GTID on {_dotted(running)}, which loses that setting (MDEV-39788)"
        yield Finding("replica_gtid_lost", "warning", (facts.host,), text)


def _raised(graph: Topology, cluster: Cluster, targets: Mapping[str, Upstream]) -> Finding | None:
    """Find the newest raise of the protocol that has taken effect and that the nodes would go back across."""
    releases = [version.upstream for name in cluster.nodes if (version := graph.members[name].version)]
    for change in reversed(KNOWN_CHANGES):
        in_effect = all(change.release <= release and change.release[:2] == release[:2] for release in releases)
        back = tuple(name for name in cluster.nodes if name in targets and targets[name] < change.release)
        if change.code == "galera_protocol" and in_effect and back:
            doubt = "as far as is known " if cluster.size > len(releases) else ""
            state = f"{_dotted(change.release)} raised the protocol of the cluster and {doubt}every node runs it"
            return Finding("galera_protocol_raised", "blocker", back, f"{state}: no single node can go back")
    return None


def _dotted(version: Upstream) -> str:
    return ".".join(map(str, version))
