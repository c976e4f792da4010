"""The wheel carries all that the program needs: installed elsewhere, without the checkout, it does its work."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and install it into a fresh environment; the libraries come from the one that runs the test."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(CHECKOUT)]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env/bin/python"
    wheel = next(folder.glob("*.whl"))
    subprocess.run([*pip, "--python", str(python), "install", "-q", "--no-deps", str(wheel)], check=True)
    site = next((folder / "env/lib").glob("python3*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "env/bin"


def run(installed: Path, folder: Path, *words: str) -> str:
    """Run a program of the environment in a folder of its own, and return what it printed."""
    environment = {"PATH": f"{installed}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_installed_program_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The test would prove nothing if it ran the sources beside it."""
    where = run(installed, tmp_path, "python", "-c", "import rollout; print(rollout.__file__)")
    assert str(CHECKOUT) not in where


def test_templates_playbooks_and_inventories_travel_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The recorded fleet is planned from the installed wheel alone, with the shipped playbook and template."""
    code = "from rollout.resources import shipped; print(shipped('inventories'))"
    example = f"{run(installed, tmp_path, 'python', '-c', code).strip()}/example"
    printed = run(installed, tmp_path, "rollout", "plan", example, "--json", "--sample", "0")
    assert '"kind": "allocator"' in printed
    assert "Written by rollout" in printed
    assert "sound" in run(installed, tmp_path, "rollout", "playbook", "check", f"{example}/../../playbooks/lru-fix.yml")
