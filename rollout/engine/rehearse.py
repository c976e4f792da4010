"""`apply --check`: everything that preflight tries, on every host, and nothing left behind."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rollout.engine import lock
from rollout.engine.look import fresh_facts, its_unit
from rollout.engine.preflight import Tried, preflight
from rollout.engine.run_folder import new_run_id
from rollout.engine.steps import HostRun, Options
from rollout.engine.variables import at_restart
from rollout.errors import CommandFailed, WrongState
from rollout.facts.model import Facts, Unit
from rollout.plan.build import drifted, still_needed
from rollout.plan.model import HostPlan, Plan
from rollout.remote import open_transport
from rollout.remote.pool import Done, run_on_all
from rollout.settings import Host
from rollout.windows import why_closed


def rehearse(plan: Plan, hosts: Mapping[str, Host], options: Options, forks: int) -> dict[str, tuple[Tried, ...]]:
    """Return what preflight tried on each host, by name; a host's fault becomes a failed entry of its own.

    Each host is locked for that time. What was fetched lies in the run's folder on the host and goes with the lock.
    """
    work = partial(_try_out, plan, options)
    found = run_on_all(hosts.values(), work, forks)
    return {
        name: end.value if isinstance(end, Done) else (Tried("host", "fail", str(end.error)),)
        for name, end in found.items()
    }


def _try_out(plan: Plan, options: Options, host: Host) -> tuple[Tried, ...]:
    row = plan.host(host.name) or HostPlan(name=host.name, status="ok")
    transport = open_transport(host)
    run = HostRun(
        run_id=new_run_id(),
        host=host,
        plan=row,
        kinds=plan.playbook.changes,
        transport=transport,
        folder=Path(),
        record=lambda *_words, **_data: None,
        options=options,
        phases=plan.playbook.phases,
    )
    try:
        lock.take(run)
        try:
            return _tried(run)
        finally:
            lock.give_back(run)
    finally:
        transport.close()


def _tried(run: HostRun) -> tuple[Tried, ...]:
    facts = fresh_facts(run, refresh=True)
    stale = drifted(run.plan, facts, run.host, run.kinds)
    if stale:
        return (Tried("plan", "fail", stale),)
    if not still_needed(facts, run.host, run.kinds):
        return (Tried("plan", "pass", "nothing is left to do"),)
    unit = its_unit(run, facts)
    tried = (Tried("plan", "pass", "the host still needs what was planned"), *preflight(run, facts, unit))
    return (*tried, _variables(run, facts, unit), *_window(run))


def _window(run: HostRun) -> tuple[Tried, ...]:
    window = run.host.settings.window
    shut = why_closed(window, datetime.now(UTC))
    found = Tried("window", "warn", shut) if shut else Tried("window", "pass", "its window is open")
    return (found,) if window else ()


def _variables(run: HostRun, facts: Facts, unit: Unit) -> Tried:
    try:
        found = at_restart(run, facts, unit)
    except (WrongState, CommandFailed) as problem:
        return Tried("variables", "warn", f"not known: {problem.message}")
    if found:
        return Tried("variables", "warn", "; ".join(one.told for one in found))
    return Tried("variables", "pass", "no variable changes at the restart")
