"""Public reports of restarts, data and backups, each by its row in the log of reports (sections 7c and 7e).

Where a row is about what a script does on a host, the script itself runs here, with stand-ins for the programs that it
calls; the rows that need a real host are named in docs/reports.md.
"""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from healthy_host import EARLIER, EXPECTED, WELL
from scripts_of_ours import ENGINE, prelude

from rollout.checks.aftermath import error_log
from rollout.checks.model import Situation
from rollout.engine.preflight import backup_tool_package
from rollout.facts.model import Package, PackageVersion
from rollout.resources import PACKAGE
from rollout.versions import parse_server_version

SCRIPTS = "".join(
    re.sub(r"#.*", "", path.read_text())
    for room in ("engine", "changes")
    for path in sorted((PACKAGE / room / "scripts").glob("*.j2"))
)


def run(script: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a script of ours with stand-ins in it."""
    path = folder / "script.sh"
    path.write_text(script)
    return subprocess.run(["sh", str(path)], capture_output=True, text=True, check=False, cwd=folder)


def test_l38_a_server_that_the_transaction_left_stopped_is_started_once(tmp_path: Path) -> None:
    """Exit status 0, the unit inactive, active before: one start, then an answer is waited for."""
    stand_ins = f"""
answers() {{ [ -e {tmp_path}/up ]; }}
systemctl() {{
  echo "$*" >>{tmp_path}/calls
  case $1 in start) : >{tmp_path}/up ;; show) if [ -e {tmp_path}/up ]; then echo active; else echo inactive; fi ;; esac
}}
as_before
"""
    done = run(prelude("dnf") + stand_ins, tmp_path)
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls.count("start -- mariadb.service") == 1
    assert not [call for call in calls if call.startswith(("restart", "stop", "kill"))]
    assert "starting mariadb.service" in done.stdout


def test_l40_a_slow_stop_is_never_cut_short() -> None:
    """No script of ours sends SIGKILL or sets systemd's limits; start is waited for as long as the unit allows."""
    assert not re.search(r"SIGKILL|kill -9|--signal|TimeoutStopSec|TimeoutStopUSec|systemctl kill", SCRIPTS)
    assert "start_limit_seconds=900" in prelude("apt")


def test_l41_the_redo_log_is_never_moved_away() -> None:
    """After an unclean stop the old packages come back and the old server starts; no file of the data is touched."""
    assert not re.search(r"ib_logfile|aria_log|innodb_force_recovery|rm .*\.frm|tc\.log", SCRIPTS)


def test_l42_a_unit_that_cannot_get_its_capabilities_is_told_by_its_status(tmp_path: Path) -> None:
    """systemd's own words (exit status 218) are passed on, and the wait ends at once."""
    stand_ins = """
answers() { return 1; }
systemctl() {
  case "$*" in *ActiveState*) echo failed ;; *Result*) echo exit-code ;; *ExecMainStatus*) echo 218 ;; esac
}
wait_for_answer
"""
    done = run(prelude("apt") + stand_ins, tmp_path)
    assert done.returncode != 0
    assert "mariadb.service failed: exit-code, exit status 218" in done.stdout


def test_l43_noise_of_debian_start_is_no_failure() -> None:
    """`Access denied … Upgrade failed` stands in the journal at every start, and is no [ERROR] of the server."""
    line = (
        "debian-start[812]: ERROR 1045 (28000): Access denied for user 'root'@'localhost'; FATAL ERROR: Upgrade failed"
    )
    assert "[ERROR]" not in line  # what the probe greps for in the server's log
    known = "2026-11-30 10:00:00 0 [ERROR] Plugin 'x' is as broken as yesterday"
    before = replace(EARLIER, trail=replace(EARLIER.trail, error_lines=(known,)))
    after = replace(WELL, trail=replace(WELL.trail, error_lines=(known.replace("10:00:00", "11:30:00"),)))
    assert error_log(Situation(after, before, EXPECTED)).status == "warn"


def test_l44_mariadb_upgrade_is_left_to_the_packages() -> None:
    """Its inverted exit status cannot be misread: no script of ours calls it."""
    assert not re.search(r"mariadb.upgrade|mysql_upgrade", SCRIPTS)


@pytest.mark.parametrize("manager", ["apt", "dnf", "zypper"])
def test_l46_the_way_back_is_one_transaction_from_the_stash(manager: str) -> None:
    """All siblings at once, downgrades allowed by name, signatures never switched off."""
    text = prelude(manager)
    wanted = {
        "apt": 'install --allow-downgrades --no-remove "$@"',
        "dnf": 'downgrade "$here"/stash/*.rpm',
        "zypper": 'rpm --upgrade --oldpackage "$here"/stash/*.rpm',
    }
    assert wanted[manager] in text
    assert not re.search(r"allow-unauthenticated|force-yes|nogpgcheck|--nosignature --install|gpgcheck=0", text)


def _backup(folder: Path, tool: str) -> "subprocess.CompletedProcess[str]":
    program = folder / "mariadb-backup"
    program.write_text(f"#!/bin/sh\n{tool}\n")
    program.chmod(0o755)
    (folder / "record").mkdir()
    script = ENGINE(
        "backup",
        here=str(folder / "record"),
        directory=str(folder / "to"),
        method="mariadb-backup",
        tool=str(program),
        login="--no-defaults",
        socket="/run/mysqld/mysqld.sock",
    )
    return run(script, folder)


def test_l76_a_backup_is_judged_by_what_it_left(tmp_path: Path) -> None:
    """mariadb-backup passes over options that it does not know and says `completed OK!`; the files decide."""
    done = _backup(tmp_path, "echo 'completed OK!' >&2")
    assert done.returncode != 0
    assert "no checkpoints file" in done.stderr
    assert not (tmp_path / "record/backup.done").exists()


def test_l77_a_tool_of_another_version_does_not_take_the_backup() -> None:
    """Exactly the running version is fetched and unpacked beside the record; it prepares before any package moves."""
    other = parse_server_version("mariadb-backup based on MariaDB server 11.8.6-MariaDB debian-linux-gnu (x86_64)")
    offered = Package("mariadb-backup", "amd64", None, versions=(PackageVersion("1:11.8.10", 500, ()),))
    facts = replace(
        WELL, server=replace(WELL.server, backup_tool=other), packages=replace(WELL.packages, items=(offered,))
    )
    assert backup_tool_package(facts) == offered
    same = parse_server_version("mariadb-backup based on MariaDB server 11.8.10-MariaDB debian-linux-gnu (x86_64)")
    assert backup_tool_package(replace(facts, server=replace(facts.server, backup_tool=same))) is None


def test_l78_a_redo_log_that_wrapped_ends_the_run_before_any_change(tmp_path: Path) -> None:
    """The tool's own words are the reason."""
    done = _backup(tmp_path, "echo 'log block numbers mismatch' >&2; exit 1")
    assert done.returncode != 0
    assert not (tmp_path / "record/backup.done").exists()


def test_l81_an_archive_that_was_cut_short_is_no_backup(tmp_path: Path) -> None:
    """A full disk may leave a file and the exit status of a pipe; ours has neither a pipe nor trust in the status."""
    done = _backup(tmp_path, 'mkdir -p "${5#*=}" 2>/dev/null; echo half >&2; exit 0')
    assert done.returncode != 0
    assert not (tmp_path / "record/backup.done").exists()


def test_l80_no_client_reads_a_dump_back() -> None:
    """The sandbox line at a dump's head can break no client of ours: its last line is what is looked at."""
    dumped = {"here": "/r", "directory": "/to", "method": "mariadb-dump", "tool": "", "login": "--no-defaults"}
    script = ENGINE("backup", **dumped, socket="/run/mysqld/mysqld.sock")
    taken = script[script.index('"$dump" ') : script.index("tail -n 1")]
    assert " | " not in taken
    assert '>"$to/dump.sql"' in taken
    assert "Dump completed" in script
    assert "<" not in taken


def test_l82_no_script_of_ours_takes_a_snapshot() -> None:
    """Snapshots belong to a hook of the user's, who knows on which datasets the redo log lies."""
    assert not re.search(r"FLUSH TABLES|lvcreate|zfs |btrfs ", SCRIPTS)
