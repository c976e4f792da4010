"""Pictures of measurements that can be read in black and white; matplotlib is loaded when one is drawn."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rollout.bench.memory import read_runs
from rollout.bench.samples import MemoryRun
from rollout.bench.store import Kept, Measurement, Result
from rollout.errors import UsageProblem

MIB = 2**20
# Told apart by lightness and by dash, not by hue alone.
_STYLES = (("#000000", "-"), ("#0072B2", "--"), ("#7a7a7a", "-."), ("#D55E00", ":"))
_HATCHES = ("", "///", "...", "xxx")


def check_chart(file: Path) -> None:
    """Refuse a chart that is neither .svg nor .png, before anything is measured for it."""
    if file.suffix not in {".svg", ".png"}:
        raise UsageProblem(f"{file}: a chart is an .svg or a .png file")


def draw(kept: Kept, file: Path) -> None:
    """Draw a measurement into an .svg or a .png; raises `UsageProblem` when it cannot be written."""
    check_chart(file)
    try:
        _figure(kept).savefig(file, dpi=130)
    except OSError as error:
        raise UsageProblem(f"{file}: the chart cannot be written: {error.strerror}") from error


def svg(kept: Kept) -> str:
    """Return the picture as an SVG element, to stand inside a page."""
    text = io.StringIO()
    _figure(kept).savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


def _figure(kept: Kept) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to load, and needed by few calls

    result = kept.result
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    where = f"{result.host}, {result.about.get('server')}, {result.about.get('cores')} cores, run {result.run_id}"
    figure.suptitle(where, fontsize=10)
    if result.kind == "memory":
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _over_time(left, read_runs(kept.raw, result.order), [part.label for part in result.parts])
        _bars(right, result, ("start_bytes", "peak_bytes", "rest_bytes", "kept_bytes"), MIB, "MiB")
    else:
        _case_bars(figure.subplots(1, 2), result)
    return figure


def _over_time(axes: Any, runs: Sequence[MemoryRun], labels: Sequence[str]) -> None:
    """Draw memory over time, a line a run; the phases of the first run are shaded."""
    for phase in runs[0].phases:
        shade = "#e8e8e8" if phase.name == "load" else "#f8f8f8"
        axes.axvspan(phase.begin, phase.end, color=shade, zorder=0)
        middle = (phase.begin + phase.end) / 2
        axes.text(middle, 0.99, phase.name, fontsize=7, ha="center", va="top", transform=axes.get_xaxis_transform())
    named = set[str]()
    for run in runs:
        colour, dash = _STYLES[labels.index(run.arm) % len(_STYLES)]
        label = None if run.arm in named else run.arm
        named.add(run.arm)
        places = [sample.seconds for sample in run.samples]
        heights = [(sample.rss + sample.swap) / MIB for sample in run.samples]
        axes.plot(places, heights, linestyle=dash, color=colour, linewidth=1.3, label=label)
    axes.set_xlabel("seconds since each run began; shaded: the phases of the first")
    axes.set_ylabel("resident and swapped out, MiB")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _bars(axes: Any, result: Result, names: Sequence[str], scale: float, unit: str) -> None:
    width = 0.8 / len(result.parts)
    for place, part in enumerate(result.parts):
        found = [part.named(name) for name in names]
        rows = [one for one in found if one is not None]
        _bar(axes, rows, width=width, scale=scale, place=place, label=part.label)
    axes.set_xticks([column + 0.4 - width / 2 for column in range(len(names))], [n.split("_")[0] for n in names])
    axes.set_ylabel(f"{unit}; bars are means, whiskers the lowest and highest run")
    axes.legend(frameon=False, fontsize=8)


def _bar(
    axes: Any, rows: Sequence[Measurement], *, width: float, scale: float = 1.0, place: int = 0, label: str = ""
) -> None:
    places = [column + place * width for column in range(len(rows))]
    means = [one.mean / scale for one in rows]
    low = [one.mean / scale - min(one.values) / scale for one in rows]
    high = [max(one.values) / scale - one.mean / scale for one in rows]
    face = ("#ffffff", "#bbbbbb", "#888888", "#555555")[place % 4]
    style = {"color": face, "edgecolor": "black", "hatch": _HATCHES[place % 4], "linewidth": 0.8}
    axes.bar(places, means, width, yerr=(low, high), capsize=3, label=label, **style)


def _case_bars(panels: Any, result: Result) -> None:
    for axes, name in zip(panels, ("promotions a row", "hit ratio"), strict=True):
        found = [(part.label, part.named(name)) for part in result.parts]
        rows = [(label, one) for label, one in found if one is not None]
        _bar(axes, [one for _, one in rows], width=0.7)
        axes.set_xticks(range(len(rows)), [label for label, _ in rows], rotation=30, ha="right", fontsize=7)
        axes.set_ylabel(f"{name}: mean, lowest, highest run")
