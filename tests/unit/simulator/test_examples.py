"""The worked examples of the specification (X1 to X22), each computed by hand from the server's source."""

from dataclasses import replace

import numpy as np
import pytest
from stepping import QUIET, at_of, check, filled, marked, old_pages, order, read, record, with_time

from rollout.simulator.clocksweep import replay_clock
from rollout.simulator.pool import Listed, MidpointPool, plain_record
from rollout.simulator.settings import PoolSettings
from rollout.simulator.state import ABSENT, FREE, MASK_31, NONE, WRITE

SWEEP_FRAMES = 1014


def one_freed() -> MidpointPool:
    """Return X6's state: 1000 pages read at 1 ms, page 2 freed, the clock at 1."""
    pool = filled("mariadb-10.5", 1000)
    pool.access(2, 2, FREE)
    return pool


def sweep_start(policy: str, tick: int, settings: PoolSettings = QUIET) -> MidpointPool:
    """Return 970 pages read once in a pool of 1014 frames, at a time in seconds."""
    return filled(policy, 970, frames=SWEEP_FRAMES, at_ms=tick * 1000, settings=settings)


def test_x1_a_short_list_is_a_stack() -> None:
    """Below 512 pages everything goes to the head and nothing is old."""
    pool = filled("mariadb-10.5", 511)
    assert order(pool) == list(range(511, 0, -1))
    assert (record(pool).old_length, record(pool).old_start) == (0, NONE)


def test_x2_the_512th_page_makes_the_midpoint() -> None:
    """At 512 pages the old sublist begins, at the upper edge of its tolerance."""
    pool = filled("mariadb-10.5", 512)
    assert record(pool).old_length == 209
    assert record(pool).old_start == 209
    assert order(pool).index(209) + 1 == 304
    assert old_pages(pool) == list(range(209, 0, -1))


def test_x3_pages_drift_into_the_young_sublist() -> None:
    """Each page read in pushes another over the midpoint, though nobody reads that one."""
    pool = filled("mariadb-10.5", 513)
    listed = order(pool)
    assert listed[301:307] == [211, 210, 209, 513, 208, 207]
    assert old_pages(pool)[0] == 513
    read(pool, [514], 1)
    listed = order(pool)
    assert listed[303:307] == [209, 513, 514, 208]
    assert old_pages(pool)[:2] == [514, 208]


def test_x4_length_law() -> None:
    """Growing to 1000 pages leaves 389 old ones, the newest first."""
    pool = filled("mariadb-10.5", 1000)
    assert record(pool).old_length == 389
    assert old_pages(pool)[:4] == [999, 1000, 997, 995]
    check(pool)


def test_x5_10_4_promotes_nothing_while_its_clock_stands_at_zero() -> None:
    """A page at the tail, first read ten seconds ago, stays there and no counter moves."""
    pool = filled("mariadb-10.4", 1000)
    before = order(pool)
    misses = pool.counters().mutex_acquisitions
    read(pool, [1], 10_001)
    counted = pool.counters()
    assert order(pool) == before
    assert (counted.made_young, counted.made_not_young, counted.mutex_acquisitions - misses) == (0, 0, 0)


def test_x6_one_freed_page_starts_the_clock_of_10_5() -> None:
    """After it, a hit on an old page takes the mutex and moves the page; the next hit does not."""
    pool = one_freed()
    assert (record(pool).length, record(pool).old_length, record(pool).clock) == (999, 388, 1)
    misses = pool.counters().mutex_acquisitions
    for _ in range(2):
        read(pool, [1], 10_001)
        counted = pool.counters()
        assert (counted.made_young, counted.mutex_acquisitions - misses) == (1, 1)
        assert order(pool)[0] == 1
        assert int(pool.pages[1].stamp) & MASK_31 == 1
        assert record(pool).old_length == 387
    check(pool)


def test_x7_an_early_second_hit_is_rejected() -> None:
    """Within `innodb_old_blocks_time` of its first access an old page counts as not young and costs nothing."""
    pool = one_freed()
    pool.pages[3].at = 9500
    misses = pool.counters().mutex_acquisitions
    read(pool, [3], 10_002)
    counted = pool.counters()
    assert (counted.made_not_young, counted.made_young, counted.mutex_acquisitions - misses) == (1, 0, 0)


@pytest.mark.parametrize(("frames", "window"), [(4056, 639), (1014, 159), (6_489_600, 1_023_506)])
def test_x8_the_window_is_a_quarter_of_the_young_sublist(frames: int, window: int) -> None:
    """The window follows from the frames and `innodb_old_blocks_pct` alone."""
    assert PoolSettings().window(frames) == window


def test_x8_a_young_page_moves_when_it_fell_behind() -> None:
    """The sequence that was measured on a 10.11 server."""
    pool = filled("mariadb-10.5", 1000)
    young = order(pool)[10]
    pool.pages[young].stamp = 30_831
    record(pool).clock = 31_297
    read(pool, [young], 10_000)
    assert order(pool)[0] != young
    record(pool).clock = 32_222
    misses = pool.counters().mutex_acquisitions
    read(pool, [young], 10_000)
    counted = pool.counters()
    assert order(pool)[0] == young
    assert int(pool.pages[young].stamp) == 32_222
    assert (counted.made_young, counted.young_moves, counted.mutex_acquisitions - misses) == (0, 1, 1)


def test_x9_a_drifted_young_page_moves_on_its_first_hit() -> None:
    """It waits for no time and shows up in neither counter."""
    pool = filled("mariadb-10.5", 700, frames=1014)
    drifted = order(pool)[-record(pool).old_length - 1]
    assert int(pool.pages[drifted].stamp) == 0
    record(pool).clock = 166
    misses = pool.counters().mutex_acquisitions
    read(pool, [drifted], 2)
    counted = pool.counters()
    assert order(pool)[0] == drifted
    assert (counted.made_young, counted.made_not_young, counted.mutex_acquisitions - misses) == (0, 0, 1)


@pytest.mark.parametrize(("repaired", "moves"), [(False, 0), (True, 1)])
def test_x10_the_wrap_of_the_clock(repaired: bool, moves: int) -> None:
    """Before MDEV-41036 a page stamped just before the wrap counts as young for 2**31 removals."""
    pool = filled("mariadb-10.5", 1000, settings=replace(QUIET, repaired_wrap=repaired))
    young = order(pool)[10]
    pool.pages[young].stamp = (1 << 31) - 10
    record(pool).clock = (1 << 31) + 1000
    read(pool, [young], 10_000)
    assert pool.counters().young_moves == moves


def test_x11_the_batch_of_10_5() -> None:
    """It evicts from the tail until `innodb_lru_scan_depth` frames are free, and the clock counts."""
    pool = sweep_start("mariadb-10.5", 1000)
    pool.lru_batch(1_000_000)
    assert (record(pool).free, record(pool).length, record(pool).old_length, record(pool).clock) == (100, 914, 322, 56)
    assert all(pool.pages[page].prev == ABSENT for page in range(1, 57))
    assert pool.pages[57].prev != ABSENT
    read(pool, [57], 1_003_000)
    assert pool.counters().made_young == 1
    assert order(pool)[0] == 57
    assert int(pool.pages[57].stamp) == 56
    check(pool)


def test_x12_a_page_is_marked_two_ticks_after_its_first_access() -> None:
    """The age must exceed the threshold, so one more tick has to pass."""
    pool = filled("mariadb-fix", 1, at_ms=100_000)
    marks = []
    for tick in (100, 101, 102, 103):
        read(pool, [1], tick * 1000)
        marks.append(marked(pool, 1))
    assert marks == [False, False, True, True]
    assert at_of(pool, 1) == 100


@pytest.mark.parametrize(
    ("milliseconds", "ticks"),
    [(0, 0), (1, 1), (1000, 1), (1001, 2), (65_534_000, 65_534), (2_147_483_647, 65_534), (4_294_967_295, 65_534)],
)
def test_x12_the_fix_rounds_old_blocks_time_up_to_seconds(milliseconds: int, ticks: int) -> None:
    """0 stays 0; 18.2 hours is the ceiling."""
    assert PoolSettings(old_blocks_time_ms=milliseconds).threshold_ticks == ticks


def test_x12_without_a_threshold_the_first_touch_marks() -> None:
    """`innodb_old_blocks_time=0` asks for no age."""
    assert marked(filled("mariadb-fix", 1, settings=with_time(0)), 1)


def test_x13_the_sweep_of_the_fix_rescues_marked_pages() -> None:
    """Ten pages that were read again are moved, the next 56 are evicted, and each visit is counted."""
    pool = sweep_start("mariadb-fix", 1000)
    assert record(pool).old_length == 378
    read(pool, range(1, 11), 1_003_000)
    assert [marked(pool, page) for page in range(1, 12)] == [True] * 10 + [False]
    pool.lru_batch(1_003_000)
    counted = pool.counters()
    assert (counted.made_young, counted.evictions, counted.made_not_young) == (10, 56, 56)
    assert (record(pool).length, record(pool).free, record(pool).old_length) == (914, 100, 317)
    assert order(pool)[:11] == [*range(10, 0, -1), 512]
    assert {at_of(pool, page) for page in range(1, 11)} == {1003}
    assert all(pool.pages[page].prev == ABSENT for page in range(11, 67))
    read(pool, [1], 1_004_000)
    assert not marked(pool, 1)
    read(pool, [1], 1_005_000)
    assert marked(pool, 1)
    check(pool)


def test_x13_without_second_reads_the_sweep_only_evicts() -> None:
    """The counter of not-young pages counts the evicted ones."""
    pool = sweep_start("mariadb-fix", 1000)
    pool.lru_batch(1_003_000)
    counted = pool.counters()
    assert (counted.made_young, counted.evictions, counted.made_not_young) == (0, 56, 56)
    assert record(pool).old_length == 322


def test_x14_a_late_sweep_of_the_lazy_bit_calls_everything_hot() -> None:
    """Pages that were read once are all promoted before one is evicted."""
    pool = sweep_start("lazy-accessed", 1000)
    pool.lru_batch(1_003_000)
    counted = pool.counters()
    assert (counted.made_young, counted.evictions, record(pool).free) == (970, 56, 100)


def test_x14_an_early_sweep_of_the_lazy_bit_frees_nothing() -> None:
    """It visits the whole list for nothing; the second one evicts."""
    pool = sweep_start("lazy-accessed", 1000)
    pool.lru_batch(1_000_000)
    counted = pool.counters()
    assert (counted.made_young, counted.made_not_young, counted.evictions) == (0, 378, 0)
    pool.lru_batch(1_000_000)
    assert pool.counters().evictions == 56


def test_x15_the_flush_list_batch_moves_only_old_pages() -> None:
    """A young page keeps its mark for the LRU batch."""
    pool = sweep_start("mariadb-fix", 1000)
    assert [listed.old for listed in pool.order() if listed.page in (1, 970, 600)] != []
    old = set(old_pages(pool))
    assert {1, 970} <= old
    assert 600 not in old
    for page in (1, 970, 600):
        pool.access(page, 1_003_000, WRITE)
    pool.flush_batch(1_003_000)
    counted = pool.counters()
    assert (counted.made_young, counted.young_moves, counted.pages_written) == (2, 0, 3)
    assert [marked(pool, page) for page in (1, 970, 600)] == [False, False, True]
    assert order(pool)[:2] == [970, 1]
    assert record(pool).dirty == 0


@pytest.mark.parametrize(
    ("milliseconds", "seconds_later", "marks"),
    [
        (1000, 536 + 10, True),
        (3_600_000, 65_536 + 10, False),
        (65_534_000, 65_535, True),
        (65_534_000, 65_534, False),
        (65_534_000, 65_536, False),
    ],
)
def test_x16_ages_are_modulo_65536_seconds(milliseconds: int, seconds_later: int, marks: bool) -> None:
    """A page that was idle for just over 18.2 hours looks new."""
    pool = filled("mariadb-fix", 1, at_ms=65_000_000, settings=with_time(milliseconds))
    read(pool, [1], 65_000_000 + seconds_later * 1000)
    assert marked(pool, 1) is marks


def test_x17_with_free_frames_the_fix_never_sweeps() -> None:
    """Marks stay set, nothing moves, and a hit costs no mutex."""
    pool = filled("mariadb-fix", 574, settings=replace(QUIET, page_cleaner=True), at_ms=1_000_000)
    misses = pool.counters().mutex_acquisitions
    for second in range(1003, 1013):
        read(pool, range(1, 575), second * 1000)
        pool.tick(second * 1000 + 500)
    counted = pool.counters()
    assert (counted.made_young, counted.young_moves, counted.mutex_acquisitions - misses) == (0, 0, 0)
    assert all(marked(pool, page) for page in range(1, 575))


def test_x18_the_largest_old_blocks_time_stops_old_pages_only() -> None:
    """The workaround rejects every hit on an old page, but a young page that fell behind still moves."""
    pool = filled("mariadb-10.5", 1000, settings=with_time(2_147_483_647))
    pool.access(2, 2, FREE)
    read(pool, [1], 24 * 86_400_000)
    assert (pool.counters().made_not_young, pool.counters().made_young) == (1, 0)
    record(pool).clock = 700
    read(pool, [order(pool)[10]], 24 * 86_400_000)
    assert pool.counters().young_moves == 1


def test_x19_a_shrinking_list_forgets_its_midpoint() -> None:
    """Below 512 nothing is old; the next page read in makes it anew."""
    pool = filled("mariadb-10.5", 512)
    pool.discard(1)
    assert (record(pool).old_length, record(pool).old_start, old_pages(pool)) == (0, NONE, [])
    check(pool)
    read(pool, [513], 1)
    assert record(pool).old_length == 209
    check(pool)


def test_x20_removing_the_page_at_the_midpoint() -> None:
    """Its predecessor becomes old in its place."""
    pool = filled("mariadb-10.5", 600)
    listed = order(pool)
    start = int(record(pool).old_start)
    assert record(pool).old_length == 241
    pool.discard(start)
    assert (record(pool).old_length, record(pool).length) == (241, 599)
    assert record(pool).old_start == listed[listed.index(start) - 1]
    check(pool)


@pytest.mark.parametrize(("absent", "read_ahead"), [(0, 64), (7, 64), (8, 0)])
def test_x21_linear_read_ahead(absent: int, read_ahead: int) -> None:
    """The last page of an area, read after nearly all others in order, brings in the next area unread."""
    pool = MidpointPool("mariadb-10.5", 1024, 4056, replace(QUIET, read_ahead_threshold=56))
    read(pool, range(600, 100, -1), 1)
    for page in range(640 + absent, 704):
        read(pool, [page], page)
    assert pool.counters().read_ahead == read_ahead
    if read_ahead:
        brought = [listed for listed in pool.order() if 704 <= listed.page < 768]
        assert len(brought) == 64
        assert {listed.at for listed in brought} == {0}
        assert brought[-1].old


def test_x21_pages_out_of_order_stop_read_ahead() -> None:
    """Eight pages that were read before their predecessors are enough."""
    pool = MidpointPool("mariadb-10.5", 1024, 4056, replace(QUIET, read_ahead_threshold=56))
    for page in range(640, 704):
        late = page % 8 == 3 and page < 700
        read(pool, [page], 1 if late else page)
    assert pool.counters().read_ahead == 0


def test_x22_the_clock_sweep() -> None:
    """Seven probes find C, the next victim is found at once."""
    a, b, c, d = range(4)
    frame_of = np.array([0, 1, 2, 3, ABSENT, ABSENT], np.uint32)
    page_in = np.array([a, b, c, d], np.uint32)
    usage = np.array([5, 2, 1, 1], np.uint8)
    pools = plain_record(6, 4)
    pools[0].free = 0
    replay_clock(frame_of, page_in, usage, pools[0], np.array([4], np.uint32), np.empty(0, np.uint8))
    assert frame_of[c] == ABSENT
    assert page_in[2] == 4
    assert (pools[0].probes, pools[0].hand) == (7, 3)
    assert list(usage) == [3, 0, 1, 0]
    replay_clock(frame_of, page_in, usage, pools[0], np.array([5], np.uint32), np.empty(0, np.uint8))
    assert page_in[3] == 5
    assert pools[0].probes == 8


def test_a_list_that_was_read_from_a_server_is_taken_over() -> None:
    """Order, old sublist, access times and stamps come back as they were given."""
    source = filled("mariadb-10.5", 700)
    listed = source.order()
    copy = MidpointPool("mariadb-10.5", 2000, 4056, QUIET)
    copy.fill([Listed(one.page, one.at, one.stamp, one.old) for one in listed], clock=0)
    assert copy.order() == listed
    check(copy)
    for pool in (source, copy):
        read(pool, range(1000, 1100), 5)
    assert copy.order() == source.order()


def test_a_thread_without_a_frame_passes_over_a_pinned_page() -> None:
    """The root that a descent holds stays, even at the tail; once let go it is the next to leave."""
    pool = filled("mariadb-10.5", 700, frames=700)
    pool.pin(1)
    read(pool, [701], 2)
    assert order(pool)[-1] == 1
    assert pool.pages[2].prev == ABSENT
    pool.pin(None)
    read(pool, [702], 2)
    assert pool.pages[1].prev == ABSENT
    check(pool)
