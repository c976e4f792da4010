"""The way back, ready on the host before the first change: stash, saved files, do.sh and undo.sh."""

import io
import json
import tarfile
from typing import Any

from rollout.changes.model import Change
from rollout.changes.placement import drop_in_path
from rollout.engine.look import its_socket, login_file, manager_of, was_active
from rollout.engine.preflight import moving
from rollout.engine.steps import HostRun, script
from rollout.engine.unit import last_words
from rollout.errors import WrongState
from rollout.facts.model import Facts, Unit

CANNOT_GO_BACK = 78  # exit status of way_back.sh
START_MARGIN_SECONDS = 60
START_LIMIT_SECONDS = 3600  # for a unit that sets no limit of its own


def prepare(run: HostRun, facts: Facts, unit: Unit) -> list[str]:
    """Stash the installed packages, save every file that will be touched, and try the way back in simulation.

    Returns the packages, with their versions, that are in no cache and no repository: their archives were rebuilt from
    the installed files. Raises `WrongState` when there is no way back; the operator may accept that
    (`--accept-no-rollback`).
    """
    packages = next((change for change in run.plan.changes if change.kind == "packages"), None)
    allocator = any(change.kind == "allocator" for change in run.plan.changes)
    path = drop_in_path(unit, run.host.settings)
    values = {
        "manager": manager_of(run, facts),
        "here": run.here,
        "unit": unit.id,
        "before": list(packages.before.items()) if packages and packages.do else [],
        "after": moving(packages),
        "drop_in": path if allocator else "",
        "drop_in_folder": path.rpartition("/")[0],
    }
    result = run.ask(script("way_back", **values), timeout_seconds=1800)
    if result.exit_status == CANNOT_GO_BACK:
        if not run.options.accept_no_rollback:
            why = last_words(result.stderr)
            hint = "--accept-no-rollback goes ahead without one."
            raise WrongState(run.name, f"there is no way back: {why}", hint=hint)
        # Without the old packages; the host's own files are saved all the same.
        result = run.ask(script("way_back", **{**values, "before": [], "after": []}), timeout_seconds=1800)
    result.check("preparing the way back")
    return [line.removeprefix("rebuilt ") for line in result.text.splitlines() if line.startswith("rebuilt ")]


def write_record(run: HostRun, facts: Facts, unit: Unit) -> None:
    """Write do.sh, undo.sh and record.json to the host; raises `CommandFailed` when they do not arrive whole."""
    changes = [
        {"kind": change.kind, "summary": change.summary, "before": dict(change.before), "after": dict(change.after)}
        for change in run.plan.changes
    ]
    files = {"do.sh": do_script(run, facts, unit), "undo.sh": undo_script(run, facts, unit)}
    write_files(run, {**files, "record.json": record(run, facts, unit, changes)})


def record(run: HostRun, facts: Facts, unit: Unit, changes: list[dict[str, Any]]) -> str:
    """Return record.json: by it any controller can tell what was done here, and whether it was taken back."""
    entries = {
        "run_id": run.run_id,
        "host": run.name,
        "changes": changes,
        "operator": run.options.operator,
        "controller": run.options.controller,
        "unit": unit.id,
        "was_active": was_active(unit),
        "before": facts_in_short(facts, unit),
    }
    return json.dumps(entries, indent=1, sort_keys=True) + "\n"


def write_files(run: HostRun, files: dict[str, str]) -> None:
    """Write the files of a record to the host, synced; do.sh and undo.sh must be among them."""
    run.ask(script("record", here=run.here), _tar(files)).check("writing the undo record")


def facts_in_short(facts: Facts, unit: Unit) -> dict[str, str | int | None]:
    """Return the few facts that a person wants to see in the record on the host."""
    allocator = facts.allocator.version_malloc_library
    return {
        "server": str(facts.server.running),
        "allocator": allocator if isinstance(allocator, str) else None,
        "invocation_id": unit.invocation_id,
        "n_restarts": unit.n_restarts,
    }


def do_script(run: HostRun, facts: Facts, unit: Unit) -> str:
    """Compose do.sh: the changes' own text between what they stand on and the last restart, if one is needed."""
    purpose = "Makes the planned changes: " + "; ".join(change.summary for change in run.plan.changes)
    parts = [prelude(run, facts, unit, "do.sh", purpose), script("do-trap")]
    parts += [change.do for change in run.plan.changes]
    parts.append(script("do-finish", wanted_library=_library(run.plan.changes), unwanted_library=""))
    return "".join(parts)


def undo_script(run: HostRun, facts: Facts, unit: Unit) -> str:
    """Compose undo.sh. The drop-in goes first, so that the packages' own restart is the only one."""
    purpose = "Takes back what do.sh did; safe to run again."
    parts = [prelude(run, facts, unit, "undo.sh", purpose), script("undo-start")]
    parts += [change.undo for change in run.plan.changes]
    parts.append(script("undo-finish", wanted_library="", unwanted_library=_library(run.plan.changes)))
    return "".join(parts)


def _library(changes: tuple[Change, ...]) -> str:
    return next((str(change.after["library"]) for change in changes if change.kind == "allocator"), "")


def prelude(run: HostRun, facts: Facts, unit: Unit, name: str, purpose: str) -> str:
    """Return the head of a script of ours: its names, and the functions that all of them use."""
    limit = unit.timeout_start_usec
    return script(
        "prelude",
        manager=manager_of(run, facts),
        name=name,
        purpose=" ".join(purpose.split()),
        run_id=run.run_id,
        host=" ".join(run.name.split()),
        directory=run.here,
        unit=unit.id,
        socket=its_socket(facts),
        was_active=was_active(unit),
        unit_file_state=unit.unit_file_state,
        start_limit_seconds=START_LIMIT_SECONDS if limit is None else limit // 1_000_000 + START_MARGIN_SECONDS,
        defaults_file=login_file(run),
    )


def _tar(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o600
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()
