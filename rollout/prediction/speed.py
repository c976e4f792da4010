"""The verdict about speed: what is known, what forbids a prediction, and what the mutex then says."""

from collections.abc import Iterator
from dataclasses import dataclass

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.contention import Contention, evicts
from rollout.prediction.fit import Fitted
from rollout.prediction.model import Note, Verdict
from rollout.prediction.rates import Rates
from rollout.prediction.running import RunningPolicy
from rollout.versions import FixStatus

# Below this share of the mutex nobody can notice its use, at the dear end of the range.
IDLE_MUTEX = 0.05
# A highest rate that grows by less than this is no gain.
NOTICEABLE_RATIO = 1.05
# More misses than now is a loss: by this much of the reads, or by this factor where that is this much at least.
_NOTICEABLE_FALL = 0.005
_MISS_FACTOR, _SMALLEST_FALL = 1.25, 0.0005
_IDLE_QUERIES_PER_SECOND = 5.0
_WRITE_SHARE = 0.2
_DISK_BOUND_READS_PER_QUERY = 0.1
_DISK_BOUND_MISS_RATIO = 0.01


@dataclass(frozen=True)
class Speed:
    """Verdict and reasons about speed."""

    verdict: Verdict
    reasons: tuple[Note, ...]


def without_fix(fix: FixStatus, policy: RunningPolicy | None, facts: Facts) -> Speed | None:
    """Return the verdict where the change brings no fix, or none that can be judged; None where it does."""
    clock = tuple(_clock_at_zero(policy, facts))
    match fix:
        case "rehearsal":
            message = "the target is a rehearsal and does not carry the fix: nothing is promised for speed"
            return Speed("no_gain_expected", (Note("rehearsal_target", message), *clock))
        case "present":
            return Speed("no_gain_expected", (Note("running_has_fix", "the running server carries the fix already"),))
        case "no_fix_in_series":
            message = "no release of this series carries the fix (11.8 and 12.3 have it)"
            return Speed("no_gain_expected", (Note("series_without_fix", message), *clock))
        case "not_published":
            message = "the release with the fix is not in this host's repository: nothing changes for speed"
            return Speed("no_gain_expected", (Note("fix_not_here", message),))
        case "unknown":
            message = "whether a release with the fix can be had here is not known"
            return Speed("cannot_tell", (Note("policy_unknown", message),))
        case "available":
            return None


def judged(
    rates: Rates, policy: RunningPolicy | None, facts: Facts, found: Contention | None, fitted: Fitted | None
) -> Speed:
    """Return the verdict for a host that gets the fix."""
    if policy is None:
        return Speed("cannot_tell", (Note("policy_unknown", "how this server keeps its list is not known"),))
    clock = tuple(_clock_at_zero(policy, facts))
    if clock:
        return Speed("no_gain_expected", clock)
    forbidding = (*rates.fatal, *(_forbidding(rates, facts, found)))
    losses, misfits = tuple(_losses(fitted, facts)), tuple(_misfits(fitted, facts))
    if losses:
        return Speed("loss_possible", (*losses, *forbidding))
    if forbidding or found is None:
        return Speed("cannot_tell", (*forbidding, *misfits, *_if_idle(found)))
    if misfits:
        return Speed("cannot_tell", misfits)
    return _by_mutex(found)


def _misfits(fitted: Fitted | None, facts: Facts) -> Iterator[Note]:
    """Yield why the fitted workload is not to be believed, where pages have to leave the pool at all."""
    if fitted is not None and evicts(facts.pool) and not fitted.summary.good:
        summary = fitted.summary
        not_young, seen = summary.fitted_not_young_ratio, summary.observed_not_young_ratio
        third = "" if not_young is None or seen is None else f", old pages left alone {not_young:.4f} for {seen:.4f}"
        yield Note(
            "bad_fit",
            f"the simulated workload does not reproduce what was observed: misses {summary.fitted_miss_ratio:.4f} for "
            f"{summary.observed_miss_ratio:.4f} of the reads, promotions {summary.fitted_promotion_ratio:.4f} for "
            f"{summary.observed_promotion_ratio:.4f}{third}",
        )


def _losses(fitted: Fitted | None, facts: Facts) -> Iterator[Note]:
    """Yield what a good fit says against the fix, also where nothing can be said of the speed."""
    if fitted is None or not evicts(facts.pool) or not fitted.summary.good:
        return
    fall, missed = -fitted.change_of_hit_ratio, fitted.summary.fitted_miss_ratio
    if fall > _NOTICEABLE_FALL or fall > max(_SMALLEST_FALL, (_MISS_FACTOR - 1) * missed):
        message = f"on the fitted workload the hit ratio falls by {fall * 100:.2g} points"
        yield Note("hit_ratio_falls", f"{message}: {missed + fall:.2%} of the reads miss for {missed:.2%} now")


def _clock_at_zero(policy: RunningPolicy | None, facts: Facts) -> Iterator[Note]:
    if policy == "mariadb-10.4" and known_or(facts.pool.clock_started, None) is False:
        yield Note(
            "clock_at_zero",
            "10.4 has evicted no page since its start, so its clock is at zero and hits move no page: "
            "there is no mutex cost to take away",
        )


def _forbidding(rates: Rates, facts: Facts, found: Contention | None) -> Iterator[Note]:
    """Yield what forbids a prediction."""
    if rates.fatal:
        return
    yield from (note for note in rates.doubts if note.code == "counter_broken")
    if found is None:
        yield Note("counters_unknown", f"the counters of the buffer pool could not be read{_because(facts)}")
    questions = known_or(rates.questions, None)
    if questions is None:
        yield Note("counters_unknown", "the rate of queries could not be read")
    elif questions < _IDLE_QUERIES_PER_SECOND:
        yield Note("idle", f"the host serves {questions:.1f} queries a second while it is looked at: it is idle")
    else:
        yield from _unpublished(rates, questions)


def _unpublished(rates: Rates, questions: float) -> Iterator[Note]:
    """Yield the kinds of workload for which nobody has published runs."""
    if isinstance(rates.writes, Unknown) or isinstance(rates.selects, Unknown):
        yield Note("counters_unknown", "how many of the statements write could not be read")
    writes, selects, reads = (known_or(value, 0.0) for value in (rates.writes, rates.selects, rates.reads))
    share = writes / (writes + selects) if writes else 0.0
    if share > _WRITE_SHARE:
        message = f"{share:.0%} of the statements write: nobody has published mixed runs of the fix"
        yield Note("writes", message)
    requests = known_or(rates.read_requests, 0.0)
    missed = reads / requests if requests else 0.0
    if reads / questions >= _DISK_BOUND_READS_PER_QUERY and missed >= _DISK_BOUND_MISS_RATIO:
        message = f"{missed:.1%} of the page reads go to the disk ({reads:,.0f} a second): the host is I/O-bound"
        yield Note("io_bound", message)


def _because(facts: Facts) -> str:
    reads = facts.pool.reads
    return "" if isinstance(reads, int) else f": {reads.reason}"


def _if_idle(found: Contention | None) -> Iterator[Note]:
    if found is not None and found.utilisation.high < IDLE_MUTEX:
        yield Note("mutex_idle", _used(found))


def _used(found: Contention) -> str:
    return f"{_percent(found.utilisation.mid)} of one mutex is used ({_span(found)})"


def _by_mutex(found: Contention) -> Speed:
    if found.utilisation.high < IDLE_MUTEX:
        return Speed("no_gain_expected", (Note("mutex_idle", _used(found)),))
    ratio = found.capacity_ratio
    if ratio is None:
        note = Note("counters_unknown", f"{_used(found)}, but CPU time, cores or statements at work are not known")
        return Speed("cannot_tell", (note,))
    ends = f"the highest rate it can serve grows {ratio.mid:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})"
    if ratio.high < NOTICEABLE_RATIO:
        message = f"{_used(found)}; workers or cores end before the mutex does: {ends}"
        return Speed("no_gain_expected", (Note("workers_too_few", message),))
    if ratio.mid < NOTICEABLE_RATIO:
        return Speed("cannot_tell", (Note("range_too_wide", f"{_used(found)}; {ends}"),))
    return Speed("gain", (Note("mutex_limits", f"{_used(found)}; {ends}"),))


def _span(found: Contention) -> str:
    return f"{_percent(found.utilisation.low)} to {_percent(found.utilisation.high)}"


def _percent(share: float) -> str:
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"
