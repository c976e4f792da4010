"""Run in a process of its own, uncompiled: plant one bug after the other and ask the named test about each.

    NUMBA_DISABLE_JIT=1 python planting.py COPY BUGS.json      # prints a list of true (noticed) and false

COPY is a folder with a copy of the package. Only the simulator is loaded anew for each bug, numba stays.
"""

import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def notices(expression: str) -> bool:
    """Load the simulator and the tests anew and call one test."""
    for name in [name for name in sys.modules if name.startswith(("rollout", "test_", "stepping"))]:
        del sys.modules[name]
    module, call = expression.split(".", 1)
    test, arguments = call.split("(", 1)
    values = json.loads(f"[{arguments.removesuffix(')')}]")
    try:
        getattr(importlib.import_module(module), test)(*values)
    except (AssertionError, IndexError, OverflowError, ExceptionGroup):
        return True
    return False


def main(copy: Path, bugs: list[dict[str, str]]) -> list[bool]:
    """Plant each bug in the copy, ask its test, and take the bug out again."""
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(copy), str(HERE)]
    noticed = []
    for bug in bugs:
        file = copy / "rollout" / "simulator" / bug["file"]
        right = file.read_text()
        assert right.count(bug["right"]) == 1, f"{bug['file']} has {right.count(bug['right'])} times {bug['right']!r}"
        importlib.invalidate_caches()
        file.write_text(right.replace(bug["right"], bug["wrong"]))
        noticed.append(notices(bug["test"]))
        file.write_text(right)
    return noticed


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()))))  # noqa: T201
