"""The program's own words: commands that do not exist."""

import pytest

from rollout.cli.app import main


@pytest.mark.parametrize(("typed", "advice"), [("plna", "Did you mean 'plan'?"), ("zzz", "No such command 'zzz'.")])
def test_a_command_that_is_not_there(typed: str, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A usage error, exit code 2, and the right name where one is near."""
    with pytest.raises(SystemExit) as ended:
        main([typed])
    assert ended.value.code == 2
    assert advice in capsys.readouterr().err
