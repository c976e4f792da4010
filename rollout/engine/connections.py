"""That nobody is connected to a drained host any more, before its server stops."""

from rollout.engine.look import its_socket, login_option
from rollout.engine.steps import HostRun, script
from rollout.errors import WrongState
from rollout.facts.model import Facts
from rollout.printable import printable

NAMED = 5  # of the connections that are left, in the message; all of them stand in the journal


def wait_until_gone(run: HostRun, facts: Facts) -> None:
    """Wait for the clients of a drained host to go; replication and the server's own threads may stay.

    A host without a drain hook is not waited for. Raises `WrongState` with the connections that are left when the
    time is over, and where the login cannot see the connections of others.
    """
    if run.options.skip_hooks or not run.plan.hooks.drain:
        return
    settings = run.host.settings
    with run.phase("connections") as details:
        text = script(
            "connections",
            login=login_option(run),
            socket=its_socket(facts),
            wait_seconds=int(settings.drain_wait_seconds),
            allowed=[user.encode().hex() for user in settings.drain_allowed_users],
        )
        result = run.ask(text, timeout_seconds=settings.drain_wait_seconds + 60)
        result.check("asking who is connected")
        left = [printable(line) for line in result.text.splitlines() if line]
        details["left"] = left
        if left:
            waited = f"{settings.drain_wait_seconds:g} s after the drain"
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            hint = "Users that may stay connected: rollout_drain_allowed_users."
            raise WrongState(run.name, f"clients are connected {waited}: {'; '.join(left[:NAMED])}{more}", hint=hint)
