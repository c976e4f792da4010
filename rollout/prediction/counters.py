"""Operations a query for a described workload: by rule where it holds, else from the simulator."""

from functools import cache
from math import log

from rollout.prediction.frames import frames
from rollout.prediction.miniature import Pool, Reads, run
from rollout.prediction.rule import Operations, by_rule, rule_holds
from rollout.prediction.workload import DescribedWorkload, Pareto, PolicyName, Zipf


def operations(work: DescribedWorkload, policy: PolicyName, unread_share: float) -> Operations:
    """Return the operations of one query of `work` under `policy`.

    A simulated run reads leaves at the rate that the threads would reach if the mutex cost nothing, because
    `innodb_old_blocks_time` is in real time. Its hit ratio is that of leaf reads.
    """
    if rule_holds(work):
        return by_rule(work, policy, unread_share)
    pages = max(2, work.data_bytes // work.page_bytes)
    leaf_reads = work.threads / (work.think_us(policy) * 1e-6) * work.leaf_reads_per_query
    pool = Pool(
        frames(work.pool_bytes, work.page_bytes), work.old_blocks_pct, work.old_blocks_time_ms, work.lru_scan_depth
    )
    # Where pages have to leave, those that nobody reads have left already.
    unread = round(pages * unread_share / (1 - unread_share)) if pages < pool.frames else 0
    reads = Reads(pages, exponent(work), leaf_reads, unread=unread)
    return _simulated(policy, reads, pool, work.leaf_reads_per_query)


def exponent(work: DescribedWorkload) -> float:
    """Return the power with which reads fall over the ranks; Pareto's cumulative share of x is x ** (ln w / ln s)."""
    match work.access:
        case Zipf(zipf=power):
            return power
        case Pareto(pareto=(share, weight)):
            return 1 - log(weight) / log(share)
        case _:
            return 0.0


@cache
def _simulated(policy: PolicyName, reads: Reads, pool: Pool, leaf_reads_per_query: float) -> Operations:
    missing = max(0.02, 1 - pool.frames / reads.pages)
    outcome = run(policy, reads, pool, missing)
    each = leaf_reads_per_query / reads.leaf_reads
    return Operations(
        promotions=outcome.promotions * each,
        mutex=outcome.mutex * each,
        hit_ratio=max(0.0, 1 - outcome.reads / reads.leaf_reads),
    )
