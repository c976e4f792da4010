"""The plan of a whole fleet out of what was seen of its hosts: changes, predictions, order. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rollout.changes.model import Finding
from rollout.facts.model import Facts
from rollout.plan.build import plan_host
from rollout.plan.fleet import FleetOrder, fleet_order
from rollout.plan.model import HostPlan
from rollout.plan.playbook import Playbook
from rollout.prediction.fitting import Probed, predict_all
from rollout.settings import Host
from rollout.versions import parse_upstream


@dataclass(frozen=True)
class Seen:
    """Two looks at one host some seconds apart, or one."""

    first: Facts
    second: Facts | None

    @property
    def last(self) -> Facts:
        """The later look."""
        return self.second or self.first


@dataclass(frozen=True)
class FleetPlan:
    """A row for every host, in the order given, and the order in which they are changed."""

    rows: tuple[HostPlan, ...]
    order: FleetOrder


def compose(
    hosts: Sequence[Host], seen: Mapping[str, Seen], lost: Mapping[str, HostPlan], playbook: Playbook
) -> FleetPlan:
    """Plan the hosts that were `seen`; `lost` holds the rows of those that could not be reached."""
    reached = [host for host in hosts if host.name in seen]
    rows = {host.name: plan_host(host, seen[host.name].first, playbook.changes) for host in reached}
    probed = [
        Probed(seen[host.name].first, seen[host.name].second, rows[host.name].version.fix, host.settings)
        for host in reached
    ]
    for host, prediction in zip(reached, predict_all(probed), strict=True):
        hooks = playbook.hooks.over(host.settings.hooks)
        rows[host.name] = rows[host.name].model_copy(update={"prediction": prediction.to_json(), "hooks": hooks})
    targets = {
        name: parse_upstream(row.version.target)
        for name, row in rows.items()
        if row.version.target and row.status == "change"
    }
    facts = {name: looks.last for name, looks in seen.items()}
    order = fleet_order(playbook.policy, hosts, facts, targets)
    return FleetPlan(tuple(lost.get(host.name) or _ordered(rows[host.name], order) for host in hosts), order)


def _ordered(row: HostPlan, order: FleetOrder) -> HostPlan:
    """Add to a row what the order across hosts and the known changes of the releases have to say of it."""
    found = order.of(row.name)
    blockers = tuple(Finding(one.code, one.message) for one in found if one.severity == "blocker")
    warnings = tuple(Finding(one.code, one.message) for one in found if one.severity != "blocker")
    return row.model_copy(
        update={
            "status": "blocked" if blockers and row.status == "change" else row.status,
            "blockers": (*row.blockers, *blockers),
            "warnings": (*row.warnings, *warnings),
        }
    )
