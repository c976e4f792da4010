"""The soak: the host serves for a while, then it is held against its baseline, and the prediction against both."""

import time
from dataclasses import asdict

from rollout.checks.model import CheckResult
from rollout.engine.look import fresh_facts, keep_facts, kept_facts
from rollout.engine.steps import HostRun
from rollout.facts.model import Facts
from rollout.journal import dump_synced
from rollout.plan.gate import Sample, gate
from rollout.prediction.compare import compare
from rollout.prediction.model import prediction_from_json

# Between the two probes of a sample lies a tenth of the soak, within these bounds.
SHORTEST_SAMPLE_SECONDS, LONGEST_SAMPLE_SECONDS = 1.0, 10.0


def take_sample(run: HostRun, moment: str) -> Sample:
    """Probe the host twice and keep both as facts-MOMENT.json and facts-MOMENT-2.json."""
    first = fresh_facts(run)
    keep_facts(run, moment, first)
    time.sleep(min(LONGEST_SAMPLE_SECONDS, max(SHORTEST_SAMPLE_SECONDS, run.host.settings.soak_seconds / 10)))
    second = fresh_facts(run)
    keep_facts(run, f"{moment}-2", second)
    return Sample(first, second)


def kept_sample(run: HostRun, moment: str) -> Sample:
    """Read back what `take_sample` kept."""
    return Sample(kept_facts(run, moment), kept_facts(run, f"{moment}-2"))


def soak(run: HostRun) -> tuple[CheckResult, ...]:
    """Wait `soak_seconds`, hold the host against its baseline, and put the prediction beside what was measured.

    A replica that still catches up, or a node that is not Synced yet, is waited for, `settle_seconds` at most.
    Returns the results of the health gate; the comparison is kept in the run's folder.
    """
    if "soak" not in run.phases:
        return ()
    before = kept_sample(run, "before")
    if before.second.server.running is None:
        return ()  # it was stopped, and stays so: nothing serves that could be held against a baseline
    time.sleep(run.host.settings.soak_seconds)
    deadline = time.monotonic() + run.host.settings.settle_seconds
    while True:
        now = take_sample(run, "soaked")
        results = gate(before, now)
        if not _catching_up(results) or time.monotonic() > deadline:
            break
    dump_synced(run.folder / "gate.json", [asdict(result) for result in results])
    _compare(run, (before.first, before.second), (now.first, now.second))
    return results


def _catching_up(results: tuple[CheckResult, ...]) -> bool:
    return any(result.status == "fail" and result.id in ("gate_lag", "gate_wsrep") for result in results)


def _compare(run: HostRun, before: tuple[Facts, Facts], now: tuple[Facts, Facts]) -> None:
    if run.plan.prediction is not None:
        prediction = prediction_from_json(run.name, run.plan.prediction)
        dump_synced(run.folder / "comparison.json", compare(prediction, before, now).to_json())
