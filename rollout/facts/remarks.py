"""What a person must be told of a host before anything else, in sentences; pure."""

from collections.abc import Iterator

from rollout.facts.form import unknown_facts
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or

MANY_UNKNOWN = 5


def remarks(facts: Facts) -> tuple[str, ...]:
    """Return the sentences, gravest first."""
    return (*_identity(facts), *facts.notes, *_unknown(facts))


def _identity(facts: Facts) -> Iterator[str]:
    server, init = facts.server, known_or(facts.system.init, "systemd")
    versions = [known_or(value, None) for value in (server.running, server.on_disk)]
    foreign = next((version for version in versions if version and not version.is_mariadb), None)
    if foreign:
        yield f"this is {foreign.flavour} {foreign}, not MariaDB: it is reported and never touched"
    elif facts.unit is None and server.running is None and server.on_disk is None:
        yield "no MariaDB is here: neither a unit nor a server's file was found"
    if init != "systemd":
        yield f"systemd is not in charge here (process 1 is {init}): nothing can be changed on this host"
    running, on_disk = versions
    if running and on_disk and running.upstream != on_disk.upstream:
        yield f"{running} runs, {on_disk} lies on disk: the server has not been restarted since its files changed"
    if known_or(server.version_option, None):
        yield "the option `version` is set, so what the server says of its version is what somebody wrote there"
    if running and running.is_mariadb and known_or(server.executable_package, "") is None:
        yield "the running server was not installed from a package: it is reported and never touched"


def _unknown(facts: Facts) -> Iterator[str]:
    """Yield what is unknown, gathered by reason; what is never counted without --deep is no surprise."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in unknown_facts(facts):
        if path != "storage.datadir_bytes":
            by_reason.setdefault(reason, []).append(path)
    for reason, paths in by_reason.items():
        more = f" and {len(paths) - MANY_UNKNOWN} more" if len(paths) > MANY_UNKNOWN else ""
        yield f"unknown: {', '.join(paths[:MANY_UNKNOWN])}{more} ({reason})"
