"""What one operation on `buf_pool.mutex` costs, and where that figure comes from."""

from dataclasses import dataclass

from rollout.prediction.ranges import Range

# The published run (100 random primary keys a query, uniform, in memory, 40 threads): 20,326 queries/s at a saturated
# mutex are 49.2 us of it a query. Rule: 36.9 operations a query where all listed pages are read, 33.3 where 5.4 % of
# them are not. So an operation is 1.33 to 1.49 us. The middle is the one for which no unread page has to be assumed.
_PUBLISHED_QUERIES_PER_SECOND = 20_326
_PUBLISHED_OPERATIONS_PER_QUERY = 100 * 378 / 1024
PUBLISHED_US = 1e6 / _PUBLISHED_QUERIES_PER_SECOND / _PUBLISHED_OPERATIONS_PER_QUERY


@dataclass(frozen=True)
class MutexCost:
    """Microseconds of one operation when nobody else asks (`alone`, s0), and when threads wait for it (`waited`, s)."""

    alone_us: Range
    waited_us: Range
    source: str


ASSUMED = MutexCost(
    alone_us=Range(0.05, 0.12, 0.3),
    waited_us=Range(1.0, PUBLISHED_US, 2.2),
    source=(
        "s from the published run on two Xeon Gold 6230R (1 / 20,326 queries/s / 36.9 operations = 1.33 us), "
        "1.0 to 2.2 us on hardware where nobody measured it; s0 is an assumption, 0.05 to 0.3 us"
    ),
)


def measured(low: float, mid: float, high: float) -> MutexCost:
    """Return the cost where `s` was measured on the host's own hardware, in microseconds."""
    alone = ASSUMED.alone_us.mapped(lambda value: min(value, low))
    return MutexCost(alone, Range(low, mid, high), "s as measured (mutex_us of the workload file); s0 is an assumption")
