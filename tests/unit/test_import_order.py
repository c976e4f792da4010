"""The rooms stand in one order, and each imports only rooms that stand before it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "rollout"
ROOMS = (
    *(
        "errors",
        "printable",
        "resources",
        "versions",
        "windows",
        "settings",
        "inventory",
        "simulator",
        "facts",
        "checks",
        "prediction",
    ),
    *("changes", "plan", "journal", "remote", "engine", "bench", "report", "lab", "pytest_plugin", "cli"),
)
LEAVES = {"errors", "resources"}
SLOW = {"numba", "matplotlib", "distributed", "fabric", "paramiko"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(file: Path) -> str:
    """Name the room in which a file lives."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every import statement with the module that it names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that this test can read them"
            yield node, node.module or ""


def rooms_of(module: str, node: ast.stmt) -> list[str]:
    """Name the rooms of ours that an import reaches."""
    if module == "rollout" and isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names if alias.name in ROOMS]
    return [module.split(".")[1]] if module.startswith("rollout.") else []


def test_files_were_found() -> None:
    """The test reads the package and not an empty folder."""
    assert len(FILES) > 5


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_imports_only_rooms_before_its_own(file: Path) -> None:
    """No room reaches forward, and the simulator knows nothing of ours but errors."""
    here = room(file)
    if here in ("__init__", "__main__"):
        return
    assert here in ROOMS, f"{here} is not a room of the house"
    allowed = LEAVES if here == "simulator" else set(ROOMS[: ROOMS.index(here)])
    for node, module in imports(ast.parse(file.read_text())):
        for target in rooms_of(module, node):
            assert target == here or target in allowed, f"{file}:{node.lineno} imports {target}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_import_hides_in_a_function(file: Path) -> None:
    """Only libraries that are slow to load and not always needed may be imported inside a function."""
    for function in ast.walk(ast.parse(file.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node, module in imports(function):
                slow = module.split(".")[0] in SLOW or module.startswith(("rollout.remote.ssh", "rollout.simulator"))
                assert slow, f"{file}:{node.lineno} hides the import of {module}"
