"""Everything that can fail is tried while the server still serves."""

from dataclasses import dataclass

from rollout.changes.model import Change
from rollout.engine.hooks import EVENTS, missing_programs
from rollout.engine.look import manager_of, was_active
from rollout.engine.steps import HostRun, script
from rollout.errors import WrongState
from rollout.facts.model import Facts, Package, Unit
from rollout.facts.unknown import Unknown, known_or
from rollout.versions import ServerVersion

# What of the unit's sandbox bears on whether a library can be seen by the service: systemd.exec(5).
SANDBOX = (
    "ProtectHome",
    "ProtectSystem",
    "PrivateTmp",
    "PrivateDevices",
    "NoNewPrivileges",
    "AmbientCapabilities",
    "CapabilityBoundingSet",
)
BACKUP_PACKAGES = ("mariadb-backup", "MariaDB-backup")  # Debian and the distributions; MariaDB's own RPMs
ROOM_FOR_PACKAGES_BYTES = 600 * 2**20  # archives, stash and the unpacked server, with room to spare
LONG_TRANSACTION_SECONDS = 60.0


@dataclass(frozen=True)
class Tried:
    """One thing that preflight tried: its id, `pass`, `fail` or `warn`, and what was seen."""

    id: str
    status: str
    seen: str


def preflight(run: HostRun, facts: Facts, unit: Unit) -> tuple[Tried, ...]:
    """Try everything on the host that can be tried before a stop, and return all of it, failures included."""
    by_kind = {change.kind: change for change in run.plan.changes}
    packages, allocator = by_kind.get("packages"), by_kind.get("allocator")
    library_package, library_version = _pair(allocator)
    settings = run.host.settings
    physical = settings.backup_method == "mariadb-backup" and not settings.backup_command
    takes = needs_backup(run) and physical and was_active(unit)
    tool = backup_tool_package(facts) if takes else None
    text = script(
        "preflight",
        manager=manager_of(run, facts),
        here=run.here,
        run_id=run.run_id,
        unit=unit.id,
        user=unit.user or "root",
        targets=moving(packages),
        library=allocator.after["library"] if allocator else "",
        library_package=library_package,
        library_version=library_version,
        sandbox=[f"{name}={unit.properties[name]}" for name in SANDBOX if unit.properties.get(name)],
        backup_tool_package=tool.name if tool else "",
        backup_tool_version=_running_build(facts) if tool else "",
    )
    result = run.ask(text, timeout_seconds=1800).check("preflight")
    tried = [Tried(*line.split("\t", 2)) for line in result.text.splitlines() if line.count("\t") >= 2]
    if not tried:
        raise WrongState(run.name, "preflight said nothing at all")
    return (*tried, *_seen_in_facts(run, facts), *_hooks(run))


def moving(packages: Change | None) -> list[tuple[str, str]]:
    """Return the packages that move, with their target versions; a restart alone moves none."""
    return [(name, str(version)) for name, version in packages.after.items()] if packages and packages.do else []


def _packages(run: HostRun) -> Change | None:
    return next((change for change in run.plan.changes if change.kind == "packages"), None)


def needs_backup(run: HostRun) -> bool:
    """Whether a backup is taken: always, unless the operator gave a reason, or playbook or settings say none."""
    settings = run.host.settings
    wanted = settings.backup_method != "none" or settings.backup_command is not None
    return "backup" in run.phases and not run.options.skip_backup and wanted


def backup_tool_package(facts: Facts) -> Package | None:
    """Return mariadb-backup's package when the host lacks the tool at exactly the running version.

    It is unpacked beside the run's record and not installed: a backup that fails leaves the host as it was, and undo
    has nothing to remove.
    """
    tool, running = facts.server.backup_tool, facts.server.running
    if isinstance(tool, ServerVersion) and isinstance(running, ServerVersion) and tool.upstream == running.upstream:
        return None
    offered = (facts.packages.named(name) for name in BACKUP_PACKAGES)
    return next((package for package in offered if package), None)


def _running_build(facts: Facts) -> str:
    server = facts.packages.named(str(facts.server.executable_package))
    return str(server.installed) if server else ""


def _pair(allocator: Change | None) -> tuple[str, str]:
    name, _, version = str((allocator.after["package"] if allocator else None) or "").partition("=")
    return name, version


def _seen_in_facts(run: HostRun, facts: Facts) -> list[Tried]:
    server = facts.server
    return [
        _count("xa", server.xa_prepared, "no transaction is in XA PREPARE", "transactions are in XA PREPARE"),
        _transactions(known_or(server.longest_transaction_seconds, None)),
        *(_other_servers(facts) if moving(_packages(run)) else ()),
        *_space(run, facts),
    ]


def _hooks(run: HostRun) -> list[Tried]:
    """Look for the programs of the hooks, so that none is missed only when its time has come."""
    if run.options.skip_hooks:
        return []
    planned = [f"{event}: {hook.told}" for event in EVENTS for hook in run.plan.hooks.of(event)]
    missing = missing_programs(run)
    if missing:
        return [Tried("hooks", "fail", "; ".join(missing))]
    return [Tried("hooks", "pass", f"would run {'; '.join(planned)}")] if planned else []


def _count(name: str, value: int | Unknown, none: str, some: str) -> Tried:
    if isinstance(value, Unknown):
        return Tried(name, "warn", value.reason)
    return Tried(name, "fail", f"{value} {some}") if value else Tried(name, "pass", none)


def _transactions(seconds: float | None) -> Tried:
    if seconds is not None and seconds > LONG_TRANSACTION_SECONDS:
        return Tried("transactions", "warn", f"a transaction is open for {seconds:.0f} s; the stop rolls it back")
    return Tried("transactions", "pass", "no transaction is open for long")


def _other_servers(facts: Facts) -> list[Tried]:
    others = known_or(facts.other_servers, ())
    native = [other for other in others if not other.container]
    if native:
        seen = ", ".join(f"{other.executable} (pid {other.pid}, {other.unit or 'no unit'})" for other in native)
        return [Tried("other_servers", "fail", f"the packages' scripts would stop another server: {seen}")]
    return []


def _space(run: HostRun, facts: Facts) -> list[Tried]:
    """Compare free room with what is needed, on each file system once."""
    storage = facts.storage
    needs: dict[str, int] = {}
    free: dict[str, int] = {}
    data = known_or(storage.datadir_bytes, None) or known_or(facts.pool.data_bytes, 0)
    wanted = [(storage.run_directory, ROOM_FOR_PACKAGES_BYTES if run.plan.changes else 0)]
    if needs_backup(run) and not run.host.settings.backup_command:
        wanted.append((storage.backup_directory, int(data * 1.1)))
    for place, needed_bytes in wanted:
        if isinstance(place, Unknown):
            return [Tried("space", "warn", place.reason)]
        needs[place.mount_point] = needs.get(place.mount_point, 0) + needed_bytes
        free[place.mount_point] = place.free_bytes
    short = [
        f"{mount}: {free[mount] / 2**20:.0f} MiB free, {needed / 2**20:.0f} MiB needed"
        for mount, needed in needs.items()
        if free[mount] < needed
    ]
    return [Tried("space", "fail", "; ".join(short))] if short else [Tried("space", "pass", "there is room")]
