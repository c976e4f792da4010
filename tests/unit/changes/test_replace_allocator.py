"""An allocator that others preload: respected by default, overruled where that is asked for and can be."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from healthy_host import LIBRARY, WELL
from old_host import old_host

from rollout.changes.assess import assess
from rollout.changes.model import Assessment, Change
from rollout.engine.rollback import HostRecord, RecordedChange, not_back
from rollout.facts.model import EnvironmentFile, Facts, MappedLibrary, Preload, Unit, UnitFile
from rollout.facts.unknown import Unknown
from rollout.plan.build import drifted, plan_host
from rollout.plan.model import Plan, PlaybookPart, replacing
from rollout.settings import Connection, Host, Settings

FOLDER = "/etc/systemd/system/mariadb.service.d"
OVERRIDE = f"{FOLDER}/override.conf"
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
MAPPED = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4.5.9"
SAID = "tcmalloc gperftools 2.10"
REPLACE = Settings(replace_allocator=True)


def unit_of(facts: Facts) -> Unit:
    """Return the unit, which these facts know."""
    assert isinstance(facts.unit, Unit)
    return facts.unit


def tcmalloc(
    source: str = OVERRIDE, value: str = TCMALLOC, said: str = SAID, mapped: tuple[str, ...] = (MAPPED,)
) -> Facts:
    """Make a host whose server runs with tcmalloc, which `source` preloads."""
    facts = old_host()
    unit = unit_of(facts)
    if source.startswith(FOLDER):
        unit = replace(unit, drop_ins=(UnitFile(source, f"[Service]\nEnvironment=LD_PRELOAD={value}\n"),))
    elif source.startswith("/etc/default"):
        unit = replace(unit, environment_files=(EnvironmentFile(source, False, True, value, None),))
    libraries = tuple(MappedLibrary(path, False) for path in mapped)
    preloads = (Preload(source, value),) if source else ()
    allocator = replace(facts.allocator, version_malloc_library=said, mapped=libraries, preloads=preloads)
    return replace(facts, unit=unit, allocator=allocator)


def only(facts: Facts, settings: Settings) -> Assessment:
    """Ask for the allocator alone."""
    return assess(facts, settings, ("allocator",))


def blockers(facts: Facts, settings: Settings) -> dict[str, str]:
    """Return the blockers by code."""
    needs = only(facts, settings)
    assert needs.changes == ()
    return {one.code: one.message for one in needs.blockers}


def test_it_is_respected_by_name_and_the_way_to_replace_it_is_named() -> None:
    """Both blockers say who asks for what, and what would overrule it."""
    told = blockers(tcmalloc(), Settings())
    assert told.keys() == {"other_allocator", "foreign_preload"}
    assert SAID in told["other_allocator"]
    assert f"{OVERRIDE} sets LD_PRELOAD={TCMALLOC}" in told["foreign_preload"]
    assert all("--replace-allocator" in message for message in told.values())


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (OVERRIDE, TCMALLOC),
        (OVERRIDE, "libtcmalloc_minimal.so.4"),  # by its name alone
        (OVERRIDE, f"{TCMALLOC}:/usr/lib/x86_64-linux-gnu/libmimalloc.so.2"),
        ("/usr/lib/systemd/system/mariadb.service", TCMALLOC),
        ("the manager's environment", TCMALLOC),
    ],
)
def test_a_preload_that_ours_can_overrule_is_replaced(source: str, value: str) -> None:
    """One change, no blocker, and a warning with the source; their file is no part of the change."""
    needs = only(tcmalloc(source, value), REPLACE)
    assert needs.blockers == ()
    (change,) = needs.changes
    assert change.summary == f"{SAID} -> jemalloc ({LIBRARY}), over LD_PRELOAD={value} of {source}"
    assert change.before["others_mapped"] == MAPPED
    assert [(one.code, source in one.message) for one in needs.warnings] == [("allocator_replaced", True)]
    assert OVERRIDE not in change.do + change.undo


@pytest.mark.parametrize(
    ("source", "value", "reason"),
    [
        ("/etc/ld.so.preload", TCMALLOC, "every program of the host loads it"),
        ("/etc/default/mariadb", TCMALLOC, "an EnvironmentFile beats every drop-in"),
        (f"{FOLDER}/zzz.conf", TCMALLOC, "its name sorts after zz-rollout-allocator.conf"),
        (OVERRIDE, f"{TCMALLOC} /opt/agent.so", "it asks for /opt/agent.so, which is no allocator"),
        (OVERRIDE, "", "it asks for no library at all"),
    ],
)
def test_a_preload_that_has_the_last_word_or_does_more_blocks(source: str, value: str, reason: str) -> None:
    """The blocker says why ours would not win, or what would be lost."""
    message = blockers(tcmalloc(source, value), REPLACE)["foreign_preload"]
    assert source in message
    assert reason in message
    assert "first" in message


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (tcmalloc("", said="bundled jemalloc", mapped=()), "compiled in or linked"),
        (tcmalloc("", said=SAID), "compiled in or linked"),
        (tcmalloc(value="/usr/lib/x86_64-linux-gnu/libmimalloc.so.2"), "compiled in or linked"),
    ],
)
def test_an_allocator_that_no_preload_put_there_blocks(facts: Facts, reason: str) -> None:
    """Compiled in or linked: no drop-in can take its place, whatever was asked for."""
    assert reason in blockers(facts, REPLACE)["other_allocator"]


@pytest.mark.parametrize("settings", [REPLACE, Settings()])
@pytest.mark.parametrize(
    ("said", "mapped"), [("system", ("/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0",)), ("jemalloc 5.3.0-0-g0", ())]
)
def test_what_the_server_does_not_say_is_seen_all_the_same(
    said: str, mapped: tuple[str, ...], settings: Settings
) -> None:
    """A linked mimalloc is `system` to the server, a jemalloc in its own program is mapped nowhere: both block."""
    message = blockers(tcmalloc("", said=said, mapped=mapped), settings)["other_allocator"]
    assert f"the server runs with {said}" in message
    assert "compiled in or linked" in message
    assert all(path in message for path in mapped)


def test_jemalloc_that_is_not_ours_stays_and_it_is_said_who_asks_for_it() -> None:
    """By a preload of theirs, wherever it stands, or by nobody: then the program is linked with it."""
    for source, why in (("/etc/ld.so.preload", "/etc/ld.so.preload asks for it"), ("", "no preload asks for it")):
        needs = only(tcmalloc(source, LIBRARY, said="jemalloc 5.3.0", mapped=(LIBRARY,)), Settings())
        assert (needs.changes, needs.blockers) == ((), ())
        assert [(one.code, why in one.message) for one in needs.warnings] == [("allocator_kept", True)]


def test_jemalloc_that_nothing_asks_for_any_more_is_not_called_linked() -> None:
    """The file that asked for it is gone since the server started: its next start is without it, and that is told."""
    facts = tcmalloc("", LIBRARY, said="jemalloc 5.3.0", mapped=(LIBRARY,))
    facts = replace(facts, allocator=replace(facts.allocator, environ_preload=LIBRARY))
    (warning,) = only(facts, Settings()).warnings
    assert (
        "it was started with it, and nothing asks for it any more, so its next start is without it" in warning.message
    )


def test_a_map_that_could_not_be_read_blocks() -> None:
    """Without it nobody can tell a preloaded allocator from one that is compiled in."""
    facts = tcmalloc()
    facts = replace(facts, allocator=replace(facts.allocator, mapped=Unknown("not root")))
    assert "not root" in blockers(facts, REPLACE)["other_allocator"]


def test_a_preload_is_replaced_also_where_the_server_does_not_say_it() -> None:
    """The server names jemalloc and tcmalloc only; with mimalloc it says system."""
    library = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2"
    needs = only(tcmalloc(value=library, said="system", mapped=(f"{library}.0",)), REPLACE)
    assert [change.before["others_mapped"] for change in needs.changes] == [f"{library}.0"]


def test_jemalloc_by_hand_stays_theirs_all_the_same() -> None:
    """What is wanted is there already: there is nothing to replace."""
    needs = only(tcmalloc(value=LIBRARY, said="jemalloc 5.3.0", mapped=(LIBRARY,)), REPLACE)
    assert (needs.changes, needs.blockers) == ((), ())


def changed(change: Change) -> Facts:
    """Make the host after the change: both drop-ins are there, ours has the last word."""
    facts = tcmalloc()
    ours = UnitFile(f"{FOLDER}/zz-rollout-allocator.conf", str(change.after["drop_in"]))
    unit = replace(unit_of(facts), drop_ins=(*unit_of(facts).drop_ins, ours), environment={"LD_PRELOAD": LIBRARY})
    allocator = replace(
        facts.allocator,
        version_malloc_library="jemalloc 5.3.0",
        mapped=(MappedLibrary(LIBRARY, False),),
        preloads=(Preload(OVERRIDE, TCMALLOC), Preload(ours.path, LIBRARY)),
        libraries=WELL.allocator.libraries,
    )
    return replace(facts, unit=unit, allocator=allocator)


@pytest.mark.parametrize("settings", [REPLACE, Settings()])
def test_a_host_on_which_it_was_replaced_needs_nothing_more(settings: Settings) -> None:
    """Also for `verify`, which does not know what the plan was told."""
    (change,) = only(tcmalloc(), REPLACE).changes
    needs = only(changed(change), settings)
    assert (needs.changes, needs.blockers) == ((), ())


def test_a_rollback_is_complete_only_with_the_old_allocator_loaded_again() -> None:
    """The drop-in gone is not enough: what was mapped before must be mapped again."""
    (change,) = only(tcmalloc(), REPLACE).changes
    recorded = RecordedChange(kind="allocator", summary=change.summary, before=change.before, after=change.after)
    record = HostRecord(run_id="1", host="db1", unit="mariadb.service", was_active=True, changes=(recorded,))
    back = tcmalloc()
    assert not_back(back, record) == []
    lost = replace(back, allocator=replace(back.allocator, mapped=()))
    assert not_back(lost, record) == [f"{MAPPED} is not loaded again"]
    assert not_back(tcmalloc(mapped=(MAPPED.replace("4.5.9", "4.5.10"),)), record) == []
    assert "the server still has jemalloc loaded" in not_back(changed(change), record)


def test_a_preload_that_comes_up_after_the_plan_makes_it_stale() -> None:
    """To replace what was seen is no leave to replace what nobody has seen."""
    host = replacing(Host("db1", Connection()))
    planned = plan_host(host, old_host(), ("allocator",))
    assert drifted(planned, old_host(), host, ("allocator",)) == ""
    since = tcmalloc(said="system", mapped=())
    assert OVERRIDE in drifted(planned, since, host, ("allocator",))


def test_the_option_is_kept_in_the_plan_for_all_of_its_hosts() -> None:
    """What `plan` was told holds for `apply`, and an edit of the plan file would be seen."""
    host = Host("db1", Connection())
    plan = Plan(
        schema=1,
        plan_id="1",
        created_at=datetime(2026, 11, 30, tzinfo=UTC).isoformat(),
        program_version="0",
        playbook=PlaybookPart(name="p", source="p.yml", changes=("allocator",)),
        inventory_sources=(),
        inventory={},
        waves=(),
        hosts=(),
    )
    told = plan.model_copy(update={"replace_allocator": True}).sealed()
    assert [one.settings.replace_allocator for one in plan.over([host])] == [False]
    assert told.over([host]) == [replacing(host)]
    assert told.over([host])[0].settings.replace_allocator is True
    assert Plan.model_validate(told.to_json()) == told
    assert plan.sealed().digest != told.digest
