"""A server's binary that is asked something never starts as a server beside the one that runs."""

from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "rollout/engine/scripts"


@pytest.mark.parametrize("name", ["preflight.sh.j2", "variables.sh.j2"])
def test_every_question_to_a_binary_ends_it(name: str) -> None:
    """Words of the service's command line may stand before ours, and then --help alone is still understood."""
    asked = [line for line in (SCRIPTS / name).read_text().splitlines() if 'runuser -u "$user" --' in line]
    assert asked
    assert [line for line in asked if " --help" not in line] == []
