"""Operations a query for a described workload: by rule where it holds, else from the simulator."""

from rollout.errors import UsageProblem
from rollout.prediction.rule import Operations, by_rule, rule_holds
from rollout.prediction.workload import DescribedWorkload, PolicyName


def operations(work: DescribedWorkload, policy: PolicyName, unread_share: float) -> Operations:
    """Return the operations of one query of `work` under `policy`."""
    if not rule_holds(work):
        raise UsageProblem("only uniform reads of data that fit in the pool can be predicted yet")
    return by_rule(work, policy, unread_share)
