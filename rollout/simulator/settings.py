"""What a simulated server is told: pool size, `innodb_old_blocks_*`, the page cleaner, and constants of its source."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rollout.errors import UsageProblem

POLICIES = (
    *("lru", "mariadb-10.4", "mariadb-10.5", "mariadb-fix"),
    *("lazy-accessed", "never-promote", "clock-sweep", "optimal"),
)
PAGE_BYTES = 16384
EXTENT_BYTES = 8 << 20
EXTENT_FRAMES = 507  # 5 of 512 page slots of an extent hold the descriptors of the others (MDEV-29445)
INSTANCES_FROM_FRAMES = (1 << 30) // PAGE_BYTES  # `innodb_buffer_pool_instances` counts from 1 GiB on


@dataclass(frozen=True)
class Constants:
    """Numbers of the server's source that do not scale with the pool; a miniature scales them with the rest."""

    old_min_length: int = 512  # BUF_LRU_OLD_MIN_LEN
    old_tolerance: int = 20  # BUF_LRU_OLD_TOLERANCE
    young_min_length: int = 5  # BUF_LRU_NON_OLD_MIN_LEN
    eviction_floor: int = 256  # BUF_LRU_MIN_LEN
    user_scan: int = 100  # blocks that a thread without a frame looks at first

    def scaled(self, rate: float) -> "Constants":
        """Return the constants for a pool of `rate` times the frames; the smallest that still make a midpoint."""
        return Constants(
            old_min_length=max(round(self.old_min_length * rate), 32),
            old_tolerance=int(self.old_tolerance * rate),
            young_min_length=max(round(self.young_min_length * rate), 1),
            eviction_floor=max(round(self.eviction_floor * rate), 16),
            user_scan=max(round(self.user_scan * rate), 8),
        )


@dataclass(frozen=True)
class PoolSettings:
    """Server variables and the little that the simulation adds to them.

    `read_ahead_threshold` 0 leaves linear read-ahead out: it means something only where page numbers are those of
    one tablespace. `clock_start` is the number of pages that left the list before the trace begins; None stands for
    0 with `mariadb-10.4` and 1 with `mariadb-10.5`, whose clock starts with the first pages that purge frees.
    """

    old_blocks_pct: int = 37
    old_blocks_time_ms: int = 1000
    lru_scan_depth: int = 1536
    read_ahead_threshold: int = 0
    instances: int = 8
    page_cleaner: bool = True
    flush_pages_per_second: int = 200
    lru_writes_per_batch: int = 2000
    repaired_wrap: bool = False
    clock_start: int | None = None
    constants: Constants = field(default_factory=Constants)

    def __post_init__(self) -> None:
        """Refuse values that the server would refuse, all of them at once."""
        wrong = list(_mistakes(self))
        if wrong:
            raise UsageProblem("; ".join(wrong))

    @property
    def old_ratio(self) -> int:
        """Return the share of the old sublist in 1024ths, as the server keeps it."""
        return min(max(self.old_blocks_pct * 1024 // 100, 51), 1024)

    @property
    def threshold_ticks(self) -> int:
        """Return `innodb_old_blocks_time` as the fix keeps it: whole seconds, rounded up, at most 65534."""
        return min((self.old_blocks_time_ms + 999) // 1000, 65534)

    def window(self, frames: int) -> int:
        """Return how many pages may leave the list before a young page counts as fallen behind."""
        return frames * (1024 - self.old_ratio) // 4096

    def instances_for(self, policy: str, frames: int) -> int:
        """Return the number of pool instances: more than one only in 10.4, and only from 1 GiB on."""
        return self.instances if policy == "mariadb-10.4" and frames >= INSTANCES_FROM_FRAMES else 1

    def scaled(self, rate: float) -> "PoolSettings":
        """Return the settings of a pool of `rate` times the frames."""
        return replace(
            self,
            lru_scan_depth=max(round(self.lru_scan_depth * rate), 2),
            flush_pages_per_second=max(round(self.flush_pages_per_second * rate), 1),
            lru_writes_per_batch=max(round(self.lru_writes_per_batch * rate), 1),
            instances=1,
            constants=self.constants.scaled(rate),
        )


def _mistakes(settings: PoolSettings) -> Iterator[str]:
    """Yield what is wrong with the settings, in words."""
    limits = {
        "old_blocks_pct": (5, 95),
        "old_blocks_time_ms": (0, 0xFFFFFFFF),
        "lru_scan_depth": (1, 0xFFFFFFFF),
        "read_ahead_threshold": (0, 64),
        "instances": (1, 64),
        "flush_pages_per_second": (0, 0xFFFFFFFF),
        "lru_writes_per_batch": (0, 0xFFFFFFFF),
    }
    for name, (least, most) in limits.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            yield f"{name} is {value}: it goes from {least} to {most}"
    constants = settings.constants
    shortest = constants.old_min_length * settings.old_ratio // 1024
    if constants.young_min_length < 1 or shortest <= constants.old_tolerance:
        yield f"a list of {constants.old_min_length} pages has no room for a midpoint within these constants"


def frames_of(pool_bytes: int) -> int:
    """Return the frames of a pool of 16 KiB pages in the layout of 10.11.12, 11.4.6 and 11.8 on (MDEV-29445)."""
    extents, rest = divmod(pool_bytes, EXTENT_BYTES)
    return extents * EXTENT_FRAMES + max(rest // PAGE_BYTES - 5, 0)
