"""The curves of a described workload as a picture; matplotlib is loaded when one is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rollout.errors import UsageProblem
from rollout.prediction.curves import SHOWN, Curve

# Okabe and Ito's colours, told apart by people of all kinds of sight.
_COLOURS = ("#999999", "#D55E00", "#0072B2")
_LABELS = ("10.4", "10.5 to 11.8.9", "with the fix")


def draw(curves: Sequence[Curve], title: str, file: Path) -> None:
    """Write the curves side by side to `file`, an .svg or .png; raises UsageProblem for anything else."""
    if file.suffix not in {".svg", ".png"}:
        raise UsageProblem(f"{file}: a chart is an .svg or a .png file")
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to load, and needed by few calls

    figure = Figure(figsize=(6 * len(curves), 7), layout="constrained")
    figure.suptitle(title)
    rows = figure.subplots(2, len(curves), squeeze=False, sharex="col")
    for column, curve in enumerate(curves):
        _speeds(rows[0][column], curve)
        _gain(rows[1][column], curve)
    try:
        figure.savefig(file, dpi=120)
    except OSError as error:
        raise UsageProblem(f"{file}: the chart cannot be written: {error.strerror}") from error


def _speeds(axes: Any, curve: Curve) -> None:
    places = [point.at for point in curve.points]
    for policy, colour, label in zip(SHOWN, _COLOURS, _LABELS, strict=True):
        speeds = [point.queries_per_second[policy] for point in curve.points]
        axes.plot(places, [speed.mid for speed in speeds], color=colour, marker="o", markersize=3, label=label)
        axes.fill_between(
            places, [speed.low for speed in speeds], [speed.high for speed in speeds], color=colour, alpha=0.15
        )
    axes.set_ylabel("queries a second")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def _gain(axes: Any, curve: Curve) -> None:
    places = [point.at for point in curve.points]
    axes.plot(places, [point.gain.mid for point in curve.points], color=_COLOURS[2], marker="o", markersize=3)
    lows, highs = ([getattr(point.gain, end) for point in curve.points] for end in ("low", "high"))
    axes.fill_between(places, lows, highs, color=_COLOURS[2], alpha=0.15)
    axes.axhline(1, color="#999999", linewidth=0.8)
    axes.set_ylabel("gain of the fix over 10.5 to 11.8.9")
    axes.set_xlabel(curve.over)
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [str(place) for place in places])
