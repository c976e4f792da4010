"""A made-up run: three hosts, one of them failed, with names and texts as hostile as a host can send them."""

from rollout.checks.model import CheckResult
from rollout.report.model import Figure, HostReport, Note, PlannedChange, Report, Script, Seconds, Span

HOSTILE = "<script>alert(1)</script>"
START = 1_796_032_800.0  # 2026-11-30 10:00:00 UTC
PHASES = (
    *(("lock", 0.2), ("probe", 1.1), ("preflight", 6.4), ("baseline", 1.0)),
    *(("backup", 12.0), ("way_back", 2.5), ("change", 9.8), ("proof", 1.4), ("soak", 20.0), ("unlock", 0.2)),
)
CHECKS = (
    CheckResult("version_running", "pass", "11.8.10", "11.8.10", "$ mariadb -e 'SELECT VERSION()'\n11.8.10-MariaDB"),
    CheckResult("allocator_mapped", "pass", "/usr/lib/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2"),
    CheckResult("unattended_upgrades", "warn", "no upgrade that nobody started", "they are switched on"),
    CheckResult("wsrep", "skip", "Synced", "no Galera node"),
)
FAILED = CheckResult(
    "allocator_mapped", "fail", "libjemalloc.so.2", f"none {HOSTILE}\x1b[31m", HOSTILE, "preload_secure_execution"
)


def spans(begin: float, last: str = "unlock") -> tuple[Span, ...]:
    """Make the phases of one host, one after another, up to `last`, which failed when it is not the very last."""
    made, at = [], begin
    for phase, seconds in PHASES:
        failed = phase == last != "unlock"
        made.append(Span(phase, "failed" if failed else "done", at, at + seconds, {"remark": "as planned"}))
        at += seconds
        if failed:
            break
    return tuple(made)


def host(name: str, wave: int, begin: float, *, failed: bool = False) -> HostReport:
    """Make one host that was changed, or one whose proof failed and that was recovered."""
    return HostReport(
        name=name,
        status="recovered" if failed else "changed",
        tone="bad" if failed else "good",
        wave=wave,
        error=f"proof: the library {HOSTILE} is not mapped" if failed else "",
        advice="The host is as it was before. Mend the cause and run it again." if failed else "",
        version_before="11.8.9",
        version_after="11.8.9" if failed else "11.8.10",
        allocator_before="system",
        allocator_after="system" if failed else "jemalloc 5.3.0",
        restarts=1,
        planned_restarts=1,
        downtime_seconds=4.2 if failed else 2.6,
        expected_downtime=Seconds(2.3, 71.0),
        verdict="gain",
        reasons=("the LRU mutex is busy 71 % of the time",),
        figures=(Figure("resident memory", "14.2 GiB", "9.1 GiB", "8.5 to 11 GiB", "after the soak"),),
        figure_notes=(Note("load_differs", "the host serves half the queries"),),
        changes=(PlannedChange("packages", "11.8.9 -> 11.8.10", "it carries the fix", True, "aa", "bb"),),
        blockers=(),
        warnings=(Note("huge_pages_always", "transparent huge pages are always", "Memory may stay larger."),),
        spans=spans(begin, "proof" if failed else "unlock"),
        checks=(CHECKS[0], FAILED) if failed else CHECKS,
        check_status="fail" if failed else "warn",
    )


def run(hosts: int = 3) -> Report:
    """Make a run of that many hosts: the last is hostile and failed."""
    names = [f"db{number}" for number in range(1, hosts)]
    reports = [host(name, 1 + (number > 0), START + 60 * number / hosts) for number, name in enumerate(names)]
    reports.append(host(HOSTILE, 2, START + 40, failed=True))
    return Report(
        run_id="20261130t100000-5f3a",
        kind="apply",
        playbook="the LRU fix release and jemalloc",
        plan_id="p1",
        digest="0" * 64,
        program_version="0.1.0",
        operator="dba",
        controller="desk",
        started_at=START,
        ended_at=START + 130,
        last_event_at=START + 130,
        stopped="",
        waves=((names[0],), (*names[1:], HOSTILE)),
        hosts=tuple(reports),
        scripts=(Script("aa", "packages, do", "apt-get install …", tuple(names)), Script("bb", "undo", "…", ("db1",))),
    )
