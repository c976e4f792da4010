"""Checks of the allocator: two proofs that jemalloc is in use, and the named cause where it is not.

What the environment of the process says is no proof: root reads LD_PRELOAD there also where the loader ignored it.
"""

from rollout.checks.model import Judgement, Situation, asked, held, not_known, skipped
from rollout.facts.allocator import is_allocator, named_in
from rollout.facts.model import Facts, Preload, Unit
from rollout.facts.unknown import Known, Unknown, known_or

_REPORTED = "mariadb --batch --execute 'SELECT @@version_malloc_library'"
_MAPPED = "cat /proc/MainPID/maps"
_NONE = "no allocator is asked for"
_SYSTEM_PAGE_BYTES = 4096  # distributions build jemalloc for the page size of their build machines


def allocator_reported(situation: Situation) -> Judgement:
    """First proof: what the server itself says (mysys/guess_malloc_library.c)."""
    expected = "a value that begins with jemalloc"
    if situation.expected.library is None:
        return skipped(_NONE, _shown(situation.after))
    said = situation.after.allocator.version_malloc_library
    if isinstance(said, Unknown):
        return not_known(expected, said)
    if said is None:
        return _down(situation, expected)
    holds = said.startswith("jemalloc")
    cause = "" if holds else _cause(situation)
    return held(holds, expected, said, asked(_REPORTED, said), cause)


def allocator_mapped(situation: Situation) -> Judgement:
    """Second proof: the exact library in the memory map of the process."""
    library = situation.expected.library
    if library is None:
        return skipped(_NONE, _shown(situation.after))
    mapped = situation.after.allocator.mapped
    if isinstance(mapped, Unknown):
        return not_known(library, mapped)
    if situation.after.server.running is None:
        return _down(situation, library)
    wanted = {library, *_real_paths(situation.after, library)}
    holds = any(entry.path in wanted for entry in mapped)
    found = ", ".join(entry.path + " (deleted)" * entry.deleted for entry in mapped) or "no allocator library"
    evidence = "\n".join([asked(_MAPPED, found), _asked_for(situation.after)])
    return held(holds, library, found, evidence, "" if holds else _cause(situation))


def _down(situation: Situation, expected: str) -> Judgement:
    if not situation.expected.active:
        return skipped(expected, "the server is stopped, as it was before")
    large = _large_pages(situation.after)
    return Judgement("fail", expected, "the server does not run", cause="preload_page_size" if large else "")


def _shown(facts: Facts) -> str:
    said = facts.allocator.version_malloc_library
    return f"not known: {said.reason}" if isinstance(said, Unknown) else str(said or "the server does not run")


def _asked_for(facts: Facts) -> str:
    asked_for = facts.allocator.environ_preload
    text = f"not known: {asked_for.reason}" if isinstance(asked_for, Unknown) else asked_for or "(not set)"
    return asked("grep -z ^LD_PRELOAD= /proc/MainPID/environ", text)


def _real_paths(facts: Facts, library: str) -> set[str]:
    return {entry.real_path for entry in known_or(facts.allocator.libraries, ()) if entry.path == library}


def _large_pages(facts: Facts) -> bool:
    size = facts.system.page_size_bytes
    return isinstance(size, int) and size > _SYSTEM_PAGE_BYTES


def _cause(situation: Situation) -> str:
    """Name the reason why the wanted library is not in use, from the unit's files down to the loader."""
    facts, library = situation.after, situation.expected.library or ""
    said, asked_for = facts.allocator.version_malloc_library, facts.allocator.environ_preload
    if isinstance(said, str) and said != "system" and not said.startswith("jemalloc") and not _preloaded(facts):
        return "allocator_compiled_in"
    effective = _effective(facts)
    if isinstance(effective, Unknown) or isinstance(asked_for, Unknown):
        return "not_known"
    if not names(effective, library):
        return "preload_overridden" if _ours_is_set(facts, library) else "preload_not_asked"
    if not names(asked_for, library):
        return "preload_not_restarted"
    return _loader_cause(facts, library)


def _preloaded(facts: Facts) -> bool:
    """Whether some other allocator is asked for by a preload; of one that is compiled in nobody asks."""
    values = [entry.value for entry in known_or(facts.allocator.preloads, ())]
    libraries = [library for value in values for library in named_in(value)]
    return any(is_allocator(library) and "jemalloc" not in library for library in libraries)


def _loader_cause(facts: Facts, library: str) -> str:
    """Name why the loader did not take a library that the process was asked to load."""
    capabilities = facts.server.capabilities
    if isinstance(capabilities, str) and capabilities:
        return "preload_secure_execution"
    said = " ".join(line for line in known_or(facts.trail.loader_lines, ()) if library in line)
    if "cannot open shared object file" in said:
        return "preload_path_missing"
    if said:
        return "preload_not_loadable"
    libraries = known_or(facts.allocator.libraries, ())
    if not any(library in (entry.path, entry.real_path) for entry in libraries):
        return "preload_path_missing"
    return "preload_not_loadable"


def _effective(facts: Facts) -> Known[str | None]:
    """Return the LD_PRELOAD that the unit's next start gets: EnvironmentFile= beats Environment= (systemd.exec)."""
    unit = facts.unit
    if isinstance(unit, Unknown) or unit is None:
        return unit
    return _of_unit(unit)


def _of_unit(unit: Unit) -> Known[str | None]:
    for file in reversed(unit.environment_files):
        if isinstance(file.preload, Unknown) or file.preload is not None:
            return file.preload
    return unit.environment if isinstance(unit.environment, Unknown) else unit.environment.get("LD_PRELOAD")


def _ours_is_set(facts: Facts, library: str) -> bool:
    return any(names(entry.value, library) for entry in known_or(facts.allocator.preloads, ()))


def names(preload: str | None, library: str) -> bool:
    """Tell whether a value of LD_PRELOAD names the library; blanks and colons part its entries (ld.so(8))."""
    return library in named_in(preload or "")


def drop_in_wins(situation: Situation) -> Judgement:
    """Hold the LD_PRELOAD that systemd will use against the wanted library, wherever it is set."""
    library, unit = situation.expected.library, situation.after.unit
    if library is None:
        return skipped(_NONE, _shown(situation.after))
    expected = f"LD_PRELOAD={library} is the last word"
    effective = _effective(situation.after)
    if isinstance(effective, Unknown):
        return not_known(expected, effective)
    preloads = known_or(situation.after.allocator.preloads, ())
    evidence = asked(f"systemctl cat {unit.id if isinstance(unit, Unit) else 'UNIT'}", _lines(preloads))
    if names(effective, library):
        return Judgement("pass", expected, f"LD_PRELOAD={effective}", evidence)
    overridden = _ours_is_set(situation.after, library)
    winner = next((entry.source for entry in reversed(preloads) if entry.value == effective), "")
    found = f"LD_PRELOAD={effective} from {winner or 'elsewhere'}" if effective else "LD_PRELOAD is not set"
    return Judgement("fail", expected, found, evidence, "preload_overridden" if overridden else "preload_not_asked")


def _lines(preloads: tuple[Preload, ...]) -> str:
    return "\n".join(f"{entry.source}: LD_PRELOAD={entry.value}" for entry in preloads) or "(no LD_PRELOAD anywhere)"
