"""What a simulation counts, in the server's terms."""

from dataclasses import dataclass, fields

from rollout.simulator.state import Records


@dataclass(frozen=True)
class Counters:
    """Sums of one run.

    `hits` and `misses` are page reads that found, or did not find, their page in the pool. `made_young` are moves of
    old pages (the server's counter), `young_moves` moves of young ones, which no server counts; with the sweeping
    policies both happen when a sweep looks. `mutex_acquisitions` are those of `buf_pool.mutex` by the table of
    `docs/simulator.md`. `seconds` is kernel time alone.
    """

    policy: str
    frames: int
    hits: int = 0
    misses: int = 0
    created: int = 0
    freed: int = 0
    made_young: int = 0
    young_moves: int = 0
    made_not_young: int = 0
    mutex_acquisitions: int = 0
    evictions: int = 0
    read_ahead: int = 0
    read_ahead_evicted: int = 0
    pages_written: int = 0
    waits: int = 0
    length: int = 0
    old_length: int = 0
    seconds: float = 0.0

    @property
    def accesses(self) -> int:
        """Return the number of page reads and writes."""
        return self.hits + self.misses

    @property
    def hit_ratio(self) -> float | None:
        """Return hits by accesses; None when nothing was read."""
        return self.hits / self.accesses if self.accesses else None

    @property
    def accesses_per_second(self) -> float | None:
        """Return the speed of the kernel; None when it was too short to measure."""
        return self.accesses / self.seconds if self.seconds > 0 else None

    def since(self, earlier: "Counters") -> "Counters":
        """Return what was counted after `earlier`; lengths are those of now."""
        sums = {name: getattr(self, name) - getattr(earlier, name) for name in SUMS}
        return Counters(self.policy, self.frames, length=self.length, old_length=self.old_length, **sums)


SUMS = tuple(f.name for f in fields(Counters) if f.name not in ("policy", "frames", "length", "old_length"))


def read_counters(policy: str, pools: Records, seconds: float) -> Counters:
    """Add up the records of a pool's instances."""
    names = [name for name in (*SUMS, "length", "old_length") if name != "seconds"]
    sums = {name: int(pools[name].sum()) for name in names}
    return Counters(policy, int(pools["frames"].sum()), seconds=seconds, **sums)
