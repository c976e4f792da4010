"""A bug planted in each kernel is caught by the worked examples or by the invariants."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "rollout"


@dataclass(frozen=True)
class Bug:
    """A change in a kernel's file, and the test (of `test_examples`, if nothing else is said) that must notice it."""

    file: str
    right: str
    wrong: str
    test: str


RESCUE = "x13_the_sweep_of_the_fix_rescues_marked_pages()"
STACK = "test_invariants.test_degenerate_readers_are_exact_lru()"
BUGS = (
    Bug("midpoint.py", "nce < target", "nce <= target", RESCUE),
    Bug("midpoint.py", "> target + pool", ">= target + pool", "x2_the_512th_page_makes_the_midpoint()"),
    Bug("midpoint.py", "(pages, pool.old_start, page)", "(pages, pages[pool.old_start].prev, page)", "x4_length_law()"),
    Bug("midpoint.py", "if page == pool.old_start:", "if page < 0:", "x20_removing_the_page_at_the_midpoint()"),
    Bug("midpoint.py", "pool.free += 1", "pool.free += 2", "x11_the_batch_of_10_5()"),
    Bug("promotion.py", "& MASK_32 < pool.threshold", "& MASK_32 < 0", "x7_an_early_second_hit_is_rejected()"),
    Bug("promotion.py", "0xFFFF > pool", "0xFFFF >= pool", "x12_a_page_is_marked_two_ticks_after_its_first_access()"),
    Bug("promotion.py", "pool.clock == 0", "False", "x5_10_4_promotes_nothing_while_its_clock_stands_at_zero()"),
    Bug(
        "promotion.py",
        "    pages[page].at = pool.tick\n    m",
        "    m",
        "x13_the_sweep_of_the_fix_rescues_marked_pages()",
    ),
    Bug("promotion.py", "only_old and not old:", "False:", "x15_the_flush_list_batch_moves_only_old_pages()"),
    Bug("promotion.py", "limit < wide", "limit > wide", "x14_an_early_sweep_of_the_lazy_bit_frees_nothing()"),
    Bug("eviction.py", "pool.clock += 1", "pool.clock += 0", "x11_the_batch_of_10_5()"),
    Bug("eviction.py", "free < pool.scan_depth", "free <= pool.scan_depth", "x11_the_batch_of_10_5()"),
    Bug("replay.py", "return wrong < allowed", "return wrong <= allowed", "x21_linear_read_ahead(8, 0)"),
    Bug("replay.py", "    pool.free -= 1\n", "", STACK),
    Bug("recency.py", "[sentinel].prev)", "[sentinel].next)", "test_invariants.test_lru_is_lru_by_stack_distance()"),
    Bug("clocksweep.py", "frame + 1 if", "frame + 2 if", "x22_the_clock_sweep()"),
    Bug("clairvoyant.py", "1] > heap[child]", "1] < heap[child]", "test_invariants.test_the_optimum_is_the_optimum()"),
)


def asked(bugs: tuple[Bug, ...], folder: Path) -> list[bool]:
    """Plant the bugs one after the other in a copy of the package; tell which were noticed."""
    shutil.copytree(PACKAGE, folder / "rollout", ignore=shutil.ignore_patterns("__pycache__"))
    wanted = folder / "bugs.json"
    full = [replace(bug, test=bug.test if "." in bug.test else f"test_examples.test_{bug.test}") for bug in bugs]
    wanted.write_text(json.dumps([asdict(bug) for bug in full]))
    words = [sys.executable, str(HERE / "planting.py"), str(folder), str(wanted)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    noticed: list[bool] = json.loads(result.stdout.splitlines()[-1])
    return noticed


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> dict[Bug, bool]:
    """Plant all bugs."""
    return dict(zip(BUGS, asked(BUGS, tmp_path_factory.mktemp("bugs")), strict=True))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.file}: {bug.wrong.strip() or 'left out'}")
def test_a_planted_bug_is_caught(bug: Bug, noticed: dict[Bug, bool]) -> None:
    """Its test fails."""
    assert noticed[bug]


def test_without_a_bug_the_same_tests_pass(tmp_path: Path) -> None:
    """The way of trying lets the kernels through as they are."""
    healthy = {bug.test: replace(bug, wrong=bug.right) for bug in BUGS}
    assert not any(asked(tuple(healthy.values()), tmp_path))
