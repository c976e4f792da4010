"""Checks of the release: what runs, what lies on disk, and whether it carries the fix."""

from rollout.checks.model import Judgement, Situation, Status, asked, held, not_known, skipped
from rollout.facts.unknown import Known, Unknown
from rollout.versions import FixStatus, ServerVersion, fix_status, parse_upstream, series_of

_RUNNING = "mariadb --batch --execute 'SELECT VERSION()'"
_ON_DISK = "mariadbd --no-defaults --version"
_CLIENT = "mariadb --version"


def version_running(situation: Situation) -> Judgement:
    """Hold the running server against the wanted release."""
    wanted, running = _wanted(situation), situation.after.server.running
    if isinstance(running, Unknown):
        return not_known(wanted, running)
    if running is None:
        return _down(situation, wanted)
    evidence = asked(_RUNNING, running.raw)
    if situation.expected.version is None:
        return Judgement("skip", wanted, str(running), evidence)
    on_disk = situation.after.server.on_disk
    moved = isinstance(on_disk, ServerVersion) and _fits(situation, on_disk)
    cause = "restart_pending" if moved else "upgrade_missing"
    return held(_fits(situation, running), wanted, str(running), evidence, cause)


def _down(situation: Situation, wanted: str) -> Judgement:
    unit = situation.after.unit
    state = unit.active_state if not isinstance(unit, Unknown) and unit else "not there"
    evidence = asked("systemctl show UNIT --property=ActiveState", state)
    if situation.expected.active:
        return Judgement("fail", wanted, "the server does not run", evidence)
    return Judgement("skip", wanted, "the server is stopped, as it was before", evidence)


def _wanted(situation: Situation) -> str:
    version = situation.expected.version
    if version is None:
        return "no release is asked for"
    return version if situation.expected.exact else f"{version} or a later one of its series"


def _fits(situation: Situation, version: ServerVersion) -> bool:
    if situation.expected.version is None:
        return False
    wanted = parse_upstream(situation.expected.version)
    if situation.expected.exact:
        return version.upstream == wanted
    return version.series == series_of(wanted) and version.upstream >= wanted


def version_on_disk(situation: Situation) -> Judgement:
    """Hold the file that the next start takes against the server that runs."""
    server = situation.after.server
    expected = "the file on disk is of the release that runs"
    if isinstance(server.on_disk, Unknown):
        return not_known(expected, server.on_disk)
    if server.on_disk is None:
        return Judgement("fail", expected, "there is no server program on disk")
    disk = asked(_ON_DISK, server.on_disk.raw)
    if isinstance(server.version_option, str):
        found = f"an option file says version={server.version_option}: what the server says of itself is not so"
        return _option_lies(situation, server.on_disk, expected, found, disk)
    if isinstance(server.running, Unknown):
        return not_known(expected, server.running)
    if server.running is None:
        return skipped(expected, f"{server.on_disk} on disk, and no server runs")
    evidence = f"{disk}\n{asked(_RUNNING, server.running.raw)}"
    found = f"{server.on_disk} on disk, {server.running} runs"
    return held(_same(server.on_disk, server.running), expected, found, evidence, "restart_pending")


def _option_lies(situation: Situation, on_disk: ServerVersion, expected: str, found: str, evidence: str) -> Judgement:
    """Warn of `version=`: a rehearsal stand-in bears it on purpose, anywhere else it hides the truth."""
    release = situation.expected.releases.get(on_disk.series)
    stand_in = release is not None and not release.carries_lru_fix
    return Judgement("warn" if stand_in else "fail", expected, found, evidence, "version_option")


def version_client(situation: Situation) -> Judgement:
    """Hold the client program against the server on disk."""
    client, on_disk = situation.after.server.client, situation.after.server.on_disk
    expected = "the client is of the server's release"
    if isinstance(client, Unknown):
        return not_known(expected, client)
    if client is None:
        return skipped(expected, "no client program is installed")
    if isinstance(on_disk, Unknown):
        return not_known(expected, on_disk)
    if on_disk is None:
        return skipped(expected, f"client {client}, and no server program on disk")
    evidence = f"{asked(_CLIENT, client.raw)}\n{asked(_ON_DISK, on_disk.raw)}"
    return held(_same(client, on_disk), expected, f"client {client}, server {on_disk}", evidence)


def _same(one: ServerVersion, other: ServerVersion) -> bool:
    return (one.flavour, one.upstream, one.enterprise) == (other.flavour, other.upstream, other.enterprise)


def fix_present(situation: Situation) -> Judgement:
    """Say whether the running release carries the InnoDB LRU fix."""
    running: Known[ServerVersion | None] = situation.after.server.running
    expected = "a release that carries the LRU fix"
    if isinstance(running, Unknown):
        return not_known(expected, running)
    if running is None:
        return _down(situation, expected)
    status, found, cause = _fix(situation, running)
    return Judgement(status, expected, found, asked(_RUNNING, running.raw), cause)


def _fix(situation: Situation, running: ServerVersion) -> tuple[Status, str, str]:
    """Return status, what was found, and the cause."""
    releases = situation.expected.releases
    release = releases.get(running.series)
    state = fix_status(running, None, releases)
    told: dict[FixStatus, tuple[Status, str, str]] = {
        "present": ("pass", f"{running} carries it", ""),
        "no_fix_in_series": ("skip", f"series {running.series} has no release with the fix", ""),
        "rehearsal": ("warn", f"{running} is a rehearsal: declared not to carry it", ""),
    }
    if state in told:
        return told[state]
    if release is None or running.flavour != "mariadb":
        return "warn", f"{running}: its number does not tell", ""
    asked_for = situation.expected.version is not None
    return "fail" if asked_for else "warn", f"{running} is older than {release.version}", "upgrade_missing"
