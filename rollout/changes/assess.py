"""The one question that plan, drift guard, proof, resume and rollback all ask: what does this host still need?"""

from collections.abc import Collection

from rollout.changes.allocator import AllocatorVerdict, assess_allocator
from rollout.changes.model import Assessment, Finding, Kind
from rollout.changes.packages import PackagesVerdict, assess_packages
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown
from rollout.settings import Settings


def assess(facts: Facts, settings: Settings, kinds: Collection[Kind] = ("packages", "allocator")) -> Assessment:
    """Return the changes of `kinds` that the host needs, and whatever stands in the way of a change. Pure.

    The allocator comes first: its drop-in is live when the packages' own scripts restart the server, and so one
    restart serves both.
    """
    refused = _not_ours(facts)
    if refused:
        return Assessment(blockers=(refused,))
    packages = assess_packages(facts, settings)
    if "packages" not in kinds:
        packages = PackagesVerdict(packages.fix)
    wanted = "allocator" in kinds and settings.allocator == "jemalloc"
    allocator = assess_allocator(facts, settings) if wanted else AllocatorVerdict()
    changes = tuple(change for change in (allocator.change, packages.change) if change)
    return Assessment(
        changes=changes,
        blockers=(*packages.blockers, *allocator.blockers),
        warnings=(*packages.warnings, *allocator.warnings),
        fix=packages.fix,
        target=packages.target,
        library=allocator.library,
    )


def _not_ours(facts: Facts) -> Finding | None:
    """Name the reason why this host is none of ours; such a host is reported and never touched."""
    if facts.system.privileged is not True:
        return Finding("privilege_missing", "the probe did not run as root; set ansible_become, or log in as root")
    if isinstance(facts.system.init, str) and facts.system.init != "systemd":
        return Finding("no_systemd", f"process 1 is {facts.system.init}: without systemd there is no drop-in")
    version = facts.server.running if not isinstance(facts.server.running, Unknown) else None
    version = version or (facts.server.on_disk if not isinstance(facts.server.on_disk, Unknown) else None)
    if version is None:
        known = [value.reason for value in (facts.server.running, facts.server.on_disk) if isinstance(value, Unknown)]
        return Finding("no_server", "; ".join(known) or "no MariaDB server is installed here")
    if version.flavour not in ("mariadb", "mariadb-enterprise"):
        return Finding("not_mariadb", f"this is {version.flavour} ({version.raw}): not touched")
    return None
