"""Every check is made to fail for real on a host of the rehearsal fleet, with its evidence and the named cause."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pytest
from broken_hosts import BACKUP, BROKEN, FRESH, LIBRARY, OURS, UPGRADED_WITHOUT_RESTART, Broken

from rollout.changes.expect import expectation
from rollout.changes.render import drop_in
from rollout.checks.codes import CODES
from rollout.checks.model import CheckResult, DropIn, Expectation
from rollout.checks.registry import CHECK_IDS, REACHABLE, run_checks
from rollout.engine.verify import verify_all
from rollout.facts.model import Facts
from rollout.lab.fleet import Fleet
from rollout.lab.rehearsal import Rehearsal
from rollout.remote import open_transport
from rollout.remote.probing import look_at

NAME = "db1"
KINDS = ("packages", "allocator")
INSTALLED = "dpkg-query -W -f '${Package} ${db:Status-Status}\\n' 'mariadb-*' 'libmariadb*' | sed -n 's/ installed//p'"
UPGRADE = f"apt-get update -q && apt-get install -q -y --only-upgrade $({INSTALLED})"
NO_RESTART = "printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d"

# Cases follow each other faster than systemd lets a unit start (five times in ten seconds).
FORGET_STARTS = "systemctl reset-failed mariadb mariadb.socket"


@dataclass
class Stage:
    """The host of these tests: what was seen of it before anything was done, and once all is well."""

    fleet: Rehearsal
    fresh: Facts
    halfway: Facts
    well: Facts
    expected: Expectation
    old: str
    new: str


def look(fleet: Rehearsal) -> Facts:
    """Probe the host."""
    host = fleet.host(NAME)
    transport = open_transport(host)
    try:
        return look_at(transport, host).facts
    finally:
        transport.close()


def by_id(results: tuple[CheckResult, ...]) -> Mapping[str, CheckResult]:
    """Key the results by their ids."""
    return {result.id: result for result in results}


@pytest.fixture(scope="module")
def stage(lab_fleet: Fleet) -> Iterator[Stage]:
    """Take a fresh host to the newer release and to jemalloc by hand, and look at it three times on the way."""
    fleet = Rehearsal(lab_fleet)
    fleet.dirty(NAME)
    fleet.text(NAME, "apt-get update -q; apt-get install -q -y libjemalloc2 mariadb-backup")
    fleet.publish()
    fleet.text(NAME, "mariadb -e 'CREATE SCHEMA broken; CREATE SCHEMA test_kept; CREATE TABLE broken.t (a INT)'")
    server = "dpkg-query -W -f '${Version}' mariadb-server"
    old, fresh = fleet.text(NAME, server), look(fleet)
    fleet.text(NAME, f"{NO_RESTART} && {UPGRADE} && rm /usr/sbin/policy-rc.d")
    halfway, new = look(fleet), fleet.text(NAME, server)
    content = drop_in(LIBRARY, "", {})
    fleet.shell(NAME, f"mkdir -p $(dirname {OURS}); cat >{OURS}", content.encode())
    fleet.text(NAME, "systemctl daemon-reload; systemctl restart mariadb")
    for step in ("--backup", "--prepare"):
        fleet.text(NAME, f"mkdir -p {BACKUP}; mariadb-backup {step} --target-dir={BACKUP}")
    well = look(fleet)
    packages = {row.name: row.installed or "" for row in well.packages.siblings if row.installed == new}
    wanted = expectation(well, fleet.host(NAME).settings, KINDS)
    wanted = replace(wanted, exact=True, packages=packages, backup=BACKUP, drop_in=DropIn(OURS, content))
    yield Stage(fleet, fresh, halfway, well, wanted, old, new)
    fleet.clean()


def test_the_host_is_well_before_it_is_broken(stage: Stage) -> None:
    """Nothing fails, and the only warning is that the fix release is a rehearsal."""
    results = run_checks(stage.well, stage.well, stage.expected)
    assert [(result.id, result.found) for result in results if result.status == "fail"] == []
    assert {result.id for result in results if result.status == "warn"} <= {"fix_present", "lru_monitoring"}


def test_a_host_that_was_only_restarted_is_told_from_one_that_was_upgraded(stage: Stage) -> None:
    """On the fresh host the packages are missing; after an upgrade without a restart the restart is."""
    for facts, causes in ((stage.fresh, FRESH), (stage.halfway, UPGRADED_WITHOUT_RESTART)):
        found = by_id(run_checks(facts, None, stage.expected))
        assert {name: found[name].cause for name in causes} == causes
        assert {found[name].status for name in causes} == {"fail"}


@pytest.mark.parametrize("case", BROKEN, ids=[case.name for case in BROKEN])
def test_a_broken_host_fails_the_check(case: Broken, stage: Stage) -> None:
    """The check sees what was done, shows its evidence, names the cause, and is content again once it is mended."""
    versions = {"{old}": stage.old, "{new}": stage.new}
    breaks, mends = case.breaks, case.mends
    for word, version in versions.items():
        breaks, mends = breaks.replace(word, version), mends.replace(word, version)
    before = look(stage.fleet)
    expected = replace(stage.expected, invocations=1) if case.check == "one_invocation" else stage.expected
    try:
        stage.fleet.text(NAME, f"{FORGET_STARTS}; {breaks}")
        if case.check == REACHABLE:
            result = by_id(verify_all([stage.fleet.host(NAME)], KINDS, 1)[0].results)[case.check]
        else:
            facts = look(stage.fleet)
            result = by_id(run_checks(facts, None if case.without_before else before, expected))[case.check]
    finally:
        stage.fleet.text(NAME, f"{FORGET_STARTS}; {mends}")
    assert (result.status, result.cause) == (case.status, case.cause), result
    unbroken = by_id(run_checks(before, None if case.without_before else before, stage.expected))
    assert result != unbroken.get(case.check), "the check said the same before anything was broken"
    assert result.evidence or case.check in (REACHABLE,), result
    assert case.check in CODES


def test_every_check_was_made_to_fail() -> None:
    """A check in the registry without a real case fails here."""
    seen = {case.check for case in BROKEN} | set(FRESH) | set(UPGRADED_WITHOUT_RESTART)
    assert seen == {REACHABLE, *CHECK_IDS}
