"""A stand-in's programs say the version of their package."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from rollout.errors import RolloutError
from rollout.lab.restamp import restamp

SOURCE = """
#include <stdio.h>
__attribute__((section(".note.package"), used)) static const char note[] =
    "{\\"type\\":\\"deb\\",\\"os\\":\\"Debian\\",\\"name\\":\\"example\\",\\"version\\":\\"1\\"}";
int main(void) { puts("11.8.9-MariaDB"); return 0; }
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Compile a program that prints a release."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed (Debian: apt-get install gcc)"
    (tmp_path / "example.c").write_text(SOURCE)
    subprocess.run([compiler, "-O1", "-o", tmp_path / "example", tmp_path / "example.c"], check=True)
    return tmp_path / "example"


def prints(program: Path) -> str:
    """Run it."""
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_program_prints_the_new_and_longer_version(program: Path) -> None:
    """11.8.10 is a character longer than 11.8.9, and nothing around it is touched."""
    assert prints(program) == "11.8.9-MariaDB"
    assert restamp(program, "11.8.9-MariaDB", "11.8.10-MariaDB")
    assert prints(program) == "11.8.10-MariaDB"


def test_a_script_is_left_alone(tmp_path: Path) -> None:
    """Not every program of a package is an ELF file."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho 11.8.9-MariaDB\n")
    assert not restamp(script, "11.8.9-MariaDB", "11.8.10-MariaDB")
    assert "11.8.9" in script.read_text()


def test_a_text_that_nothing_points_to_is_refused(tmp_path: Path) -> None:
    """A stand-in that would go on saying the old version is worse than none."""
    header = b"\x7fELF\x02\x01" + bytes(26) + struct.pack("<Q", 64) + bytes(14) + struct.pack("<HH", 56, 1) + bytes(6)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 400, 400, 4096)
    body = b'{"type":"deb","os":"Debian","name":"example"}\0' + b"\x90" * 16 + b"\0" + b"11.8.9-MariaDB\0"
    broken = tmp_path / "broken"
    broken.write_bytes((header + load + body).ljust(400, b"\0"))
    with pytest.raises(RolloutError, match="nothing that points to it"):
        restamp(broken, "11.8.9-MariaDB", "11.8.10-MariaDB")
