"""The fleet's part of a plan in one call: topology, order, waves, and what has to be said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rollout.facts.model import Facts
from rollout.plan.finding import Finding
from rollout.plan.known_changes import change_findings
from rollout.plan.member import member
from rollout.plan.order import constraints, order_findings
from rollout.plan.policy import Policy
from rollout.plan.topology import Topology, topology
from rollout.plan.waves import Constraints, Waves, waves
from rollout.settings import Host
from rollout.versions import Upstream


@dataclass(frozen=True)
class FleetOrder:
    """How a run walks across its hosts, and why: the graph, what it demands, the waves, and all findings."""

    graph: Topology
    constraints: Constraints
    waves: Waves
    findings: tuple[Finding, ...]

    def of(self, host: str) -> tuple[Finding, ...]:
        """Return the findings that concern one host."""
        return tuple(found for found in self.findings if host in found.hosts)


def fleet_order(
    policy: Policy, hosts: Sequence[Host], facts: Mapping[str, Facts], targets: Mapping[str, Upstream]
) -> FleetOrder:
    """Order the hosts of a run.

    `hosts` are in the run's order; `facts` are of those that could be reached; `targets` are the upstream versions to
    which hosts are taken, for those that change their version and are not blocked already. Raises `UsageProblem` when
    the policy asks for a canary that cannot be first.
    """
    graph = topology([member(host, facts.get(host.name)) for host in hosts])
    demanded = constraints(graph, replicas_together=policy.replicas_together)
    changes = (
        finding
        for host in hosts
        if host.name in facts and host.name in targets
        for finding in change_findings(facts[host.name], targets[host.name])
    )
    found = (*graph.findings, *changes)
    return FleetOrder(
        graph,
        demanded,
        waves(policy, [host.name for host in hosts], demanded),
        (*found, *_settled(graph, found, targets)),
    )


def _settled(graph: Topology, found: Sequence[Finding], targets: Mapping[str, Upstream]) -> tuple[Finding, ...]:
    """Return what speaks against the order once blocked hosts are left out: a blocked replica blocks its primary."""
    known: dict[Finding, None] = {}
    while True:
        blocked = {name for one in (*found, *known) if one.severity == "blocker" for name in one.hosts}
        fresh = order_findings(graph, {name: version for name, version in targets.items() if name not in blocked})
        if known.keys() >= set(fresh):
            return tuple(known)
        known.update(dict.fromkeys(fresh))
