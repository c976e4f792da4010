"""Results of checks in Prometheus's text format, for the textfile collector of node_exporter."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from rollout.checks.model import HostResults, Status

_STATES: tuple[Status, ...] = ("pass", "fail", "warn", "skip")


def prometheus(hosts: Iterable[HostResults], taken_at: datetime) -> str:
    """Render one gauge a check (1 for the status it has, 0 for the others it may have) and the time of the look."""
    lines = [
        "# HELP rollout_check_status Verdict of a check on a host: 1 for the status that it has.",
        "# TYPE rollout_check_status gauge",
        *(line for host in hosts for line in _host(host)),
        "# HELP rollout_verify_time_seconds When the hosts were looked at, seconds since the epoch.",
        "# TYPE rollout_verify_time_seconds gauge",
        f"rollout_verify_time_seconds {taken_at.timestamp():.3f}",
    ]
    return "\n".join(lines) + "\n"


def _host(host: HostResults) -> Iterator[str]:
    for result in host.results:
        for status in _STATES:
            labels = f'host="{_escaped(host.name)}",check="{result.id}",status="{status}"'
            yield f"rollout_check_status{{{labels}}} {int(status == result.status)}"


def _escaped(text: str) -> str:
    r"""Escape a label's value as the format wants it: `\`, `"` and the line feed."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
