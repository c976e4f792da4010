"""The probe's script, run by the shell of this machine; no database is needed for that."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts
from rollout.facts.parse import parse_probe, with_received
from rollout.facts.probe import FIRST_LINE, ProbeRequest, probe_script
from rollout.facts.unknown import Unknown

EXTENDED = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"
# Facts that must be unknown where that one program is missing; the package world of this machine does not matter.
TAKEN_AWAY = {
    "getconf": ["system.page_size_bytes", "system.glibc"],
    "nproc": ["system.cores"],
    "uname": ["system.kernel", "system.architecture", "system.hostname"],
    "id": ["system.privileged"],
    "date": ["system.clock_offset_seconds"],
    "cat": ["system.os_id", "system.ram_bytes", "system.boot_id", "system.init", "workload.monotonic_seconds"],
    "df": ["storage.tmpdir", "storage.var_lib_mysql", "storage.backup_directory"],
    "stat": ["storage.tmpdir", "storage.run_directory"],
    "grep": ["trail.monitoring"],
    "my_print_defaults": ["server.version_option"],
}


def run(script: str, path: str | None = None) -> Facts:
    """Run a probe with the given PATH and read it."""
    if path is not None:
        assert EXTENDED in script
        script = script.replace(EXTENDED, f"PATH={path}\n")
    ended = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, timeout=60)
    return parse_probe("here", with_received(ended.stdout, datetime.now(UTC)))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of links to all programs of this machine, save apt's, which would take seconds here."""
    folder = tmp_path_factory.mktemp("programs")
    for place in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        for program in Path(place).iterdir():
            link = folder / program.name
            if not program.name.startswith("apt") and not link.is_symlink():
                link.symlink_to(program)
    return folder


def test_the_first_line_is_the_one_that_recordings_answer_to() -> None:
    """A recorded host knows the probe by its first line."""
    assert probe_script(ProbeRequest()).splitlines()[0] == FIRST_LINE == "# rollout probe"


def test_parameters_cannot_break_out_of_their_quotes(tmp_path: Path, programs: Path) -> None:
    """What stands in an inventory is a value in the script, whatever it holds."""
    canary = tmp_path / "canary"
    odd = f"/srv/it's; touch {canary} $(touch {canary}) `touch {canary}`"
    facts = run(probe_script(ProbeRequest(backup_directory=odd, unit=odd, defaults_file=odd)), str(programs))
    assert not canary.exists()
    assert not isinstance(facts.storage.backup_directory, Unknown)
    assert facts.storage.backup_directory.path == odd


def test_a_relative_path_is_refused_and_looked_for_nowhere(programs: Path) -> None:
    """A backup directory that is no absolute path is said to be none, and the probe goes on to its end."""
    facts = run(probe_script(ProbeRequest(backup_directory="srv/backup")), str(programs))
    assert isinstance(facts.storage.backup_directory, Unknown)
    assert "no absolute path" in facts.storage.backup_directory.reason


def test_two_probes_never_share_a_mark() -> None:
    """The mark is random and long."""
    marks = {ProbeRequest().mark for _ in range(100)}
    assert len(marks) == 100
    assert min(map(len, marks)) >= 34


@pytest.mark.parametrize("program", sorted(TAKEN_AWAY))
def test_a_program_that_is_not_there_makes_its_facts_unknown(program: str, programs: Path) -> None:
    """The reason names the program, and the probe goes on without it."""
    link = programs / program
    target = link.readlink() if link.is_symlink() else None
    link.unlink(missing_ok=True)
    try:
        facts = run(probe_script(ProbeRequest(backup_directory="/srv/backup")), str(programs))
    finally:
        if target is not None:
            link.symlink_to(target)
    unknown = facts_to_json(facts)["unknown"]
    for fact in TAKEN_AWAY[program]:
        assert program in unknown[fact], fact
    assert facts.host == "here"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """The private directory is gone when the probe has ended."""
    script = f"TMPDIR={tmp_path}\n{probe_script(ProbeRequest())}"
    subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_is_plain_shell(shell: str) -> None:
    """Each shell that a host may have for /bin/sh reads it without a complaint."""
    checked = subprocess.run(
        [shell, "-n"], input=probe_script(ProbeRequest()).encode(), capture_output=True, check=True
    )
    assert checked.stderr == b""
