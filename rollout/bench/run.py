"""A measurement as a run of its own: folder, journal, one host."""

from collections.abc import Callable
from dataclasses import dataclass

from rollout.bench.load import Compose
from rollout.bench.walk import Read, measure
from rollout.engine.loop import identified
from rollout.engine.outcome import Outcome
from rollout.engine.run_folder import OpenRun, RunFolder, dead_runs
from rollout.engine.steps import HostRun, Options
from rollout.journal import Event
from rollout.plan.model import HostPlan
from rollout.remote import open_transport
from rollout.settings import Host


@dataclass(frozen=True)
class Measuring:
    """How a load is made for a host, how its files become figures, and from how many questions a second it is busy."""

    compose: Compose
    read: Read
    busy: float


def run_on(host: Host, what: Measuring, folder: RunFolder, on_event: Callable[[Event], None], name: str) -> Outcome:
    """Measure one host in a run of its own; locks that dead runs of this controller left are taken over."""
    options = identified(Options(take_over_locks=dead_runs(folder.state_dir), patience_seconds=600.0))
    run = OpenRun(folder, on_event)
    transport = open_transport(host)
    try:
        who = {"operator": options.operator, "controller": options.controller}
        run.record("", "run_started", run_id=folder.run_id, kind="bench", hosts=[host.name], measures=name, **who)
        made = HostRun(
            run_id=folder.run_id,
            host=host,
            plan=HostPlan(name=host.name, status="change"),
            kinds=(),
            transport=transport,
            folder=folder.host(host.name),
            record=run.record,
            options=options,
        )
        outcome = measure(made, what.compose, what.read, what.busy)
        run.record("", "run_ended", stopped="")
        return outcome
    except KeyboardInterrupt:
        run.record("", "run_ended", stopped="interrupted")
        raise
    finally:
        transport.close()
        run.close()
