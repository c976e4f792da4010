"""The way back across hosts: the order of the waves turned round, and hosts that must not go back. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from rollout.facts.form import facts_from_json
from rollout.facts.model import Facts
from rollout.plan.finding import Finding
from rollout.plan.known_changes import rollback_findings
from rollout.plan.member import Member, member
from rollout.plan.model import HostPlan, Plan
from rollout.plan.order import constraints, order_findings
from rollout.plan.topology import Topology, topology
from rollout.plan.waves import Waves, backwards
from rollout.settings import Connection, HookSet, Host
from rollout.versions import ServerVersion, Upstream, parse_upstream


@dataclass(frozen=True)
class Recorded:
    """The run that a host's own record names as the one to take back, "" for none, and the release that it leads to.

    The release is None where it stays, and where a change that did not come to its end must be taken back in any case.
    """

    run_id: str = ""
    back_to: Upstream | None = None


@dataclass(frozen=True)
class Seen:
    """What was seen right before hosts are taken back: facts of those that matter, records of those that gave them.

    `silent` has the hosts that were asked in vain, each with the reason.
    """

    facts: Mapping[str, Facts] = field(default_factory=dict)
    records: Mapping[str, Recorded] = field(default_factory=dict)
    silent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reached:
    """How far runs of a plan have brought its hosts: `done` are those at its end that were not taken back since.

    `in_doubt` are those whose change began and did not come to a known end: nobody can say which release they run.
    """

    done: Collection[str] = ()
    in_doubt: Collection[str] = ()


@dataclass(frozen=True)
class WayBack:
    """The waves in which hosts are taken back, and the hosts that are not, each with the reason.

    `after` maps a replica to its primaries: where one of those could not be taken back, the replica stays, too.
    `peers` maps a node to the other nodes of its cluster.
    """

    waves: Waves
    refused: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, frozenset[str]] = field(default_factory=dict)
    hooks: Mapping[str, HookSet] = field(default_factory=dict)
    peers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def kept_waiting(self, wave: tuple[str, ...], statuses: Mapping[str, str]) -> dict[str, str]:
        """Return the hosts of a wave that must stay because of how others ended (`statuses`), each with the reason."""
        failed = {name for name, status in statuses.items() if status not in ("rolled_back", "ok")}
        left = {name: sorted(self.after.get(name, frozenset()) & failed) for name in wave}
        return {name: f"its primary was not taken back: {', '.join(those)}" for name, those in left.items() if those}


NOTHING_SEEN = Seen()


def way_back(
    plan: Plan | None,
    hosts: Mapping[str, Host],
    names: Collection[str],
    reached: Reached,
    seen: Seen = NOTHING_SEEN,
    *,
    accept_unknown: bool = False,
) -> WayBack:
    """Order the hosts `names` for a rollback; `hosts` are those of the inventory.

    `plan` is that of the run that is taken back where this controller has it, and `reached` how far its hosts came;
    both stand in for hosts of which nothing was `seen`. What was changed by the last run goes back first; within a run
    the waves of the plan go backwards, and hosts that it does not know one at a time, in the inventory's order turned
    round; a primary goes before its replicas in any case. A host is refused when it would become older than a primary
    that is not taken back with it, when what that runs is not known (unless `accept_unknown`), or when it could not
    join its Galera cluster again. A host whose change did not come to its end is never refused: it has to go back to be
    whole.
    """
    graph = _graph(plan, hosts, reached, seen)
    planned = {name: _version(plan, name, "running") if plan and name in reached.done else None for name in names}
    goals = {name: seen.records.get(name, Recorded(back_to=release)).back_to for name, release in planned.items()}
    targets = {name: release for name, release in goals.items() if release}
    doubtful = {} if accept_unknown else _told(_doubtful(graph, targets, names, seen))
    certain = {name: release for name, release in targets.items() if name not in doubtful}
    refused = doubtful | _refused(graph, certain)
    primaries = _primaries(plan, graph, names)
    return WayBack(
        tuple(_without(refused, _primaries_first(_last_first(plan, names, seen), primaries))),
        refused,
        primaries,
        planned_hooks(plan) if plan else {},
        {name: frozenset(cluster.nodes) - {name} for cluster in graph.clusters for name in cluster.nodes},
    )


def _last_first(plan: Plan | None, names: Collection[str], seen: Seen) -> Waves:
    """Return the waves of the last run first, those of hosts without a record at the end."""
    planned = plan.waves if plan else ()
    strangers = ((name,) for name in reversed(list(names)) if not any(name in wave for wave in planned))
    waves = (*strangers, *backwards(planned))
    by = {name: seen.records.get(name, Recorded()).run_id for name in names}
    runs = sorted(set(by.values()), reverse=True)
    return tuple(tuple(name for name in wave if by.get(name) == run) for run in runs for wave in waves)


def _without(refused: Collection[str], waves: Waves) -> Iterator[tuple[str, ...]]:
    for wave in waves:
        if left := tuple(host for host in wave if host not in refused):
            yield left


def _primaries_first(waves: Waves, primaries: Mapping[str, frozenset[str]]) -> Waves:
    """Take hosts out of waves that stand before a primary of theirs, and let them follow it."""
    todo = [wave for wave in waves if wave]
    waiting = {name for wave in todo for name in wave}
    ordered = []

    def free(wave: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in wave if not primaries.get(name, frozenset()) & waiting - {name})

    while todo:
        index, now = next(((index, now) for index, wave in enumerate(todo) if (now := free(wave))), (0, todo[0]))
        rest = tuple(name for name in todo[index] if name not in now)
        todo[index : index + 1] = [rest] if rest else []
        waiting -= set(now)
        ordered.append(now)
    return tuple(ordered)


def _primaries(plan: Plan | None, graph: Topology, names: Collection[str]) -> dict[str, frozenset[str]]:
    """Map each of `names` to those among them that must go back before it; by the plan where its place is not known."""
    order = constraints(graph).after
    found = {}
    for name in names:
        told = plan.after if plan and graph.members[name].unknown else order
        found[name] = frozenset(primary for primary in names if name in told.get(primary, ()))
    return {name: those for name, those in found.items() if those}


def _doubtful(
    graph: Topology, targets: Mapping[str, Upstream], names: Collection[str], seen: Seen
) -> Iterator[Finding]:
    """Name the hosts that go back below a primary of unknown release.

    A primary that is itself to be taken back is none of these: where that fails, its replicas wait.
    """
    for link in (link for name in targets for link in graph.links_of(name) if link.primary not in names):
        primary = graph.members[link.primary] if link.primary else None
        if primary is None or primary.version is None:
            release = ".".join(map(str, targets[link.replica]))
            who = f"{primary.name} ({link.source})" if primary else f"{link.source}, which is not in the inventory,"
            silent = seen.silent.get(primary.name, "") if primary else ""
            why = f" ({silent})" if silent else ""
            told = f"{link.replica} would run {release}, and what its primary {who} runs is not known{why}"
            hint = "look there, or say --accept-unknown-primary"
            yield Finding("primary_release_unknown", "blocker", (link.replica,), f"{told}: {hint}")


def planned_hooks(plan: Plan) -> dict[str, HookSet]:
    """Return the hooks, as they were planned, of each host that could be looked at then."""
    return {row.name: row.hooks for row in plan.hosts if row.status != "unreachable"}


def _refused(graph: Topology, targets: Mapping[str, Upstream]) -> dict[str, str]:
    """Return the hosts that must not go back; one that stays may keep its own replicas from going back, too."""
    refused: dict[str, str] = {}
    while True:
        left = {name: version for name, version in targets.items() if name not in refused}
        found = (*order_findings(graph, left), *rollback_findings(graph, left))
        fresh = {name: told for name, told in _told(found).items() if name in left}
        if not fresh:
            return refused
        refused |= fresh


def _told(findings: Iterable[Finding]) -> dict[str, str]:
    """Return what blocks each host, in words."""
    return {name: f"{one.code}: {one.message}" for one in findings if one.severity == "blocker" for name in one.hosts}


def _graph(plan: Plan | None, hosts: Mapping[str, Host], reached: Reached, seen: Seen) -> Topology:
    """Return the topology of what was seen; a host of which nothing was stands in it as its plan left it."""
    planned = {name: _planned_member(plan, name, reached) for name in plan.inventory} if plan else {}
    looked = {name: member(host, seen.facts.get(name)) for name, host in hosts.items()}
    stands_in = {name: one for name, one in planned.items() if name not in looked or not _placed(looked[name])}
    return topology(list({**looked, **stands_in}.values()))


def _placed(one: Member) -> bool:
    return not one.unknown and not one.down


def _planned_member(plan: Plan, name: str, reached: Reached) -> Member:
    host = Host(name, Connection(address=str(plan.inventory[name].get("address", ""))))
    found = member(host, _facts(plan, name))
    if name in reached.in_doubt and _version(plan, name, "target"):
        return replace(found, version=None)
    target = _version(plan, name, "target") if name in reached.done else None
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
