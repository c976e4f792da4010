"""Curves and the dump's effect as pictures; matplotlib is loaded when one is drawn."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rollout.errors import UsageProblem
from rollout.simulator.counters import Counters
from rollout.simulator.curves import Point
from rollout.simulator.pollution import Pollution

# Okabe and Ito's colours, told apart by people of all kinds of sight.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000")
MEASURES: dict[str, Callable[[Counters], float]] = {
    "hit ratio": lambda counted: counted.hit_ratio or 0.0,
    "pages made young by access": lambda counted: counted.made_young / max(counted.accesses, 1),
    "mutex acquisitions by access": lambda counted: counted.mutex_acquisitions / max(counted.accesses, 1),
}


def draw_curve(points: Sequence[Point], title: str, file: Path) -> None:
    """Draw hit ratio, promotions and mutex acquisitions over the pool, a line for each policy and setting."""
    figure, axes = _figure(file, title, 1, len(MEASURES))
    lines = list(dict.fromkeys(map(_label, points)))
    for axis, (name, measure) in zip(axes[0], MEASURES.items(), strict=True):
        for number, label in enumerate(lines):
            part = sorted((point for point in points if _label(point) == label), key=lambda point: point.frames)
            colour, dash = COLOURS[number % len(COLOURS)], "-:"[number // len(COLOURS) % 2]
            heights = [measure(point.counters) for point in part]
            axis.plot(
                [point.frames for point in part], heights, dash, color=colour, marker="o", markersize=3, label=label
            )
        axis.set_xlabel("frames")
        axis.set_ylabel(name)
        axis.set_ylim(bottom=0)
        if len({point.frames for point in points}) > 1:
            axis.set_xscale("log", base=2)
    axes[0][0].legend(frameon=False, fontsize=8)
    _save(figure, file)


def draw_pollution(results: Sequence[Pollution], title: str, file: Path) -> None:
    """Draw the hit ratio of the hot set while the dump ran and after it; a row for each policy, pool warm and cold."""
    policies = list(dict.fromkeys(result.policy for result in results))
    panels = [(warm, part) for warm in (True, False) for part in ("during", "after")]
    figure, axes = _figure(file, title, len(policies), len(panels))
    for row, policy in zip(axes, policies, strict=True):
        for axis, (warm, part) in zip(row, panels, strict=True):
            _panel(axis, [one for one in results if one.policy == policy and one.warm == warm], part)
            axis.set_title(f"{policy}, pool {'warm' if warm else 'cold'}, {part} the dump", fontsize=9)
    axes[0][0].legend(frameon=False, fontsize=8)
    _save(figure, file)


def _panel(axis: Any, results: Sequence[Pollution], part: str) -> None:
    settings = list(dict.fromkeys((one.old_blocks_time_ms, one.old_blocks_pct) for one in results))
    for (time_ms, percent), colour in zip(settings, COLOURS * len(settings), strict=False):
        line = [one for one in results if (one.old_blocks_time_ms, one.old_blocks_pct) == (time_ms, percent)]
        heats, ratios = [one.reads_per_passage for one in line], [getattr(one, part) for one in line]
        label = f"old_blocks_time {time_ms}, pct {percent}"
        axis.plot(heats, ratios, color=colour, marker="o", markersize=3, label=label)
    axis.set_xscale("log", base=2)
    axis.set_ylim(0, 1.02)
    axis.set_xlabel("reads of a hot page a passage", fontsize=8)
    axis.set_ylabel("hit ratio of the hot set", fontsize=8)


def check_chart(file: Path) -> None:
    """Refuse a chart that is neither .svg nor .png, before anything is simulated for it."""
    if file.suffix not in {".svg", ".png"}:
        raise UsageProblem(f"{file}: a chart is an .svg or a .png file")


def _figure(file: Path, title: str, rows: int, columns: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to load, and needed by few calls

    check_chart(file)
    figure = Figure(figsize=(4.6 * columns, 3.6 * rows + 0.4), layout="constrained")
    figure.suptitle(title, fontsize=10)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _label(point: Point) -> str:
    return f"{point.policy}, pct {point.old_blocks_pct}, time {point.old_blocks_time_ms}"


def _save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, dpi=120)
    except OSError as error:
        raise UsageProblem(f"{file}: the chart cannot be written: {error.strerror}") from error
