"""What an error of one host comes to: once its change has begun, only what is known is called failed."""

import pytest

from rollout.engine.outcome import of_error
from rollout.errors import CommandFailed, Locked, PrivilegeRefused, RolloutError, StalePlan, Unreachable, WrongState


@pytest.mark.parametrize(
    ("error", "before", "after"),
    [
        (Unreachable("db1", "no route"), "unreachable", "unknown"),
        (CommandFailed("db1", "a script wrote more than 67108864 bytes"), "failed", "unknown"),
        (PrivilegeRefused("db1", "sudo wants a password"), "failed", "unknown"),
        (Locked("db1", "held by run r2"), "blocked", "unknown"),
        (WrongState("db1", "the server is gone"), "failed", "failed"),
        (StalePlan("db1: moved"), "stale", "stale"),
    ],
)
def test_the_word_for_an_error(error: RolloutError, before: str, after: str) -> None:
    """do.sh goes on by itself: a host that cannot be asked is `unknown`, so that resume asks it again."""
    assert of_error(error, change_began=False).status == before
    assert of_error(error, change_began=True).status == after
    assert of_error(error, change_began=True).exit_code == error.exit_code
