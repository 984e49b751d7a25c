# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of panels, SVG and PNG, with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vssd.pictures import pyplot

from .figure import Chart, Panel

BAND = "#f2c744"
BAND_ALPHA = 0.35
# So that equal curves are told apart: the first is the widest.
MARKERS = "osD^vPX"
DASHES = ("-", "--", "-.", ":")
MANY = 20  # points of a curve, of which not each is marked and named


def _bands(ax: Any, chart: Chart) -> None:
    """The paper's range behind each point of x."""
    named = False
    for i, (low, high) in enumerate(zip(chart.low, chart.high)):
        if low is None and high is None:
            continue
        bottom, top = ax.get_ylim()
        floor = bottom if low is None else low
        roof = max(top, floor) if high is None else high
        ax.fill_between([i - 0.45, i + 0.45], floor, roof, color=BAND,
                        alpha=BAND_ALPHA, zorder=0,
                        label=None if named else "paper")
        named = True


def _numbers(values: list[float | None]) -> list[float]:
    return [float("nan") if v is None else v for v in values]


def _errors(ax: Any, chart: Chart, name: str, at: list[float],
            values: list[float]) -> None:
    """Half of the confidence interval on each side."""
    if name in chart.errors:
        ax.errorbar(at, values, _numbers(chart.errors[name]), fmt="none",
                    ecolor="#333", capsize=2, linewidth=0.8, zorder=3)


def _points(ax: Any, chart: Chart) -> None:
    """The paper's points, with the error of reading them."""
    for name, values in chart.paper.items():
        at = list(range(len(values)))
        label = f"paper, {name}" if len(chart.paper) > 1 else "paper"
        ax.errorbar(at, _numbers(values), chart.reading or None, fmt="x",
                    color="black", capsize=3, label=label, zorder=4)


def _bars(ax: Any, chart: Chart) -> None:
    width = 0.8 / max(len(chart.series), 1)
    for n, (name, values) in enumerate(chart.series.items()):
        at = [i - 0.4 + width * (n + 0.5) for i in range(len(values))]
        ax.bar(at, _numbers(values), width * 0.92, label=name, zorder=2)
        _errors(ax, chart, name, at, _numbers(values))


def _lines(ax: Any, chart: Chart) -> None:
    for n, (name, values) in enumerate(chart.series.items()):
        at = [float(i) for i in range(len(values))]
        thin = len(chart.series) - n
        ax.plot(at, _numbers(values),
                marker=MARKERS[n % len(MARKERS)] if len(values) <= MANY
                else None, linestyle=DASHES[n % len(DASHES)],
                linewidth=1 + 0.7 * thin, markersize=4 + 1.5 * thin,
                fillstyle="none", label=name, zorder=2)
        _errors(ax, chart, name, at, _numbers(values))


def _width(chart: Chart) -> float:
    """Inches."""
    if chart.lines and len(chart.x) > MANY:
        return 8.0
    return max(6.4, 1.5 + 0.45 * len(chart.x)
               * max(1, len(chart.series) / 3))


def _ticks(ax: Any, chart: Chart) -> None:
    at = range(len(chart.x))
    if chart.lines and len(at) > MANY:
        at = range(MANY // 4 - 1, len(chart.x), MANY // 4)
    names = [chart.x[i] for i in at]
    long = len(names) > 8 or any(len(x) > 14 for x in names)
    ax.set_xticks(at, names, rotation=40 if long else 0,
                  ha="right" if long else "center")


def draw(panel: Panel, stem: Path) -> list[Path]:
    """Write the panel's picture as stem.svg and stem.png."""
    chart = panel.chart
    if not chart:
        return []
    plt = pyplot()
    fig, ax = plt.subplots(figsize=(_width(chart), 4.0),
                           layout="constrained")
    (_lines if chart.lines else _bars)(ax, chart)
    if chart.log:
        ax.set_yscale("log")
    _bands(ax, chart)
    _points(ax, chart)
    _ticks(ax, chart)
    ax.set_title(panel.title, fontsize=10)
    ax.set_ylabel(chart.ylabel)
    ax.grid(axis="y", alpha=0.3, zorder=0)
    ax.legend(fontsize=8)
    files = [stem.with_name(stem.name + end) for end in (".svg", ".png")]
    for file in files:
        meta = {"Date": None} if file.suffix == ".svg" else {}
        fig.savefig(file, dpi=120, metadata=meta)
    plt.close(fig)
    return files
