"""How long a server will not answer, as a range, from what its host is like. Pure."""

from dataclasses import dataclass

from rollout.changes.model import Assessment
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.settings import ShorterStop

# A stop writes the dirty pages out: at 500 MB/s from a fast disk, at 50 MB/s from a slow one that others use too.
FLUSH_BYTES_PER_SECOND = (500e6, 50e6)
# From a process that is told to stop to a query that is answered, with nothing dirty and a small log to read.
BARE_RESTART_SECONDS = (0.3, 10.0)
# Between the stop in the old packages' scripts and the start in the new ones': unpacking and configuring.
TRANSACTION_SECONDS = (2.0, 60.0)


@dataclass(frozen=True)
class Downtime:
    """Seconds without an answer: the quickest and the slowest that is expected."""

    low: float
    high: float


def expected_downtime(facts: Facts, needs: Assessment, shorter: ShorterStop | None = None) -> Downtime:
    """Estimate the seconds without an answer for these changes. What is unknown widens the range.

    A shorter stop leaves the dirty pages that it allows; the slow end stays where it may run out of time.
    """
    flush_low, flush_high = _flush_seconds(facts, shorter)
    low, high = BARE_RESTART_SECONDS[0] + flush_low, BARE_RESTART_SECONDS[1] + flush_high
    if any(change.kind == "packages" and change.do for change in needs.changes):
        low, high = low + TRANSACTION_SECONDS[0], high + TRANSACTION_SECONDS[1]
    return Downtime(round(low, 1), round(high, 1))


def _flush_seconds(facts: Facts, shorter: ShorterStop | None) -> tuple[float, float]:
    page_bytes = known_or(facts.pool.page_size_bytes, 16384)
    dirty = facts.pool.pages_dirty
    fast, slow = FLUSH_BYTES_PER_SECOND
    most_bytes: float = known_or(facts.pool.size_bytes, 0) if isinstance(dirty, Unknown) else dirty * page_bytes
    least_bytes = 0 if isinstance(dirty, Unknown) else most_bytes
    if shorter:
        least_bytes = min(least_bytes, shorter.dirty_pages * page_bytes)
        left_bytes = most_bytes - shorter.wait_seconds * slow  # what a slow disk has not written in the time given
        most_bytes = min(most_bytes, max(shorter.dirty_pages * page_bytes, left_bytes))
    return least_bytes / fast, most_bytes / slow
