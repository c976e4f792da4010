"""Each program that the probe uses, taken away from a real host in turn."""

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from rollout.facts.form import facts_to_json
from rollout.facts.model import Facts
from rollout.facts.parse import parse_probe, with_received
from rollout.facts.probe import probe_script, request_for
from rollout.facts.unknown import Unknown
from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

EXTENDED = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"
FARM = "/run/programs"
# What must be unknown without the program; some facts have a second way and lose nothing.
NEEDED = {
    "apt-cache": ["packages.items.0.versions", "packages.pins"],
    "apt-config": [],
    "awk": ["allocator.mapped", "memory.heap_bytes", "memory.voluntary_switches", "trail.invocations"],
    "cat": ["system.os_id", "system.init", "memory.rss_bytes", "unit.fragment.content", "workload.monotonic_seconds"],
    "date": ["system.clock_offset_seconds"],
    "df": ["storage.datadir", "storage.backup_directory"],
    "dpkg": ["packages.architecture", "packages.audit"],
    "dpkg-query": ["packages.items", "packages.holds", "server.executable_package"],
    "du": [],
    "getconf": ["system.page_size_bytes", "system.glibc", "memory.cpu_seconds"],
    "grep": ["allocator.environ_preload", "server.version_option", "trail.monitoring"],
    "head": ["allocator.server_elf_machine"],
    "hostname": [],
    "id": ["system.privileged"],
    "journalctl": ["trail.invocations", "trail.loader_lines"],
    "ln": [],
    "ls": ["server.running", "pool.size_bytes"],
    "mariadb": [],
    "md5sum": ["packages.changed_files"],
    "mktemp": [],
    "my_print_defaults": ["server.version_option"],
    "nproc": ["system.cores"],
    "od": ["allocator.server_elf_machine"],
    "readlink": ["server.executable"],
    "rm": [],
    "sed": [],
    "stat": ["storage.datadir", "packages.lists_age_seconds", "packages.lock_holders"],
    "systemctl": ["unit", "system.systemd_version"],
    "tail": ["trail.error_lines"],
    "timeout": [],
    "tr": ["allocator.environ_preload"],
    "uname": ["system.kernel", "system.architecture", "system.hostname"],
}
MOVING = ("memory.", "pool.", "workload.", "server.status", "server.uptime_seconds", "taken_at", "seconds", "storage.")
MOVING_TOO = (
    "packages.lists_age_seconds",
    "system.ram_available_bytes",
    "system.swap_free_bytes",
    "system.clock_offset_seconds",
    "notes",
)
# A program whose own version is asked for, and which is not there, is known not to be there.
ABSENT = {"server.client", "server.backup_tool", "server.client.raw"}


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield each fact by its path, rows of packages and files one by one."""
    if dataclasses.is_dataclass(value) and not isinstance(value, Unknown):
        for item in dataclasses.fields(value):
            yield from leaves(getattr(value, item.name), f"{path}.{item.name}".lstrip("."))
    elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}.{number}")
    else:
        yield path, value


def probe(fleet: Rehearsal) -> Facts:
    """Run the probe as root in db3, with the farm of programs as its only PATH."""
    script = probe_script(request_for(fleet.host("db3").settings))
    assert EXTENDED in script
    ended = fleet.shell("db3", script.replace(EXTENDED, f"PATH={FARM}\n"))
    return parse_probe("db3", with_received(ended.stdout, datetime.now(UTC)))


@pytest.fixture(scope="module")
def farm(lab_fleet: object) -> Iterator[Rehearsal]:
    """Make a folder of links to every program of db3, away from its own PATH."""
    fleet = Rehearsal(lab_fleet)  # type: ignore[arg-type]  # the fixture gives a Fleet
    fleet.text("db3", f"mkdir -p {FARM}; for f in /usr/sbin/* /usr/bin/*; do ln -sf $f {FARM}/; done")
    yield fleet
    fleet.text("db3", f"rm -rf {FARM}")


@pytest.fixture(scope="module")
def whole(farm: Rehearsal) -> dict[str, object]:
    """What the host tells with all its programs."""
    return dict(leaves(probe(farm)))


@pytest.mark.parametrize("program", sorted(NEEDED))
def test_without_a_program_facts_become_unknown_and_none_becomes_another(
    farm: Rehearsal, whole: dict[str, object], program: str
) -> None:
    """What a program would have told is unknown with a reason; what is known is what it was with the program."""
    farm.text("db3", f"mv {FARM}/{program} /run/taken-away")
    try:
        facts = probe(farm)
    finally:
        farm.text("db3", f"mv /run/taken-away {FARM}/{program}")
    unknown = facts_to_json(facts)["unknown"]
    for fact in NEEDED[program]:
        assert unknown.get(fact), (fact, dict(leaves(facts)).get(fact))
    for path, value in leaves(facts):
        if isinstance(value, Unknown) or path.startswith(MOVING) or path in MOVING_TOO or path in ABSENT:
            continue
        assert value == whole.get(path, value), path
