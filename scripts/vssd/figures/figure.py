# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure: panels of rows and a chart, and their data.

A figure is a module with TITLE and panels(ctx), listed in cli/figures.py.
panels() yields Panel objects, or plain rows, which become one panel for each
name in "panel".  Every number of ours comes from ctx.run().
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..sim.run import Estimate, Point, Result, Runner
from ..ui import Stage

Row = dict[str, Any]
Curves = dict[str, list[float | None]]  # by name; by x, None: no point


@dataclass
class Chart:
    """Curves over named points, with the paper's band behind them."""

    x: list[str]
    series: Curves
    ylabel: str
    lines: bool = False  # else bars
    log: bool = False
    low: list[float | None] = field(default_factory=list)  # by x: the band
    high: list[float | None] = field(default_factory=list)


@dataclass
class Panel:
    """One picture and the rows that judge it."""

    name: str
    title: str
    inputs: list[str]  # the input, for the reader
    rows: list[Row]
    chart: Chart | None = None


def row(panel: str, point: str, ours: float | None, paper: str,
        holds: bool | None, why: str = "") -> Row:
    """One statement of the paper and our result. holds is None where there is
    nothing to judge; why says why, or why it deviates."""
    return {"panel": panel, "point": point, "ours": ours, "paper": paper,
            "holds": holds, "why": why}


def band(panel: str, point: str, ours: float | None, low: float | None,
         high: float | None, why: str = "") -> Row:
    """A row whose paper's value is a range; either end may be open."""
    if low is None:
        text = f"below {high:g}"
    elif high is None:
        text = f"above {low:g}"
    else:
        text = f"{low:g} to {high:g}"
    if ours is None:
        return row(panel, point, None, text, None, why) | {
            "low": low, "high": high}
    holds = (low is None or ours >= low) and (high is None or ours <= high)
    return row(panel, point, ours, text, holds, "" if holds else why) | {
        "low": low, "high": high}


def distance(r: Row) -> str:
    """By how much a row deviates from its band: "+17 %"; in points, if the
    row says so."""
    ours = r["ours"]
    if ours is None:
        return ""
    for end, beyond in ((r.get("low"), -1), (r.get("high"), 1)):
        if end is not None and (ours - end) * beyond > 0:
            if r.get("points"):
                return f"{ours - end:+.1f} points"
            return f"{100 * (ours / end - 1):+.1f} %" if end \
                else f"{ours:+.3g}"
    return ""


def verdict(panel: Panel) -> str:
    """The panel's line: holds, or deviates: by how much, why."""
    judged = [r for r in panel.rows if r["holds"] is not None]
    if not judged:
        return "nothing to judge"
    parts = []
    for r in judged:
        if not r["holds"]:
            much = distance(r)
            if not much and r["ours"] is not None:
                much = f"{r['ours']:.3g}, the paper has {r['paper']}"
            why = f", because {r['why']}" if r["why"] else ""
            parts.append(f"{r['point']} by {much or r['paper']}{why}")
    if not parts:
        return f"holds ({len(judged)} of {len(judged)})"
    good = len(judged) - len(parts)
    return (f"deviates ({good} of {len(judged)} hold): " + "; ".join(parts))


class Context:
    """The resources of a figure."""

    def __init__(self, runner: Runner, traces: Path | None, scratch: Path,
                 scale: float = 1.0) -> None:
        self.runner = runner
        self.traces = traces  # the folder of --traces
        self.scratch = scratch  # for files that the runs read
        self.scale = scale  # of the length of generated inputs

    def length(self, n: int) -> int:
        """So many requests, scaled."""
        return max(int(n * self.scale), 100)

    def run(self, title: str, points: dict[Any, Point]) -> dict[Any, Result]:
        """Run points side by side; the results by the same labels."""
        results: dict[Any, Result] = {}
        estimate = Estimate(len(points))
        with Stage(title) as stage:
            def call(label: Any) -> Result:
                return self.runner.one(points[label])

            def done(label: Any, result: Result) -> None:
                results[label] = result
                stage.note(estimate.add())

            self.runner.each(call, points, done)
        return results


def _from_rows(name: str, rows: list[Row]) -> Panel:
    """The panel of plain rows: ours as bars, the bands behind."""
    shown = [r for r in rows if r["ours"] is not None]
    chart = Chart([r["point"] for r in shown],
                  {"ours": [r["ours"] for r in shown]}, "",
                  low=[r.get("low") for r in shown],
                  high=[r.get("high") for r in shown]) if shown else None
    inputs = list(dict.fromkeys(r["input"] for r in rows if r.get("input")))
    return Panel(name, name, inputs, rows, chart)


def collect(items: Iterable[Panel | Row]) -> Iterator[Panel]:
    """Panels as they come; plain rows at the end, by panel."""
    loose: dict[str, list[Row]] = {}
    for item in items:
        if isinstance(item, Panel):
            yield item
        else:
            item.setdefault("why", "")
            loose.setdefault(item["panel"], []).append(item)
    for name, rows in loose.items():
        yield _from_rows(name, rows)
