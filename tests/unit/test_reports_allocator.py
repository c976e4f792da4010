"""Public reports of allocators, each by its row in the log of reports (section 7d)."""

from dataclasses import replace

import pytest
from healthy_host import EXPECTED, LIBRARY, WELL
from old_host import old_host
from rpm_host import EPEL, NEW, OLD, rpm_host, rpm_package

from rollout.changes.assess import assess
from rollout.changes.render import drop_in
from rollout.checks.registry import run_checks
from rollout.facts.model import Library, Package, Preload, UnitFile
from rollout.facts.unknown import Unknown
from rollout.settings import Settings

SERVER = rpm_package("MariaDB-server", OLD, NEW, OLD)


def jemalloc(*versions: str) -> Package:
    """Make EPEL's package on offer."""
    return rpm_package("jemalloc", None, *versions, origin=EPEL)


@pytest.mark.parametrize(
    ("offered", "architecture", "path"),
    [
        (("/usr/lib64/libjemalloc.so.1",), "x86_64", "/usr/lib64/libjemalloc.so.1"),  # EL7
        (("/usr/lib/libjemalloc.so.2", "/usr/lib64/libjemalloc.so.2"), "x86_64", "/usr/lib64/libjemalloc.so.2"),
        (("/usr/lib64/libjemalloc.so.2",), "aarch64", "/usr/lib64/libjemalloc.so.2"),
    ],
)
def test_l62_the_path_comes_from_the_packages_file_list(offered: tuple[str, ...], architecture: str, path: str) -> None:
    """`.so.1` on EL7, the 64-bit copy beside a 32-bit one: never a path by heart."""
    facts = rpm_host(SERVER, jemalloc("5.2.1-2.el9"), offered_libraries=offered)
    facts = replace(facts, system=replace(facts.system, architecture=architecture))
    assert assess(facts, Settings()).library == path


def test_l62_an_arm_host_of_debian_has_its_own_folder() -> None:
    """The multiarch name of the host, and of what is installed only the library of the binary's own architecture."""
    facts = old_host()
    arm = replace(facts, system=replace(facts.system, triplet="aarch64-linux-gnu"))
    assert assess(arm, Settings()).library == "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"
    installed = tuple(
        Library(
            "libjemalloc2", f"/usr/lib/{folder}/libjemalloc.so.2", f"/usr/lib/{folder}/libjemalloc.so.2", machine, 64
        )
        for folder, machine in (("i386-linux-gnu", "i386"), ("x86_64-linux-gnu", "x86_64"))
    )
    both = replace(facts, allocator=replace(facts.allocator, libraries=installed))
    assert assess(both, Settings()).library == LIBRARY


def test_l63_a_package_that_no_enabled_repository_has() -> None:
    """EPEL is not enabled: blocked with what is missing, and no repository is added."""
    blockers = {one.code: one.message for one in assess(rpm_host(SERVER), Settings()).blockers}
    assert blockers == {"library_unavailable": "jemalloc is in no enabled repository; none is added"}
    unknown = rpm_host(SERVER, jemalloc("5.2.1-2.el9"), offered_libraries=Unknown("the file lists could not be read"))
    told = {one.code: one.message for one in assess(unknown, Settings()).blockers}
    assert "the file lists could not be read" in told["library_unavailable"]


def test_l65_a_preload_in_an_override_is_shown_with_its_value() -> None:
    """It would win over a drop-in that sorts before it; ours sorts after it and still does not fight it."""
    override = "/etc/systemd/system/mariadb.service.d/override.conf"
    theirs = Preload(override, "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4")
    facts = old_host()
    needs = assess(replace(facts, allocator=replace(facts.allocator, preloads=(theirs,))), Settings())
    message = next(one.message for one in needs.blockers if one.code == "foreign_preload")
    assert override in message
    assert theirs.value in message
    assert [change.kind for change in needs.changes] == ["packages"]


def test_l66_each_assignment_is_quoted_on_a_line_of_its_own() -> None:
    """Unquoted blanks would split a value into assignments that systemd throws away."""
    text = drop_in(LIBRARY, "background_thread:true,dirty_decay_ms:5000", {})
    assert f'\nEnvironment="LD_PRELOAD={LIBRARY}"\n' in text
    assert '\nEnvironment="MALLOC_CONF=background_thread:true,dirty_decay_ms:5000"\n' in text


@pytest.mark.parametrize("said", ["bundled jemalloc", "tcmalloc gperftools 2.10"])
def test_l69_an_allocator_that_is_not_glibcs_is_respected(said: str) -> None:
    """Compiled in or chosen: left alone."""
    facts = old_host()
    needs = assess(replace(facts, allocator=replace(facts.allocator, version_malloc_library=said)), Settings())
    assert "other_allocator" in {one.code for one in needs.blockers}


def test_l71_a_helper_that_complains_is_no_failure() -> None:
    """An ExecStartPre shell could not preload; the server itself has the library mapped, and that is what counts."""
    why = "cannot be preloaded (cannot open shared object file): ignored."
    line = f"ERROR: ld.so: object '{LIBRARY}' from LD_PRELOAD {why}"
    facts = replace(WELL, trail=replace(WELL.trail, loader_lines=(line,)))
    results = {one.id: one.status for one in run_checks(facts, WELL, EXPECTED)}
    assert (results["allocator_mapped"], results["allocator_reported"]) == ("pass", "pass")


@pytest.mark.parametrize("changed", ["/lib/systemd/system/mariadb.service", "/usr/lib/systemd/system/mariadb.service"])
def test_a_unit_file_edited_against_its_package_is_told_before_the_upgrade_replaces_it(changed: str) -> None:
    """The vendor's own recipe says to edit mariadb.service: the upgrade would switch that jemalloc off."""
    facts = old_host()
    edited = UnitFile("/lib/systemd/system/mariadb.service", f"[Service]\nEnvironment=LD_PRELOAD={LIBRARY}\n")
    facts = replace(
        facts,
        unit=replace(facts.unit, fragment=edited),  # type: ignore[type-var] # known here
        packages=replace(facts.packages, changed_files=(changed,)),
    )
    warnings = {one.code: one.message for one in assess(facts, Settings()).warnings}
    assert "LD_PRELOAD, which goes with it" in warnings["unit_file_edited"]
    untouched = replace(facts, packages=replace(facts.packages, changed_files=("/etc/my.cnf",)))
    assert "unit_file_edited" not in {one.code for one in assess(untouched, Settings()).warnings}
