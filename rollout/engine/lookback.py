"""What stands on hosts before they are taken back: the reading half of a rollback.

The versions that run now are asked of the hosts, not taken from a plan: another run, another controller or a person
may have changed a primary since, and a replica must never be older than that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from rollout.engine.rollback import Found, choose, what_is_left
from rollout.facts.model import Facts
from rollout.plan.member import member
from rollout.plan.way_back import Recorded, Seen
from rollout.remote import open_transport
from rollout.remote.pool import Done, Failed, run_on_all
from rollout.remote.probing import look_at
from rollout.remote.transport import Transport
from rollout.settings import Connection, Host

T = TypeVar("T")
FORKS = 20


def look_back(hosts: Sequence[Host], everyone: Mapping[str, Host], record_id: str) -> Seen:
    """Ask `hosts`, which are to be taken back, for their records and, where packages move, for their facts.

    So are the hosts of `everyone` (the inventory) that they replicate from or share a cluster with. A host that does
    not answer is silent, with the reason.
    """
    looked, silent = _each(hosts, lambda transport, host: _before(transport, host, record_id))
    moving = {name: facts for name, (_, facts) in looked.items() if facts}
    others = [host for host in _neighbours(moving.values(), everyone.values()) if host.name not in looked]
    beside, far = _each(others, lambda transport, host: look_at(transport, host).facts)
    return Seen({**moving, **beside}, {name: record for name, (record, _) in looked.items()}, silent | far)


def _each(hosts: Iterable[Host], ask: Callable[[Transport, Host], T]) -> tuple[dict[str, T], dict[str, str]]:
    """Ask each host; return the answers of those that gave one, and why the others did not."""

    def connected(host: Host) -> T:
        transport = open_transport(host)
        try:
            return ask(transport, host)
        finally:
            transport.close()

    ended = run_on_all(hosts, connected, FORKS)
    answers = {name: outcome.value for name, outcome in ended.items() if isinstance(outcome, Done)}
    return answers, {name: outcome.error.message for name, outcome in ended.items() if isinstance(outcome, Failed)}


def _before(transport: Transport, host: Host, record_id: str) -> tuple[Recorded, Facts | None]:
    """Return what the host's record says, and the host's facts where packages of a whole change go back."""
    chosen = choose(what_is_left(host, transport.run), record_id)
    if not isinstance(chosen, Found):
        return Recorded(), None
    release = chosen.record.server_before if chosen.state == "done" else None
    return Recorded(chosen.record.run_id, release), look_at(transport, host).facts if release else None


def _neighbours(moving: Iterable[Facts], everyone: Iterable[Host]) -> list[Host]:
    """Return the hosts among which those with facts find their primaries and the other nodes of their cluster.

    By name and address of the inventory; where one of these is reached under another address, all must be asked.
    """
    hosts = list(everyone)
    sought = {address for facts in moving for address in _followed(facts)}
    known = [{host.name.lower(), host.connection.address.lower()} for host in hosts]
    found = [host for host, names in zip(hosts, known, strict=True) if names & sought]
    return found if sought <= frozenset[str]().union(*known) else hosts


def _followed(facts: Facts) -> set[str]:
    """Return the addresses of a host's primaries and of the nodes of its cluster; "" stands for one unknown."""
    here = member(Host(facts.host, Connection()), facts)
    found = {channel.source_host.lower() for channel in here.channels} | set(here.peers)
    return found | ({""} if here.unknown or (here.galera and not here.peers) else set())
