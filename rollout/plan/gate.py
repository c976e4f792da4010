"""The health gate of one host after its change: does it serve as it did before. Pure: samples in, results out.

Speed is compared only where it can be: the pool must be warm again, and the host must be asked about as much as
before (`Questions` a second). Where it cannot be compared the result is `skip` and says why; it is never a pass.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from rollout.checks.aftermath import error_log
from rollout.checks.model import CheckResult, Expectation, Judgement, Situation, asked, held, not_known, skipped
from rollout.checks.topology import replication, wsrep
from rollout.facts.model import Facts, Galera
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.prediction.rates import Rates, rates


@dataclass(frozen=True)
class Sample:
    """Two probes of one host some seconds apart, and the seconds that our own probe query took between them."""

    first: Facts
    second: Facts
    probe_seconds: tuple[float, ...] = ()


@dataclass(frozen=True)
class Margins:
    """How much worse than its baseline a host may be.

    A factor is on top of the baseline (1.5: half as much again); the number added to it keeps small baselines from
    failing on noise. `lag_seconds` is on top of the baseline's lag, so that a delayed replica may stay delayed.
    `same_load` is the share by which `Questions` a second may differ for speed to be comparable.
    """

    lag_seconds: int = 10
    warm_share: float = 0.9
    same_load: float = 0.25
    miss_ratio_factor: float = 1.5
    miss_ratio_added: float = 0.002
    latency_factor: float = 1.5
    latency_added_seconds: float = 0.005
    threads_factor: float = 1.5
    threads_added: float = 2.0


DEFAULT_MARGINS = Margins()


def gate(baseline: Sample, now: Sample, margins: Margins = DEFAULT_MARGINS) -> tuple[CheckResult, ...]:
    """Hold a host against its baseline. The gate is closed when any result is `fail`.

    Ids: gate_answers, gate_error_log, gate_replication, gate_lag, gate_wsrep, gate_hit_ratio, gate_latency,
    gate_threads.
    """
    situation = Situation(now.second, baseline.second, Expectation())
    judged = {
        "gate_answers": _answers(now.second),
        "gate_error_log": error_log(situation),
        "gate_replication": replication(situation),
        "gate_lag": _lag(baseline.second, now.second, margins),
        "gate_wsrep": wsrep(situation),
        **_speed(baseline, now, margins),
    }
    return tuple(
        CheckResult(name, one.status, one.expected, one.found, one.evidence, one.cause) for name, one in judged.items()
    )


def gate_closed(results: tuple[CheckResult, ...]) -> bool:
    """Whether the host must not be followed by another one."""
    return any(result.status == "fail" for result in results)


def why_cold(baseline: Facts, now: Facts, margins: Margins = DEFAULT_MARGINS) -> str:
    """Say why the buffer pool is not as warm as it was, empty when it is.

    Warm: a load of the dumped pages is not under way, and the pool holds its share of the baseline's data pages.
    """
    loading, before, after = now.pool.load_status, baseline.pool.pages_data, now.pool.pages_data
    if isinstance(before, Unknown) or isinstance(after, Unknown):
        return "how many pages the pool holds is not known"
    if known_or(loading, "").startswith(("Loading", "Loaded ")):
        return f"the pool's load is under way: {known_or(loading, '')}"
    if after < margins.warm_share * before:
        return f"the pool holds {after} of the {before} pages that it held before"
    return ""


def unsynced(peers: Mapping[str, Known[Galera | None]]) -> dict[str, str]:
    """Name the nodes of a cluster that forbid taking another one down, each with its state.

    A donor may stay Desynced after a failed transfer; a node that cannot be asked counts as not synced.
    """
    return {name: state for name, node in peers.items() if (state := _wsrep_state(node))}


def _wsrep_state(node: Known[Galera | None]) -> str:
    if isinstance(node, Unknown):
        return f"not known: {node.reason}"
    if node is None:
        return "no node of a cluster"
    synced = node.state == "Synced" and node.ready and node.connected and node.cluster_status == "Primary"
    return "" if synced else f"{node.state}, {node.cluster_status}"


def _answers(now: Facts) -> Judgement:
    expected, running = "a query is answered on the unit's socket", now.server.running
    if isinstance(running, Unknown):
        return not_known(expected, running)
    evidence = asked("mariadb --batch --execute 'SELECT VERSION()'", running.raw if running else "no answer")
    return held(running is not None, expected, str(running or "the server is down"), evidence)


def _lag(baseline: Facts, now: Facts, margins: Margins) -> Judgement:
    expected, channels = f"at most {margins.lag_seconds} s more behind than before", now.replication.channels
    if isinstance(channels, Unknown):
        return not_known(expected, channels)
    running = [one for one in channels if one.sql_running == "Yes"]
    if not running:
        return skipped(expected, "no replication channel runs here")
    earlier = {one.name: one.seconds_behind or 0 for one in known_or(baseline.replication.channels, ())}
    late = [
        one.seconds_behind is None or one.seconds_behind > earlier.get(one.name, 0) + margins.lag_seconds
        for one in running
    ]
    found = ", ".join("unknown" if one.seconds_behind is None else f"{one.seconds_behind} s" for one in running)
    evidence = asked("mariadb --execute 'SHOW ALL REPLICAS STATUS\\G'", found)
    return held(not any(late), expected, found, evidence)


def _speed(baseline: Sample, now: Sample, margins: Margins) -> dict[str, Judgement]:
    before, after = rates(baseline.first, baseline.second), rates(now.first, now.second)
    reset = next((note.message for note in (*before.fatal, *after.fatal) if note.code == "counter_reset"), "")
    unlike = reset or _unlike(before, after, margins)
    cold = reset or why_cold(baseline.second, now.second, margins)
    return {
        "gate_hit_ratio": _hit_ratio(before, after, cold, margins),
        "gate_latency": _latency(baseline, now, unlike or cold, margins),
        "gate_threads": _threads(before, after, unlike or cold, margins),
    }


def _unlike(before: Rates, after: Rates, margins: Margins) -> str:
    """Say why the host is not asked as much as before, empty when it is."""
    if isinstance(before.questions, Unknown) or isinstance(after.questions, Unknown):
        return "how much the host is asked is not known"
    if abs(after.questions - before.questions) <= margins.same_load * before.questions:
        return ""
    return f"the host is asked {after.questions:.0f} questions a second, before {before.questions:.0f}"


def _hit_ratio(before: Rates, after: Rates, cold: str, margins: Margins) -> Judgement:
    def sentence(limit: float) -> str:
        return f"at most {limit:.4f} of the page requests miss the pool"

    return _compare(
        _misses(before), _misses(after), cold, _limit(margins.miss_ratio_factor, margins.miss_ratio_added), sentence
    )


def _latency(baseline: Sample, now: Sample, unlike: str, margins: Margins) -> Judgement:
    def sentence(limit: float) -> str:
        return f"our probe query takes at most {1000 * limit:.1f} ms"

    limit = _limit(margins.latency_factor, margins.latency_added_seconds)
    return _compare(_typical(baseline), _typical(now), unlike, limit, sentence, scale=1000, unit=" ms")


def _threads(before: Rates, after: Rates, unlike: str, margins: Margins) -> Judgement:
    def sentence(limit: float) -> str:
        return f"at most {limit:.1f} statements at work at once"

    limit = _limit(margins.threads_factor, margins.threads_added)
    return _compare(before.running, after.running, unlike, limit, sentence)


def _limit(factor: float, added: float) -> Callable[[float], float]:
    return lambda base: factor * base + added


def _compare(
    before: Known[float],
    after: Known[float],
    incomparable: str,
    limit: Callable[[float], float],
    sentence: Callable[[float], str],
    *,
    scale: float = 1,
    unit: str = "",
) -> Judgement:
    """Hold a number against the limit that its baseline gives; what cannot be compared is skipped with the reason."""
    unknown = next((value.reason for value in (before, after) if isinstance(value, Unknown)), "")
    if isinstance(before, Unknown) or isinstance(after, Unknown) or incomparable:
        return skipped("no worse than before", f"not comparable: {incomparable or unknown}")
    most = limit(before)
    found = f"{scale * after:.4g}{unit}, before {scale * before:.4g}{unit}"
    return held(after <= most, sentence(most), found)


def _misses(seen: Rates) -> Known[float]:
    """Return the share of page requests that were read from disk (read-ahead included, as the server counts)."""
    requests, reads = seen.read_requests, seen.reads
    if isinstance(requests, Unknown):
        return requests
    if isinstance(reads, Unknown):
        return reads
    return reads / requests if requests > 0 else Unknown("no page was asked for between the two probes")


def _typical(sample: Sample) -> Known[float]:
    return median(sample.probe_seconds) if sample.probe_seconds else Unknown("our probe query was not timed")
