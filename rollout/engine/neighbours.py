"""Right before a host is taken down its neighbours are asked once more.

"Galera one node at a time, only while the others are Synced": the plan keeps to one at a time, but a node that was
changed before may still be catching up, and one that gave it its data may still be a donor; the cluster could lose its
quorum. So they are waited for. And a replica that was new enough when the plan was made may have been taken back since.
"""

import time
from collections.abc import Iterator

from rollout.engine.steps import HostRun
from rollout.errors import HostProblem, WrongState
from rollout.facts.model import Facts, Galera
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.plan.gate import unsynced
from rollout.plan.member import member
from rollout.remote import open_transport
from rollout.remote.probing import look_at
from rollout.settings import Host
from rollout.versions import parse_upstream

PAUSE_SECONDS = 2.0


def others_synced(run: HostRun, facts: Facts) -> None:
    """Wait until every other node of the host's cluster is Synced; a host that is no node waits for nobody.

    Raises `WrongState` after `rollout_settle_seconds`, naming the nodes.
    """
    if run.peers and known_or(facts.replication.galera, None) is not None:
        with run.phase("peers") as details:
            details.update(_wait_until_synced(run))


def replicas_new_enough(run: HostRun) -> None:
    """Raise `WrongState` where a replica is older than the host is about to become, or where that is not known."""
    target = run.plan.version.target
    if not (run.replicas and target and any(change.kind == "packages" for change in run.plan.changes)):
        return
    with run.phase("replicas") as details:
        older = tuple(_older(run.replicas, target))
        if older:
            told = f"replica_would_be_older: this host would run {target}, and its replica {'; '.join(older)}"
            raise WrongState(run.name, told, hint="Change the replica first: rollout plan")
        details["new_enough"] = ", ".join(replica.name for replica in run.replicas)


def _older(replicas: tuple[Host, ...], target: str) -> Iterator[str]:
    for replica in replicas:
        facts = _ask(replica)
        release = None if isinstance(facts, Unknown) else member(replica, facts).version
        if release is None:
            why = f" ({facts.reason})" if isinstance(facts, Unknown) else ""
            yield f"{replica.name} runs a release that is not known{why}"
        elif release.upstream < parse_upstream(target):
            yield f"{replica.name} runs {release}"


def _wait_until_synced(run: HostRun) -> dict[str, str]:
    deadline = time.monotonic() + run.host.settings.settle_seconds
    while lagging := unsynced({peer.name: _node(peer) for peer in run.peers}):
        if time.monotonic() > deadline:
            told = "; ".join(f"{name} is {state}" for name, state in lagging.items())
            raise WrongState(run.name, f"no node may go down now: {told}", hint="rollout explain cluster_not_synced")
        time.sleep(PAUSE_SECONDS)
    return {"synced": ", ".join(peer.name for peer in run.peers)}


def _node(peer: Host) -> Known[Galera | None]:
    """Ask another node where it stands; one that cannot be asked is unknown, which counts as not synced."""
    facts = _ask(peer)
    return facts if isinstance(facts, Unknown) else facts.replication.galera


def _ask(neighbour: Host) -> Known[Facts]:
    transport = open_transport(neighbour)
    try:
        return look_at(transport, neighbour).facts
    except HostProblem as problem:
        return Unknown(problem.message)
    finally:
        transport.close()
