"""The lock of a host: taken whole or not at all, given back by its owner only, taken over only by name."""

import json
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from rollout.engine.steps import BASE, LOGIN, HostRun, script
from rollout.errors import HostProblem, Locked, RolloutError, Unreachable, WrongState

LOCKED = 75  # exit statuses of lock.sh and unlock.sh
SAME_MACHINE = 76
UNSAFE = 77


def take(run: HostRun) -> None:
    """Take the lock for this run, or find it ours already.

    Raises `Locked` with the owner's run, name, controller and time when another run holds it, `WrongState` when the
    folder on the host is not safe to write to, or holds another row's record of this very run (instances of one host).
    """
    ours = {
        "run_id": run.run_id,
        "host": run.name,
        "operator": run.options.operator,
        "controller": run.options.controller,
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    named = f'"host": {json.dumps(run.name)}'
    text = script("lock", base=BASE, run_id=run.run_id, named=named, take_over=run.options.take_over_locks)
    result = run.transport.run(text, json.dumps(ours).encode())
    if result.exit_status == LOCKED:
        raise Locked(run.name, f"held by {_who(result.text)}", hint=_hint(result.text))
    if result.exit_status == SAME_MACHINE:
        first = owner(result.text).get("host", "another row")
        message = f"this machine was changed as {first} in the same run, and a run has one record on a machine"
        raise WrongState(run.name, message, hint=f"In a run of its own: rollout apply --host {run.name}")
    if result.exit_status == UNSAFE:
        raise WrongState(run.name, result.stderr.decode("utf-8", "replace").strip())
    result.check("taking the lock")
    login = run.host.connection.database_login
    if login:
        text = f"umask 077; cat >{LOGIN}.new && mv -T -- {LOGIN}.new {LOGIN}"
        run.ask(f"rm -f -- {LOGIN}.new; {text}", login.reveal().encode()).check("bringing the database login")


def wait_for_the_dead(run: HostRun) -> None:
    """Wait until what the dead runs began on the host has come to its end: nothing is changed under its hands."""
    for dead in run.options.take_over_locks:
        units = shlex.quote(f"rollout-{dead}-*")
        text = (
            f"umask 077; for file in {shlex.quote(BASE)}/{shlex.quote(dead)}/watch-{shlex.quote(dead)}; "
            'do if [ -e "$file" ]; then : >"$file.stop"; fi; done; '
            f"systemctl list-units --plain --no-legend --state=active,activating,deactivating {units}"
        )
        while run.ask(text).check("looking for what a dead run left at work").text.strip():
            time.sleep(1.0)


def give_back(run: HostRun) -> None:
    """Give the lock back; raises `Locked` when it is no longer ours."""
    result = run.ask(script("unlock", base=BASE, run_id=run.run_id))
    if result.exit_status == LOCKED:
        theirs = result.stderr.decode("utf-8", "replace")
        raise Locked(run.name, f"the lock is no longer ours but held by {_who(theirs)}")
    result.check("giving the lock back")


def leave(run: HostRun) -> None:
    """Give the lock back as a phase of its own."""
    with run.phase("unlock"):
        give_back(run)


@contextmanager
def back_on_failure(run: HostRun) -> Iterator[None]:
    """Give the lock back when a phase before the change fails: nothing was changed. Out of reach, it stays."""
    try:
        yield
    except Unreachable:
        raise
    except RolloutError:
        with suppress(HostProblem):  # the first error is the one to tell
            leave(run)
        raise


def owner(text: str) -> dict[str, str]:
    """Read the owner of a lock as it stands on the host; empty when it cannot be read."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _who(text: str) -> str:
    who = owner(text)
    if not who:
        return "a run that left no readable name"
    return f"run {who.get('run_id')} of {who.get('operator')} on {who.get('controller')} since {who.get('since')}"


def _hint(text: str) -> str:
    run = owner(text).get("run_id", "RUN")
    return f"When that run is dead, go on with --take-over-lock {run}"
