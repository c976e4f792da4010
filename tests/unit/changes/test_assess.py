"""What a host needs: exact versions from its origin, jemalloc by our own drop-in, refusals with reasons."""

from dataclasses import replace

import pytest
from old_host import JEMALLOC, NEW, OLD, STATUS, offered, old_host

from rollout.changes.assess import assess
from rollout.changes.model import Assessment
from rollout.facts.model import Facts, MappedLibrary, PackageSource, PackageVersion, Preload, UnitFile
from rollout.facts.unknown import Unknown
from rollout.settings import FixRelease, Settings
from rollout.versions import parse_server_version

LIBRARY = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def codes(needs: Assessment) -> set[str]:
    """Collect the codes of all blockers and warnings."""
    return {finding.code for finding in (*needs.blockers, *needs.warnings)}


def allocator_facts(facts: Facts, **values: object) -> Facts:
    """Change what is known of the allocator."""
    return replace(facts, allocator=replace(facts.allocator, **values))


def test_an_old_host_needs_the_allocator_first_and_then_all_siblings_at_once() -> None:
    """The drop-in must be live when the packages' own scripts restart the server: one restart for both."""
    needs = assess(old_host(), Settings())
    allocator, packages = needs.changes
    assert (allocator.kind, packages.kind) == ("allocator", "packages")
    assert packages.after == {"mariadb-client": NEW, "mariadb-server": NEW}
    assert packages.before == {"mariadb-client": OLD, "mariadb-server": OLD}
    assert f"mariadb-server={NEW}" in packages.do
    assert needs.fix == "available"
    assert needs.target == "11.8.10"
    assert not needs.blockers


def test_the_drop_in_quotes_each_assignment() -> None:
    """MALLOC_CONF and more environment stand on lines of their own, quoted as systemd reads them; % is doubled."""
    settings = Settings(malloc_conf="background_thread:true,dirty_decay_ms:5000", environment={"NOTE": '50% "so"'})
    content = str(assess(old_host(), settings).changes[0].after["drop_in"])
    assert f'Environment="LD_PRELOAD={LIBRARY}"' in content
    assert 'Environment="MALLOC_CONF=background_thread:true,dirty_decay_ms:5000"' in content
    assert 'Environment="NOTE=50%% \\"so\\""' in content


def test_the_same_facts_give_the_same_changes() -> None:
    """Drift is told by comparing changes, so they must not vary by themselves."""
    assert assess(old_host(), Settings()) == assess(old_host(), Settings())


def test_a_fix_that_is_not_published_leaves_the_allocator_alone_to_go_ahead() -> None:
    """Nothing newer in the repository: no package moves, and jemalloc still can."""
    facts = old_host(offered("mariadb-server", OLD, OLD), JEMALLOC)
    needs = assess(facts, Settings())
    assert [change.kind for change in needs.changes] == ["allocator"]
    assert needs.fix == "not_published"
    assert "fix_not_published" in codes(needs)
    assert not needs.blockers


def test_the_newest_of_another_series_is_never_taken() -> None:
    """Rows 12.1.2 and 13.1.2 stand above 11.8.10 in one repository, and 11.8.10 is the target."""
    server = offered("mariadb-server", OLD, "1:13.1.2+maria~deb13", "1:12.1.2+maria~deb13", NEW, OLD)
    packages = assess(old_host(server, JEMALLOC), Settings()).changes[1]
    assert packages.after == {"mariadb-server": NEW}


def test_another_origin_with_the_fix_is_named_and_not_taken() -> None:
    """The distribution's host does not move to a vendor's repository."""
    other = PackageSource(500, "https://other.example trixie/main", "Elsewhere", codename="trixie")
    own = offered("mariadb-server", OLD, OLD)
    rows = (PackageVersion(NEW, 500, (other,)), *own.versions)  # type: ignore[misc] - versions is known here
    needs = assess(old_host(replace(own, versions=rows), JEMALLOC), Settings())
    assert needs.fix == "not_published"
    assert "other_origin_newer" in codes(needs)


def test_an_installed_version_that_is_in_no_repository_blocks() -> None:
    """Where it came from cannot be told, so nobody guesses where the next one should come from."""
    server = offered("mariadb-server", OLD, OLD, origin=STATUS)
    needs = assess(old_host(server, JEMALLOC), Settings())
    assert "origin_unknown" in codes(needs)
    assert needs.blockers


@pytest.mark.parametrize(("said", "fix"), [("MariaDB/trixie", "available"), ("Elsewhere/trixie", "not_published")])
def test_where_it_came_from_may_be_said_where_no_repository_tells(said: str, fix: str) -> None:
    """Only the origin that was said is taken from; saying another one finds nothing."""
    needs = assess(
        old_host(offered("mariadb-server", OLD, NEW), JEMALLOC), Settings(packages_origin=said), ("packages",)
    )
    assert needs.fix == fix


def test_a_sibling_that_cannot_come_along_blocks_the_whole() -> None:
    """A compression provider left behind would keep the new server from starting."""
    behind = offered("mariadb-plugin-provider-lz4", OLD, OLD)
    needs = assess(old_host(offered("mariadb-server", OLD, NEW, OLD), behind, JEMALLOC), Settings())
    assert "sibling_missing" in {finding.code for finding in needs.blockers}


def test_a_held_package_blocks_and_is_named() -> None:
    """A hold is an order of somebody."""
    held = replace(offered("mariadb-server", OLD, NEW, OLD), held=True)
    blockers = assess(old_host(held, JEMALLOC), Settings()).blockers
    assert any(finding.code == "held" and "mariadb-server" in finding.message for finding in blockers)


def test_a_series_without_the_fix_is_said_and_no_major_upgrade_is_planned() -> None:
    """10.11 has no release with the fix; jemalloc applies all the same."""
    old = parse_server_version("10.11.18-MariaDB-0+deb12u1")
    facts = old_host()
    facts = replace(facts, server=replace(facts.server, running=old, on_disk=old))
    needs = assess(facts, Settings())
    assert needs.fix == "no_fix_in_series"
    assert [change.kind for change in needs.changes] == ["allocator"]


def test_a_declared_release_without_the_fix_is_a_rehearsal() -> None:
    """A fleet may say what its fix release is, and that it does not carry the fix."""
    settings = Settings(fix_releases={"11.8": FixRelease(version="11.8.10", carries_lru_fix=False)})
    needs = assess(old_host(), settings)
    assert needs.fix == "rehearsal"
    assert [change.kind for change in needs.changes] == ["allocator", "packages"]


def test_a_binary_that_disagrees_with_its_package_blocks() -> None:
    """The option `version=` makes the server lie, and a copied binary does too."""
    facts = old_host()
    other = parse_server_version("11.8.7-MariaDB")
    needs = assess(replace(facts, server=replace(facts.server, on_disk=other)), Settings())
    assert "versions_disagree" in codes(needs)


def test_a_server_that_was_not_restarted_after_its_upgrade_needs_just_that() -> None:
    """11.8.10 is on disk and 11.8.9 in memory: one restart, and no package moves."""
    facts = old_host(offered("mariadb-server", NEW, NEW), JEMALLOC)
    disk = parse_server_version("11.8.10-MariaDB-deb13")
    needs = assess(replace(facts, server=replace(facts.server, on_disk=disk)), Settings(), ("packages",))
    assert [change.summary for change in needs.changes] == ["restart into 11.8.10, which is on disk already"]


def test_jemalloc_made_by_hand_is_fine_and_left_alone() -> None:
    """Somebody's own drop-in does it: ok, never ours to undo."""
    override = UnitFile(
        "/etc/systemd/system/mariadb.service.d/override.conf", f"[Service]\nEnvironment=LD_PRELOAD={LIBRARY}\n"
    )
    facts = allocator_facts(
        old_host(),
        version_malloc_library="jemalloc 5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c",
        mapped=(MappedLibrary(LIBRARY, False),),
        preloads=(Preload(override.path, LIBRARY),),
    )
    facts = replace(facts, unit=replace(facts.unit, drop_ins=(override,)))  # type: ignore[type-var] - known here
    needs = assess(facts, Settings(), ("allocator",))
    assert needs.changes == ()
    assert needs.blockers == ()


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"version_malloc_library": "tcmalloc gperftools 2.10"}, "other_allocator"),
        ({"version_malloc_library": "bundled jemalloc"}, "other_allocator"),
        ({"version_malloc_library": Unknown("no login")}, "allocator_unknown"),
        ({"preloads": (Preload("/etc/ld.so.preload", "/opt/agent.so"),)}, "foreign_preload"),
        ({"preloads": Unknown("not allowed")}, "preload_unknown"),
    ],
)
def test_whatever_else_allocates_or_preloads_blocks(values: dict[str, object], code: str) -> None:
    """Another allocator, another preload, or not knowing: each is a blocker with its own code."""
    needs = assess(allocator_facts(old_host(), **values), Settings(), ("allocator",))
    assert code in {finding.code for finding in needs.blockers}
    assert needs.changes == ()


def test_file_capabilities_block_before_any_change() -> None:
    """Secure execution would drop the preload without a word."""
    facts = old_host()
    needs = assess(replace(facts, server=replace(facts.server, capabilities="cap_ipc_lock=ep")), Settings())
    assert "secure_execution" in codes(needs)


def test_a_library_that_no_repository_has_is_not_gone_looking_for() -> None:
    """No repository is added."""
    needs = assess(old_host(offered("mariadb-server", OLD, NEW, OLD)), Settings(), ("allocator",))
    assert "library_unavailable" in codes(needs)


@pytest.mark.parametrize(
    ("banner", "code"),
    [("mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "not_mariadb"), ("", "no_server")],
)
def test_what_is_no_mariadb_is_reported_and_never_touched(banner: str, code: str) -> None:
    """MySQL, Percona, or nothing at all."""
    facts = old_host()
    version = parse_server_version(banner)
    needs = assess(replace(facts, server=replace(facts.server, running=version, on_disk=version)), Settings())
    assert [finding.code for finding in needs.blockers] == [code]
    assert needs.changes == ()


def test_a_probe_without_root_blocks() -> None:
    """What an unprivileged probe saw is no ground to change anything on."""
    facts = old_host()
    needs = assess(replace(facts, system=replace(facts.system, privileged=False)), Settings())
    assert [finding.code for finding in needs.blockers] == ["privilege_missing"]
