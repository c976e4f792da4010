"""How large a measurement may be on a host, and how its arms are read and ordered."""

from dataclasses import replace

import pytest
from healthy_host import WELL, unit

from rollout.bench.arms import Arm, drop_in, parse_arm, turns
from rollout.bench.sizes import MIB, PUBLISHED, Asked, Need, chosen, need, too_many_clients
from rollout.errors import UsageProblem
from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown

GIB = 1024 * MIB


def host(ram: int, available: int, connections: int = 151) -> Facts:
    """A host with so much memory in bytes, and a pool of an eighth of it."""
    return replace(
        WELL,
        system=replace(WELL.system, ram_bytes=ram, ram_available_bytes=available, cores=8),
        pool=replace(WELL.pool, size_bytes=ram // 8),
        workload=replace(
            WELL.workload,
            max_connections=connections,
            sort_buffer_size_bytes=2 * MIB,
            join_buffer_size_bytes=262144,
        ),
    )


def test_the_published_run_fits_the_published_machine() -> None:
    """300,000 rows of 360 bytes are 103 MiB: 24 clients can hold 24 x (206 + 2 + 0.5 + 4) MiB, too much for 4 GiB."""
    published = host(round(7.5 * GIB), round(6.8 * GIB), 50)
    room = need(chosen(PUBLISHED, published), published)
    assert isinstance(room, Need)
    assert room.per_client == 2 * 300_000 * 360 + 2 * MIB + 2 * 262144 + 4 * MIB
    assert room.fits
    small = host(4 * GIB, 3 * GIB, 50)
    room = need(chosen(PUBLISHED, small), small)
    assert isinstance(room, Need)
    assert not room.fits
    assert room.told() == (
        "24 clients x 212 MiB + 103 MiB of the table in the pool = 5,203 MiB; available 3,072 MiB less 410 MiB that "
        "stay free = 2,662 MiB"
    )


def test_few_cores_get_few_rows() -> None:
    """A run is to take minutes on a small host too; how many cores there are may be unknown."""
    large = host(64 * GIB, 60 * GIB)
    rows = {
        cores: chosen(Asked(), replace(large, system=replace(large.system, cores=cores))).rows for cores in (1, 2, 64)
    }
    assert rows == {1: 30_000, 2: 60_000, 64: 60_000}
    assert chosen(Asked(), replace(large, system=replace(large.system, cores=Unknown("not asked")))).rows == 30_000


def test_a_limit_of_the_unit_bounds_the_load_before_the_memory_does() -> None:
    """MemoryMax 2 GiB, of which the server holds 300 MiB: the published run is refused on the largest of machines."""
    roomy = host(256 * GIB, 200 * GIB)
    limited = replace(
        roomy,
        unit=replace(unit(), properties={"MemoryHigh": "infinity", "MemoryMax": str(2 * GIB)}),
        memory=replace(WELL.memory, rss_bytes=300 * MIB),
    )
    room = need(chosen(PUBLISHED, limited), limited)
    assert isinstance(room, Need)
    assert not room.fits
    assert room.told().endswith(
        "available 1,748 MiB below the MemoryMax of its unit less 205 MiB that stay free = 1,543 MiB"
    )
    assert chosen(Asked(), limited).rows < chosen(Asked(), roomy).rows


@pytest.mark.parametrize("gibibytes", [1, 2, 8, 64, 512])
def test_what_nobody_named_fits_twice(gibibytes: int) -> None:
    """Scaled sizes need less than half of what may be taken, on hosts of all sizes, and half of the connections."""
    facts = host(gibibytes * GIB, gibibytes * GIB // 2, connections=30)
    sizes = chosen(Asked(), facts)
    room = need(sizes, facts)
    assert isinstance(room, Need)
    assert room.whole * 2 <= room.available - room.kept_free
    assert sizes.clients == 15
    assert sizes.rows <= 60_000
    assert too_many_clients(sizes, facts) == ""


def test_what_was_named_is_not_scaled() -> None:
    """A user's own numbers stand, and are refused rather than changed."""
    facts = host(GIB, GIB // 2)
    sizes = chosen(Asked(rows=5_000_000, clients=80), facts)
    assert (sizes.rows, sizes.clients) == (5_000_000, 80)
    assert "80 clients are more than half of max_connections (151)" in too_many_clients(sizes, facts)


def test_unknown_memory_is_a_reason_and_no_number() -> None:
    """Where nobody knows how much memory is free, nothing is worked out."""
    facts = replace(host(GIB, GIB), system=replace(WELL.system, ram_bytes=GIB, ram_available_bytes=Unknown("no /proc")))
    assert need(chosen(Asked(), facts), facts) == "the memory that a run needs cannot be worked out: no /proc"


def test_arms_take_turns_forward_and_backward() -> None:
    """A B B A A B: what drifts with time falls on both."""
    one, other = parse_arm("glibc"), parse_arm("jemalloc")
    assert [arm.label[0] for arm in turns((one, other), 3)] == list("gjjggj")


def test_an_arm_is_a_drop_in() -> None:
    """glibc takes a preload away, jemalloc brings one, `found` changes nothing; cores and environment stand with it."""
    assert drop_in(Arm("found", "found"), "") == ""
    assert "UnsetEnvironment=LD_PRELOAD MALLOC_CONF" in drop_in(parse_arm("glibc"), "/x.so")
    text = drop_in(parse_arm("jemalloc,cpus=0-1,MALLOC_CONF=a:%d"), "/x.so")
    assert 'Environment="LD_PRELOAD=/x.so"' in text
    assert 'Environment="MALLOC_CONF=a:%%d"' in text
    assert "CPUAffinity=0-1" in text


@pytest.mark.parametrize("text", ["tcmalloc", "glibc,cpus=0;1", "glibc,=3", "glibc,LD_PRELOAD=/x.so", "glibc,A B=1"])
def test_a_wrong_arm_is_refused(text: str) -> None:
    """What systemd or the loader would take wrongly is a mistake of the command line."""
    with pytest.raises(UsageProblem):
        parse_arm(text)
