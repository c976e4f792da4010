"""The host itself is in the way: its disk, its packages, its server, its library, somebody else's settings."""

from pathlib import Path

import pytest
from host_faults import (
    DROP_INS,
    FILL,
    FOREIGN,
    HOLD_DPKG,
    INVOCATION,
    LIBRARY,
    MAY_START,
    MISSING,
    NO_ELF,
    NO_START,
    NOT_FOREIGN,
    OTHER_MACHINE,
    RELEASE_DPKG,
)
from repository_faults import Handler, break_postinst, mend_repository, served
from trial import HOST, Trial

pytestmark = pytest.mark.fleet
WAYS = pytest.mark.parametrize("way", ["resume", "rollback"])


def refused(trial: Trial, *words: str, status: str = "failed", code: int = 4, untouched: bool = True) -> str:
    """Apply and hold how it ends: the status, the exit code, no new start of the server; return what was said."""
    started = trial.text(INVOCATION)
    ended = trial.product.run("apply", "--yes", "--json", *words, expect=None)
    row = ended.json["hosts"][0]
    assert (row["status"], ended.code) == (status, code), f"{row} {ended.err}"
    trial.status_is(status)
    if untouched:
        assert trial.text(INVOCATION) == started
    assert trial.text("ls -d /var/lib/rollout/lock 2>/dev/null || echo free") == "free"
    return str(row["error"])


@pytest.mark.parametrize("way", [pytest.param("resume", marks=pytest.mark.matrix), "rollback"])
def test_a_disk_that_fills_up_at_unpack(trial: Trial, way: str) -> None:
    """dpkg has no room for the new files, nor for the old ones again: said so, and taken back when there is room."""
    trial.fault = "disk full at unpack"
    target = trial.plan()
    trial.text(FILL.format(folder="/usr/share/mysql", room_kib=256))
    ended = trial.product.run("apply", "--yes", "--json", expect=None)
    row = ended.json["hosts"][0]
    assert (row["status"], ended.code) in (("failed", 5), ("recovered", 4)), row
    trial.status_is(row["status"])
    assert "No space left on device" in trial.text("cat /var/lib/rollout/*/run-do-1.log")
    assert trial.text("mariadb -N -e 'SELECT 1'") == "1"
    trial.text("umount /usr/share/mysql")
    trial.ends(way, target, "rolled_back" if row["status"] == "failed" else "ok")


@pytest.mark.matrix
@WAYS
def test_a_disk_that_fills_up_at_the_backup(trial: Trial, way: str) -> None:
    """Stopped before any change: the server untouched, the lock given back."""
    trial.fault = "disk full at backup"
    target = trial.plan()
    trial.text(FILL.format(folder="/var/backups/rollout", room_kib=20_000))
    assert "/var/backups/rollout: 20 MiB free" in refused(trial)
    trial.text("umount /var/backups/rollout; rmdir /var/backups/rollout")
    trial.ends(way, target, "ok")


@pytest.mark.matrix
@WAYS
def test_a_disk_that_fills_up_in_the_backup(trial: Trial, way: str) -> None:
    """Somebody takes the room after preflight looked: the backup fails, nothing is begun."""
    trial.fault = "disk full in the midst of backup"
    target = trial.plan()
    started = trial.text(INVOCATION)
    process = trial.strike("STOP", "after", "phase_started", "backup")
    trial.text(FILL.format(folder="/var/backups/rollout", room_kib=20_000))
    trial.go_on(process)
    row = trial.ended(process).json["hosts"][0]
    assert row["status"] == "failed"
    assert "the backup failed" in row["error"]
    trial.status_is("failed")
    assert trial.text(INVOCATION) == started
    trial.text("umount /var/backups/rollout; rmdir /var/backups/rollout")
    trial.ends(way, target, "ok")


@pytest.mark.matrix
@WAYS
def test_a_package_that_is_gone_at_the_download(trial: Trial, way: str) -> None:
    """The index names it, the server answers 404: found in preflight, by name, before any stop."""
    trial.fault = "package 404 at download"
    sources = "/etc/apt/sources.list"
    handler = type("Gone", (Handler,), {})
    with served(trial.fleet.lab, handler) as address:
        trial.text(f"cp -p {sources} /run/sources; sed -i 's|copy:/srv/repo|{address}|' {sources}")
        target = trial.plan()
        handler.gone = frozenset({"mariadb-server"})
        told = refused(trial)
        assert "404" in told
        assert "mariadb-server" in told
        handler.gone = frozenset()
        if way == "resume":
            trial.resumes(target)
            return
    trial.text(f"cp -p /run/sources {sources}")
    trial.goes_back("ok")


@pytest.mark.matrix
@WAYS
def test_a_package_whose_script_fails(trial: Trial, way: str, tmp_path: Path) -> None:
    """postinst fails: the change is taken back on the host by itself, its words in the error."""
    trial.fault = "broken postinst"
    trial.plan()
    break_postinst(trial.fleet.lab, tmp_path)
    target = trial.plan()
    refused(trial, status="recovered", untouched=False)
    assert "the script is broken" in trial.text("cat /var/lib/rollout/*/run-do-1.log")
    mend_repository(trial.fleet.lab)
    trial.ends(way, target, "ok")


@pytest.mark.parametrize("way", [pytest.param("resume", marks=pytest.mark.matrix), "rollback"])
def test_a_server_that_does_not_start(trial: Trial, way: str) -> None:
    """The start fails after the upgrade: packages and drop-in go back, the server answers, the run stops."""
    trial.fault = "server does not start"
    target = trial.plan()
    trial.text(NO_START.format(target=target))
    trial.plan()
    refused(trial, status="recovered", untouched=False)
    assert trial.text("mariadb -N -e 'SELECT 1'") == "1"
    trial.text(MAY_START)
    trial.ends(way, target, "ok")


@pytest.fixture
def with_library(trial: Trial) -> Trial:
    """Give a host on which the library is installed already, and is as broken afterwards as the test leaves it."""
    trial.fleet.dirty(HOST)
    trial.text("apt-get install -q -y libjemalloc2")
    return trial


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kind", "breaks"), [("missing", MISSING), ("not ELF", NO_ELF), ("of another architecture", OTHER_MACHINE)]
)
def test_a_library_that_is_broken_before_the_run(with_library: Trial, kind: str, breaks: str) -> None:
    """Between plan and apply: the host is not touched, and the reason is told."""
    trial = with_library
    trial.fault = f"library {kind}, before the run"
    target = trial.plan()
    trial.text(f"cp -p {LIBRARY} /run/library; {breaks}")
    started = trial.text(INVOCATION)
    ended = trial.product.run("apply", "--yes", "--json", expect=None)
    row = ended.json["hosts"][0]
    assert row["status"] in ("failed", "stale")
    assert ended.code == 4
    trial.status_is(row["status"])
    assert trial.text(INVOCATION) == started
    trial.text(f"cp -p /run/library $(readlink -m {LIBRARY})")
    trial.resumes(target)


@pytest.mark.matrix
@WAYS
@pytest.mark.parametrize(
    ("kind", "breaks"), [("missing", MISSING), ("not ELF", NO_ELF), ("of another architecture", OTHER_MACHINE)]
)
def test_a_library_that_breaks_under_the_run(with_library: Trial, kind: str, breaks: str, way: str) -> None:
    """After preflight has tried it: the change does not hold, what is ours goes back, and the fault is named."""
    trial = with_library
    trial.fault = f"library {kind}, after preflight"
    target = trial.plan()
    process = trial.strike("STOP", "after", "phase_ended", "way_back")
    trial.text(f"cp -p {LIBRARY} /run/library; {breaks}")
    trial.go_on(process)
    row = trial.ended(process).json["hosts"][0]
    assert row["status"] == "failed", row
    assert "; and the host is not as it was: library_broken: libjemalloc2" in row["error"]
    trial.status_is("failed")
    trial.text(f"cp -p /run/library $(readlink -m {LIBRARY})")
    if way == "resume":
        trial.resumes(target)
        return
    trial.text("apt-get purge -q -y libjemalloc2")
    trial.goes_back("ok")


@pytest.mark.matrix
@WAYS
def test_a_foreign_preload(trial: Trial, way: str) -> None:
    """Somebody's override.conf comes up between plan and apply: named, left alone, nothing done."""
    trial.fault = "foreign override.conf with LD_PRELOAD"
    target = trial.plan()
    trial.text(FOREIGN)
    told = refused(trial, status="stale")
    assert f"{DROP_INS}/override.conf sets LD_PRELOAD=" in told
    assert "blocked" in trial.product.plan("--host", HOST, expect=None).out
    trial.text(NOT_FOREIGN)
    trial.ends(way, target, "ok")


@pytest.mark.matrix
@WAYS
def test_a_foreign_preload_under_the_run(trial: Trial, way: str) -> None:
    """The same after preflight: the proof names it, our change goes back, the foreign file stays as it is."""
    trial.fault = "foreign override.conf after preflight"
    target = trial.plan()
    process = trial.strike("STOP", "after", "phase_ended", "way_back")
    trial.text(FOREIGN.replace("override.conf", "zzz-other.conf"))
    trial.go_on(process)
    row = trial.ended(process).json["hosts"][0]
    assert row["status"] in ("recovered", "failed"), row
    trial.status_is(row["status"])
    assert "libz" in trial.text(f"cat {DROP_INS}/zzz-other.conf")
    trial.text(NOT_FOREIGN.replace("override.conf", "zzz-other.conf"))
    trial.text("systemctl restart mariadb")
    trial.ends(way, target, "ok")


@pytest.mark.matrix
@WAYS
def test_a_plan_that_went_stale(trial: Trial, way: str) -> None:
    """The host moved since: exit 3, no new start of the unit; when it is back as planned, the run can go on."""
    trial.fault = "plan gone stale"
    target = trial.plan()
    trial.text("apt-mark hold mariadb-server")
    refused(trial, status="stale")
    trial.text("apt-mark unhold mariadb-server")
    trial.ends(way, target, "ok")


@pytest.mark.matrix
@WAYS
def test_dpkg_is_held_for_long(trial: Trial, way: str) -> None:
    """Somebody else's dpkg does not end: told by name before anything is done."""
    trial.fault = "dpkg lock held for ever"
    target = trial.plan()
    trial.text(HOLD_DPKG)
    told = refused(trial)
    assert "perl" in told
    trial.text(RELEASE_DPKG)
    trial.ends(way, target, "ok")


@pytest.mark.matrix
def test_dpkg_is_held_for_a_while(trial: Trial) -> None:
    """Taken after preflight, given back after ten seconds: waited for, and then the change is made."""
    trial.fault = "dpkg lock held for 10 s at change"
    target = trial.plan()
    process = trial.strike("STOP", "after", "phase_ended", "way_back")
    trial.text(HOLD_DPKG)
    trial.text("systemd-run --quiet --collect sh -c 'sleep 10; rm -f /run/held'")
    trial.go_on(process)
    with trial.cell("resume"):
        trial.arrived(target, trial.ended(process))
    trial.status_is("changed")
    trial.text(RELEASE_DPKG)
    trial.goes_back()


@pytest.mark.matrix
def test_a_server_that_was_stopped_stays_stopped(trial: Trial) -> None:
    """Changed and taken back, and stopped after each; what it is when somebody starts it is what it was."""
    trial.fault = "server stopped before the run"
    trial.fleet.dirty(HOST)
    trial.text("systemctl stop mariadb.socket mariadb")
    trial.plan()
    with trial.cell("resume"):
        row = trial.product.run("apply", "--yes", "--json", "--skip-backup", "stopped").json["hosts"][0]
        assert row["status"] == "changed", row
        assert trial.text("systemctl is-active mariadb || :") == "inactive"
    with trial.cell("rollback", paths=len(trial.first)):
        row = trial.product.run("rollback", "--host", HOST, "--json").json["hosts"][0]
        assert row["status"] == "rolled_back", row
        assert trial.text("systemctl is-active mariadb || :") == "inactive"
        trial.text("systemctl start mariadb.socket mariadb")
        trial.is_as_at_first()
    trial.data_is_intact()


@pytest.mark.matrix
def test_a_unit_that_was_disabled_stays_disabled(trial: Trial) -> None:
    """The packages' scripts would enable it: it is as before after the change, and after the way back."""
    trial.fault = "unit disabled before the run"
    trial.fleet.dirty(HOST)
    trial.text("systemctl -q disable mariadb")
    target = trial.plan()
    with trial.cell("resume"):
        trial.arrived(target, trial.product.run("apply", "--yes", "--json"))
        assert trial.text("systemctl is-enabled mariadb || :") == "disabled"
    with trial.cell("rollback", paths=len(trial.first)):
        trial.product.run("rollback", "--host", HOST)
        assert trial.text("systemctl is-enabled mariadb || :") == "disabled"
        trial.text("systemctl -q enable mariadb")
        trial.is_as_at_first()
    trial.data_is_intact()
