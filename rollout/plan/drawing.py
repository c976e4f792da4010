"""A topology for people, as a tree in text, and for programs, as values that `json.dumps` takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rollout.plan.member import Member
from rollout.plan.topology import Cluster, Link, Topology
from rollout.plan.waves import Waves
from rollout.printable import printable


def draw(graph: Topology, planned: Waves = ()) -> str:
    """Return the topology as a tree, primaries above their replicas, each host with the wave in which it is changed.

    A replica of several primaries stands below each of them and is followed further down only once.
    """
    waves = {host: number for number, wave in enumerate(planned, 1) for host in wave}
    return "\n".join(_Drawing(graph, waves).lines())


@dataclass
class _Drawing:
    """A tree on its way: `drawn` are the hosts that have their place already."""

    graph: Topology
    waves: Mapping[str, int]
    drawn: set[str] = field(default_factory=set)

    def lines(self) -> Iterator[str]:
        for cluster in self.graph.clusters:
            yield from self._cluster(cluster)
        for name in self.graph.members:
            if name not in self.drawn and self.graph.replicas_of(name) and not self.graph.links_of(name):
                yield from self._host(name)
        yield from self._outside()
        for name in self.graph.members:  # what is left: hosts of a ring, then hosts on their own
            if name not in self.drawn and self.graph.links_of(name):
                yield from self._host(name)
        for name in self.graph.members:
            if name not in self.drawn:
                yield from self._host(name)

    def _cluster(self, cluster: Cluster) -> Iterator[str]:
        yield f"Galera cluster {printable(cluster.uuid)}: {len(cluster.nodes)} of {cluster.size} nodes"
        rows = [*cluster.nodes, *cluster.outside]
        for name in rows:
            branch, below = ("└─ ", "   ") if name == rows[-1] else ("├─ ", "│  ")
            if name in cluster.nodes:
                yield from self._host(name, branch, below)
            else:
                yield f"{branch}{printable(name)}  not in the inventory"

    def _outside(self) -> Iterator[str]:
        strangers = [link for link in self.graph.links if link.primary is None]
        for source in dict.fromkeys(link.source for link in strangers):
            yield f"{printable(source)}  not in the inventory"
            yield from self._replicas([link for link in strangers if link.source == source], "")

    def _host(self, name: str, branch: str = "", below: str = "", about: str = "") -> Iterator[str]:
        again = name in self.drawn
        self.drawn.add(name)
        yield f"{branch}{_shown(self.graph.members[name], self.waves)}{about}{'  see above' if again else ''}"
        if not again:
            yield from self._replicas([link for link in self.graph.links if link.primary == name], below)

    def _replicas(self, links: list[Link], indent: str) -> Iterator[str]:
        for link in links:
            branch, below = ("└─ ", "   ") if link is links[-1] else ("├─ ", "│  ")
            yield from self._host(link.replica, indent + branch, indent + below, _channel(link))


def _shown(member: Member, waves: Mapping[str, int]) -> str:
    version = f"  {member.version}" if member.version else "  version unknown"
    mode = {True: "  read-only", False: "", None: ""}[member.read_only]
    state = f"  {printable(member.galera.state)}" if member.galera else ""
    place = "  stopped" if member.down else "  place unknown" if member.unknown else ""
    wave = f"  [wave {waves[member.name]}]" if member.name in waves else ""
    return f"{printable(member.name)}{version}{mode}{state}{place}{wave}"


def _channel(link: Link) -> str:
    channel = link.channel
    name = f"  channel {printable(channel.name)}" if channel.name else ""
    if channel.io_running != "Yes" or channel.sql_running != "Yes":
        threads = f"io {printable(channel.io_running)}, sql {printable(channel.sql_running)}"
        return f"{name}  not running ({threads})"
    behind = "lag unknown" if channel.seconds_behind is None else f"{channel.seconds_behind} s behind"
    return f"{name}  {behind}"


def topology_json(graph: Topology) -> dict[str, Any]:
    """Return the topology as plain values: hosts with their channels, clusters, and the findings."""
    return {
        "hosts": [_host_json(graph, member) for member in graph.members.values()],
        "clusters": [
            {"uuid": one.uuid, "size": one.size, "nodes": list(one.nodes), "outside": list(one.outside)}
            for one in graph.clusters
        ],
        "findings": [
            {"code": one.code, "severity": one.severity, "hosts": list(one.hosts), "message": one.message}
            for one in graph.findings
        ],
    }


def _host_json(graph: Topology, member: Member) -> dict[str, Any]:
    cluster = graph.cluster_of(member.name)
    return {
        "name": member.name,
        "server_id": member.server_id,
        "version": str(member.version) if member.version else None,
        "read_only": member.read_only,
        "cluster": cluster.uuid if cluster else None,
        "replicas": list(graph.replicas_of(member.name)),
        "channels": [
            {
                "name": link.channel.name,
                "primary": link.primary,
                "source": link.source,
                "joined_by": link.joined_by,
                "using_gtid": link.channel.using_gtid,
                "seconds_behind": link.channel.seconds_behind,
            }
            for link in graph.links_of(member.name)
        ],
        "unknown": member.unknown or None,
    }
