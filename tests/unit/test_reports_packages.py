"""Public reports of repositories and packages, each by its row in the log of reports (section 7b, and L09)."""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from old_host import JEMALLOC, NEW, OLD, STATUS, offered, old_host
from rpm_host import NEW as NEW_RPM
from rpm_host import OLD as OLD_RPM
from rpm_host import rpm_host, rpm_package
from scripts_of_ours import prelude

from rollout.changes.assess import assess
from rollout.changes.model import Assessment
from rollout.facts.apt import parse_lock_holders, parse_refresh
from rollout.facts.model import Facts, PackageSource
from rollout.settings import Settings
from rollout.versions import fix_status, parse_server_version


def blockers(needs: Assessment) -> dict[str, str]:
    """Return the blockers, code to message."""
    return {finding.code: finding.message for finding in needs.blockers}


def with_refresh(exit_status: int, text: str) -> Facts:
    """Make the old host's facts after a refresh that ended so."""
    facts = old_host()
    return replace(facts, packages=replace(facts.packages, refresh=parse_refresh(exit_status, text)))


def test_l09_releases_of_a_fleet_are_compared_within_their_series() -> None:
    """10.0.30 is not 12, and 11.8.10 is more than 11.8.9."""
    offers = [(11, 8, 10), (12, 3, 4), (13, 1, 2)]
    fleet = ("11.8.9", "11.8.10", "11.8.11", "12.2.10", "12.3.3", "13.1.2", "13.0.9")
    found: dict[str, list[str]] = {}
    for number in fleet:
        version = parse_server_version(f"{number}-MariaDB")
        assert version is not None
        found.setdefault(fix_status(version, offers), []).append(number)
    assert found == {
        "present": ["11.8.10", "11.8.11", "13.1.2"],
        "available": ["11.8.9", "12.3.3"],
        "no_fix_in_series": ["12.2.10", "13.0.9"],
    }


def test_l14_several_series_in_one_repository() -> None:
    """11.8.10 exactly, for every sibling, although 12.1.2 and 13.1.2 stand above it."""
    packages = assess(rpm_host(), Settings()).changes[1]
    assert packages.after == dict.fromkeys(("MariaDB-client", "MariaDB-common", "MariaDB-server"), NEW_RPM)
    assert f"MariaDB-server={NEW_RPM}" in packages.do


def test_l15_one_transaction_names_every_sibling_and_none_is_left_behind() -> None:
    """Six siblings at one version; one of them missing blocks the whole."""
    names = ("server", "client", "server-core", "client-core", "backup", "plugin-provider-lz4")
    siblings = [offered(f"mariadb-{name}", OLD, NEW, OLD) for name in names]
    packages = assess(old_host(*siblings, JEMALLOC), Settings()).changes[1]
    line = next(line for line in packages.do.splitlines() if line.startswith("go_forward"))
    assert all(f"mariadb-{name}={NEW}" in line for name in names)
    needs = assess(old_host(*siblings[:5], offered("mariadb-plugin-provider-lz4", OLD, OLD), JEMALLOC), Settings())
    assert "mariadb-plugin-provider-lz4" in blockers(needs)["sibling_missing"]


def test_l17_an_installed_version_that_no_repository_has() -> None:
    """The origin is unknown: blocked with what to do, and nothing is guessed from the candidate."""
    needs = assess(old_host(offered("mariadb-server", OLD, OLD, origin=STATUS), JEMALLOC), Settings(), ("packages",))
    assert list(blockers(needs)) == ["origin_unknown"]
    assert needs.changes == ()


def test_l19_a_fix_that_is_not_published_is_no_error() -> None:
    """A result of its own; jemalloc goes ahead."""
    needs = assess(rpm_host(rpm_package("MariaDB-server", OLD_RPM, OLD_RPM), JEMALLOC_RPM), Settings())
    assert (needs.fix, blockers(needs)) == ("not_published", {})
    assert [change.kind for change in needs.changes] == ["allocator"]


JEMALLOC_RPM = rpm_package("jemalloc", None, "5.3.0-1.el9")


def test_l20_held_packages_block_and_are_all_named() -> None:
    """There is no switch that lifts a hold: who set it lifts it."""
    held = [replace(offered(f"mariadb-{name}", OLD, NEW, OLD), held=True) for name in ("server", "common")]
    assert "mariadb-server mariadb-common" in blockers(assess(old_host(*held, JEMALLOC), Settings()))["held"]


@pytest.mark.parametrize("manager", ["apt", "dnf", "zypper"])
def test_l21_no_script_of_ours_lifts_a_hold(manager: str) -> None:
    """Neither for a package of ours nor for an unrelated one; the undo law compares all holds on real hosts."""
    needs = assess(old_host() if manager == "apt" else rpm_host(manager=manager), Settings())
    text = prelude(manager) + "".join(change.do + change.undo for change in needs.changes)
    assert "unhold" not in text
    assert "versionlock" not in text
    assert not re.search(r"removelock|addlock|zypper .*\brl\b", text)
    assert "allow-change-held" not in text


def test_l22_a_versionlock_blocks_before_dnf_can_say_nothing_to_do() -> None:
    """The lock is named in the plan, and do.sh would fail where the version did not change."""
    locked = replace(rpm_package("MariaDB-server", OLD_RPM, NEW_RPM, OLD_RPM), held=True)
    needs = assess(rpm_host(locked, JEMALLOC_RPM), Settings())
    assert "MariaDB-server" in blockers(needs)["held"]
    assert "versionlock delete" in blockers(needs)["held"]
    do = needs.changes[1].do
    assert f'[ "$(version_of MariaDB-server)" = {NEW_RPM} ] ||' in do


def test_l24_a_vendor_is_not_changed() -> None:
    """The distribution's mariadb-server stays where only MariaDB's own MariaDB-server has the release; both named."""
    distribution = PackageSource(0, "appstream", origin="AlmaLinux")
    own = rpm_package("mariadb-server", "3:11.8.9-1.el9", "3:11.8.9-1.el9", origin=distribution)
    facts = rpm_host(own, rpm_package("MariaDB-server", None, NEW_RPM), JEMALLOC_RPM)
    facts = replace(facts, server=replace(facts.server, executable_package="mariadb-server"))
    needs = assess(facts, Settings())
    warnings = {finding.code: finding.message for finding in needs.warnings}
    assert needs.fix == "not_published"
    assert "MariaDB-server 11.8.10-1.el9 is at mariadb-main (MariaDB Foundation)" in warnings["other_origin_newer"]
    assert [change.kind for change in needs.changes] == ["allocator"]


@pytest.mark.parametrize(("exit_status", "goes"), [(0, True), (102, True), (103, True), (104, False), (106, False)])
def test_l25_what_zypper_counts_to_its_information(exit_status: int, goes: bool, tmp_path: Path) -> None:
    """A repository that is passed over (106) or a name not found (104) is no success: rpm is not called then."""
    (tmp_path / "archives").mkdir()
    said = tmp_path / "said"
    for name, does in (("zypper", f"exit {exit_status}"), ("rpm", ":"), ("xargs", f"echo rpm >>{said}")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    script = f"{prelude('zypper')}\nPATH={tmp_path}:$PATH here={tmp_path}\nforward MariaDB-server=11.8.10-1.el9"
    script = script.replace("/run/zypp", f"{tmp_path}/zypp")
    ran = subprocess.run(["sh", "-s"], input=script, capture_output=True, text=True, check=False, cwd="/")
    assert (ran.returncode == 0) is goes, ran.stderr
    assert said.exists() is goes


def test_a_lock_of_libzypp_has_a_living_holder(tmp_path: Path) -> None:
    """The file names a process: one that is gone, and our own, hold nothing; one that lives is named."""
    lock = tmp_path / "zypp.pid"
    head = prelude("zypper").replace("/run/zypp", f"{tmp_path}/zypp")
    told = []
    for pid in ("", str(os.getpid()), "4194305", "$$"):
        text = f"{head}\necho {pid} >{lock}\nzypp_holder"
        ran = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
        told.append(ran.stdout)
    assert told[0] == told[2] == told[3] == ""
    assert f"(pid {os.getpid()})" in told[1]


@pytest.mark.parametrize(
    ("row", "exit_status", "text"),
    [
        (
            "L28",
            100,
            "E: Repository 'http://deb.example trixie InRelease' changed its 'Origin' value from 'A' to 'B'",
        ),
        ("L30", 0, "W: Some index files failed to download. They have been ignored, or old ones used instead."),
    ],
)
def test_l28_l30_lists_that_are_not_fresh_block(row: str, exit_status: int, text: str) -> None:
    """An origin that changed, and old lists with exit status 0: what apt says decides, and nothing is overridden."""
    assert text in blockers(assess(with_refresh(exit_status, text), Settings()))["refresh_failed"]
    assert "allow-releaseinfo-change" not in prelude("apt")


def test_l31_a_package_that_is_half_configured_blocks() -> None:
    """dpkg --audit names mariadb-common; nothing is planned on top of that."""
    facts = old_host()
    broken = replace(facts, packages=replace(facts.packages, audit=("mariadb-common  MariaDB common files",)))
    assert "mariadb-common" in blockers(assess(broken, Settings()))["packages_broken"]


def test_l31_a_package_that_rpm_has_twice_blocks() -> None:
    """rpm knows no half-configured state; a transaction that was broken off leaves both versions."""
    twice = [rpm_package("MariaDB-server", version, NEW_RPM, OLD_RPM) for version in (OLD_RPM, NEW_RPM)]
    assert "MariaDB-server" in blockers(assess(rpm_host(*twice, JEMALLOC_RPM), Settings()))["packages_broken"]


def test_l32_a_plugin_moves_with_its_server() -> None:
    """A provider at another version would keep the new server from starting."""
    provider = offered("mariadb-plugin-provider-lz4", OLD, NEW, OLD)
    packages = assess(old_host(offered("mariadb-server", OLD, NEW, OLD), provider, JEMALLOC), Settings()).changes[1]
    assert packages.after["mariadb-plugin-provider-lz4"] == NEW


def test_l33_a_lock_is_waited_for_and_its_holder_known() -> None:
    """The probe names who holds it; the change waits for ten minutes and fails without having touched the server."""
    holder = parse_lock_holders("/var/lib/dpkg/lock-frontend\t1235\t/usr/bin/python3 /usr/bin/unattended-upgrade\n")
    assert [(one.pid, one.command) for one in holder] == [(1235, "/usr/bin/python3 /usr/bin/unattended-upgrade")]
    assert "-o DPkg::Lock::Timeout=600" in prelude("apt")
    assert "exit_on_lock" in prelude("dnf")


def test_l35_nothing_can_ask_a_question() -> None:
    """What keeps apt, debconf and needrestart from asking stands in the script itself, so sudo cannot take it away."""
    wanted = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l", "NEEDRESTART_SUSPEND": "1", "LC_ALL": "C"}
    script = f"{prelude('apt')}\nenv\n"
    bare = {"PATH": os.environ["PATH"]}
    told = subprocess.run(["sh", "-s"], input=script, capture_output=True, text=True, check=True, env=bare, cwd="/")
    environment = dict(line.partition("=")[::2] for line in told.stdout.splitlines())
    assert {name: environment.get(name) for name in wanted} == wanted
    assert all("</dev/null" in line for line in prelude("apt").splitlines() if "Use-Pty=0" in line)


def test_excludes_and_modules_of_dnf_are_orders() -> None:
    """An exclude that matches a sibling, and a module stream that may hide the rest, block; others do not matter."""
    assert "excluded" in blockers(assess(rpm_host(excludes=("exclude=kernel* MariaDB-*",)), Settings()))
    assert "excluded" not in blockers(assess(rpm_host(excludes=("excludepkgs=kernel*,php*",)), Settings()))
    assert "module_filtering" in blockers(assess(rpm_host(modules=("mariadb:10.11",)), Settings()))
