"""`predict`: from two probes of a host to what the planned change is worth there. Pure."""

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.backup import backup_effect
from rollout.prediction.cautions import cautions
from rollout.prediction.contention import Contention, Load, contention, evicts, mutex_load
from rollout.prediction.fit import Fitted
from rollout.prediction.measured import hit_ratio
from rollout.prediction.memory import memory_forecast
from rollout.prediction.model import Note, NowAfter, Prediction
from rollout.prediction.mutex_cost import ASSUMED
from rollout.prediction.ranges import Range
from rollout.prediction.rates import Rates, rates
from rollout.prediction.running import RunningPolicy, running_policy
from rollout.prediction.speed import judged, without_fix
from rollout.settings import Settings
from rollout.versions import FixStatus

_NO_FIX_COMES: tuple[FixStatus, ...] = ("present", "no_fix_in_series", "not_published", "rehearsal")


def predict(
    first: Facts, second: Facts | None, *, fix: FixStatus, settings: Settings, fitted: Fitted | None = None
) -> Prediction:
    """Predict what the planned change is worth on one host.

    `first` and `second` are probes some seconds apart; without the second one, rates are means since the server's
    start. `fix` is where the host stands with regard to the fix (`versions.fix_status`), `settings` its own, `fitted`
    the simulated workload where one was fitted (`fitting.fit_host`).
    Nothing is raised for what is not known: it widens the range, or the verdict is `cannot_tell`.
    """
    last, seen = second or first, rates(first, second)
    policy = policy_of(last, settings)
    good = fitted if fitted and fitted.summary.good else None
    load = _load(seen, last, policy, good)
    found = contention(load, seen, last, ASSUMED) if load else None
    speed = without_fix(fix, policy, last) or judged(seen, policy, last, found, fitted)
    memory, backup = memory_forecast(last, settings), backup_effect(last, settings)
    about_speed = fix in ("available", "rehearsal") or settings.allocator == "keep"
    main = speed if about_speed else memory
    other = memory if about_speed else speed
    return Prediction(
        host=first.host,
        verdict=main.verdict,
        reasons=(*main.reasons, *_goodness(good), *other.reasons),
        driver=found.driver if found else "facts",
        mutex_utilisation=found.utilisation if found else None,
        capacity_ratio=_capacity(found, fix),
        latency_ms=_latency(found, fix),
        hit_ratio=_hit_ratio(seen, last, fix, good),
        promotions_per_read=_promotions(seen),
        memory=memory,
        backup=backup,
        warnings=tuple(cautions(last, seen, fix, backup)),
        fit=fitted.summary if fitted else None,
    )


def _goodness(good: Fitted | None) -> tuple[Note, ...]:
    """Show how well the fit reproduces what was observed; a bad one is a reason of its own."""
    if good is None:
        return ()
    summary = good.summary
    message = (
        f"the fitted workload misses {summary.fitted_miss_ratio:.2%} of the reads for "
        f"{summary.observed_miss_ratio:.2%} observed, "
        f"and promotes {summary.fitted_promotion_ratio:.2%} for {summary.observed_promotion_ratio:.2%}"
    )
    return (Note("fitted", message),)


def _load(seen: Rates, facts: Facts, policy: RunningPolicy | None, good: Fitted | None) -> Load | None:
    if policy is None or seen.fatal:
        return None
    return mutex_load(seen, facts.pool, policy, young_moves=good.now.young_moves if good else None)


def policy_of(facts: Facts, settings: Settings) -> RunningPolicy | None:
    """Return under which policy the running server keeps its list; None where that is not known."""
    version = facts.server.running
    if isinstance(version, Unknown) or version is None:
        return None
    return running_policy(version, settings.fix_releases)


def _capacity(found: Contention | None, fix: FixStatus) -> Range | None:
    if fix in _NO_FIX_COMES:
        return Range.exactly(1)
    return found.capacity_ratio if found else None


def _latency(found: Contention | None, fix: FixStatus) -> NowAfter:
    if found is None:
        return NowAfter(None, None)
    now = found.latency_ms.now
    return NowAfter(now, now) if fix in _NO_FIX_COMES else found.latency_ms


def _hit_ratio(seen: Rates, facts: Facts, fix: FixStatus, good: Fitted | None) -> NowAfter:
    """Hit ratio of read requests; it stays as it is where no fix comes, or where no page has to leave."""
    now = hit_ratio(seen, facts)
    if now is None or fix in _NO_FIX_COMES or not evicts(facts.pool):
        return NowAfter(now, now)
    return NowAfter(now, min(1.0, max(0.0, now + good.change_of_hit_ratio)) if good else None)


def _promotions(seen: Rates) -> float | None:
    moved, asked = known_or(seen.made_young, None), known_or(seen.read_requests, 0.0)
    return moved / asked if moved is not None and asked else None
