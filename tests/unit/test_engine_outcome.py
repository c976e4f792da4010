"""What an error of one host comes to: once its change has begun, only what is known is called failed."""

from collections.abc import Iterator

import pytest

from rollout import errors
from rollout.engine.outcome import gravest, of_error
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


def kinds(above: type[RolloutError] = RolloutError) -> Iterator[type[RolloutError]]:
    """Name every error of the program."""
    yield above
    for below in above.__subclasses__():
        yield from kinds(below)


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind.__module__ == errors.__name__])
def test_no_error_of_one_host_lets_a_run_end_well(kind: type[RolloutError]) -> None:
    """Whichever it is, also beside hosts that are well."""
    assert gravest([0, kind.exit_code, 0]) == kind.exit_code > 0


def test_the_gravest_is_told() -> None:
    """An incomplete rollback before all, a fault of the host last."""
    assert [gravest(codes) for codes in ((1, 5, 6), (1, 2), (0, 0), ())] == [5, 2, 0, 0]
