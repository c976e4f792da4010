"""Settings and circumstances of a host that a person should know of before the change."""

from collections.abc import Iterator

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.model import BackupEffect, Note
from rollout.prediction.rates import Rates
from rollout.versions import FixStatus

# The fix keeps ages in 16 bits of seconds and caps innodb_old_blocks_time there (lru.md, 7.1).
CEILING_MS = 65_534_000
WORKAROUND_MS = 2**31 - 1


def cautions(facts: Facts, rates: Rates, fix: FixStatus, backup: BackupEffect) -> Iterator[Note]:
    """Yield the warnings of one host."""
    yield from _old_blocks_time(facts, fix)
    if fix == "no_fix_in_series":
        yield Note(
            "series_without_fix",
            "this series has no release with the fix; 11.8 (from 11.8.10) and 12.3 (from 12.3.4) have it. "
            "No major upgrade is made here; jemalloc still applies",
        )
    if fix == "rehearsal":
        yield Note("rehearsal_target", "the target release is a rehearsal: it does not carry the fix")
    yield from _benchmark_settings(facts)
    if backup.reason.code == "dump_pollutes":
        yield backup.reason
    yield from rates.doubts


def _old_blocks_time(facts: Facts, fix: FixStatus) -> Iterator[Note]:
    time_ms = known_or(facts.pool.old_blocks_time_ms, None)
    if time_ms is None:
        return
    if time_ms == WORKAROUND_MS:
        yield Note(
            "old_blocks_time_workaround",
            "innodb_old_blocks_time=2147483647 keeps every page that was read after the pool filled in the old "
            "sublist, where it leaves first in, first out however hot it is. The fix caps it at 18.2 h",
        )
    elif time_ms > CEILING_MS:
        yield Note(
            "old_blocks_time_above_ceiling", f"the fix caps innodb_old_blocks_time={time_ms} at 65534000 (18.2 h)"
        )
    elif time_ms % 1000 and fix == "available":
        seconds = -(-time_ms // 1000)
        yield Note(
            "old_blocks_time_rounded", f"innodb_old_blocks_time={time_ms} acts as {seconds} s: the fix counts seconds"
        )


def _benchmark_settings(facts: Facts) -> Iterator[Note]:
    dirty = known_or(facts.pool.max_dirty_pages_pct, None)
    if dirty is not None and dirty <= 1:
        yield Note(
            "benchmark_dirty_pages", f"innodb_max_dirty_pages_pct={dirty:g} is a benchmark's setting, and not advised"
        )
    datadir = facts.storage.datadir
    if not isinstance(datadir, Unknown) and datadir is not None and datadir.filesystem == "tmpfs":
        yield Note("datadir_on_tmpfs", f"{datadir.path} is on a tmpfs: all data is gone at a reboot")
