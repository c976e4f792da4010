"""What jemalloc is likely to give back: glibc's heap and arenas now, and how much of them may be free."""

from collections.abc import Iterator

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.model import MemoryForecast, Note
from rollout.prediction.ranges import Range
from rollout.prediction.sizes import shown_bytes
from rollout.settings import Settings

# Of what heap and arenas hold at rest with glibc, as measured with `rollout bench memory` and before (docs/bench.md).
# Where the tmp tables are in memory: 0.57 and 0.65 of a small load, 0.73 (the published run and two more), 0.76 to 0.85
# of most, 0.90 and 1.03 (11.8.9). Where they went to disk: 0.06 and 0.10; what grows then is the page cache of Aria,
# which neither allocator gives back. A hand-made run of which that is not known gave 0.06 too.
IN_MEMORY_SHARE = Range(0.55, 0.8, 1.05)
ON_DISK_SHARE = Range(0.05, 0.4, 1.05)
# Where few statements make a tmp table none of those loads says anything: what is held may all be in use. 16 MiB after
# 600 point reads a second gave back nothing.
OTHER_SHARE = Range(0, 0.4, 1.05)
# Of the tmp tables on disk at most: 0.20 in the loads of the first row (blobs always go there), 0.44 in the second.
_MOSTLY_IN_MEMORY = 1 / 3
# Tmp tables a statement. In the measured loads nearly every statement makes some; the bound itself is an assumption.
_MANY_TMP_TABLES = 0.05
_NOTICEABLE_BYTES = 64 * 2**20
_NOTICEABLE_SHARE = 0.05
_FEW_CONNECTIONS = 16
_ARENA_BYTES = 64 * 2**20  # glibc's HEAP_MAX_SIZE on 64 bits
_DOMINATED = 0.8


def memory_forecast(facts: Facts, settings: Settings) -> MemoryForecast:
    """Return range and verdict; bytes count what is resident and what is swapped out."""
    if settings.allocator == "keep":
        return _nothing("allocator_kept", "the allocator is not to be changed")
    used = known_or(facts.allocator.version_malloc_library, None) or ""
    if used.startswith("jemalloc"):
        return _nothing("already_jemalloc", f"the server runs with {used.split('-')[0]} already")
    if used.startswith("tcmalloc"):
        note = Note("other_allocator", f"the server runs with {used}: nobody has published a comparison with jemalloc")
        return MemoryForecast("cannot_tell", (note,), None, None)
    heap, arenas = facts.memory.heap_bytes, facts.memory.arena_bytes
    if isinstance(heap, Unknown) or isinstance(arenas, Unknown):
        reason = heap.reason if isinstance(heap, Unknown) else known_reason(arenas)
        note = Note("memory_unknown", f"what the allocator holds could not be read: {reason}")
        return MemoryForecast("cannot_tell", (note,), None, None)
    return _from_held(heap + max(0, arenas - _pool_among_arenas(facts)), facts, settings)


def _pool_among_arenas(facts: Facts) -> int:
    """Bytes that look like an arena and are the buffer pool: one of at most 64 MiB may lie on an arena's boundary."""
    size, pages = known_or(facts.pool.size_bytes, 0), known_or(facts.pool.pages_data, 0)
    return pages * known_or(facts.pool.page_size_bytes, 16384) if size <= _ARENA_BYTES else 0


def known_reason(value: object) -> str:
    """Return why a fact is unknown; empty where it is known."""
    return value.reason if isinstance(value, Unknown) else ""


def _nothing(code: str, message: str) -> MemoryForecast:
    return MemoryForecast("no_gain_expected", (Note(code, message),), None, Range.exactly(0))


def _from_held(held: int, facts: Facts, settings: Settings) -> MemoryForecast:
    saving = _likely_share(facts).mapped(lambda share: held * share)
    whole = known_or(facts.memory.rss_bytes, held) + known_or(facts.memory.swap_bytes, 0)
    noticeable = noticeable_bytes(whole)
    against = tuple(_against(held, whole, facts, settings))
    sizes = f"heap and arenas hold {shown_bytes(held)} of {shown_bytes(whole)}"
    if saving.high < noticeable:
        return MemoryForecast("no_gain_expected", (Note("arenas_small", sizes), *against), held, saving)
    likely = Note("arenas_large", f"{sizes}; {shown_bytes(saving.low)} to {shown_bytes(saving.high)} may come back")
    if _thp_always(facts) or saving.mid < noticeable:
        return MemoryForecast("cannot_tell", (likely, *against), held, saving)
    return MemoryForecast("gain", (likely, *against), held, saving)


def noticeable_bytes(whole: float) -> float:
    """Return from how many bytes on a change of a process of `whole` bytes is called one."""
    return max(_NOTICEABLE_BYTES, whole * _NOTICEABLE_SHARE)


def _likely_share(facts: Facts) -> Range:
    on_disk = _disk_share(facts)
    if on_disk is None:
        return OTHER_SHARE
    return IN_MEMORY_SHARE if on_disk <= _MOSTLY_IN_MEMORY else ON_DISK_SHARE


def _disk_share(facts: Facts) -> float | None:
    """Return the share of tmp tables that went to disk, None where that is unknown or few statements make any."""
    workload = facts.workload
    made, on_disk, questions = workload.created_tmp_tables, workload.created_tmp_disk_tables, workload.questions
    if isinstance(made, Unknown) or isinstance(on_disk, Unknown) or isinstance(questions, Unknown) or not made:
        return None
    return on_disk / made if made >= questions * _MANY_TMP_TABLES else None


def _against(held: int, whole: int, facts: Facts, settings: Settings) -> Iterator[Note]:
    """Yield what speaks against a saving, or for looking at it with care."""
    connections = known_or(facts.workload.max_used_connections, None)
    if connections is not None and connections < _FEW_CONNECTIONS:
        yield Note("few_connections", f"at most {connections} connections were ever open at once")
    pool = known_or(facts.pool.size_bytes, 0)
    if whole - held >= _DOMINATED * whole and pool >= whole / 2:
        yield Note("pool_dominates", f"most of the server's memory is the buffer pool of {shown_bytes(pool)}")
    if held >= _NOTICEABLE_BYTES and (_disk_share(facts) or 0.0) > _MOSTLY_IN_MEMORY:
        yield Note("tmp_on_disk", "most tmp tables go to disk: what they leave in memory no allocator gives back")
    if _thp_always(facts):
        yield Note("thp_always", "transparent_hugepage is always: with jemalloc the memory in use may even grow")
    if held >= _NOTICEABLE_BYTES and "background_thread:true" not in settings.malloc_conf:
        yield Note("decay_idle", "without background_thread:true an idle server gives back little of what it freed")
    swapped = known_or(facts.memory.swap_bytes, 0)
    if swapped:
        yield Note("in_swap", f"{shown_bytes(swapped)} of the server are in swap: RSS and swap are compared together")


def _thp_always(facts: Facts) -> bool:
    return known_or(facts.system.transparent_hugepage, "") == "always"
