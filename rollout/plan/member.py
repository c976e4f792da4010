"""A host as its neighbours in a topology see it: addresses, identity, whom it follows, who follows it."""

from dataclasses import dataclass

from rollout.facts.model import Channel, Facts, Galera
from rollout.facts.unknown import Unknown, known_or
from rollout.settings import Host
from rollout.versions import ServerVersion

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "localhost.localdomain"})


@dataclass(frozen=True)
class Member:
    """What is known of one host's place. None in a field means unknown, save in `galera`: no node of a cluster.

    `addresses` are lower-case names and addresses under which others may reach it, loopback left out. `followers` are
    the names or addresses of the replicas that are connected now; `peers` are addresses of its cluster's nodes.
    `unknown` says why its place is not known, empty when it is; `down` tells that its server is stopped.
    """

    name: str
    addresses: frozenset[str] = frozenset()
    port: int | None = None
    server_id: int | None = None
    server_uid: str | None = None
    read_only: bool | None = None
    version: ServerVersion | None = None
    channels: tuple[Channel, ...] = ()
    followers: tuple[str, ...] = ()
    galera: Galera | None = None
    peers: tuple[str, ...] = ()
    unknown: str = ""
    down: bool = False


def member(host: Host, facts: Facts | None) -> Member:
    """Take from facts what a topology needs; `facts` is None for a host that could not be reached."""
    address = {host.name.lower(), host.connection.address.lower()} - LOOPBACK - {""}
    if facts is None:
        return Member(host.name, frozenset(address), unknown="it could not be reached")
    server, here = facts.server, facts.replication
    reasons = [fact.reason for fact in (here.channels, here.replicas, here.galera) if isinstance(fact, Unknown)]
    status = known_or(server.status, dict[str, str]())
    return Member(
        name=host.name,
        addresses=frozenset(address | _own_addresses(facts)),
        port=known_or(server.port, None),
        server_id=known_or(here.server_id, None),
        server_uid=known_or(server.server_uid, None),
        read_only=known_or(here.read_only, None),
        version=known_or(server.running, None) or known_or(server.on_disk, None),
        channels=known_or(here.channels, ()),
        followers=tuple(map(without_port, known_or(here.replicas, ()))),
        galera=known_or(here.galera, None),
        peers=_peers(status.get("wsrep_incoming_addresses", "")),
        unknown="; ".join(dict.fromkeys(reasons)),
        down=server.running is None,
    )


def without_port(address: str) -> str:
    """Take the port off `10.0.0.7:53422` or `[::1]:3306`; a bare name or IPv6 address stays as it is."""
    host, colon, port = address.strip().lower().rpartition(":")
    if colon and port.isdecimal() and (":" not in host or host.startswith("[")):
        return host.strip("[]")
    return address.strip().lower().strip("[]")


def _own_addresses(facts: Facts) -> set[str]:
    names = {known_or(facts.system.hostname, ""), *known_or(facts.system.addresses, ())}
    variables = known_or(facts.server.variables, dict[str, str]())
    names |= {variables.get(name, "") for name in ("hostname", "report_host", "bind_address")}
    return {name.lower() for name in names} - LOOPBACK - {"", "*", "0.0.0.0", "::"}  # noqa: S104 - left out, not bound


def _peers(incoming: str) -> tuple[str, ...]:
    """Read `wsrep_incoming_addresses`; nodes that announce no address stand there as empty or AUTO."""
    peers = (without_port(peer) for peer in incoming.split(","))
    return tuple(peer for peer in peers if peer and peer != "auto")
