"""Every code that this room hands out is explained."""

import ast
from collections.abc import Iterator
from pathlib import Path

from rollout.plan.codes import CODES

ROOM = Path(__file__).parents[3] / "rollout" / "plan"
PLACE_OF_CODE = {"Finding": 0, "Decision": 1}


def handed_out() -> Iterator[str]:
    """Yield the code of every finding and decision that is made in the room's own files."""
    for file in ROOM.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in PLACE_OF_CODE:
                code = call.args[PLACE_OF_CODE[call.func.id]]
                if isinstance(code, ast.Constant):
                    yield code.value


def test_every_code_is_explained() -> None:
    """Whoever meets a code in a plan or in a decision can ask what it means."""
    codes = set(handed_out())
    assert len(codes) > 20
    assert codes <= set(CODES)


def test_explanations_are_sentences() -> None:
    """An explanation says something, in whole sentences."""
    assert all(text.endswith(".") and len(text) > 40 for text in CODES.values())
