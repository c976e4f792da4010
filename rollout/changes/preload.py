"""Preloads and allocators that others chose: what our drop-in can take the place of, and why not of the rest."""

from collections.abc import Collection, Iterable

from rollout.changes.model import Finding
from rollout.changes.placement import is_ours
from rollout.facts.allocator import is_allocator, named_in
from rollout.facts.model import Allocator, MappedLibrary, Preload, Unit
from rollout.facts.unknown import Known, Unknown, known_or

EVERYWHERE = "/etc/ld.so.preload"
_OPTION = "--replace-allocator"


def respected(allocator: Allocator, unit: Unit, path: str, *, replace: bool) -> tuple[Finding, ...]:
    """Return a blocker for each allocator and each preload of others that stays in force.

    With `replace` a preloaded allocator is none where our drop-in at `path` has the last word.
    """
    preloads = allocator.preloads
    if isinstance(preloads, Unknown):
        return (*_chosen(allocator, unit, (), replace=replace), Finding("preload_unknown", preloads.reason))
    foreign = foreign_preloads(preloads)
    found = [_in_the_way(entry, unit, path, replace=replace) for entry in foreign]
    return (*_chosen(allocator, unit, foreign, replace=replace), *(one for one in found if one))


def replaced(allocator: Allocator, path: str) -> tuple[Finding, ...]:
    """Say which preload of others gives way to ours; for a host on which none is in the way."""
    foreign = foreign_preloads(known_or(allocator.preloads, ()))
    return tuple(
        Finding(
            "allocator_replaced",
            f"{entry.source} sets LD_PRELOAD={entry.value}: overruled by {_name(path)}, not edited; a rollback puts it "
            "in force again",
        )
        for entry in foreign
    )


def overruled(allocator: Allocator) -> str:
    """Say in the words of a change's summary whom our drop-in overrules; empty for nobody.

    It stands in the plan, so that a preload which comes up after the plan makes it stale.
    """
    foreign = foreign_preloads(known_or(allocator.preloads, ()))
    return "".join(f", over LD_PRELOAD={entry.value} of {entry.source}" for entry in foreign)


def foreign_preloads(preloads: Iterable[Preload]) -> tuple[Preload, ...]:
    """Return the preloads that are not of a drop-in of ours."""
    return tuple(entry for entry in preloads if not is_ours(entry.source))


def others_mapped(allocator: Allocator) -> tuple[str, ...]:
    """Return the allocators other than jemalloc that the process has mapped, by their real paths."""
    mapped = known_or(allocator.mapped, ())
    return tuple(sorted(entry.path for entry in mapped if "jemalloc" not in entry.path))


def kept(allocator: Allocator, library: str) -> Finding:
    """Say that a jemalloc which is not ours is loaded, and who asks for it: it is what is wanted, and stays theirs."""
    asking = [
        entry.source
        for entry in foreign_preloads(known_or(allocator.preloads, ()))
        if _loads(entry, (MappedLibrary(library, deleted=False),))
    ]
    started_with = Preload("its environment", known_or(allocator.environ_preload, None) or "")
    if asking:
        why = f"{', '.join(asking)} asks for it"
    elif _loads(started_with, (MappedLibrary(library, deleted=False),)):
        why = "it was started with it, and nothing asks for it any more, so its next start is without it"
    else:
        why = "no preload asks for it, so it is linked into its program"
    return Finding("allocator_kept", f"{library} is loaded already: {why}. Not ours, and left as it is")


def _chosen(allocator: Allocator, unit: Unit, foreign: Collection[Preload], *, replace: bool) -> tuple[Finding, ...]:
    """Judge what the server itself says of its allocator, beside what it has mapped: it knows only two by name."""
    said = allocator.version_malloc_library
    if unit.main_pid is None or said is None:
        return ()
    if isinstance(said, Unknown):
        return (Finding("allocator_unknown", said.reason),)
    mapped = allocator.mapped
    if isinstance(mapped, Unknown):
        stays = f"how it got it cannot be told: {mapped.reason}"
        return () if said == "system" else (Finding("other_allocator", f"the server runs with {said}: {stays}"),)
    own_word = said.startswith("jemalloc") and any("jemalloc" in entry.path for entry in mapped)
    others = others_mapped(allocator)
    if own_word or (said == "system" and not others):
        return ()
    if not any(_loads(entry, mapped) for entry in foreign):
        stays = (
            "no preload asks for it, so it is compiled in or linked, and no drop-in can replace it; a build without it "
            "is needed for jemalloc"
        )
    elif replace:
        return ()
    else:
        stays = f"somebody chose that; left alone ({_OPTION} would replace it)"
    seen = f" and has {' '.join(others)} loaded" if said == "system" else ""
    return (Finding("other_allocator", f"the server runs with {said}{seen}: {stays}"),)


def _in_the_way(entry: Preload, unit: Unit, path: str, *, replace: bool) -> Finding | None:
    why = _irreplaceable(entry, unit, _name(path))
    if not why and replace:
        return None
    advice = why or f"not ours, take it out first, or have it overruled with {_OPTION}"
    return Finding("foreign_preload", f"{entry.source} sets LD_PRELOAD={entry.value}: {advice}")


def _irreplaceable(entry: Preload, unit: Unit, ours: str) -> str:
    """Say why our drop-in, of the name `ours`, cannot, or may not, take the place of a preload; empty where it can.

    systemd reads drop-ins in the order of their names, whatever folder they are in, and EnvironmentFile= beats
    Environment= (systemd.unit(5), systemd.exec(5)); the loader reads /etc/ld.so.preload for every program (ld.so(8)).
    """
    if entry.source == EVERYWHERE:
        return "every program of the host loads it, whatever its unit says; take it out there first"
    if entry.source in {file.path for file in unit.environment_files}:
        return "an EnvironmentFile beats every drop-in; take LD_PRELOAD out of that file first"
    libraries = named_in(entry.value)
    others = [library for library in libraries if not is_allocator(library)]
    if others:
        lost = ", ".join(filter(None, others)) or "no library at all"
        return f"it asks for {lost}, which is no allocator and would be lost; not ours, take it out first"
    if entry.source in {file.path for file in unit.drop_ins} and _name(entry.source) > ours:
        return f"its name sorts after {ours}, so it has the last word; rename it or take it out first"
    return ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _loads(entry: Preload, mapped: Known[tuple[MappedLibrary, ...]]) -> bool:
    """Tell whether a preload names one of the mapped libraries: `libx.so.4` stands for the file `libx.so.4.5.9`."""
    names = {library.rpartition("/")[2] for library in named_in(entry.value) if is_allocator(library)}
    files = [library.path.rpartition("/")[2] for library in known_or(mapped, ())]
    return any(file == name or file.startswith(f"{name}.") for name in names for file in files)
