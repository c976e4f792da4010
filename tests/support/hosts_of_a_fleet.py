"""Hosts with the facts that a topology is read from, made with few words."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rollout.facts.model import (
    Allocator,
    Channel,
    Facts,
    Galera,
    Memory,
    Packages,
    Pool,
    Replication,
    Server,
    Storage,
    System,
    Workload,
)
from rollout.facts.unknown import Unknown, blank
from rollout.plan.member import Member, member
from rollout.plan.topology import Topology, topology
from rollout.settings import Connection, Host
from rollout.versions import parse_server_version

UUID = "5c1f7e2a-2b0b-11ef-8d5e-3f2a9c1d0b4e"


def channel(source: str, server_id: int | None, name: str = "", port: int = 3306, **more: Any) -> Channel:
    """Make a replication channel that runs and is not behind."""
    values = {"io_running": "Yes", "sql_running": "Yes", "seconds_behind": 0, "using_gtid": "Slave_Pos", **more}
    return Channel(name=name, source_host=source, source_port=port, last_error="", source_server_id=server_id, **values)


def node(size: int = 3, state: str = "Synced", status: str = "Primary", uuid: str = UUID) -> Galera:
    """Make the wsrep state of a node."""
    return Galera(state, state == "Synced", True, status, size, uuid, "26.4.23")


def facts(name: str, number: int, **replication: Any) -> Facts:
    """Make the facts of host `name` with address 10.0.0.`number` and server id `number`, a primary of its own."""
    here = {
        "server_id": number,
        "read_only": False,
        "channels": (),
        "replicas": (),
        "galera": None,
        "gtid_current_pos": f"0-{number}-1",
    }
    return Facts(
        host=name,
        taken_at=datetime(2026, 11, 30, 10, 0, tzinfo=UTC),
        seconds=0.5,
        system=replace(blank(System, "not asked"), hostname=name, addresses=(f"10.0.0.{number}",)),
        packages=blank(Packages, "not asked"),
        unit=Unknown("not asked"),
        other_servers=(),
        server=replace(
            blank(Server, "not asked"),
            running=parse_server_version("11.8.9-MariaDB-deb13"),
            port=3306,
            server_uid=f"uid{number}",
            variables={},
            status={},
        ),
        allocator=blank(Allocator, "not asked"),
        memory=blank(Memory, "not asked"),
        pool=blank(Pool, "not asked"),
        workload=blank(Workload, "not asked"),
        storage=blank(Storage, "not asked"),
        replication=Replication(**{**here, **replication}),
    )


def one(name: str, number: int, **replication: Any) -> Member:
    """Make a member from its facts."""
    return member(Host(name, Connection(address=f"10.0.0.{number}")), facts(name, number, **replication))


def version(some: Member, said: str) -> Member:
    """Give a member another version."""
    return replace(some, version=parse_server_version(said))


def tree() -> list[Member]:
    """Make a primary with two replicas, one with a replica of its own; the inventory lists the primary first."""
    return [
        one("db1", 1, replicas=("10.0.0.2:41234", "10.0.0.3:41236")),
        one("db2", 2, read_only=True, channels=(channel("10.0.0.1", 1),)),
        one("db3", 3, read_only=True, channels=(channel("db1", 1),), replicas=("10.0.0.4",)),
        one("db4", 4, read_only=True, channels=(channel("10.0.0.3", 3, seconds_behind=7),)),
    ]


def cluster() -> list[Member]:
    """Make a Galera cluster of three."""
    return [one(f"g{number}", 10 + number, galera=node()) for number in (1, 2, 3)]


def codes(graph: Topology) -> list[str]:
    """Name the findings of a topology."""
    return [found.code for found in graph.findings]


def graph(*members: Member) -> Topology:
    """Join members."""
    return topology(members)
