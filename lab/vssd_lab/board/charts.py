# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves: ours over theirs, a picture for each class.

Knows which number of a row is the x of its curve; not how errors are counted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from vssd.measured.loads import bs_of
from vssd.measured.rows import Row
from vssd.measured.score import Scored
from vssd.pictures import pyplot, save

# Metrics that are drawn, by the side of a row; of other sides all.
DRAWN = ("iops", "mean_us", "p99_us", "mb_s", "wa")
SERIES = 3  # of a panel, spread over all
COLUMNS = 4

Key = tuple[str, str, str]  # drive, experiment, metric
Curves = dict[str, list[tuple[float, float, float | None]]]


def _depth(row: Row) -> float:
    return float(row.word("iodepth") or 0) * float(row.word("numjobs") or 1)


def place(row: Row) -> tuple[str, float, str] | None:
    """The name of x, x, and the curve within the panel."""
    numbers = re.findall(r"\d+", row.file)
    at = row.noted(r"at=[\d.]+-([\d.]+)fills")
    if at:
        name = row.word("random_distribution") or row.word("size")
        return "fills", float(at.group(1)), f"{name} {row.precondition[-22:]}"
    if row.base == "mixed":
        return "demanded rate, 1/s", float(row.word("rate_iops")), "mixed"
    if row.base.startswith("read-"):
        jobs = re.search(r"num_t_(\d+)", row.file)
        return ("writing jobs", float(jobs.group(1)), "") if jobs else None
    if row.base.startswith(("rate-limited", "long-gc", "flow")):
        if row.base.startswith("rate"):
            numbers = numbers[::-1]
        if len(numbers) < 2:
            return None
        depth, rate = (float(n) for n in (numbers[0], numbers[1])) \
            if row.base.startswith("rate") else \
            (float(numbers[-2]), float(numbers[-1]))
        if row.base.startswith("flow"):
            depth, rate = rate, depth
        return "depth of reads", depth, f"{rate:g}"
    if row.base.startswith("mixratio"):
        return "depth", _depth(row), f"{row.word('rwmixread')} % reads"
    if row.base == "zones-trim":
        if row.side == "open":
            return "active zones", float(row.word("active_zones")), ""
        return "zone, bytes", float(bs_of(
            row.workload.replace("zonesize=", "x bs="))), ""
    if _depth(row):
        return "depth", _depth(row), row.word("bs")
    return None


def _groups(scored: list[Scored]) -> dict[Key, tuple[str, Curves]]:
    found: dict[Key, tuple[str, Curves]] = {}
    for s in scored:
        row = s.entry.row
        if row.metric not in DRAWN or s.entry.load.kind == "none":
            continue
        at = place(row)
        if at is None:
            continue
        key = row.drive, row.experiment, row.metric
        name, curves = found.setdefault(key, (at[0], defaultdict(list)))
        if name == at[0]:
            curves[at[2]].append((at[1], row.value, s.ours))
    return {k: v for k, v in found.items()
            if any(len({p[0] for p in c}) > 2 for c in v[1].values())}


def _panel(ax: Any, key: Key, name: str, curves: Curves) -> None:
    drive, experiment, metric = key
    chosen = sorted(curves)[::max(len(curves) // SERIES, 1)][:SERIES]
    for i, curve in enumerate(chosen):
        points = sorted(curves[curve], key=lambda p: p[0])
        colour = f"C{i}"
        ax.plot([p[0] for p in points], [p[1] for p in points], "x-",
                color=colour, linewidth=0.8, markersize=4, label=curve)
        ax.plot([p[0] for p in points],
                [float("nan") if p[2] is None else p[2] for p in points],
                "o--", color=colour, markersize=3, fillstyle="none")
    if name != "fills":
        ax.set_xscale("symlog" if min(p[0] for c in chosen
                                      for p in curves[c]) < 1 else "log")
    ax.set_yscale("log")
    ax.set_title(f"{drive}\n{experiment}", fontsize=7)
    ax.set_xlabel(name, fontsize=7)
    ax.set_ylabel(metric, fontsize=7)
    ax.tick_params(which="both", labelsize=6)
    ax.grid(alpha=0.3)
    if len(chosen) > 1:
        ax.legend(fontsize=5)


def draw(scored: list[Scored], folder: Path) -> list[Path]:
    """CLASS.svg for each class that has curves."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in dict.fromkeys(s.entry.name for s in scored):
        groups = sorted(_groups(
            [s for s in scored if s.entry.name == name]).items())
        if not groups:
            continue
        rows = -(-len(groups) // COLUMNS)
        fig, axes = pyplot().subplots(
            rows, COLUMNS, figsize=(3.2 * COLUMNS, 2.4 * rows),
            layout="constrained", squeeze=False)
        for ax, (key, (x, curves)) in zip(axes.flat, groups, strict=False):
            _panel(ax, key, x, curves)
        for ax in list(axes.flat)[len(groups):]:
            ax.axis("off")
        fig.suptitle(f"{name}: theirs x, ours o (dashed)", fontsize=9)
        files.append(folder / f"{name}.svg")
        save(fig, files[-1])
    return files
