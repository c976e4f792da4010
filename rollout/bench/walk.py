"""One host walks through a measurement: the engine's phases, with a load where a change would be."""

import io
import shutil
import tarfile
import time
from collections.abc import Callable
from contextlib import nullcontext

from rollout.bench.load import Compose, Load, Seen, script
from rollout.bench.refusal import against
from rollout.bench.store import Result, keep
from rollout.engine import lock
from rollout.engine.look import fresh_facts, its_socket, its_unit, keep_facts, login_option
from rollout.engine.outcome import Outcome, of_error
from rollout.engine.rollback import HostRecord, not_back
from rollout.engine.steps import HostRun
from rollout.engine.unit import Ended, attach, run_detached
from rollout.engine.walk import finish
from rollout.engine.way_back import prelude, record, write_files
from rollout.errors import RollbackIncomplete, RolloutError, WrongState
from rollout.facts.model import Facts, Unit

LOOK_SECONDS = 5  # over which the server's own traffic is counted
WAY_BACK_FAILED = 21  # exit status of do.sh
STOPPED = 130
Read = Callable[[HostRun, Seen, Load], Result]  # from the files of a run to its figures


def measure(run: HostRun, compose: Compose, read: Read, busy: float) -> Outcome:
    """Lock, look, put the load on, bring the results home, and prove that the host is as it was.

    Never raises for a fault of the host. An interrupt of the user's stops the load and has the host put back first.
    """
    began = False
    try:
        _check_root(run)
        with run.phase("lock"):
            lock.take(run)
        seen, load = _until_the_load(run, compose, busy)
        began = True
        return finish(run, _through_the_load(run, seen, load, read))
    except RolloutError as error:
        return finish(run, of_error(error, change_began=began))
    except KeyboardInterrupt:
        finish(run, _interrupted(run))
        raise


def _check_root(run: HostRun) -> None:
    """Refuse where scripts do not run as root; raises `WrongState`, or `PrivilegeRefused` where sudo says no."""
    user = run.ask("id -un").check("asking who we are").text.strip()
    if user != "root":
        hint = "Set ansible_become, or log in as root."
        raise WrongState(run.name, f"no load is put on it: we are {user} there, and a load needs root", hint=hint)


def _until_the_load(run: HostRun, compose: Compose, busy: float) -> tuple[Seen, Load]:
    with lock.back_on_failure(run):
        with run.phase("probe"):
            seen = _look(run)
            keep_facts(run, "before", seen.facts)
        with run.phase("preflight"):
            reasons = list(against(seen, busy))
            if reasons:
                raise WrongState(run.name, "no load is put on it: " + "; ".join(reasons))
            load = compose(seen)
            if load.driver:
                load.driver.check(run)
        with run.phase("way_back"):
            _write(run, seen.facts, seen.unit, load)
    return seen, load


def _look(run: HostRun) -> Seen:
    facts = fresh_facts(run)
    unit = its_unit(run, facts)
    login, socket = login_option(run), its_socket(facts)
    text = script("look", login=login, socket=socket, seconds=LOOK_SECONDS)
    said = dict(line.partition("\t")[::2] for line in run.ask(text).check("looking for a client").text.splitlines())
    rate = said.get("questions", "")
    port, _, bind_address = said.get("port", "").partition("\t")
    return Seen(
        facts=facts,
        unit=unit,
        run_id=run.run_id,
        login=login,
        socket=socket,
        slap=said.get("slap", ""),
        sysbench=said.get("sysbench", ""),
        questions_per_second=float(rate) if rate else None,
        sysbench_here=_sysbench_here(run),
        port=int(port) if port.isdigit() else 0,
        bind_address=bind_address,
    )


def _sysbench_here(run: HostRun) -> str:
    """Return the path of sysbench on this machine; empty for none, and where this machine is the host itself."""
    return shutil.which("sysbench") or "" if run.host.connection.kind == "ssh" else ""


def _write(run: HostRun, facts: Facts, unit: Unit, load: Load) -> None:
    """Write do.sh, undo.sh and the rest; the undo record tells any controller what may be left of it."""
    head = script("head", run_id=run.run_id, schema=load.schema, library_tree=load.library_tree)
    do = prelude(run, facts, unit, "do.sh", f"Puts a load on: {load.summary}") + head + script("begin") + load.middle
    undo = prelude(run, facts, unit, "undo.sh", "Removes every trace of the load; safe to run again.") + head
    undo += script("undo-usage") + script("undo")
    change = {"kind": "load", "summary": load.summary, "before": {}, "after": {"schema": load.schema}}
    entry = record(run, facts, unit, [change])
    write_files(run, {"do.sh": do, "undo.sh": undo, "record.json": entry, **load.files})


def _through_the_load(run: HostRun, seen: Seen, load: Load, read: Read) -> Outcome:
    started = time.time()
    with run.phase("change") as details:
        with load.driver.during(run) if load.driver else nullcontext(list[str]()) as told:
            ended = run_detached(run, "do", f"exec sh {run.here}/do.sh", timeout_seconds=load.seconds)
        details.update(exit_status=ended.exit_status, last_words=ended.last_words, on_the_controller=told)
    with run.phase("proof") as details:
        fetch(run)
        left = _left(run)
        details.update(wrong=left)
    if left:
        wrong = f"the host is not as it was found: {'; '.join(left)}. Record: {run.here} on the host"
        return Outcome("failed", wrong, exit_code=RollbackIncomplete.exit_code)
    lock.leave(run)
    if ended.exit_status:
        return Outcome("failed", "; ".join([_why(ended), *told]), exit_code=1)
    keep(run.folder, read(run, seen, load), started)
    return Outcome("ok")


def _why(ended: Ended) -> str:
    return f"do.sh ended with {ended.exit_status}, and the host was put back: {ended.last_words}"


def _left(run: HostRun) -> list[str]:
    """Return what is still there of the load, by fresh facts and the record on the host."""
    entry = HostRecord.model_validate_json(run.ask(f"cat {run.here}/record.json").check("reading the record").text)
    after = fresh_facts(run)
    keep_facts(run, "after", after)
    return not_back(after, entry)


def _interrupted(run: HostRun) -> Outcome:
    """Have the load stopped and the host put back; what is not reached now ends by itself, and rollback looks later."""
    try:
        with run.phase("take_back"):
            run.ask(f"[ ! -d {run.here} ] || echo interrupted >{run.here}/stop")
            ended = attach(run, "do", timeout_seconds=600)
            left = _left(run) if ended else []
        lock.leave(run)
    except RolloutError as error:
        return of_error(error, change_began=True)
    if left or (ended and ended.exit_status == WAY_BACK_FAILED):
        told = f"interrupted, and the host is not as it was found: {'; '.join(left)}. Record: {run.here} on the host"
        return Outcome("failed", told, exit_code=RollbackIncomplete.exit_code)
    return Outcome("recovered", "interrupted; the load was ended and the host put back", exit_code=STOPPED)


def fetch(run: HostRun) -> None:
    """Bring the files that the load left on the host into `raw` of the run's folder."""
    text = f"cd {run.here} && tar -czf - --exclude=./archives --exclude=./lists ."
    archive = run.ask(text, timeout_seconds=300).check("fetching the results").stdout
    folder = run.folder / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
        for entry in packed:
            plain = entry.isfile() and entry.name.startswith("./") and "/" not in entry.name[2:]
            file = packed.extractfile(entry) if plain else None
            if file:
                (folder / entry.name[2:]).write_bytes(file.read())
