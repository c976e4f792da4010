"""Look at all hosts at once, twice, and say what each needs: the reading half of a plan."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.changes.model import Kind
from rollout.errors import HostProblem, RolloutError
from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts
from rollout.plan.build import plan_host, unreachable_host
from rollout.plan.model import HostPlan
from rollout.remote import open_transport
from rollout.remote.pool import Failed, run_on_all
from rollout.remote.probing import look_at
from rollout.settings import Host


@dataclass(frozen=True)
class Survey:
    """A row for every host, in their order, and the facts (JSON) of those that could be reached."""

    rows: tuple[HostPlan, ...]
    facts: Mapping[str, Mapping[str, Any]]


def survey(hosts: Sequence[Host], kinds: Sequence[Kind], *, forks: int, sample_seconds: float, refresh: bool) -> Survey:
    """Probe every host twice, `sample_seconds` apart, and plan it. A host's fault becomes its row."""

    def look(host: Host) -> tuple[Facts, Facts | None]:
        transport = open_transport(host)
        try:
            first = look_at(transport, host, refresh=refresh).facts
            if not sample_seconds:
                return first, None
            time.sleep(0 if host.connection.kind == "recorded" else sample_seconds)
            return first, look_at(transport, host).facts
        finally:
            transport.close()

    seen = run_on_all(hosts, look, forks)
    rows, facts = [], {}
    for host in hosts:
        found = seen[host.name]
        if isinstance(found, Failed):
            rows.append(unreachable_host(host.name, _code(found.error), found.error.message))
            continue
        first, _second = found.value
        rows.append(plan_host(host, first, kinds))
        facts[host.name] = facts_to_json(first)
    return Survey(tuple(rows), facts)


def _code(error: RolloutError) -> str:
    return "unreachable" if isinstance(error, HostProblem) else "probe_failed"
