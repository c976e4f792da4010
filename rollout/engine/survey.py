"""Look at all hosts at once, twice: the reading half of a plan."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rollout.errors import Unreachable
from rollout.plan.build import unreachable_host
from rollout.plan.compose import Seen
from rollout.plan.model import HostPlan
from rollout.remote import open_transport
from rollout.remote.pool import Done, run_on_all
from rollout.remote.probing import look_at
from rollout.settings import Host


@dataclass(frozen=True)
class Survey:
    """What was seen of the hosts that could be reached, and the rows of those that could not."""

    seen: Mapping[str, Seen]
    lost: Mapping[str, HostPlan]


def survey(hosts: Sequence[Host], *, forks: int, sample_seconds: float, refresh: bool) -> Survey:
    """Probe every host twice, `sample_seconds` apart (once where that is 0). A host's fault becomes its row."""

    def look(host: Host) -> Seen:
        transport = open_transport(host)
        try:
            first = look_at(transport, host, refresh=refresh).facts
            if not sample_seconds:
                return Seen(first, None)
            time.sleep(0 if host.connection.kind == "recorded" else sample_seconds)
            return Seen(first, look_at(transport, host).facts)
        finally:
            transport.close()

    seen, lost = {}, {}
    for name, outcome in run_on_all(hosts, look, forks).items():
        if isinstance(outcome, Done):
            seen[name] = outcome.value
        else:
            code = "unreachable" if isinstance(outcome.error, Unreachable) else "probe_failed"
            lost[name] = unreachable_host(name, code, outcome.error.message)
    return Survey(seen, lost)
