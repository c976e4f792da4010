"""The allocator: jemalloc through a systemd drop-in of our own, and no file of anybody else touched."""

import json
import re
from dataclasses import dataclass

from rollout.changes.model import Change, Finding
from rollout.changes.placement import (
    DROP_IN,
    conflicts,
    drop_in_path,
    own_drop_in,
    shared_path,
    shared_template,
    shared_with,
)
from rollout.changes.preload import kept, others_mapped, overruled, replaced, respected
from rollout.changes.render import drop_in, script
from rollout.facts.model import Facts, Library, Package, Unit
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.settings import Settings

# Debian 10 and later, Ubuntu 19.10 and later; EPEL for the EL family, and Fedora; openSUSE.
PACKAGES = {"apt": "libjemalloc2", "dnf": "jemalloc", "zypper": "libjemalloc2"}
_LIB64 = ("x86_64", "aarch64", "ppc64le", "s390x")  # architectures whose libraries lie in /usr/lib64 on rpm hosts


@dataclass(frozen=True)
class Wanted:
    """The library to be preloaded, the package that it comes from where it is to be installed, and the drop-in."""

    library: str
    package: Package | None
    content: str


@dataclass(frozen=True)
class AllocatorVerdict:
    """What becomes of the allocator of one host. `library` is the path that the process must have mapped."""

    change: Change | None = None
    library: str | None = None
    blockers: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()


def assess_allocator(facts: Facts, settings: Settings) -> AllocatorVerdict:
    """Say what the allocator of a host needs. Pure.

    A preload that is not ours is reported and left alone; with `replace_allocator` ours overrules it where it can.
    """
    unit = facts.unit
    if isinstance(unit, Unknown) or unit is None:
        reason = unit.reason if isinstance(unit, Unknown) else "systemd knows no unit of a database server here"
        return AllocatorVerdict(blockers=(Finding("unit_unknown", reason),))
    blockers = _blockers(facts, unit, settings)
    library, package, missing = _library(facts)
    if missing:
        blockers = (*blockers, missing)
    mapped, own = _jemalloc_in_process(facts), own_drop_in(unit)
    if mapped and not own:
        return AllocatorVerdict(library=mapped, warnings=(kept(facts.allocator, mapped),))
    content = drop_in(library, settings.malloc_conf, settings.environment)
    if own and own.content == content and (mapped == library or unit.main_pid is None):
        return AllocatorVerdict(library=library)
    blockers = (*blockers, *conflicts(unit, settings, content))
    if blockers:
        return AllocatorVerdict(library=library, blockers=blockers)
    change = _change(facts, unit, settings, Wanted(library, package, content))
    return AllocatorVerdict(change, library, warnings=_warnings(facts, unit, settings))


def _blockers(facts: Facts, unit: Unit, settings: Settings) -> tuple[Finding, ...]:
    found = list(respected(facts.allocator, unit, drop_in_path(unit, settings), replace=settings.replace_allocator))
    capabilities = facts.server.capabilities
    if isinstance(capabilities, Unknown):
        found.append(Finding("capabilities_unknown", capabilities.reason))
    elif capabilities:
        message = f"{capabilities}: file capabilities mean secure execution, which drops LD_PRELOAD silently"
        found.append(Finding("secure_execution", message))
    return tuple(found)


def _library(facts: Facts) -> tuple[str, Package | None, Finding | None]:
    """Return the library's path, the package to install (None when it is there), and what keeps us from knowing."""
    machine = facts.allocator.server_elf_machine
    libraries = known_or(facts.allocator.libraries, ())
    fitting = [entry for entry in libraries if isinstance(machine, Unknown) or entry.elf_machine == machine]
    if fitting:
        return _preload_name(fitting), None, None
    name = PACKAGES.get(str(facts.packages.manager))
    if name is None:
        message = f"jemalloc is not installed; packages are changed with {', '.join(PACKAGES)} only"
        return "", None, Finding("library_unavailable", message)
    package = facts.packages.named(name)
    if package and package.installed:
        return "", None, _broken_library(package, libraries)
    if package is None or _newest(package) is None:
        return "", None, Finding("library_unavailable", f"{name} is in no enabled repository; none is added")
    path = _path_in_package(facts)
    if isinstance(path, Unknown):
        message = f"where {name} puts its library cannot be told: {path.reason}"
        return "", None, Finding("library_unavailable", message)
    return path, package, None


def _newest(package: Package) -> str | None:
    """Return the version to install: apt's candidate; the others name none, and the newest on offer is taken."""
    rows = package.versions if isinstance(package.versions, tuple) else ()
    if isinstance(package.candidate, Unknown):
        return next((row.version for row in rows if row.repositories), None)
    return package.candidate if any(row.version == package.candidate for row in rows) else None


def _path_in_package(facts: Facts) -> Known[str]:
    """Return where the package on offer puts its library: by Debian's multiarch rule, by SUSE's, or by its file list.

    SUSE names the package of a library after its soname, and zypper has no list of the files of what is not installed.
    Preflight looks into the package before anything is stopped.
    """
    if facts.packages.manager == "apt":
        triplet = facts.system.triplet
        if isinstance(triplet, Unknown):
            return triplet
        return f"/usr/lib/{triplet}/libjemalloc.so.2" if triplet else Unknown("no multiarch name")
    if facts.packages.manager == "zypper":
        return f"/usr/{'lib64' if facts.system.architecture in _LIB64 else 'lib'}/libjemalloc.so.2"
    offered = facts.packages.offered_libraries
    if isinstance(offered, Unknown):
        return offered
    fitting = [path for path in offered if ("/lib64/" in path) == (facts.system.architecture in _LIB64)]
    return fitting[0] if fitting else Unknown(f"its file list names no library for this host: {' '.join(offered)}")


def _broken_library(package: Package, libraries: tuple[Library, ...]) -> Finding:
    """Say that the package is there and its library is not what the server could load."""
    seen = ", ".join(f"{entry.path} is for {entry.elf_machine}" for entry in libraries)
    found = seen or "its library is missing, or is no ELF file"
    message = f"{package.name} {package.installed} is installed, but {found}: reinstall the package"
    return Finding("library_broken", message)


def _preload_name(libraries: list[Library]) -> str:
    named = [entry.path for entry in libraries if re.search(r"/libjemalloc\.so\.\d+$", entry.path)]
    return sorted(named or [entry.path for entry in libraries])[-1]


def _jemalloc_in_process(facts: Facts) -> str | None:
    said = facts.allocator.version_malloc_library
    if not isinstance(said, str) or not said.startswith("jemalloc"):
        return None
    mapped = known_or(facts.allocator.mapped, ())
    return next((entry.path for entry in mapped if "jemalloc" in entry.path), None)


def _change(facts: Facts, unit: Unit, settings: Settings, wanted: Wanted) -> Change:
    path, template, own = drop_in_path(unit, settings), shared_template(unit, settings), own_drop_in(unit)
    previous = known_or(own.content, None) if own else None
    library, package, content = wanted.library, wanted.package, wanted.content
    name, version = (package.name, _newest(package)) if package else (None, None)
    running = facts.allocator.version_malloc_library
    values = {
        "template": template,
        "shared": shared_path(unit),
        "own_name": DROP_IN,
        "recorded": f'"library": {json.dumps(library)}' if package else f'"drop_in_path": {json.dumps(path)}',
        "relied_on": library if package else path,
        "drop_in": path,
        "folder": path.rpartition("/")[0],
        "content": content,
        "library": library,
        "library_package": name,
        "library_version": version,
        "previous_content": previous,
        "summary": f"jemalloc from {library}",
    }
    scope = f", for all instances of {template}{', whose drop-in is there' if own else ''}" if template else ""
    return Change(
        kind="allocator",
        summary=f"{running or 'not running'} -> jemalloc ({library}){scope}{overruled(facts.allocator)}",
        before={
            "running": None if isinstance(running, Unknown) else running,
            "drop_in": previous,
            "others_mapped": " ".join(others_mapped(facts.allocator)) or None,
        },
        after={
            "library": library,
            "drop_in": content,
            "drop_in_path": path,
            "package": f"{name}={version}" if name else None,
        },
        why="glibc keeps in its arenas what the server has freed; jemalloc gives it back to the kernel",
        do=script("allocator-do", **values),
        undo=script("allocator-undo", **values),
    )


def _warnings(facts: Facts, unit: Unit, settings: Settings) -> tuple[Finding, ...]:
    beside = shared_with(unit, settings, facts.other_servers)
    return (*replaced(facts.allocator, drop_in_path(unit, settings)), *beside, *_huge_pages(facts))


def _huge_pages(facts: Facts) -> tuple[Finding, ...]:
    if facts.system.transparent_hugepage == "always":
        message = "transparent huge pages are `always`: jemalloc's memory may stay larger than its own figures say"
        return (Finding("huge_pages_always", message),)
    return ()
