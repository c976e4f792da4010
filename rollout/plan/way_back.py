"""The way back across hosts: the order of the waves turned round, and hosts that must not go back. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from rollout.facts.form import facts_from_json
from rollout.facts.model import Facts
from rollout.plan.known_changes import rollback_findings
from rollout.plan.member import Member, member
from rollout.plan.model import HostPlan, Plan
from rollout.plan.order import order_findings
from rollout.plan.topology import Topology, topology
from rollout.plan.waves import Waves, backwards
from rollout.settings import Connection, HookSet, Host
from rollout.versions import ServerVersion, Upstream, parse_upstream


@dataclass(frozen=True)
class WayBack:
    """The waves in which hosts are taken back, and the hosts that are not, each with the reason.

    `after` maps a replica to its primaries: where one of those could not be taken back, the replica stays, too.
    """

    waves: Waves
    refused: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, frozenset[str]] = field(default_factory=dict)
    hooks: Mapping[str, HookSet] = field(default_factory=dict)

    def kept_waiting(self, wave: tuple[str, ...], statuses: Mapping[str, str]) -> dict[str, str]:
        """Return the hosts of a wave that must stay because of how others ended (`statuses`), each with the reason."""
        failed = {name for name, status in statuses.items() if status not in ("rolled_back", "ok")}
        left = {name: sorted(self.after.get(name, frozenset()) & failed) for name in wave}
        return {name: f"its primary was not taken back: {', '.join(those)}" for name, those in left.items() if those}


def one_by_one(names: Collection[str]) -> WayBack:
    """Return the way back where no plan tells one: one host at a time, in the inventory's order turned round."""
    return WayBack(tuple((name,) for name in reversed(list(names))))


def way_back(plan: Plan, names: Collection[str], done: Collection[str]) -> WayBack:
    """Order the hosts `names` for a rollback of what `plan` did; `done` are the hosts that it has changed.

    The waves of the plan go backwards, so that primaries go before their replicas; hosts that the plan does not know
    come first, one at a time. A host is refused when it would become older than a primary that is not taken back with
    it, or when it could not join its Galera cluster again. A host whose change did not come to its end is never
    refused: it has to go back to be whole.
    """
    graph = _as_changed(plan, done)
    targets = {name: version for name in names if name in done and (version := _version(plan, name, "running"))}
    refused = _refused(graph, targets)
    strangers = tuple((name,) for name in names if not any(name in wave for wave in plan.waves))
    kept = (tuple(host for host in wave if host in names and host not in refused) for wave in backwards(plan.waves))
    after = {name: frozenset(one for one in names if name in plan.primaries.get(one, ())) for name in names}
    return WayBack((*strangers, *(wave for wave in kept if wave)), refused, after, planned_hooks(plan))


def planned_hooks(plan: Plan) -> dict[str, HookSet]:
    """Return the hooks, as they were planned, of each host that could be looked at then."""
    return {row.name: row.hooks for row in plan.hosts if row.status != "unreachable"}


def _refused(graph: Topology, targets: Mapping[str, Upstream]) -> dict[str, str]:
    """Return the hosts that must not go back; one that stays may keep its own replicas from going back, too."""
    refused: dict[str, str] = {}
    while True:
        left = {name: version for name, version in targets.items() if name not in refused}
        found = (*order_findings(graph, left), *rollback_findings(graph, left))
        fresh = {name: one for one in found if one.severity == "blocker" for name in one.hosts if name in left}
        if not fresh:
            return refused
        refused |= {name: f"{one.code}: {one.message}" for name, one in fresh.items()}


def _as_changed(plan: Plan, done: Collection[str]) -> Topology:
    """Return the topology as it was planned, with the hosts of `done` at the versions that the plan took them to."""
    return topology([_member(plan, name, name in done) for name in plan.inventory])


def _member(plan: Plan, name: str, changed: bool) -> Member:
    host = Host(name, Connection(address=str(plan.inventory[name].get("address", ""))))
    found = member(host, _facts(plan, name))
    target = _version(plan, name, "target") if changed else None
    return replace(found, version=ServerVersion("mariadb", target, "")) if target else found


def _facts(plan: Plan, name: str) -> Facts | None:
    """Return the facts that the plan keeps of a host; None where it has none, or has them in another program's form."""
    try:
        return facts_from_json(plan.facts[name])
    except (KeyError, ValidationError):
        return None


def _version(plan: Plan, name: str, which: str) -> Upstream | None:
    """Return the version that a host had (`running`) or was taken to (`target`); None where its version stays."""
    row = plan.host(name)
    if row is None or not _moves(row):
        return None
    text = row.version.running if which == "running" else row.version.target
    return parse_upstream(text.partition("-")[0]) if text else None


def _moves(row: HostPlan) -> bool:
    return any(change.kind == "packages" for change in row.changes)
