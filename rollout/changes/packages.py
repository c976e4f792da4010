"""The packages: an exact version inside the running series, from where the installed one came, all siblings at once."""

import re
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from rollout.changes.model import Change, Finding
from rollout.changes.render import script
from rollout.facts.model import Facts, Package, PackageSource, PackageVersion
from rollout.facts.unknown import Unknown
from rollout.settings import Settings
from rollout.versions import (
    FixStatus,
    Release,
    ServerVersion,
    Upstream,
    fix_releases,
    fix_status,
    parse_package_version,
    parse_upstream,
    series_of,
)

# The package systems that the scripts speak to: each has its verbs in engine/scripts.
CHANGED_WITH = ("apt", "dnf", "zypper")
_LIFT = {"apt": "apt-mark unhold", "dnf": "dnf versionlock delete", "zypper": "zypper removelock"}


@dataclass(frozen=True)
class PackagesVerdict:
    """What becomes of the packages of one host: a change or none, and what stands in the way."""

    fix: FixStatus
    change: Change | None = None
    target: str | None = None
    blockers: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = field(default=())


def upstream_of(package_version: str | None) -> Upstream | None:
    """Return the upstream version inside a deb or rpm version, None where there is none: `1:10.11.18-0+deb12u1`."""
    parsed = parse_package_version(package_version or "")
    return parsed.upstream if parsed else None


Homes: TypeAlias = frozenset[tuple[str, str]]  # origin and release of repositories


def assess_packages(facts: Facts, settings: Settings) -> PackagesVerdict:
    """Say what the packages of a host need. Pure; never a guess: what cannot be told is a blocker with its reason."""
    blocked = _foundation(facts)
    if blocked:
        return PackagesVerdict("unknown", blockers=blocked)
    running = facts.server.running
    if not isinstance(running, ServerVersion):
        running = facts.server.on_disk
    if not isinstance(running, ServerVersion):
        return PackagesVerdict("unknown", blockers=(Finding("version_unknown", _why(facts.server.on_disk)),))
    releases = fix_releases(settings.fix_releases)
    release = releases.get(running.series)
    state = fix_status(running, _offered(facts, settings), releases)
    if running.flavour != "mariadb":
        message = f"{running} is an Enterprise build: whether one carries the fix cannot be told from its number"
        return PackagesVerdict(state, warnings=(Finding("enterprise_unknown", message),))
    if release is None:
        return PackagesVerdict(state, warnings=(_no_release(running, state),))
    return _toward(facts, settings, running, release)


def _offered(facts: Facts, settings: Settings) -> list[Upstream] | None:
    """Collect the upstream versions that the origin of the installed server offers; None where that is unknown."""
    server = facts.packages.named(str(facts.server.executable_package))
    homes = _homes(server, settings) if server else frozenset()
    if server is None or not homes or isinstance(server.versions, Unknown):
        return None
    rows = [upstream_of(row.version) for row in server.versions if _same_origin(row, homes)]
    return [upstream for upstream in rows if upstream]


def _no_release(running: ServerVersion, state: FixStatus) -> Finding:
    if state == "no_fix_in_series":
        message = (
            f"no release of series {running.series} carries the fix (11.8, 12.3 and 13.1 have one); "
            "this tool makes no major upgrade, and jemalloc can be had all the same"
        )
        return Finding("no_fix_in_series", message)
    return Finding("series_unknown", f"series {running.series} is younger than the table of fix releases")


def _foundation(facts: Facts) -> tuple[Finding, ...]:
    """Collect what must be known and whole before anything can be said about packages."""
    found = []
    owner = facts.server.executable_package
    if isinstance(owner, Unknown):
        found.append(Finding("server_package_unknown", _why(owner)))
    elif owner is None:
        found.append(
            Finding("server_not_packaged", f"no package owns {facts.server.executable}: reported, not touched")
        )
    manager = facts.packages.manager
    if manager not in CHANGED_WITH:
        name = _why(manager) if isinstance(manager, Unknown) else manager or "none"
        message = f"packages are changed with {', '.join(CHANGED_WITH)} only; this host has: {name}"
        found.append(Finding("manager_unsupported", message))
    for name, lines in (("packages_broken", facts.packages.audit), ("packages_unknown", facts.packages.items)):
        if isinstance(lines, Unknown):
            found.append(Finding("packages_unknown", _why(lines)))
        elif name == "packages_broken" and lines:
            found.append(Finding(name, "dpkg --audit: " + "; ".join(map(str, lines))))
    installed = Counter((item.name, str(item.architecture)) for item in facts.packages.siblings)
    twice = sorted(name for (name, _), count in installed.items() if count > 1)
    if twice:
        found.append(Finding("packages_broken", f"installed twice, a transaction was broken off: {' '.join(twice)}"))
    refresh = facts.packages.refresh
    if isinstance(refresh, Unknown):
        found.append(Finding("refresh_failed", _why(refresh)))
    elif refresh is not None and not refresh.ok:
        found.append(Finding("refresh_failed", "fetching the lists: " + "; ".join(refresh.messages or ("no message",))))
    return tuple(found)


def _toward(facts: Facts, settings: Settings, running: ServerVersion, release: Release) -> PackagesVerdict:
    wanted = parse_upstream(release.version)
    server = facts.packages.named(str(facts.server.executable_package))
    if server is None or server.installed is None:
        message = f"the package system does not know {facts.server.executable_package} as installed"
        return PackagesVerdict("unknown", blockers=(Finding("packages_unknown", message),))
    installed = upstream_of(server.installed)
    disagreement = _disagreement(facts, server.installed, installed)
    if disagreement:
        return PackagesVerdict("unknown", blockers=(disagreement,))
    reached: FixStatus = "present" if release.carries_lru_fix else "rehearsal"
    if installed is not None and installed >= wanted:
        change = _restart_only(running, installed)
        return PackagesVerdict(reached, change=change, target=_dotted(installed) if change else None)
    homes = _homes(server, settings)
    blocked = (*_excluded(facts), *_filtered(facts, server)) or (() if homes else _nowhere(server))
    if blocked:
        return PackagesVerdict("unknown", blockers=blocked)
    target = _target(server, homes, running.series, wanted)
    if target is None:
        elsewhere = _elsewhere(facts, server, running.series, wanted)
        return PackagesVerdict("not_published", warnings=(_not_published(server, release), *elsewhere))
    return _transaction(facts, server, target, release)


def _nowhere(server: Package) -> tuple[Finding, ...]:
    message = (
        f"{server.name} {server.installed} is in no repository any more, so nobody can tell where it came from; "
        "say it with rollout_packages_origin, name its repository again, or upgrade by hand"
    )
    return (Finding("origin_unknown", message),)


def _excluded(facts: Facts) -> tuple[Finding, ...]:
    """Name the excludes of dnf that hide a sibling: what they hide does not show among the offers either."""
    if facts.packages.manager != "dnf":
        return ()
    lines = facts.packages.excludes
    if isinstance(lines, Unknown):
        return (Finding("packages_unknown", _why(lines)),)
    names = [item.name for item in facts.packages.siblings]
    found = []
    for line in lines:
        patterns = re.split(r"[\s,]+", line.partition("=")[2].strip())
        hit = sorted({name for name in names for pattern in patterns if pattern and fnmatchcase(name, pattern)})
        if hit:
            found.append(Finding("excluded", f"`{line.strip()}` hides {' '.join(hit)}; an exclude is an order"))
    return tuple(found)


def _filtered(facts: Facts, server: Package) -> tuple[Finding, ...]:
    """Name an enabled module stream that hides packages of other origin: dnf's modular filtering."""
    modules = facts.packages.modules
    if facts.packages.manager != "dnf":
        return ()
    if isinstance(modules, Unknown):
        return (Finding("packages_unknown", _why(modules)),)
    if not modules or ".module" in str(server.installed):
        return ()
    message = (
        f"the module {' '.join(modules)} is enabled, and {server.name} {server.installed} is not of it: dnf may hide "
        "releases of other repositories. No stream is switched here"
    )
    return (Finding("module_filtering", message),)


def _disagreement(facts: Facts, package: str, installed: Upstream | None) -> Finding | None:
    on_disk = facts.server.on_disk
    if isinstance(on_disk, Unknown) or on_disk is None:
        return Finding("version_unknown", _why(on_disk) if isinstance(on_disk, Unknown) else "no server binary on disk")
    if installed != on_disk.upstream:
        return Finding("versions_disagree", f"the binary on disk is {on_disk}, its package is {package}")
    return None


def _restart_only(running: ServerVersion, installed: Upstream) -> Change | None:
    if running.upstream == installed:
        return None
    return Change(
        kind="packages",
        summary=f"restart into {_dotted(installed)}, which is on disk already",
        before={"running": str(running)},
        after={"running": _dotted(installed)},
        why="the server was not restarted after its packages had been upgraded",
        do="",
        undo="",
    )


def _target(server: Package, homes: Homes, series: str, wanted: Upstream) -> PackageVersion | None:
    """Return the newest version of the series, at or above the fix, from the origin of the installed one."""
    for row in server.versions if isinstance(server.versions, tuple) else ():
        upstream = upstream_of(row.version)
        if upstream and series_of(upstream) == series and upstream >= wanted and _same_origin(row, homes):
            return row
    return None


def _homes(server: Package, settings: Settings) -> Homes:
    """Return where the installed server came from; what the user says counts only where no repository tells."""
    if server.installed_from or not settings.packages_origin:
        return frozenset(_origin(source) for source in server.installed_from)
    origin, _, codename = settings.packages_origin.partition("/")
    return frozenset({(origin, codename)})


def _same_origin(row: PackageVersion, homes: Homes) -> bool:
    return any(_origin(source) in homes for source in row.repositories)


def _origin(source: PackageSource) -> tuple[str, str]:
    """Name where a version comes from: the Origin and the release of its repository, else the very place.

    Debian's security and point-release pockets (`bookworm-security`, `bookworm-updates`) belong to their release.
    """
    if not source.origin:
        return (source.location, "")
    return (source.origin, re.sub(r"-(security|updates|proposed-updates)$", "", source.codename or source.suite))


def _not_published(server: Package, release: Release) -> Finding:
    message = (
        f"{release.version} is in none of the repositories that {server.name} came from; nothing to upgrade to yet"
    )
    return Finding("fix_not_published", message)


def _elsewhere(facts: Facts, server: Package, series: str, wanted: Upstream) -> tuple[Finding, ...]:
    """Name the release where another origin has it, under the same name or (MariaDB's RPMs) in other letters."""
    items = facts.packages.items if isinstance(facts.packages.items, tuple) else ()
    for item in sorted(items, key=lambda one: one.name != server.name):
        if item.name.lower() != server.name.lower():
            continue
        for row in item.versions if isinstance(item.versions, tuple) else ():
            upstream = upstream_of(row.version)
            if upstream and series_of(upstream) == series and upstream >= wanted and row.repositories:
                where = ", ".join(
                    f"{source.location} ({source.origin or 'origin unknown'})" for source in row.repositories
                )
                message = f"{item.name} {row.version} is at {where}, another origin: not taken"
                return (Finding("other_origin_newer", message),)
    return ()


def _transaction(facts: Facts, server: Package, target: PackageVersion, release: Release) -> PackagesVerdict:
    moving = [item for item in facts.packages.siblings if item.installed == server.installed]
    blockers = [
        Finding("sibling_missing", f"{item.name} is installed and cannot be had at {target.version}")
        for item in moving
        if not (row := item.version(target.version)) or not row.repositories
    ]
    manager = str(facts.packages.manager)
    held = [item.name for item in moving if item.held is True]
    if held:
        blockers.append(
            Finding("held", f"held: {' '.join(held)}; a hold is an order: lift it ({_LIFT[manager]}) or leave it")
        )
    blockers += _beside(facts)
    unknown = [item.name for item in moving if isinstance(item.held, Unknown)]
    if unknown:
        blockers.append(Finding("packages_unknown", f"whether {' '.join(unknown)} is held cannot be told"))
    upstream = upstream_of(target.version)
    before = {item.name: item.installed for item in moving}
    names = sorted(before)
    old, new = _dotted(upstream_of(server.installed)), _dotted(upstream)
    change = Change(
        kind="packages",
        summary=f"{old} -> {new}, {len(names)} packages in one transaction",
        before={name: before[name] for name in names},
        after=dict.fromkeys(names, target.version),
        why=_reason(release),
        do=script("packages-do", summary=f"{old} -> {new}", targets=[(name, target.version) for name in names]),
        undo=script("packages-undo", before_version=old, before=[(name, before[name]) for name in names]),
    )
    warnings = _unit_file_edited(facts)
    if not release.carries_lru_fix:
        warnings = (*warnings, Finding("rehearsal", _reason(release)))
    state: FixStatus = "available" if release.carries_lru_fix else "rehearsal"
    return PackagesVerdict(state, change, new, tuple(blockers), warnings)


def _unit_file_edited(facts: Facts) -> tuple[Finding, ...]:
    """Name a packaged unit file that somebody edited: the upgrade puts the package's own in its place."""
    changed, unit = facts.packages.changed_files, facts.unit
    if isinstance(changed, Unknown) or isinstance(unit, Unknown) or unit is None or unit.fragment is None:
        return ()
    if unit.fragment.path.removeprefix("/usr") not in {path.removeprefix("/usr") for path in changed}:
        return ()
    preload = "LD_PRELOAD" in str(unit.fragment.content)
    goes = "; it sets LD_PRELOAD, which goes with it, and so does an allocator that was chosen there" if preload else ""
    message = f"{unit.fragment.path} was edited against its package, and the upgrade replaces it{goes}"
    return (Finding("unit_file_edited", message),)


def _beside(facts: Facts) -> list[Finding]:
    """Name other servers of this host (instances, mostly): the packages' files and scripts are theirs, too."""
    others = facts.other_servers
    if isinstance(others, Unknown):
        return [Finding("packages_unknown", f"whether other servers run on this host: {others.reason}")]
    named = [f"{one.unit or one.executable} (process {one.pid})" for one in others if not one.container]
    if not named:
        return []
    message = f"{', '.join(named)} runs from the same packages: they cannot be changed for one server alone"
    return [Finding("server_beside", message)]


def _reason(release: Release) -> str:
    if release.carries_lru_fix:
        return f"{release.version} carries the InnoDB LRU fix"
    return f"{release.version} is declared not to carry the LRU fix: a rehearsal, no gain in throughput is promised"


def _dotted(upstream: Upstream | None) -> str:
    return ".".join(map(str, upstream)) if upstream else "?"


def _why(value: object) -> str:
    return value.reason if isinstance(value, Unknown) else str(value)
