"""Facts of the host that is being changed: fresh ones, and the ones that were kept."""

import json

from rollout.changes.packages import CHANGED_WITH
from rollout.engine.steps import LOGIN, HostRun
from rollout.errors import WrongState
from rollout.facts.form import facts_from_json, facts_to_json
from rollout.facts.model import Facts, PackageManager, Unit
from rollout.facts.unknown import Unknown
from rollout.journal import dump_synced
from rollout.remote.probing import look_at


def fresh_facts(run: HostRun, *, refresh: bool = False) -> Facts:
    """Probe the host now; `refresh` fetches package lists privately first, so that what is offered is known."""
    return run.patiently(lambda: look_at(run.transport, run.host, refresh=refresh)).facts


def keep_facts(run: HostRun, moment: str, facts: Facts) -> None:
    """Write facts into the run's folder on the controller, synced, as facts-MOMENT.json."""
    dump_synced(run.folder / f"facts-{moment}.json", facts_to_json(facts))


def kept_facts(run: HostRun, moment: str) -> Facts:
    """Read back what `keep_facts` wrote; raises `WrongState` when it is not there."""
    path = run.folder / f"facts-{moment}.json"
    if not path.is_file():
        raise WrongState(run.name, f"{path} is missing, so there is nothing to compare with; roll back instead")
    return facts_from_json(json.loads(path.read_text()))


def its_unit(run: HostRun, facts: Facts) -> Unit:
    """Return the unit of the server; raises `WrongState` when there is none, or nobody can tell."""
    unit = facts.unit
    if isinstance(unit, Unknown):
        raise WrongState(run.name, f"the server's unit cannot be told: {unit.reason}")
    if unit is None:
        raise WrongState(run.name, "systemd knows no unit of a database server here")
    return unit


def was_active(unit: Unit) -> bool:
    """Whether the server runs, or is on its way up: what was stopped stays stopped."""
    return unit.active_state in ("active", "activating", "reloading")


def login_file(run: HostRun) -> str:
    """Return the option file on the host for the database login: ours while the lock is held, else the host's own."""
    return LOGIN if run.host.connection.database_login else run.host.settings.defaults_file


def login_option(run: HostRun) -> str:
    """Return the client's first option: the host's own option file for the login, or none at all (root by socket)."""
    own = login_file(run)
    return f"--defaults-file={own}" if own else "--no-defaults"


def its_socket(facts: Facts) -> str:
    """Return the path of the unit's own socket, Debian's where the server is down and cannot be asked."""
    socket = facts.server.socket
    return "/run/mysqld/mysqld.sock" if isinstance(socket, Unknown) or socket is None else socket


def manager_of(run: HostRun, facts: Facts) -> PackageManager:
    """Return the package system that the scripts speak to; raises `WrongState` where it is none that we speak."""
    manager = facts.packages.manager
    if manager in CHANGED_WITH:
        return manager
    raise WrongState(
        run.name, f"packages are changed with {' or '.join(CHANGED_WITH)} only, and this host has {manager}"
    )
