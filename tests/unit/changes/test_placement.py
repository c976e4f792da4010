"""Where our drop-in goes: beside a unit, or beside the template of all instances, and never at both places."""

from dataclasses import replace

import pytest
from healthy_host import LIBRARY, WELL
from old_host import old_host

from rollout.changes.assess import assess
from rollout.changes.expect import expectation
from rollout.changes.model import Assessment
from rollout.changes.placement import template_of
from rollout.checks.model import DropIn
from rollout.engine.rollback import HostRecord, RecordedChange, not_back
from rollout.facts.model import Facts, MappedLibrary, OtherServer, Preload, Unit, UnitFile
from rollout.facts.unknown import Known, Unknown
from rollout.settings import Settings

OWN = "/etc/systemd/system/mariadb@s1.service.d/zz-rollout-allocator.conf"
SHARED = "/etc/systemd/system/mariadb@.service.d/00-rollout-allocator.conf"
TEMPLATE = Settings(drop_in="template")


def instance(*drop_ins: UnitFile, unit_id: str = "mariadb@s1.service", jemalloc: bool = False) -> Facts:
    """Make a host of which the row's server is one of several instances."""
    facts = old_host()
    assert isinstance(facts.unit, Unit)
    facts = replace(facts, unit=replace(facts.unit, id=unit_id, drop_ins=drop_ins))
    values = {"libraries": WELL.allocator.libraries}
    if jemalloc:
        values |= {"version_malloc_library": "jemalloc 5.3.0", "mapped": (MappedLibrary(LIBRARY, False),)}
    return replace(facts, allocator=replace(facts.allocator, **values))


def only(facts: Facts, settings: Settings) -> Assessment:
    """Ask for the allocator alone."""
    return assess(facts, settings, ("allocator",))


def written(settings: Settings = TEMPLATE) -> str:
    """Return what our drop-in says under these settings."""
    return str(only(instance(), settings).changes[0].after["drop_in"])


@pytest.mark.parametrize(
    ("unit_id", "template"),
    [
        ("mariadb@s1.service", "mariadb@.service"),
        ("mariadb@a\\x2db.service", "mariadb@.service"),
        ("mariadb.service", None),
        ("mariadb@.service", None),
    ],
)
def test_the_template_of_a_unit(unit_id: str, template: str | None) -> None:
    """Only an instance has one."""
    assert template_of(unit_id) == template


@pytest.mark.parametrize(("settings", "path"), [(Settings(), OWN), (TEMPLATE, SHARED)])
def test_where_the_drop_in_goes(settings: Settings, path: str) -> None:
    """Beside the instance by default, beside the template where that is asked for; never at both places."""
    (change,) = only(instance(), settings).changes
    assert change.after["drop_in_path"] == path
    other = SHARED if path == OWN else OWN
    assert f"mv -f -- {path}.new {path}" in change.do
    assert f"rm -f -- {path} " in change.undo
    assert other not in change.do
    assert f"rm -f -- {other}" not in change.undo


def test_the_plan_says_who_else_reads_the_drop_in_of_a_template() -> None:
    """By name who runs now, and that stopped and future ones get it too; containers and other templates do not."""
    others = (
        OtherServer(2, "/usr/sbin/mariadbd", "mariadb@s2.service", container=False),
        OtherServer(3, "/usr/sbin/mariadbd", "mariadb@s3.service", container=True),
        OtherServer(4, "/usr/sbin/mariadbd", "maria@s4.service", container=False),
    )
    facts = replace(instance(), other_servers=others)
    assert only(facts, Settings()).warnings == ()
    (warning,) = only(facts, TEMPLATE).warnings
    assert warning.code == "drop_in_shared"
    assert "stopped and future ones too" in warning.message
    assert "(running now: mariadb@s2.service); only mariadb@s1.service is restarted" in warning.message


def test_other_servers_that_cannot_be_told_are_not_called_none() -> None:
    """Unknown is a value of its own."""
    others: Known[tuple[OtherServer, ...]] = Unknown("/proc is hidden")
    (warning,) = only(replace(instance(), other_servers=others), TEMPLATE).warnings
    assert "which run now cannot be told: /proc is hidden" in warning.message


def test_the_second_row_leaves_the_file_there_and_back() -> None:
    """It was there before this row's run, so neither do.sh nor undo.sh writes or removes it."""
    (first,) = only(instance(), TEMPLATE).changes
    (second,) = only(instance(UnitFile(SHARED, written())), TEMPLATE).changes
    assert second.summary != first.summary
    assert second.before["drop_in"] == second.after["drop_in"] == written()
    assert "cat >" not in second.do + second.undo
    assert f"{SHARED}.new" not in second.do + second.undo
    assert f"rm -f -- {SHARED}" not in second.undo
    assert "hidden=/run/systemd/system.control/$unit.d/00-rollout-allocator.conf" in second.undo


def test_an_instance_that_has_started_with_it_needs_nothing() -> None:
    """A reboot, or a start of its own, has done what a run would do; `verify` finds the file as rendered."""
    facts = instance(UnitFile(SHARED, written()), jemalloc=True)
    needs = only(facts, TEMPLATE)
    assert (needs.changes, needs.blockers) == ((), ())
    assert expectation(facts, TEMPLATE, ("allocator",)).drop_in == DropIn(SHARED, written())


@pytest.mark.parametrize(
    ("facts", "settings", "told"),
    [
        (instance(unit_id="mariadb.service"), TEMPLATE, "mariadb.service is no instance"),
        (instance(UnitFile(SHARED, "[Service]\n")), TEMPLATE, "does not bear our mark"),
        (instance(UnitFile(OWN, Unknown("no leave to read"))), Settings(), "does not bear our mark"),
        (instance(UnitFile(SHARED, written())), Settings(), f"asks for {OWN}"),
        (instance(UnitFile(OWN, written())), TEMPLATE, f"asks for {SHARED}"),
        (instance(UnitFile(SHARED, written())), Settings(drop_in="template", malloc_conf="a:b"), "something else"),
    ],
)
def test_what_could_not_be_taken_back_alone_is_refused(facts: Facts, settings: Settings, told: str) -> None:
    """No template, ours at the other place, or another content of a file that others started with."""
    needs = only(facts, settings)
    assert needs.changes == ()
    assert [finding.code for finding in needs.blockers] == ["drop_in_conflict"]
    assert told in needs.blockers[0].message


def test_an_instance_with_a_drop_in_of_its_own_that_is_in_force_stays_as_it_is() -> None:
    """What is asked for is there, whoever's place it stands at."""
    needs = only(instance(UnitFile(OWN, written()), jemalloc=True), TEMPLATE)
    assert (needs.changes, needs.blockers) == ((), ())


def test_the_own_drop_in_counts_where_another_row_wrote_one_for_all() -> None:
    """Both are read, and the own one, which sorts last, has the last word."""
    shared = UnitFile(SHARED, written(Settings(drop_in="template", malloc_conf="a:b")))
    needs = only(instance(shared, UnitFile(OWN, written()), jemalloc=True), Settings())
    assert (needs.changes, needs.blockers) == ((), ())


def test_an_instance_with_its_own_drop_in_comes_back_beside_one_for_all() -> None:
    """What another row wrote meanwhile is hidden for the start, and counts for nothing in the proof."""
    (change,) = only(instance(), Settings()).changes
    assert f"if [ -e {SHARED} ]; then\n  hidden=" in change.undo
    recorded = RecordedChange(kind="allocator", summary=change.summary, before=change.before, after=change.after)
    record = HostRecord(run_id="1", host="db1", unit="mariadb@s1.service", was_active=True, changes=(recorded,))
    assert not_back(instance(UnitFile(SHARED, written())), record) == []
    assert not_back(instance(UnitFile(OWN, written())), record) == [f"{OWN} is not as it was"]


def test_a_shared_drop_in_replaces_no_preload_of_an_instance() -> None:
    """It sorts first, so that an instance's own files have the last word, even where --replace-allocator is asked."""
    override = "/etc/systemd/system/mariadb@s1.service.d/override.conf"
    facts = instance(UnitFile(override, "[Service]\nEnvironment=LD_PRELOAD=/usr/lib/libtcmalloc.so.4\n"))
    preloads = (Preload(override, "/usr/lib/libtcmalloc.so.4"),)
    facts = replace(facts, allocator=replace(facts.allocator, preloads=preloads))
    assert only(facts, Settings(replace_allocator=True)).blockers == ()
    (blocker,) = only(facts, Settings(drop_in="template", replace_allocator=True)).blockers
    assert "its name sorts after 00-rollout-allocator.conf" in blocker.message
