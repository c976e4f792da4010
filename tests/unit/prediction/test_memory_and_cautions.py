"""Memory that may come back, what a backup does to the pool, and the warnings."""

import pytest
import recorded_hosts as hosts

from rollout.facts.model import Facts, PathFacts
from rollout.facts.unknown import Unknown
from rollout.prediction.backup import backup_effect, replaced_share
from rollout.prediction.live import predict
from rollout.prediction.memory import memory_forecast
from rollout.settings import Settings
from rollout.versions import FixStatus

MIB = 2**20
BOTH = Settings()
DUMP = Settings(backup_method="mariadb-dump")


def holding(heap: int, arenas: int, rss: int = 2048) -> Facts:
    """A host whose heap, arenas and resident memory are so many MiB."""
    sizes = {"heap_bytes": heap * MIB, "arena_bytes": arenas * MIB, "rss_bytes": rss * MIB}
    return hosts.with_facts(hosts.quiet(), memory=sizes)


@pytest.mark.parametrize(
    ("questions", "made", "on_disk", "mib", "told"),
    [
        (900, 1000, 167, [550, 800, 1050], False),  # as in the loads that gave 0.57 to 1.03
        (900, 1000, 438, [50, 400, 1050], True),  # as in the load that gave 0.06
        (54_000, 40, 6, [0, 400, 1050], False),  # point reads, and the probes' own: measured 0
        (54_000, 40, 30, [0, 400, 1050], False),  # what the probes send to disk says nothing of the load
        (900, 0, 0, [0, 400, 1050], False),  # nobody made one: nothing is known
        (900, Unknown("no login"), 0, [0, 400, 1050], False),
        (Unknown("no login"), 1000, 167, [0, 400, 1050], False),
    ],
)
def test_fat_arenas_come_back_in_part(
    questions: int | Unknown, made: int | Unknown, on_disk: int, mib: list[int], told: bool
) -> None:
    """1000 MiB in heap and arenas: most of it where tmp tables are in memory; on disk, or where few are made, any."""
    tables = {"questions": questions, "created_tmp_tables": made, "created_tmp_disk_tables": on_disk}
    found = memory_forecast(hosts.with_facts(holding(200, 800), workload=tables), BOTH)
    assert found.verdict == "gain"
    assert found.saving_bytes is not None
    assert [round(each / MIB) for each in vars(found.saving_bytes).values()] == mib
    assert "1000 MiB of 2.0 GiB; " in found.reasons[0].message
    assert ("tmp_on_disk" in {note.code for note in found.reasons}) is told


def test_small_arenas_are_no_gain() -> None:
    """50 MiB cannot give back what anybody would notice."""
    assert memory_forecast(holding(30, 20), BOTH).verdict == "no_gain_expected"


def test_a_small_pool_is_no_arena() -> None:
    """A pool of 64 MiB may look like an arena in smaps: its pages are taken off (measured on 11.8.9 with jemalloc)."""
    small = hosts.with_facts(holding(9, 66), pool={"size_bytes": 64 * MIB, "pages_data": 4000})
    assert memory_forecast(small, BOTH).held_bytes == (9 + 66) * MIB - 4000 * 16384


def test_in_between_nobody_can_tell() -> None:
    """120 MiB: none to 126 of it, noticeable from 102 on."""
    assert memory_forecast(holding(60, 60), BOTH).verdict == "cannot_tell"


def test_huge_pages_speak_against_it() -> None:
    """transparent_hugepage=always takes the promise away."""
    always = hosts.with_facts(holding(200, 800), system={"transparent_hugepage": "always"})
    found = memory_forecast(always, BOTH)
    assert found.verdict == "cannot_tell"
    assert "thp_always" in {note.code for note in found.reasons}


def test_an_idle_jemalloc_gives_back_little() -> None:
    """Without background_thread:true a reason against it is told, with it none."""
    awake = Settings(malloc_conf="background_thread:true,dirty_decay_ms:5000")
    told, untold = ({note.code for note in memory_forecast(holding(200, 800), each).reasons} for each in (BOTH, awake))
    assert "decay_idle" in told
    assert "decay_idle" not in untold


def test_swap_counts_as_memory() -> None:
    """A host in swap is judged by resident and swapped memory together."""
    swapped = hosts.with_facts(holding(200, 800), memory={"swap_bytes": 512 * MIB})
    found = memory_forecast(swapped, BOTH)
    assert "of 2.5 GiB" in found.reasons[0].message
    assert "in_swap" in {note.code for note in found.reasons}


@pytest.mark.parametrize("field", ["heap_bytes", "arena_bytes"])
def test_unread_smaps_give_no_figure(field: str) -> None:
    """Where smaps cannot be read there is no range, and the reason is told."""
    dark = hosts.with_facts(holding(1, 1), memory={field: Unknown("sudo was refused")})
    found = memory_forecast(dark, BOTH)
    assert (found.verdict, found.saving_bytes) == ("cannot_tell", None)
    assert "sudo was refused" in found.reasons[0].message


def test_another_allocator_is_not_guessed_at() -> None:
    """With tcmalloc nothing is promised."""
    other = hosts.with_facts(holding(1, 1), allocator={"version_malloc_library": "tcmalloc gperftools 2.10"})
    assert memory_forecast(other, BOTH).verdict == "cannot_tell"


def test_an_allocator_that_is_kept_saves_nothing() -> None:
    """rollout_allocator: keep."""
    found = memory_forecast(holding(200, 800), Settings(allocator="keep"))
    assert found.saving_bytes is not None
    assert found.saving_bytes.high == 0


def test_a_physical_backup_leaves_the_pool_alone() -> None:
    """mariadb-backup reads files."""
    effect = backup_effect(hosts.quiet(), BOTH)
    assert effect.bytes_through_pool == 0
    assert effect.reason.code == "backup_beside_pool"


@pytest.mark.parametrize(
    ("data", "free", "time_ms", "share"),
    [(2, 3, 1000, 0.0), (100, 0, 1000, 378 / 1024), (100, 0, 0, 1.0), (3, 2, 1000, 0.25), (3, 2, 0, 0.25)],
)
def test_what_a_dump_may_replace(data: int, free: int, time_ms: int, share: float) -> None:
    """Free frames first, then the old sublist, or the whole list where old_blocks_time is 0 (pool 4 GiB)."""
    sizes = {"data_bytes": data * hosts.GIB, "pages_free": free * hosts.GIB // 16384, "old_blocks_time_ms": time_ms}
    assert replaced_share(hosts.with_facts(hosts.quiet(), pool=sizes).pool) == pytest.approx(share)


def test_a_dump_is_a_warning() -> None:
    """A host that can only be dumped is told what that costs."""
    big = hosts.with_facts(hosts.quiet(), pool={"data_bytes": 40 * hosts.GIB, "pages_free": 0})
    warnings = {note.code: note.message for note in predict(big, None, fix="available", settings=DUMP).warnings}
    assert "reads up to 40 GiB through the buffer pool and may replace 37% of its pages" in warnings["dump_pollutes"]


def test_a_dump_of_unknown_size_is_a_warning_too() -> None:
    """Unknown sizes give no figure."""
    dark = hosts.with_facts(hosts.quiet(), pool={"data_bytes": Unknown("denied")})
    assert backup_effect(dark, DUMP).replaced_share is None


@pytest.mark.parametrize(
    ("time_ms", "code"),
    [
        (2_147_483_647, "old_blocks_time_workaround"),
        (65_534_001, "old_blocks_time_above_ceiling"),
        (1_500, "old_blocks_time_rounded"),
    ],
)
def test_old_blocks_time_that_the_fix_changes(time_ms: int, code: str) -> None:
    """Workaround, ceiling and rounding are told."""
    host = hosts.with_facts(hosts.quiet(), pool={"old_blocks_time_ms": time_ms})
    assert code in {note.code for note in predict(host, None, fix="available", settings=BOTH).warnings}


@pytest.mark.parametrize("time_ms", [1000, 65_534_000, 0])
def test_old_blocks_time_that_stays(time_ms: int) -> None:
    """Whole seconds below the ceiling need no word."""
    host = hosts.with_facts(hosts.quiet(), pool={"old_blocks_time_ms": time_ms})
    codes = {note.code for note in predict(host, None, fix="available", settings=BOTH).warnings}
    assert codes == {"no_second_probe"}


def test_settings_of_a_benchmark_are_not_left_unsaid() -> None:
    """max_dirty_pages_pct=1 and a data directory on tmpfs."""
    host = hosts.with_facts(
        hosts.quiet(),
        pool={"max_dirty_pages_pct": 1.0},
        storage={"datadir": PathFacts("/var/lib/mysql", True, 1, 2, "tmpfs", "/", 1, 1)},
    )
    codes = {note.code for note in predict(host, None, fix="available", settings=BOTH).warnings}
    assert codes >= {"benchmark_dirty_pages", "datadir_on_tmpfs"}


@pytest.mark.parametrize(
    ("fix", "code"), [("no_fix_in_series", "series_without_fix"), ("rehearsal", "rehearsal_target")]
)
def test_a_target_without_the_fix_is_a_warning(fix: FixStatus, code: str) -> None:
    """Series without the fix, and rehearsal targets, are named."""
    pair = hosts.large_in_memory()
    warnings = predict(*pair, fix=fix, settings=BOTH).warnings
    assert code in {note.code for note in warnings}
