"""What a run's journal says of its hosts, as JSON that others build on."""

from typing import Any

from rollout.engine.run_folder import RunFolder
from rollout.journal import HostState


def host_documents(folder: RunFolder) -> list[dict[str, Any]]:
    """Return a document for each host of a run, in the run's order."""
    return [host_document(host) for host in folder.state().hosts.values()]


def host_document(host: HostState) -> dict[str, Any]:
    """Return one host's document: status, phases with seconds, restarts, downtime, and the error if any."""
    document: dict[str, Any] = {
        "name": host.name,
        "status": host.status,
        "phases": [{"phase": row.phase, "status": row.status, "seconds": row.seconds} for row in host.phases],
        "restarts": host.restarts,
        "downtime_seconds": host.downtime_seconds,
    }
    return {**document, "error": host.error} if host.error else document
