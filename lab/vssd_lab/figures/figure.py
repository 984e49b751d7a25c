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

from vssd.paths import cache_dir
from vssd.sim.run import Point, Result, Runner
from vssd.sim.store import Store
from vssd.ui import Stage

from . import judge
from .judge import Row as Row  # panels are of rows: one import for both

SEEDS = 5  # of each judged point
SWEEP_SEEDS = 3  # of each point of a sweep; and of all points of --quick
QUICK_SCALE = 0.1
CHOSEN = "chosen by outcome"  # begins an input's line that the page shows first
Curves = dict[str, list[float | None]]  # by name; by x, None: no point


@dataclass
class Chart:
    """Curves over named points; the paper's bands behind them, its points on
    them."""

    x: list[str]
    series: Curves
    ylabel: str
    lines: bool = False  # else bars
    log: bool = False
    low: list[float | None] = field(default_factory=list)  # by x: the band
    high: list[float | None] = field(default_factory=list)
    paper: Curves = field(default_factory=dict)  # points read off its figures
    reading: float = 0  # the error of these, in units of y
    errors: Curves = field(default_factory=dict)  # half of ours' intervals


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
    """A claim of one run that the caller judged; None: shown."""
    out = judge.shown(panel, point, ours, why, paper)
    if holds is not None:
        out |= {"kind": "claim",
                "verdict": judge.HOLDS if holds else judge.DEVIATES}
    return out


def band(panel: str, point: str, ours: float | None, low: float | None,
         high: float | None, why: str = "") -> Row:
    """A claim of one run with a range."""
    return judge.claim(panel, point, [] if ours is None else [ours], low,
                       high, source="", why=why)


def distance(r: Row) -> str:
    """By how much a row is beyond its range: "+17 %"; in points, if the row
    says so."""
    ours = r["ours"]
    if ours is None:
        return ""
    for end, beyond in ((r["low"], -1), (r["high"], 1)):
        if end is not None and (ours - end) * beyond > 0:
            if r.get("points"):
                return f"{ours - end:+.1f} points"
            return f"{100 * (ours / end - 1):+.1f} %" if end \
                else f"{ours:+.3g}"
    return ""


def verdict(panel: Panel) -> str:
    """The panel's line: the totals, and what does not hold and why."""
    if not any(r["verdict"] for r in panel.rows):
        return "nothing to judge"
    parts = []
    for r in panel.rows:
        if r["verdict"] in (judge.DEVIATES, judge.UNSTABLE):
            much = distance(r)
            if not much and r["ours"] is not None:
                much = f"{r['ours']:.3g}, the paper has {r['paper']}"
            why = f", because {r['why']}" if r["why"] else ""
            parts.append(f"{r['point']} {r['verdict']}"
                         f" ({much or r['paper']}){why}")
    return "; ".join([judge.total_text(panel.rows), *parts])


class Context:
    """The resources of a figure."""

    def __init__(self, runner: Runner, traces: Path | None, inputs: Path,
                 scale: float = 1.0, seeds: int = SEEDS, sweeps: bool = False,
                 out: Path | None = None) -> None:
        self.runner = runner
        self.traces = traces  # the folder of --traces
        # For the files that runs read; kept, so that a printed command works.
        self.inputs = inputs
        self.scale = scale  # of the length of generated inputs
        self.count = seeds
        self.sweeps = sweeps  # play what the judged rows do not need, too
        self.out = out  # where the report goes, and what is kept for it
        self.kept: Store | None = None  # results of points, by run()
        self.runs: list[tuple[str, Any, Point, Result]] = []
        # Of many runs each, kept in a file: title, command, count, path.
        self.series: list[Any] = []

    def seeds(self, first: int) -> list[int]:
        """The seeds of each point: `first` and those after it."""
        return [first + i for i in range(self.count)]

    def sweep_seeds(self, first: int) -> list[int]:
        """The seeds of each point of a sweep or of a hypothesis."""
        return [first + i for i in range(min(SWEEP_SEEDS, self.count))]

    def length(self, n: int) -> int:
        """So many requests, scaled."""
        return max(int(n * self.scale), 100)

    def _one(self, point: Point) -> Result:
        """Run a point, unless its result is in the cache.  One that saves a
        drive is always run."""
        if "--save-state" in point.args:
            return self.runner.one(point)
        if self.kept is None:
            self.kept = Store(cache_dir() / "figures",
                              self.runner.sim.read_bytes())
        result = self.kept.get(point)
        if result is None:
            result = self.runner.one(point)
            self.kept.put(point, result)
        return result

    def run(self, title: str, points: dict[Any, Point]) -> dict[Any, Result]:
        """Run points side by side; the results by the same labels.  They are
        kept in the cache, so that a figure that was interrupted goes on."""
        results: dict[Any, Result] = {}
        with Stage(title) as stage:
            def call(label: Any) -> Result:
                return self._one(points[label])

            def done(label: Any, result: Result) -> None:
                results[label] = result
                self.runs.append((title, label, points[label], result))
                stage.add(len(points))

            self.runner.each(call, points, done)
        return results


def _from_rows(name: str, rows: list[Row]) -> Panel:
    """The panel of plain rows: ours as bars, the bands behind."""
    seen = [r for r in rows if r["ours"] is not None]
    chart = Chart([r["point"] for r in seen],
                  {"ours": [r["ours"] for r in seen]}, "",
                  low=[r["low"] for r in seen], high=[r["high"] for r in seen],
                  errors={"ours": [r["interval"][1] - r["ours"]
                                   for r in seen]}) if seen else None
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
