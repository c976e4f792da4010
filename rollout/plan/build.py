"""From what was found on the hosts to the plan: pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rollout.changes.assess import assess
from rollout.changes.model import Assessment, Change, Kind
from rollout.facts.model import Facts
from rollout.facts.unknown import Known, Unknown
from rollout.plan.downtime import expected_downtime
from rollout.plan.model import AllocatorRow, HostPlan, SecondsRange, VersionRow
from rollout.settings import Host, ShorterStop
from rollout.versions import ServerVersion


def plan_host(
    host: Host, facts: Facts, kinds: Collection[Kind], prediction: Mapping[str, Any] | None = None
) -> HostPlan:
    """Say what is planned for one host that was reached."""
    needs = assess(facts, host.settings, kinds)
    restarts = 1 if needs.changes and _runs(facts) else 0
    return HostPlan(
        name=host.name,
        status="blocked" if needs.blockers else "change" if needs.changes else "ok",
        version=_versions(facts, needs),
        allocator=_allocator(facts, needs),
        changes=needs.changes,
        restarts=restarts,
        expected_downtime_seconds=_downtime(facts, needs, host.settings.shorter_stop) if restarts else None,
        expected_downtime_by_stop={
            "plain": _downtime(facts, needs, None),
            "shorter": _downtime(facts, needs, host.settings.shorter_stop or ShorterStop()),
        }
        if restarts
        else {},
        blockers=needs.blockers,
        warnings=needs.warnings,
        prediction=prediction,
    )


def _downtime(facts: Facts, needs: Assessment, shorter: ShorterStop | None) -> SecondsRange:
    return SecondsRange(**asdict(expected_downtime(facts, needs, shorter)))


def unreachable_host(name: str, code: str, message: str) -> HostPlan:
    """Say that a host could not be looked at, and why."""
    from_error = {"code": code, "message": message}
    return HostPlan.model_validate({"name": name, "status": "unreachable", "blockers": [from_error]})


def resolved(host: Host) -> dict[str, Any]:
    """Return what of the inventory the plan rests on for this host: no secret, nothing that does not matter."""
    way = host.connection
    return {
        "connection": way.kind,
        "address": way.address,
        "port": way.port,
        "user": way.user,
        "become": way.become,
        "groups": list(host.groups),
        "settings": host.settings.model_dump(mode="json", exclude_defaults=True),
    }


def drifted(planned: HostPlan, facts: Facts, host: Host, kinds: Collection[Kind]) -> str:
    """Say in words why fresh facts no longer fit the plan of a host; empty when they do or nothing is left."""
    needs = assess(facts, host.settings, kinds)
    known = {finding.code for finding in planned.blockers}
    fresh = [finding for finding in needs.blockers if finding.code not in known]
    if fresh:
        return "; ".join(f"{finding.code}: {finding.message}" for finding in fresh)
    return _difference(planned.changes, needs)


def still_needed(facts: Facts, host: Host, kinds: Collection[Kind]) -> str:
    """Say what a host still needs, or what keeps us from telling; empty means that it has arrived."""
    needs = assess(facts, host.settings, kinds)
    return "; ".join(
        [change.summary for change in needs.changes] + [f"{entry.code}: {entry.message}" for entry in needs.blockers]
    )


def _difference(planned: Sequence[Change], needs: Assessment) -> str:
    if not needs.changes or tuple(planned) == needs.changes:
        return ""
    if [change.summary for change in needs.changes] == [change.summary for change in planned]:
        return "the scripts of its changes are not the planned ones: the plan is of another version of rollout"
    now = "; ".join(change.summary for change in needs.changes) or "nothing"
    return f"the host now needs other changes than the plan says: {now}"


def _runs(facts: Facts) -> bool:
    unit = facts.unit
    return unit is not None and not isinstance(unit, Unknown) and unit.main_pid is not None


def _text(value: Known[ServerVersion | None]) -> str | None:
    return str(value) if isinstance(value, ServerVersion) else None


def _versions(facts: Facts, needs: Assessment) -> VersionRow:
    server = facts.server
    best = server.running if isinstance(server.running, ServerVersion) else server.on_disk
    known = best if isinstance(best, ServerVersion) else None
    return VersionRow(
        flavour=known.flavour if known else None,
        running=_text(server.running),
        on_disk=_text(server.on_disk),
        client=_text(server.client),
        series=known.series if known else None,
        target=needs.target,
        fix=needs.fix,
    )


def _allocator(facts: Facts, needs: Assessment) -> AllocatorRow:
    said = facts.allocator.version_malloc_library
    changing = any(change.kind == "allocator" for change in needs.changes)
    return AllocatorRow(
        running=None if isinstance(said, Unknown) else said,
        target="jemalloc" if changing else None,
        library=needs.library or None,
    )
