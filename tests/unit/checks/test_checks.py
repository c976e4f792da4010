"""Each check passes on a host that is well, fails on one that is not, and never passes on what is unknown."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from healthy_host import CONTENT, EARLIER, EXPECTED, LIBRARY, OURS, WELL, package, path

from rollout.checks.codes import CODES
from rollout.checks.model import CheckResult, worst
from rollout.checks.registry import CHECK_IDS, run_checks, unreachable
from rollout.facts.model import Channel, Facts, Galera, MappedLibrary, PathFacts, Preload, UnitFile
from rollout.facts.unknown import Unknown
from rollout.settings import FixRelease
from rollout.versions import parse_server_version

OTHER = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
CHANNEL = Channel("", "db0", 3306, "Yes", "Yes", 0, "Slave_Pos", "")
NODE = Galera("Synced", True, True, "Primary", 3, "u", "26.4")
Turn = Callable[[Facts], Facts]


def inside(domain: str, **values: Any) -> Turn:
    """Return a turn that replaces fields of one domain of the facts."""
    return lambda facts: replace(facts, **{domain: replace(getattr(facts, domain), **values)})


def chain(*turns: Turn) -> Turn:
    """Return a turn that takes all of these."""

    def all_of_them(facts: Facts) -> Facts:
        for turn in turns:
            facts = turn(facts)
        return facts

    return all_of_them


def by_id(results: tuple[CheckResult, ...]) -> Mapping[str, CheckResult]:
    """Key the results by their ids."""
    return {result.id: result for result in results}


OLD = parse_server_version("11.8.9-MariaDB-deb13")
NOT_MAPPED = inside("allocator", mapped=(), version_malloc_library="system")
OVERRIDE = Preload("/etc/systemd/system/mariadb.service.d/zzz.conf", OTHER)

# What was done to the host after the rollout; the check that must see it; its status; the cause that it names.
TURNS: tuple[tuple[str, Turn, str, str], ...] = (
    ("version_running", inside("server", running=OLD), "fail", "restart_pending"),
    ("version_running", inside("server", running=OLD, on_disk=OLD), "fail", "upgrade_missing"),
    ("version_running", inside("server", running=None), "fail", ""),
    ("version_on_disk", inside("server", running=OLD), "fail", "restart_pending"),
    ("version_on_disk", inside("server", version_option="12.0.0-MariaDB"), "fail", "version_option"),
    ("version_client", inside("server", client=OLD), "fail", ""),
    ("fix_present", inside("server", running=OLD), "fail", "upgrade_missing"),
    ("fix_present", inside("server", running=parse_server_version("11.8.10-3-MariaDB-enterprise")), "warn", ""),
    ("allocator_reported", inside("allocator", version_malloc_library="bundled jemalloc"), "fail",
     "allocator_compiled_in"),
    ("allocator_reported", inside("allocator", version_malloc_library="tcmalloc gperftools 2.10"), "fail",
     "allocator_compiled_in"),
    ("allocator_reported", chain(inside("unit", environment={"LD_PRELOAD": OTHER}), inside("allocator",
     version_malloc_library="tcmalloc gperftools 2.10", preloads=(Preload(OVERRIDE.source, OTHER),))), "fail",
     "preload_not_asked"),
    ("allocator_mapped", chain(NOT_MAPPED, inside("server", capabilities="/usr/sbin/mariadbd cap_ipc_lock=ep")), "fail",
     "preload_secure_execution"),
    ("allocator_mapped", chain(NOT_MAPPED, inside("allocator", libraries=())), "fail", "preload_path_missing"),
    ("allocator_mapped", chain(NOT_MAPPED, inside("trail", loader_lines=(
        f"ERROR: ld.so: object '{LIBRARY}' from LD_PRELOAD cannot be preloaded (wrong ELF class: ELFCLASS32): ignored.",
    ))), "fail", "preload_not_loadable"),
    ("allocator_mapped", chain(NOT_MAPPED, inside("allocator", environ_preload=None)), "fail", "preload_not_restarted"),
    ("allocator_mapped", chain(NOT_MAPPED, inside("unit", environment={}), inside("allocator", preloads=())), "fail",
     "preload_not_asked"),
    ("drop_in_content", inside("unit", drop_ins=(UnitFile(OURS, CONTENT + "Nice=5\n"),)), "fail", "drop_in_edited"),
    ("drop_in_content", inside("unit", drop_ins=(UnitFile(OURS, "[Service]\n"),)), "fail", "drop_in_foreign"),
    ("drop_in_content", inside("unit", drop_ins=()), "fail", "drop_in_missing"),
    ("drop_in_wins", chain(inside("unit", environment={"LD_PRELOAD": OTHER}),
                           inside("allocator", preloads=(Preload(OURS, LIBRARY), OVERRIDE))), "fail",
     "preload_overridden"),
    ("drop_in_wins", chain(inside("unit", environment={}), inside("allocator", preloads=())), "fail",
     "preload_not_asked"),
    ("unit_active", inside("unit", active_state="failed", sub_state="failed"), "fail", "unit_failed"),
    ("unit_restarts", inside("unit", n_restarts=3), "fail", ""),
    ("daemon_reload", inside("unit", need_daemon_reload=True), "fail", ""),
    ("one_invocation", chain(inside("unit", invocation_id="cc"), inside("trail", invocations=("aa", "bb", "cc"))),
     "fail", ""),
    ("one_invocation", inside("unit", invocation_id="aa"), "fail", ""),
    ("deleted_mappings", inside("server", executable_deleted=True), "fail", "restart_pending"),
    ("deleted_mappings", inside("allocator", mapped=(MappedLibrary(LIBRARY, True),)), "fail", "library_replaced"),
    ("packages_version", inside("packages", items=(package("mariadb-server"),
                                                   package("mariadb-client", "1:11.8.9+maria~deb13"))), "fail", ""),
    ("packages_configured", inside("packages", items=(package("mariadb-server", status="install ok half-configured"),)),
     "fail", ""),
    ("packages_configured", inside("packages", audit=("The following packages are only half configured:",)),
     "fail", ""),
    ("unattended_upgrades", inside("packages", unattended_upgrades=True), "warn", ""),
    ("datadir_identity", inside("storage", ibdata1=path("/var/lib/mysql/ibdata1", 99)), "fail", ""),
    ("datadir_identity", inside("storage", moved_datadirs=("/var/lib/mysql-11.8",)), "fail", "datadir_moved"),
    ("schemas_tables", inside("server", schemas={"shop": 11, "mysql": 31, "sys": 101}), "fail", ""),
    ("schemas_tables", inside("server", schemas={"mysql": 31, "sys": 101}), "fail", ""),
    ("schemas_tables", inside("server", schemas={"shop": 13, "mysql": 31, "sys": 101}), "warn", ""),
    ("replication", inside("replication", channels=(replace(CHANNEL, sql_running="No"),)), "fail", ""),
    ("wsrep", inside("replication", galera=replace(NODE, state="Joining: receiving State Transfer")), "fail", ""),
    ("old_blocks", inside("pool", old_blocks_time_ms=2147483647), "warn", "old_blocks_workaround"),
    ("lru_monitoring", inside("trail", monitoring=("/etc/zabbix/mysql.conf",)), "warn", ""),
    ("lru_monitoring", inside("server", variables={"performance_schema": "OFF"}), "warn", ""),
    ("error_log", inside("trail", error_lines=("2026-11-30 10:00:00 0 [ERROR] Plugin 'x' init failed",)), "fail", ""),
    ("backup", inside("trail", backups=()), "fail", ""),
)  # fmt: skip


def test_all_checks_pass_on_a_host_that_is_well() -> None:
    """Nothing fails or warns, and only what is not there (replication, Galera) is skipped."""
    results = run_checks(WELL, EARLIER, EXPECTED)
    assert {result.id for result in results if result.status == "skip"} == {"replication", "wsrep"}
    assert worst(results) == "pass", [result for result in results if result.status in ("fail", "warn")]


@pytest.mark.parametrize(("check", "turn", "status", "cause"), TURNS, ids=[f"{t[0]}-{t[3] or t[2]}" for t in TURNS])
def test_a_check_sees_what_was_done(check: str, turn: Turn, status: str, cause: str) -> None:
    """The named check changes its verdict and names the cause."""
    result = by_id(run_checks(turn(WELL), EARLIER, EXPECTED))[check]
    assert (result.status, result.cause) == (status, cause), result


def test_every_check_has_a_case_in_which_it_does_not_pass() -> None:
    """The table above leaves no check out."""
    assert {turn[0] for turn in TURNS} == set(CHECK_IDS)


def test_every_code_is_explained() -> None:
    """Ids and causes that checks hand out stand in the table of codes."""
    results = [result for turn in TURNS for result in run_checks(turn[1](WELL), EARLIER, EXPECTED)]
    used = {result.id for result in (*results, *unreachable("refused"))} | {result.cause for result in results} - {""}
    assert used <= set(CODES)


def unknowns(facts: object, trail: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the way to each fact that may be unknown: fields of domains, and the unit as a whole."""
    for item in fields(facts):  # type: ignore[arg-type] # facts is a dataclass, by its callers
        value = getattr(facts, item.name)
        if item.name in ("unit", "other_servers"):
            yield (*trail, item.name)
        elif is_dataclass(value) and not trail:
            yield from unknowns(value, (item.name,))
        elif trail:
            yield (*trail, item.name)


def test_nothing_passes_that_needs_an_unknown_fact() -> None:
    """Making any one fact unknown never turns a verdict into a pass, and each check but the topology's notices some."""
    noticed = set()
    before = by_id(run_checks(WELL, EARLIER, EXPECTED))
    for way in unknowns(WELL):
        nothing = Unknown("taken away")
        domain = way[0]
        facts = replace(WELL, unit=nothing) if way == ("unit",) else WELL
        if len(way) == 2:
            facts = replace(WELL, **{domain: replace(getattr(WELL, domain), **{way[1]: nothing})})
        for result in run_checks(facts, EARLIER, EXPECTED):
            if result.status != before[result.id].status:
                assert result.status in ("fail", "warn"), (way, result)
                noticed.add(result.id)
    assert noticed == set(CHECK_IDS)


@pytest.mark.parametrize(
    ("boot", "changed", "status"),
    [
        ("another", {"device": 41}, "pass"),
        ("another", {"device": 41, "inode": 99}, "fail"),
        ("another", {"device": 41, "mount_point": "/srv"}, "fail"),
        ("another", {"device": 41, "filesystem": "xfs"}, "fail"),
        ("the same", {"device": 41}, "fail"),
        (Unknown("no answer"), {"device": 41}, "fail"),
    ],
)
def test_a_boot_may_number_devices_anew(boot: str | Unknown, changed: dict[str, Any], status: str) -> None:
    """An overlay or a device mapper has another number after a boot: then type and mount point stand for it."""
    data = {"datadir": WELL.storage.datadir, "ibdata1": WELL.storage.ibdata1, "mysql_schema": WELL.storage.mysql_schema}
    moved = {name: replace(place, **changed) for name, place in data.items() if isinstance(place, PathFacts)}
    assert len(moved) == 3
    before = inside("system", boot_id="the same")(EARLIER)
    facts = chain(inside("system", boot_id=boot), inside("storage", **moved))(WELL)
    assert by_id(run_checks(facts, before, EXPECTED))["datadir_identity"].status == status


def test_replication_that_stood_still_before_may_stand_still() -> None:
    """A channel stopped on purpose is no failure; one that follows another source, or lost its GTID mode, is."""
    stopped = inside("replication", channels=(replace(CHANNEL, io_running="No", sql_running="No"),))
    results = by_id(run_checks(stopped(WELL), stopped(EARLIER), EXPECTED))
    assert results["replication"].status == "pass"
    for turned in (replace(CHANNEL, source_host="db9"), replace(CHANNEL, using_gtid="No")):
        was, now = inside("replication", channels=(CHANNEL,)), inside("replication", channels=(turned,))
        assert by_id(run_checks(now(WELL), was(EARLIER), EXPECTED))["replication"].status == "fail"
    gone = by_id(run_checks(WELL, inside("replication", channels=(CHANNEL,))(EARLIER), EXPECTED))
    assert gone["replication"].status == "fail"


def test_a_channel_that_is_still_connecting_is_only_a_warning() -> None:
    """Right after a start a replica connects; with an error it is a failure."""
    was = inside("replication", channels=(CHANNEL,))(EARLIER)
    for error, status in (("", "warn"), ("Access denied", "fail")):
        channel = replace(CHANNEL, io_running="Connecting", last_error=error, seconds_behind=None)
        now = inside("replication", channels=(channel,))(WELL)
        assert by_id(run_checks(now, was, EXPECTED))["replication"].status == status


def test_errors_that_every_start_logs_are_only_a_warning() -> None:
    """A line of the log that the start before had too, with other times and numbers, fails nobody."""
    line = "2026-11-30 10:00:{} {} [ERROR] Incorrect definition of table mysql.event: column 3"
    was = inside("trail", error_lines=(line.format("01", 0),))(EARLIER)
    now = inside("trail", error_lines=(line.format("59", 7),))(WELL)
    assert by_id(run_checks(now, was, EXPECTED))["error_log"].status == "warn"
    assert by_id(run_checks(now, None, EXPECTED))["error_log"].status == "warn"


def test_a_cluster_must_be_as_large_as_before() -> None:
    """A node that is Synced in a smaller cluster fails."""
    was, now = inside("replication", galera=NODE), inside("replication", galera=replace(NODE, cluster_size=2))
    assert by_id(run_checks(was(WELL), was(EARLIER), EXPECTED))["wsrep"].status == "pass"
    assert by_id(run_checks(now(WELL), was(EARLIER), EXPECTED))["wsrep"].status == "fail"


def test_a_later_release_will_do_where_the_plan_does_not_say_exactly() -> None:
    """11.8.11 passes for 11.8.10 from an inventory, fails for 11.8.10 from a plan; 12.0.2 never passes."""
    later = inside("server", running=parse_server_version("11.8.11-MariaDB"))(WELL)
    other = inside("server", running=parse_server_version("12.0.2-MariaDB"))(WELL)
    for facts, exact, status in ((later, False, "pass"), (later, True, "fail"), (other, False, "fail")):
        result = by_id(run_checks(facts, EARLIER, replace(EXPECTED, exact=exact)))["version_running"]
        assert result.status == status


def test_a_rehearsal_and_a_series_without_the_fix_are_named() -> None:
    """A stand-in warns, also of its version= option; a series that never gets the fix is skipped."""
    stand_in = replace(EXPECTED, releases={"11.8": FixRelease(version="11.8.10", carries_lru_fix=False)})
    marked = inside("server", version_option="11.8.10-MariaDB")(WELL)
    results = by_id(run_checks(marked, None, stand_in))
    assert [results[name].status for name in ("fix_present", "version_on_disk")] == ["warn", "warn"]
    old = inside("server", running=parse_server_version("10.11.18-MariaDB"))(WELL)
    results = by_id(run_checks(old, None, replace(EXPECTED, version=None)))
    assert [results[name].status for name in ("fix_present", "lru_monitoring", "old_blocks")] == ["skip"] * 3


def test_a_host_that_was_stopped_may_stay_stopped() -> None:
    """With the server down on purpose nothing that needs it fails, and nothing passes for it."""
    down = chain(
        inside("server", running=None),
        inside("unit", active_state="inactive", sub_state="dead", main_pid=None),
        inside("allocator", version_malloc_library=None, mapped=()),
    )(WELL)
    results = by_id(run_checks(down, None, replace(EXPECTED, active=False, invocations=None)))
    assert worst(results.values()) == "pass"
    assert results["version_running"].status == results["allocator_mapped"].status == "skip"


def test_a_host_that_was_stopped_has_no_replication_to_hold() -> None:
    """A stopped server tells nothing of its channels and its cluster, before and after; that fails nothing."""
    silent = Unknown("the server is not running")
    down = chain(
        inside("unit", active_state="inactive", sub_state="dead", main_pid=None),
        inside("replication", channels=silent, galera=silent),
    )(WELL)
    results = by_id(run_checks(down, down, replace(EXPECTED, active=False, invocations=None)))
    assert results["replication"].status == results["wsrep"].status == "skip"
    running = by_id(run_checks(down, down, EXPECTED))
    assert running["replication"].status == running["wsrep"].status == "fail"


def test_large_memory_pages_are_named_when_the_server_is_down() -> None:
    """A server that died at its start on a machine with 64 KiB pages is told apart from others."""
    down = chain(
        inside("server", running=None),
        inside("allocator", version_malloc_library=None, mapped=()),
        inside("system", page_size_bytes=65536),
    )(WELL)
    assert by_id(run_checks(down, None, EXPECTED))["allocator_mapped"].cause == "preload_page_size"


def test_the_worst_status_is_the_hosts() -> None:
    """fail before warn before pass before skip; nothing checked is a skip."""
    made = {status: CheckResult("backup", status, "", "") for status in ("pass", "fail", "warn", "skip")}
    assert worst(made.values()) == "fail"
    assert worst([made["pass"], made["warn"]]) == "warn"
    assert worst([made["pass"], made["skip"]]) == "pass"
    assert worst([]) == worst([made["skip"]]) == "skip"


def test_a_server_that_is_to_be_stopped_is_not_asked_for_its_place() -> None:
    """Nobody answers for replication or cluster; that is no failure where the server was stopped before."""
    for check, unknown in (("replication", "channels"), ("wsrep", "galera")):
        now = inside("replication", **{unknown: Unknown("the server is not running")})(WELL)
        assert by_id(run_checks(now, now, EXPECTED))[check].status == "fail"
        assert by_id(run_checks(now, now, replace(EXPECTED, active=False)))[check].status == "skip"
