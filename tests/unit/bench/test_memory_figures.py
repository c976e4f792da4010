"""From the samples of a run to its figures, held against made-up runs whose figures are plain to see."""

from pathlib import Path

import pytest

from rollout.bench.samples import MIB, descents, figures, read_run

SECOND = 10**9
START = 1_700_000_000 * SECOND


def write_run(raw: Path, sizes_mib: list[int]) -> None:
    """Write the files of run 1: four seconds before the load, then the load, then three seconds of rest."""
    last = len(sizes_mib) - 1
    marks = [
        "run 1 arm 1",
        "allocator jemalloc 5.3.0-0-g54ead",
        "load begin 1",
        "load end 1",
        "rest begin",
        "rest end",
        "tmp 48 192",
    ]
    times = [0, 0, 4, last - 3, last - 3, last, last]
    (raw / "marks-1").write_text("".join(f"{START + t * SECOND}\t{m}\n" for t, m in zip(times, marks, strict=True)))
    rows = [
        f"{START + t * SECOND} {size * 1024} 0 2048 1024 240 1280050288 12429 9000000"
        for t, size in enumerate(sizes_mib)
    ]
    rows[2] = rows[2].replace(" 2048 1024 240 1280050288 12429 ", " - - - - - ")
    (raw / "samples-1").write_text("\n".join(rows) + "\n1700000099 torn")
    (raw / "slap-1-1").write_text(",mixed,12.068,11.900,12.300,24,4\n")
    (raw / "slap-1-2").write_text(",mixed,11.982,11.900,12.300,24,4\n")


def test_the_figures_of_a_run(tmp_path: Path) -> None:
    """Start before the load, peak, rest at the end, kept above the start; swap counts with it; the load's own mean."""
    write_run(tmp_path, [293, 293, 293, 293, 294, 800, 1098, 700, 1000, 640, 507, 507, 507])
    run = read_run(tmp_path, 1, "jemalloc")
    found = figures(run)
    assert run.allocator.startswith("jemalloc 5.3.0")
    assert len(run.samples) == 13
    assert [found[name] / MIB for name in ("start_bytes", "peak_bytes", "rest_bytes", "kept_bytes")] == [
        294,
        1098,
        507,
        213,
    ]
    assert found["iteration_seconds"] == pytest.approx((12.068 + 11.982) / 2)
    assert found["held_bytes"] == 3 * MIB
    assert found["tmp_on_disk"] == 0.25
    assert (found["regions"], found["pool_pages"], found["memory_used_bytes"]) == (240, 12429, 1280050288)
    assert [(phase.name, phase.begin, phase.end) for phase in run.phases] == [("load", 4, 9), ("rest", 9, 12)]


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([300, 500, 900, 1098, 1098, 1098], 0),  # glibc's line never comes down
        ([300, 630, 500, 630, 505, 630, 620], 2),  # a saw-tooth; the last fall is less than 16 MiB
        ([600, 590, 580, 570], 1),  # one slow descent
        ([600, 590, 600, 590], 0),
    ],
)
def test_descents_are_falls_that_matter(sizes: list[int], count: int) -> None:
    """A fall of 16 MiB or more counts once, however many seconds it takes."""
    assert descents([size * MIB for size in sizes]) == count
