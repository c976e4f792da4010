"""Where our drop-in stands: beside one unit, or beside the template of all instances of a server."""

import re
from collections.abc import Iterable

from rollout.changes.model import Finding
from rollout.changes.render import MARKER
from rollout.facts.model import OtherServer, Unit, UnitFile
from rollout.facts.unknown import Known, Unknown
from rollout.settings import Settings

# systemd reads drop-ins in the order of their names, whatever folder they are in (systemd.unit(5)). The one of a unit
# sorts after `override.conf`. The one of a template sorts first, so that whatever an instance's own files say wins.
DROP_IN = "zz-rollout-allocator.conf"
SHARED_DROP_IN = "00-rollout-allocator.conf"
_FOLDER = "/etc/systemd/system"
_CONFLICT = "drop_in_conflict"


def is_ours(path: str) -> bool:
    """Tell by its name whether a drop-in is ours."""
    return path.rpartition("/")[2] in (DROP_IN, SHARED_DROP_IN)


def template_of(unit_id: str) -> str | None:
    """Return the template of an instance (`mariadb@.service` of `mariadb@s1.service`); None for any other unit."""
    found = re.fullmatch(r"([^@]+@)[^@]+(\.service)", unit_id)
    return found[1] + found[2] if found else None


def shared_path(unit: Unit) -> str | None:
    """Return where the drop-in of all instances of the unit's template stands, or would; None for no instance."""
    template = template_of(unit.id)
    return f"{_FOLDER}/{template}.d/{SHARED_DROP_IN}" if template else None


def shared_template(unit: Unit, settings: Settings) -> str | None:
    """Return the template whose instances share one drop-in, where the settings ask for that."""
    return template_of(unit.id) if settings.drop_in == "template" else None


def drop_in_path(unit: Unit, settings: Settings) -> str:
    """Return the path of our drop-in: below the unit's true Id, or below its template."""
    path = shared_path(unit) if settings.drop_in == "template" else None
    return path or f"{_FOLDER}/{unit.id}.d/{DROP_IN}"


def own_drop_in(unit: Unit) -> UnitFile | None:
    """Return the drop-in of ours that the unit obeys, wherever it stands: the unit's own beats that of all."""
    found = (file for file in reversed(unit.drop_ins) if is_ours(file.path) and isinstance(file.content, str))
    return next((file for file in found if str(file.content).startswith(MARKER)), None)


def conflicts(unit: Unit, settings: Settings, content: str) -> tuple[Finding, ...]:
    """Say why our drop-in cannot be put where the settings ask for it. Pure.

    A drop-in of ours at the other place is the work of another run, and both together could not be taken back one
    without the other. One that all instances share is never rewritten: those that started with it would not notice.
    """
    if settings.drop_in == "template" and template_of(unit.id) is None:
        message = f"rollout_drop_in is `template`, and {unit.id} is no instance of one"
        return (Finding(_CONFLICT, message),)
    path, there = drop_in_path(unit, settings), own_drop_in(unit)
    if there is None:
        stranger = any(file.path == path for file in unit.drop_ins)
        message = f"{path} stands already and does not bear our mark: look whose it is, and move it away first"
        return (Finding(_CONFLICT, message),) if stranger else ()
    if there.path != path:
        message = f"{there.path} of ours stands already, and rollout_drop_in asks for {path}"
        return (Finding(_CONFLICT, f"{message}: take back the run that wrote it first, or set rollout_drop_in to fit"),)
    if shared_template(unit, settings) and there.content != content:
        message = f"{path} says something else than is wanted now, and other instances may have started with it"
        return (Finding(_CONFLICT, f"{message}: take it back on all of them first, or set the variables as they were"),)
    return ()


def shared_with(unit: Unit, settings: Settings, others: Known[Iterable[OtherServer]]) -> tuple[Finding, ...]:
    """Warn of what a drop-in for all instances means for those that are not the row's. Pure."""
    template = shared_template(unit, settings)
    if template is None:
        return ()
    if isinstance(others, Unknown):
        beside = f"which run now cannot be told: {others.reason}"
    else:
        running = sorted(other.unit for other in others if not other.container and template_of(other.unit) == template)
        beside = f"running now: {', '.join(running) or 'none'}"
    message = (
        f"{drop_in_path(unit, settings)} is read by every instance of {template}: each other one, stopped and future "
        f"ones too, gets jemalloc at its next start ({beside}); only {unit.id} is restarted"
    )
    return (Finding("drop_in_shared", message),)
