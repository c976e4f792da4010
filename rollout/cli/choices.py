"""What an operator asks of an apply beyond the plan, as options; the command gets them as values of the rooms below."""

from functools import wraps
from typing import Any

import click

from rollout.cli.options import Command, decorated, hooks_option, lock_option, patience_option
from rollout.engine.loop import identified
from rollout.engine.steps import Options

_RUN = (
    click.option(
        "--skip-backup", default="", metavar="REASON", help="Take no backup; the reason stands in the journal."
    ),
    click.option("--verify-restore", is_flag=True, help="Start the backup as a server of its own and read its tables."),
    hooks_option,
    click.option("--accept-no-rollback", is_flag=True, help="Go ahead where the way back cannot be prepared."),
    lock_option,
    patience_option,
)
_POLICY = (
    click.option("--skip-blocked", is_flag=True, help="Pass over blocked hosts instead of stopping at them."),
    click.option("--pause-between", is_flag=True, help="Ask before each wave but the first."),
    click.option("--stop-for-switchover", is_flag=True, help="Stop before a primary, so that it can be switched."),
)


def run_choices(function: Command) -> Command:
    """Add what the engine is told beyond the plan, given to the command as one `options: Options`."""

    @wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        names = ("skip_backup", "verify_restore", "skip_hooks", "accept_no_rollback", "patience_seconds")
        chosen = {name: given.pop(name) for name in names}
        locks = tuple(run for run in (given.pop("take_over_lock"),) if run)
        return function(*args, options=identified(Options(take_over_locks=locks, **chosen)), **given)

    return decorated(wrapper, _RUN)


def policy_choices(function: Command) -> Command:
    """Add what may be asked of the plan's policy on top, given to the command as one `asked: dict[str, bool]`."""

    @wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        asked = {name: given.pop(name) for name in ("skip_blocked", "pause_between", "stop_for_switchover")}
        return function(*args, asked=asked, **given)

    return decorated(wrapper, _POLICY)
