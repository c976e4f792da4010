"""A shorter stop: what would keep the server from stopping is done before, while it still serves.

At a stop InnoDB writes all dirty pages out, and a load of the buffer pool that is under way has to end. The variables
that are set for it belong to the old process and go with it; where it is not stopped after all they are put back.
"""

from rollout.engine.look import its_socket, its_unit, login_option
from rollout.engine.steps import HostRun, script
from rollout.errors import CommandFailed
from rollout.facts.model import Facts

VARIABLES = (
    "innodb_max_dirty_pages_pct",
    "innodb_max_dirty_pages_pct_lwm",
    "innodb_fast_shutdown",
    "innodb_buffer_pool_dump_pct",
)


def shorten_stop(run: HostRun, facts: Facts) -> None:
    """Have dirty pages written out and wait for a load of the pool, as long as the settings allow.

    What is not reached in that time is told and keeps no host from its change: the stop is longer then.
    """
    wanted = run.host.settings.shorter_stop
    if wanted is None:
        return
    with run.phase("shorter_stop") as details:
        text = script(
            "shorter_stop",
            here=run.here,
            unit=its_unit(run, facts).id,
            login=login_option(run),
            socket=its_socket(facts),
            names=VARIABLES,
            wait_seconds=wanted.wait_seconds,
            dirty_pages=wanted.dirty_pages,
            dump_pct=wanted.dump_pct,
        )
        result = run.ask(text, timeout_seconds=wanted.wait_seconds + 120).check("making the stop shorter")
        for line in result.text.splitlines():
            name, _, value = line.partition(" ")
            details[name] = value


def restore_variables(run: HostRun, facts: Facts) -> str:
    """Put back what was set for a shorter stop, if the same process still runs; say what went wrong, if anything."""
    text = script(
        "restore", here=run.here, unit=its_unit(run, facts).id, login=login_option(run), socket=its_socket(facts)
    )
    try:
        run.ask(text).check("putting back the variables of the shorter stop")
    except CommandFailed as error:
        return f"{error.message}; they stand in {run.here}/variables.sql on the host"
    return ""
