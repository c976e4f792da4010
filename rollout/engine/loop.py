"""The loop over hosts: asks the policy what to start, has the hosts walked, and writes down every word."""

import getpass
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rollout.changes.model import Kind
from rollout.engine.lookback import look_back
from rollout.engine.outcome import Outcome, gravest
from rollout.engine.rollback import roll_back
from rollout.engine.run_folder import OpenRun, reached_by_plan
from rollout.engine.steps import HostRun, Options
from rollout.engine.walk import apply_to
from rollout.errors import StalePlan, StoppedByPolicy
from rollout.journal import RunState, Status
from rollout.plan.judge import Standing, judge
from rollout.plan.left_out import left_out
from rollout.plan.model import HostPlan, Plan
from rollout.plan.way_back import WayBack, way_back
from rollout.remote import open_transport
from rollout.remote.pool import Done, run_on_all
from rollout.remote.pool import Outcome as RunOutcome
from rollout.settings import HookSet, Host
from rollout.windows import why_closed


@dataclass(frozen=True)
class RunResult:
    """How a run came out: each host's outcome, why it ended early (empty when it did not), and the exit code."""

    run_id: str
    outcomes: Mapping[str, Outcome]
    stopped: str
    exit_code: int


@dataclass(frozen=True)
class Stop:
    """Why a run ended before all its hosts were done, if it did, and whether the changed hosts are taken back."""

    reason: str = ""
    exit_code: int = 0
    go_back: bool = False


def identified(options: Options) -> Options:
    """Fill in who runs this, and where: it stands in locks and records."""
    return replace(options, operator=getpass.getuser(), controller=socket.gethostname())


def apply_plan(
    plan: Plan,
    hosts: Mapping[str, Host],
    run: OpenRun,
    options: Options,
    *,
    everyone: Mapping[str, Host] | None = None,
    earlier: RunState | None = None,
    go_on: Callable[[str], bool] = lambda _reason: False,
) -> RunResult:
    """Apply a plan to `hosts` (by name), or go on with what an `earlier` part of the same run left undone.

    `everyone` are all hosts of the plan: a node's cluster is asked whole, also when only some hosts are changed.
    `go_on` is asked where the policy wants a person's word between waves; without a person the run stops there.
    """
    names = [name for wave in plan.waves for name in wave if name in hosts]
    known = earlier.hosts if earlier else {}
    outcomes = {name: Outcome(known[name].status) for name in names if name in known and _settled(known[name].status)}
    about = {"skip_backup": options.skip_backup, "skip_hooks": options.skip_hooks}
    settled = {name: outcome.status for name, outcome in outcomes.items()}
    _start(run, "apply", names, options, plan_id=plan.plan_id, digest=plan.digest, settled=settled, **about)

    def work(host: Host) -> Outcome:
        row = plan.host(host.name)
        if row is None:
            raise StalePlan(f"{host.name} is not in the plan", hint="Make a fresh plan with: rollout plan")
        kinds = plan_kinds(plan)
        peers = _peers(plan, host.name, everyone or hosts)
        followers = {name: one for name, one in (everyone or hosts).items() if name in plan.after.get(host.name, ())}
        beside = {"peers": peers, "replicas": tuple(followers.values())}
        parts = {"plan": row, "kinds": kinds, "known": known.get(host.name), "phases": plan.playbook.phases}
        return _with_transport(run, host, options, apply_to, **beside, **parts)

    begun = frozenset(name for name, state in known.items() if state.change_began and not state.finished)
    stop = _walk_all(plan, hosts, outcomes, run, work, go_on=go_on, begun=begun)
    code = gravest([stop.exit_code, *(outcome.exit_code for outcome in outcomes.values())])
    if stop.go_back:
        taken_back = _back_again(plan, hosts, outcomes, run, options, everyone=everyone or hosts)
        outcomes |= taken_back
        code = gravest([code, *(outcome.exit_code for outcome in taken_back.values())])
    run.record("", "run_ended", stopped=stop.reason)
    return RunResult(run.folder.run_id, outcomes, stop.reason, code)


def roll_back_hosts(
    hosts: Mapping[str, Host],
    back: WayBack,
    run: OpenRun,
    options: Options,
    record_id: str,
    *,
    everyone: Mapping[str, Host] | None = None,
) -> RunResult:
    """Take the hosts back, wave after wave in the order given; `record_id` names the run, empty for the last one.

    `everyone` are all hosts of the inventory: before a node goes back, the others of its cluster are asked.
    """
    _start(run, "rollback", list(hosts), options, of=record_id, skip_hooks=options.skip_hooks)
    outcomes = _walk_back(hosts, back, run, options, record_id, everyone=everyone or hosts)
    run.record("", "run_ended", stopped="")
    return RunResult(run.folder.run_id, outcomes, "", gravest(outcome.exit_code for outcome in outcomes.values()))


def _back_again(
    plan: Plan,
    hosts: Mapping[str, Host],
    outcomes: Mapping[str, Outcome],
    run: OpenRun,
    options: Options,
    *,
    everyone: Mapping[str, Host],
) -> dict[str, Outcome]:
    """Take back what this run has changed, by what the hosts run now; one that must stay says why, and stays changed.

    The host whose failure is the reason may be a primary that runs the newer release, or of which nobody knows.
    """
    changed = {name: hosts[name] for name, outcome in outcomes.items() if outcome.status == "changed"}
    seen = look_back(list(changed.values()), everyone, run.folder.run_id)
    back = way_back(plan, everyone, changed, reached_by_plan(run.folder.state_dir, plan.plan_id), seen)

    def stays(name: str, _status: Status, why: str) -> Outcome:
        return replace(outcomes[name], error=f"not taken back: {why}", exit_code=1)

    return _walk_back(changed, back, run, options, run.folder.run_id, everyone=everyone, stays=stays)


def _left_alone(_name: str, status: Status, why: str) -> Outcome:
    return Outcome(status, why, exit_code=1)


def _walk_back(
    hosts: Mapping[str, Host],
    back: WayBack,
    run: OpenRun,
    options: Options,
    record_id: str,
    *,
    everyone: Mapping[str, Host],
    stays: Callable[[str, Status, str], Outcome] = _left_alone,
) -> dict[str, Outcome]:
    """Take hosts back wave after wave; `stays` gives the outcome of one that must not go back, with the reason."""

    def work(host: Host) -> Outcome:
        those = back.peers.get(host.name, frozenset())
        peers = tuple(other for name, other in everyone.items() if name in those)
        hooks = back.hooks.get(host.name, host.settings.hooks)
        return _taken_back(run, host, options, record_id, hooks=hooks, peers=peers)

    outcomes = {name: _note(run, name, stays(name, "blocked", why)) for name, why in back.refused.items()}
    for wave in back.waves:
        waiting = back.kept_waiting(wave, {name: outcome.status for name, outcome in outcomes.items()})
        outcomes |= {name: _note(run, name, stays(name, "skipped", why)) for name, why in waiting.items()}
        now = [hosts[name] for name in wave if name not in waiting]
        outcomes |= {name: _outcome(end, run) for name, end in run_on_all(now, work, len(wave)).items()}
    return outcomes


def _taken_back(
    run: OpenRun, host: Host, options: Options, record_id: str, *, hooks: HookSet, peers: tuple[Host, ...]
) -> Outcome:
    row = HostPlan(name=host.name, status="change", hooks=hooks)
    kinds: tuple[Kind, ...] = ("packages", "allocator")
    parts = {"plan": row, "kinds": kinds, "kind": "rollback", "record_id": record_id, "peers": peers}
    return _with_transport(run, host, options, roll_back, **parts)


def plan_kinds(plan: Plan) -> tuple[Kind, ...]:
    """Return the kinds of change that take part in a plan."""
    return plan.playbook.changes


def _peers(plan: Plan, name: str, hosts: Mapping[str, Host]) -> tuple[Host, ...]:
    others = {other for group in plan.one_at_a_time if name in group for other in group} - {name}
    return tuple(host for other, host in hosts.items() if other in others)


def _settled(status: str) -> bool:
    return status in ("changed", "ok")


def _walk_all(
    plan: Plan,
    hosts: Mapping[str, Host],
    outcomes: dict[str, Outcome],
    run: OpenRun,
    work: Callable[[Host], Outcome],
    *,
    go_on: Callable[[str], bool],
    begun: frozenset[str],
) -> Stop:
    """Start what the policy says until nothing is left, or it says stop. Hosts that were `begun` know no window."""
    named = (tuple(name for name in wave if name in hosts) for wave in plan.waves)
    waves = tuple(wave for wave in named if wave)
    for name, outcome in _refused(plan, [name for wave in waves for name in wave], run).items():
        outcomes.setdefault(name, _note(run, name, outcome))
    confirmed = 0
    while True:
        statuses = {name: outcome.status for name, outcome in outcomes.items()}
        closed = frozenset(name for name, outcome in outcomes.items() if outcome.gate_closed)
        standing = Standing(
            waves,
            statuses,
            failed_gates=closed,
            constraints=plan.constraints(),
            confirmed=confirmed,
            shut=_shut(plan, [host for name, host in hosts.items() if name not in begun]),
        )
        decision = judge(plan.policy, standing)
        for name, reason in decision.held_back.items():
            outcomes[name] = _note(run, name, Outcome("skipped", reason))
        if decision.action == "pause" and go_on(decision.reason):
            confirmed += 1
            continue
        if decision.action != "continue":
            reason = f"{decision.code}: {decision.reason}"
            return Stop(reason, StoppedByPolicy.exit_code, go_back=decision.action == "roll_back")
        if not decision.start:
            return Stop()
        ended = run_on_all([hosts[name] for name in decision.start], work, len(decision.start))
        for name, end in ended.items():
            outcomes[name] = _outcome(end, run)


def _shut(plan: Plan, hosts: Iterable[Host]) -> dict[str, str]:
    """Return the hosts that must not be begun now, each with the sentence that says when; those to be left as they are
    need no window.
    """
    rows = ((host, plan.host(host.name)) for host in hosts)
    windows = {host.name: host.settings.window for host, row in rows if row is not None and row.status == "change"}
    now = datetime.now(UTC)
    return {name: why for name, window in windows.items() if (why := why_closed(window, now))}


def _refused(plan: Plan, names: list[str], run: OpenRun) -> dict[str, Outcome]:
    """Return the outcomes of hosts that the plan, or what this run leaves out of it, does not let be changed."""
    found = {}
    for name in names:
        row = plan.host(name)
        if row is not None and row.status in ("blocked", "unreachable"):
            reasons = "; ".join(f"{finding.code}: {finding.message}" for finding in row.blockers)
            found[name] = Outcome(row.status, reasons, exit_code=1)
    for name, reason in left_out(plan, names, reached_by_plan(run.folder.state_dir, plan.plan_id).done).items():
        found.setdefault(name, Outcome("blocked", f"replica_would_be_older: {reason}", exit_code=1))
    return found


def _with_transport(
    run: OpenRun,
    host: Host,
    options: Options,
    work: Callable[[HostRun], Outcome],
    **parts: Any,
) -> Outcome:
    transport = open_transport(host)
    try:
        made = HostRun(
            run_id=run.folder.run_id,
            host=host,
            transport=transport,
            folder=run.folder.host(host.name),
            record=run.record,
            options=options,
            **parts,
        )
        return work(made)
    finally:
        transport.close()


def _start(run: OpenRun, kind: str, names: list[str], options: Options, **about: Any) -> None:
    run.record(
        "",
        "run_started",
        run_id=run.folder.run_id,
        kind=kind,
        hosts=names,
        operator=options.operator,
        controller=options.controller,
        **about,
    )


def _outcome(end: RunOutcome[Outcome], run: OpenRun) -> Outcome:
    if isinstance(end, Done):
        return end.value
    return _note(run, end.host, Outcome("failed", str(end.error), exit_code=1))


def _note(run: OpenRun, name: str, outcome: Outcome) -> Outcome:
    run.record(name, "finished", status=outcome.status, error=outcome.error)
    return outcome
