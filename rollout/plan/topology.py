"""The topology of a fleet, read from its hosts: who replicates from whom, and which hosts form a Galera cluster.

The inventory's order and groups say nothing here. A replication channel is joined to a host of the inventory by
address first (what the replica was told to follow) and checked by server id; where no address fits, by a server id
that only one host has. What cannot be joined stays as a server outside the inventory, with its address.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rollout.facts.model import Channel
from rollout.plan.finding import Finding
from rollout.plan.member import LOOPBACK, Member

JoinedBy = Literal["address", "server id", "nothing"]


@dataclass(frozen=True)
class Link:
    """One replication channel: `primary` is a host of the inventory, None when it lies outside it."""

    replica: str
    primary: str | None
    channel: Channel
    joined_by: JoinedBy

    @property
    def source(self) -> str:
        """Where the channel points to, as the replica has it."""
        return f"{self.channel.source_host}:{self.channel.source_port}"


@dataclass(frozen=True)
class Cluster:
    """A Galera cluster: its nodes in the inventory, and the addresses of those that are not."""

    uuid: str
    nodes: tuple[str, ...]
    size: int
    outside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topology:
    """The graph. `members` run in the inventory's order."""

    members: Mapping[str, Member]
    links: tuple[Link, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    def replicas_of(self, name: str) -> tuple[str, ...]:
        """Return the hosts that replicate from `name`, each once."""
        return tuple(dict.fromkeys(link.replica for link in self.links if link.primary == name))

    def links_of(self, name: str) -> tuple[Link, ...]:
        """Return the channels of a replica."""
        return tuple(link for link in self.links if link.replica == name)

    def cluster_of(self, name: str) -> Cluster | None:
        """Return the cluster that the host is a node of."""
        return next((cluster for cluster in self.clusters if name in cluster.nodes), None)


def topology(members: Sequence[Member]) -> Topology:
    """Join the hosts into a graph, and name everything in it that a rollout must not pass over in silence."""
    links = tuple(_link(member, channel, members) for member in members for channel in member.channels)
    clusters = tuple(_clusters(members))
    found = (
        *_unknown_places(members),
        *_same_server(members),
        *_doubtful_links(links, members),
        *_strange_followers(members),
        *_cluster_findings(clusters, members),
    )
    return Topology({member.name: member for member in members}, links, clusters, found)


def _link(replica: Member, channel: Channel, members: Sequence[Member]) -> Link:
    reached = [other for other in members if _reaches(replica, channel, other)]
    wanted = channel.source_server_id
    named = [other for other in members if wanted and other.server_id == wanted and other.name != replica.name]
    both = [other for other in reached if other in named]
    if len(both) == 1 or len(reached) == 1:
        return Link(replica.name, (both or reached)[0].name, channel, "address")
    if len(named) == 1 and (wanted != 1 or _follows(replica, named[0])):
        return Link(replica.name, named[0].name, channel, "server id")
    return Link(replica.name, None, channel, "nothing")


def _reaches(replica: Member, channel: Channel, other: Member) -> bool:
    """Whether the channel's address is one of `other`; a loopback address is one of the replica's own machine."""
    source = channel.source_host.lower()
    same_port = other.port is None or other.port == channel.source_port
    if source in LOOPBACK:
        return same_port and other.name != replica.name and bool(other.addresses & replica.addresses)
    return same_port and other.name != replica.name and source in other.addresses


def _follows(replica: Member, primary: Member) -> bool:
    """Whether the primary sees a replica connected from this one's address."""
    return not replica.addresses.isdisjoint(primary.followers)


def _clusters(members: Sequence[Member]) -> Iterable[Cluster]:
    nodes: dict[str, list[Member]] = {}
    for one in members:
        if one.galera is not None:
            nodes.setdefault(one.galera.cluster_uuid, []).append(one)
    for uuid, those in nodes.items():
        known = frozenset[str]().union(*(node.addresses for node in those))
        peers = dict.fromkeys(peer for node in those for peer in node.peers if peer not in known)
        size = max(node.galera.cluster_size for node in those if node.galera)
        yield Cluster(uuid, tuple(node.name for node in those), size, tuple(peers))


def _unknown_places(members: Sequence[Member]) -> Iterable[Finding]:
    for one in members:
        if one.down:
            text = f"{one.name}: the server is stopped, so whom it follows is not known"
            yield Finding("place_unknown_stopped", "warning", (one.name,), text)
        elif one.unknown:
            text = f"{one.name}: its place in the topology is not known: {one.unknown}"
            yield Finding("place_unknown", "blocker", (one.name,), text)


def _same_server(members: Sequence[Member]) -> Iterable[Finding]:
    """Find one server that stands in the inventory under two names: it would be changed twice at once."""
    seen: dict[tuple[str, int, int], list[str]] = {}
    for one in members:
        if one.server_uid and one.server_id is not None and one.port is not None:
            seen.setdefault((one.server_uid, one.server_id, one.port), []).append(one.name)
    for names in seen.values():
        if len(names) > 1:
            text = f"{' and '.join(names)} are the same server (same server_uid, server_id and port)"
            yield Finding("same_server_twice", "blocker", tuple(names), text)


def _doubtful_links(links: Iterable[Link], members: Sequence[Member]) -> Iterable[Finding]:
    ids = {one.name: one.server_id for one in members}
    for link in links:
        wanted = link.channel.source_server_id
        if link.primary is None:
            identity = f" (server id {wanted})" if wanted else ""
            text = f"{link.replica} replicates from {link.source}{identity}, which is none of the hosts of this plan"
            yield Finding("primary_outside_inventory", "warning", (link.replica,), text)
        elif wanted and ids[link.primary] not in (None, wanted):
            address = f"{link.source}, the address of {link.primary}"
            text = f"{link.replica} follows {address}, but its primary has server id {wanted}"
            yield Finding("primary_identity_differs", "blocker", (link.replica, link.primary), text)
        elif link.joined_by == "server id":
            text = f"{link.replica} follows {link.source}, taken to be {link.primary} by server id {wanted} alone"
            yield Finding("joined_by_server_id", "warning", (link.replica, link.primary), text)


def _strange_followers(members: Sequence[Member]) -> Iterable[Finding]:
    """Name connected replicas that the inventory does not hold: the primary must not become newer than they are."""
    counts = Counter(address for one in members for address in one.addresses)
    for one in members:
        local = one.addresses | LOOPBACK
        strange = [follower for follower in one.followers if follower not in counts and follower not in local]
        if strange:
            text = f"{one.name} has replicas that are not in the inventory: {', '.join(dict.fromkeys(strange))}"
            yield Finding("replica_outside_inventory", "blocker", (one.name,), text)
        silent = [other.name for other in members if other.unknown and other != one and _follows(other, one)]
        if silent:
            text = f"{one.name} has replicas that could not be asked: {', '.join(silent)}"
            yield Finding("replica_not_asked", "blocker", (one.name,), text)


def _cluster_findings(clusters: Iterable[Cluster], members: Sequence[Member]) -> Iterable[Finding]:
    nodes = {one.name: one.galera for one in members}
    for cluster in clusters:
        for name in cluster.nodes:
            node = nodes[name]
            if node and not (node.state == "Synced" and node.ready and node.cluster_status == "Primary"):
                state = f"{name} is {node.state}, {node.cluster_status}"
                text = f"{state}: no node of its cluster is changed before it is Synced"
                yield Finding("cluster_not_synced", "blocker", cluster.nodes, text)
        if cluster.size > len(cluster.nodes):
            missing = ", ".join(cluster.outside) or f"{cluster.size - len(cluster.nodes)} that announce no address"
            text = f"nodes of the cluster of {', '.join(cluster.nodes)} are not in the inventory: {missing}"
            yield Finding("cluster_node_outside_inventory", "warning", cluster.nodes, text)
        if cluster.size == 1:
            text = f"{cluster.nodes[0]} is the only node of its cluster: nobody serves while it restarts"
            yield Finding("cluster_of_one", "warning", cluster.nodes, text)
