"""What the backup of a rollout does to the buffer pool."""

from rollout.facts.model import Facts, Pool
from rollout.facts.unknown import known_or
from rollout.prediction.model import BackupEffect, Note
from rollout.prediction.rule import old_ratio
from rollout.prediction.sizes import shown_bytes
from rollout.settings import Settings


def backup_effect(facts: Facts, settings: Settings) -> BackupEffect:
    """Return what the chosen method does: nothing for a physical backup, a walk through the pool for a dump."""
    method = settings.backup_method
    if method == "none":
        return BackupEffect(method, Note("backup_beside_pool", "no backup is taken"), 0, 0.0)
    if method == "mariadb-backup":
        reason = Note("backup_beside_pool", "mariadb-backup reads files: the buffer pool is not touched")
        return BackupEffect(method, reason, 0, 0.0)
    size, share = known_or(facts.pool.data_bytes, None), replaced_share(facts.pool)
    return BackupEffect(method, Note("dump_pollutes", _sentence(size, share, facts.pool)), size, share)


def replaced_share(pool: Pool) -> float | None:
    """Return the largest share of the pool's pages that one dump may replace; None where sizes are not known.

    Free frames are used first. With `innodb_old_blocks_time` above 0 the touches of one page by a dump fall within
    that time, so its pages stay in the old sublist; with 0 they go to the head and may take the whole list.
    """
    size, capacity = known_or(pool.data_bytes, None), known_or(pool.size_bytes, None)
    if size is None or not capacity:
        return None
    free = known_or(pool.pages_free, 0) * known_or(pool.page_size_bytes, 16384)
    if size <= free:
        return 0.0
    limit = 1.0 if known_or(pool.old_blocks_time_ms, 0) == 0 else old_ratio(known_or(pool.old_blocks_pct, 37))
    return min(limit, (size - free) / capacity)


def _sentence(size: int | None, share: float | None, pool: Pool) -> str:
    if size is None or share is None:
        return "a dump reads all tables through the buffer pool; how much that is could not be read"
    kept = "" if known_or(pool.old_blocks_time_ms, 0) == 0 else ": innodb_old_blocks_time keeps the rest"
    return (
        f"a dump reads up to {shown_bytes(size)} through the buffer pool and may replace {share:.0%} of its pages{kept}"
    )
