"""Fit the workload of hosts: one by one, or many side by side."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from rollout.facts.model import Facts
from rollout.prediction.contention import evicts
from rollout.prediction.fit import Fitted, fit
from rollout.prediction.live import policy_of, predict
from rollout.prediction.model import Note, Prediction
from rollout.prediction.observed import observed
from rollout.prediction.rates import rates
from rollout.prediction.what_if import what_if
from rollout.settings import Settings
from rollout.versions import FixStatus


@dataclass(frozen=True)
class Probed:
    """One host for which a prediction is wanted: two probes (or one), and what is planned there."""

    first: Facts
    second: Facts | None
    fix: FixStatus
    settings: Settings


def fit_host(first: Facts, second: Facts | None, settings: Settings) -> Fitted | Note:
    """Fit the simulator to what two probes saw, or say why that cannot be done. The first call loads numba."""
    last = second or first
    policy = policy_of(last, settings)
    if policy is None:
        return Note("bad_fit", "the workload is not fitted: how this server keeps its list is not known")
    seen = observed(rates(first, second), last, policy)
    return seen if isinstance(seen, Note) else fit(seen)


def predict_fitted(host: Probed) -> Prediction:
    """Fit one host where that can bear on its prediction, and predict it.

    Only a host that gets the fix is fitted, since for all others the policy stays as it is, and only where pages have
    to leave the pool, since else the policy has no say in what is cached.
    """
    bears = host.fix == "available" and evicts((host.second or host.first).pool)
    found = fit_host(host.first, host.second, host.settings) if bears else None
    if not isinstance(found, Fitted):
        return predict(host.first, host.second, fix=host.fix, settings=host.settings)
    fitted = replace(found, summary=replace(found.summary, what_if=what_if(found)))
    return predict(host.first, host.second, fix=host.fix, settings=host.settings, fitted=fitted)


def predict_all(hosts: Sequence[Probed], workers: int | None = None) -> list[Prediction]:
    """Predict hosts side by side, in their order. Threads do: kernels run without the interpreter's lock."""
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        return list(pool.map(predict_fitted, hosts))
