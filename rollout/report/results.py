"""Results of checks as JSON, as `verify --json` prints them and the run directory keeps them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from rollout.checks.model import CheckResult, HostResults

SCHEMA = 1
_RESULTS = TypeAdapter(tuple[CheckResult, ...])


def results_to_json(hosts: Iterable[HostResults]) -> dict[str, Any]:
    """Turn the results of hosts into values that `json.dumps` takes."""
    return {"schema": SCHEMA, "hosts": [_host(host) for host in hosts]}


def _host(host: HostResults) -> dict[str, Any]:
    return {"name": host.name, "status": host.status, "checks": [asdict(result) for result in host.results]}


def checks_from_json(rows: Iterable[Mapping[str, Any]]) -> tuple[CheckResult, ...]:
    """Turn rows of `checks` into results again; raises pydantic's ValidationError where they are none."""
    return _RESULTS.validate_python(tuple(rows))
