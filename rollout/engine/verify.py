"""One look at a host, held against what its settings say. Changes nothing."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rollout.changes.expect import expectation
from rollout.changes.model import Kind
from rollout.checks.model import CheckResult, HostResults
from rollout.checks.registry import reached, run_checks, unreachable
from rollout.facts.model import Facts
from rollout.remote import open_transport
from rollout.remote.pool import Done, run_on_all
from rollout.remote.probing import look_at
from rollout.settings import Host, Settings


@dataclass(frozen=True)
class Verified:
    """The facts that one probe brought, and the results of all checks on them."""

    facts: Facts
    results: HostResults


def verify_host(host: Host, kinds: Collection[Kind]) -> Verified:
    """Probe the host once and run every check. Raises `Unreachable` or `CommandFailed` when there are no facts."""
    transport = open_transport(host)
    try:
        facts = look_at(transport, host).facts
    finally:
        transport.close()
    return Verified(facts, HostResults(host.name, verdicts(facts, host.settings, kinds)))


def verdicts(facts: Facts, settings: Settings, kinds: Collection[Kind]) -> tuple[CheckResult, ...]:
    """Return the results of all checks on facts that were just taken, `reachable` first. Pure."""
    return (reached(facts.seconds), *run_checks(facts, None, expectation(facts, settings, kinds)))


def verify_all(hosts: Iterable[Host], kinds: Collection[Kind], forks: int) -> tuple[HostResults, ...]:
    """Verify all hosts, `forks` at a time; a host that cannot be looked at fails the check `reachable`."""
    ended = run_on_all(hosts, lambda host: verify_host(host, kinds), forks)
    return tuple(
        end.value.results if isinstance(end, Done) else HostResults(name, unreachable(end.error.message))
        for name, end in ended.items()
    )
