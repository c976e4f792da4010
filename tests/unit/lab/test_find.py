"""A fleet that is not there is refused with those that are."""

from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.lab.fleet import find
from rollout.lab.layout import Place


def test_a_wrong_name_is_answered_with_the_right_one(tmp_path: Path) -> None:
    """Without any fleet the way to one is told; beside others, their names and the option that takes them."""
    with pytest.raises(UsageProblem) as caught:
        find(Place(tmp_path, "lab"))
    assert caught.value.hint == "`rollout lab up --hosts 3` makes one"
    (tmp_path / "lab" / "demo").mkdir(parents=True)
    (tmp_path / "lab" / "demo" / "fleet.json").touch()
    with pytest.raises(UsageProblem) as caught:
        find(Place(tmp_path, "lab"))
    assert caught.value.hint == "There is demo: --name demo"
