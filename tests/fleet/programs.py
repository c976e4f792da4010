"""Random programs of reads for the differential test: what is asked of the server, and which pages that touches.

A program is a list of phases with a wait between them. Within a phase everything happens faster than
`innodb_old_blocks_time`, between two phases more time than that goes by; so simulated time need only count phases.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rollout.simulator.recorder import Leaf, PageKey, Tree

THRESHOLD_MS = 500


@dataclass(frozen=True)
class Statement:
    """One read in SQL, and the pages that it touches in order."""

    sql: str
    pages: tuple[PageKey, ...]


@dataclass(frozen=True)
class Program:
    """Pool size and settings of a server, and phases of statements."""

    seed: int
    pool_mib: int
    old_blocks_time_ms: int
    old_blocks_pct: int
    phases: tuple[tuple[Statement, ...], ...] = field(repr=False)


def random_program(seed: int, trees: Sequence[Tree]) -> Program:
    """Draw a program: a filling, then phases of re-reads, new reads and ranges."""
    draw = random.Random(seed)  # noqa: S311 - a test's dice
    pool_mib = draw.choice((16, 24))
    frames = pool_mib // 8 * 507
    filling = draw.randrange(frames // 2, frames + 400)
    leaves = [(table, leaf) for table, tree in enumerate(trees) for leaf in tree.leaves if leaf.records > 2]
    seen = draw.sample(leaves, filling)
    phases = [tuple(point(trees, *each) for each in seen)]
    for _ in range(draw.randrange(2, 5)):
        again = draw.sample(seen[-frames:], draw.randrange(20, 250))
        new = draw.sample(leaves, draw.randrange(0, 300))
        mixed = list(dict.fromkeys([*again, *new]))
        draw.shuffle(mixed)
        phases.append(tuple(_phase(draw, trees, mixed)))
        seen += new
    time_ms = draw.choice((THRESHOLD_MS, THRESHOLD_MS, THRESHOLD_MS, 0, 4_294_967_295))
    return Program(seed, pool_mib, time_ms, draw.choice((37, 37, 5, 60, 95)), tuple(phases))


def _phase(draw: random.Random, trees: Sequence[Tree], mixed: Sequence[tuple[int, Leaf]]) -> Iterator[Statement]:
    """Read each leaf once; now and then the same again at once, or a range of leaves through the table's cursor."""
    for table, leaf in mixed:
        yield point(trees, table, leaf)
        if draw.random() < 0.1:
            yield point(trees, table, leaf)
        if draw.random() < 0.02:
            yield _range(trees, table, draw.randrange(1, len(trees[table].leaves) - 20), draw.randrange(2, 20))


def point(trees: Sequence[Tree], table: int, leaf: Leaf) -> Statement:
    """Read a row from the middle of its leaf by its key: the root and the leaf.

    A look for the first row of a leaf touches the leaf before, too; for the last one the leaf behind.
    """
    return Statement(f"SELECT id FROM t{table} WHERE id = {leaf.first_id + 1}", (trees[table].root, leaf.key))


def _range(trees: Sequence[Tree], table: int, first: int, leaves: int) -> Statement:
    """Read on through some leaves with the table's own cursor, which the optimizer does not look at beforehand.

    Each row after the first restores the cursor, which touches the leaf of the row before.
    """
    run = trees[table].leaves[first : first + leaves]
    rows = [leaf for leaf in run for _ in range(leaf.records)][1:-1]
    touched = [trees[table].root, rows[0].key]
    for before, after in pairwise(rows):
        touched += [before.key] if before == after else [before.key, after.key]
    name = f"HANDLER t{table}"
    sql = f"{name} OPEN; {name} READ `PRIMARY` >= ({run[0].first_id + 1}) LIMIT {len(rows)}; {name} CLOSE"
    return Statement(sql, tuple(touched))
