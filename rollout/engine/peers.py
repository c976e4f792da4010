"""Before a node of a Galera cluster is taken down: the others must be Synced, else the cluster could lose its quorum.

"Galera one node at a time, only while the others are Synced": the plan keeps to one at a time, but a node that was
changed before may still be catching up, and one that gave it its data may still be a donor. So they are asked again
right before the change, and waited for.
"""

import time

from rollout.engine.steps import HostRun
from rollout.errors import HostProblem, WrongState
from rollout.facts.model import Facts, Galera
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.plan.gate import unsynced
from rollout.remote import open_transport
from rollout.remote.probing import look_at
from rollout.settings import Host

PAUSE_SECONDS = 2.0


def has_to_wait(run: HostRun, facts: Facts) -> bool:
    """Whether the host is a node of a cluster of which the inventory has others; a replica waits for nobody here."""
    return bool(run.peers) and known_or(facts.replication.galera, None) is not None


def wait_until_synced(run: HostRun) -> dict[str, str]:
    """Wait until every other node of the host's cluster is Synced, and return the details of the phase.

    Raises `WrongState` after `rollout_settle_seconds`, naming the nodes.
    """
    deadline = time.monotonic() + run.host.settings.settle_seconds
    while lagging := unsynced({peer.name: _node(peer) for peer in run.peers}):
        if time.monotonic() > deadline:
            told = "; ".join(f"{name} is {state}" for name, state in lagging.items())
            raise WrongState(run.name, f"no node may go down now: {told}", hint="rollout explain cluster_not_synced")
        time.sleep(PAUSE_SECONDS)
    return {"synced": ", ".join(peer.name for peer in run.peers)}


def _node(peer: Host) -> Known[Galera | None]:
    """Ask another node where it stands; one that cannot be asked is unknown, which counts as not synced."""
    transport = open_transport(peer)
    try:
        return look_at(transport, peer).facts.replication.galera
    except HostProblem as problem:
        return Unknown(problem.message)
    finally:
        transport.close()
