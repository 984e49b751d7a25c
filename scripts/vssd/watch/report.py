# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of ./vssd report: results side by side, in one HTML file.

A part of the page is a function of the results.  What a result does not contain
is named, with the option that records it; nothing is filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .. import pages, pictures
from ..errors import UserError
from ..sim.run import flat
from . import members, oplog
from .result import Commands, Result
from .stat import MAIN

SIZE = (9.0, 3.2)  # inches
POINTS = 400  # of a curve of the distribution
BINS = 100  # of time
SERIES = "vssd-sim run --series SECONDS"
CSV = "vssd-sim run --csv X.csv, beside X.json"
OPLOG = "--oplog X.oplog of vssd-sim run or ./vssd run, beside X.json"
QUANTILES = (("min", 0.0), ("p50", 0.5), ("p99", 0.99), ("p999", 0.999),
             ("p9999", 0.9999), ("p99999", 0.99999), ("p999999", 0.999999),
             ("max", 1.0))


@dataclass
class Input:
    """A result with what its other files hold, read once."""

    result: Result
    color: str
    commands: Commands | None = None
    log: oplog.Log | None = None


@dataclass
class Part:
    """A section of the page."""

    title: str
    text: str = ""  # what is shown
    pictures: list[str] = field(default_factory=list)  # elements
    missing: dict[str, list[str]] = field(default_factory=dict)

    def lacks(self, option: str, name: str) -> None:
        """The result of that name has no data; the option records it."""
        self.missing.setdefault(option, []).append(name)

    def html(self) -> str:
        """The section."""
        out = [f"<h2>{escape(self.title)}</h2>"]
        if self.text:
            out.append(f"<p>{escape(self.text)}</p>")
        out += self.pictures
        out += [f"<p>Without data: {escape(', '.join(names))}."
                f"  <code>{escape(option)}</code> records it.</p>"
                for option, names in self.missing.items()]
        return "\n".join(out)


def _axes(n: int = 1, size: tuple[float, float] = SIZE) -> tuple[Any, Any]:
    fig, axes = pictures.pyplot().subplots(
        1, n, figsize=size, layout="constrained", squeeze=False)
    return fig, axes


def _finish(part: Part, fig: Any, axes: Any) -> None:
    """The picture joins the part, if it shows something."""
    for ax in axes:
        ax.grid(alpha=0.3)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize=7)
    if any(ax.has_data() for ax in axes):
        part.pictures.append(pictures.svg(fig))
    else:
        pictures.pyplot().close(fig)


# ---- summary ----------------------------------------------------------------


def _table(head: list[str], rows: list[list[str]]) -> str:
    out = ["<table><tr>" + "".join(f"<th>{escape(x)}" for x in head) + "</tr>"]
    out += ["<tr>" + "".join(f"<td>{escape(x)}" for x in row) + "</tr>"
            for row in rows]
    return "\n".join([*out, "</table>"])


def summary(inputs: list[Input]) -> Part:
    """The main statistics of each, and the options in which they differ."""
    part = Part("Summary")
    flats = [flat(i.result.data) for i in inputs]
    names = [i.result.name for i in inputs]
    rows = []
    for place in dict.fromkeys(p for f in flats for p in f):
        wanted = place in ("workload", "trace", "fill", "seed") or any(
            members.matches(place, m) for m in MAIN)
        if wanted and any(f.get(place) for f in flats):
            row = members.member(place)
            unit = f" ({row.unit})" if row and row.unit else ""
            rows.append([place + unit,
                         *(pages.number(f.get(place)) for f in flats)])
    part.pictures.append(_table(["statistic", *names], rows))
    options = [i.result.data.get("options", {}) for i in inputs]
    keys = [k for k in dict.fromkeys(k for o in options for k in o)
            if len(inputs) == 1 or len({str(o.get(k)) for o in options}) > 1]
    if keys:
        title = "option" if len(inputs) == 1 else "option that differs"
        part.pictures.append("<p></p>" + _table(
            [title, *names], [[k, *(str(o.get(k, "default")) for o in options)]
                              for k in keys]))
    return part


def bound(inputs: list[Input]) -> Part:
    """The stages of the drive, and the parts of a command's latency."""
    part = Part("What bounded the run", "  ".join(
        f"{name}: {data['explain']['bound_by']}." for i in inputs
        for name, data in i.result.drives())
        + "  docs/results.md explains the stages.")
    fig, axes = _axes(3, (11.0, 3.6))
    shown = [(i, name, data["explain"]) for i in inputs
             for name, data in i.result.drives()]
    for n, (one, name, e) in enumerate(shown):
        width = 0.8 / len(shown)
        for ax, found in zip(axes[0], (
                {s: v["utilization"] for s, v in e["stages"].items()
                 if v["servers"]},
                e["work_by_cause"],
                {c: v / 1e3 for c, v in e["latency_ns"].items()})):
            ax.barh([k - 0.4 + width * (n + 0.5) for k in range(len(found))],
                    list(found.values()), width * 0.9, label=name,
                    color=one.color if len(shown) == len(inputs) else None)
            ax.set_yticks(range(len(found)), list(found), fontsize=7)
    for ax, title in zip(axes[0], (
            "busy share of the stages", "work of the array by cause",
            "mean latency by part, in us")):
        ax.set_title(title, fontsize=9)
        ax.invert_yaxis()
    _finish(part, fig, axes[0])
    return part


# ---- latency ----------------------------------------------------------------


def _distribution(ax: Any, one: Input, kind: str, rest: bool) -> bool:
    """The curve of one run: every command, or the quantiles of its result."""
    import numpy as np

    name = one.result.name
    if one.commands:
        some = np.sort(np.array([
            ns for op, ns in zip(one.commands.op, one.commands.latency_ns)
            if op == kind]))
        if not len(some):
            return True
        share = np.unique(np.concatenate((
            np.linspace(0, 1, POINTS), 1 - np.logspace(-6, -1, POINTS))))
        at = some[np.minimum((share * len(some)).astype(int), len(some) - 1)]
        ax.plot(at / 1e3, 1 - share if rest else share, color=one.color,
                label=name)
        return True
    h = one.result.data.get("latency_ns", {}).get(kind)
    if h and h["count"]:
        ax.plot([h[q] / 1e3 for q, _ in QUANTILES],
                [1 - s if rest else s for _, s in QUANTILES], "o", color=one.color,
                label=f"{name} (quantiles)")
        return False
    return True


def latency_cdf(inputs: list[Input]) -> Part:
    """Reads and writes: the distribution, and its tail."""
    part = Part("Latency: distribution",
                "The left pictures have the share of commands that took at most"
                " this long, the right ones the share that took longer."
                "  Points are the quantiles of a result.")
    for kind in ("read", "write"):
        fig, axes = _axes(2)
        for one in inputs:
            whole = [_distribution(ax, one, kind, rest) for ax, rest in
                     zip(axes[0], (False, True))]
            if not all(whole) and one.result.name not in \
                    part.missing.get(CSV, []):
                part.lacks(CSV, one.result.name)
        for ax in axes[0]:
            ax.set_xscale("log")
            ax.set_xlabel(f"latency of a {kind}, in us")
        axes[0][0].set_ylabel("share at most this")
        axes[0][1].set_ylabel("share above this")
        axes[0][1].set_yscale("log")
        _finish(part, fig, axes[0])
    return part


def _binned(c: Commands) -> tuple[Any, list[tuple[Any, str]]]:
    """Quantiles of the commands that completed in each interval."""
    import numpy as np

    at = np.array(c.complete_ns, float) / 1e9
    ns = np.array(c.latency_ns, float) / 1e3
    edges = np.linspace(0, at.max(), BINS + 1)
    where = np.clip(np.searchsorted(edges, at, "left") - 1, 0, BINS - 1)
    groups = [ns[where == i] for i in range(BINS)]
    curves = [(np.array([np.quantile(g, q) if len(g) else np.nan
                         for g in groups]), style)
              for q, style in ((0.5, "-"), (0.99, "--"))]
    return (edges[:-1] + edges[1:]) / 2, curves


def latency_over_time(inputs: list[Input]) -> Part:
    """The median and the 99 % quantile of each interval, or its mean and most."""
    part = Part("Latency over time",
                f"With a line per command: of {BINS} intervals the median"
                " (solid) and the 99 % quantile (dashed).  With a time series:"
                " its mean (solid) and its longest (dashed).")
    fig, axes = _axes()
    ax = axes[0][0]
    for one in inputs:
        series = one.result.data.get("series")
        if one.commands and one.commands.op:
            at, curves = _binned(one.commands)
        elif series:
            at = _times(series)
            curves = [([x / 1e3 for x in series["mean_ns"]], "-"),
                      ([x / 1e3 for x in series["max_ns"]], "--")]
        else:
            part.lacks(f"{CSV}; or {SERIES}", one.result.name)
            continue
        for values, style in curves:
            ax.plot(at, values, style, color=one.color,
                    label=one.result.name if style == "-" else None)
    ax.set_xlabel("time, in s")
    ax.set_ylabel("latency, in us")
    ax.set_yscale("log", nonpositive="mask")
    _finish(part, fig, axes[0])
    return part


# ---- course -----------------------------------------------------------------


def _times(series: dict[str, Any]) -> list[float]:
    """The middle of each interval, in s."""
    step = series["interval_ns"] / 1e9
    return [(i + 0.5) * step for i in range(len(series["requests"]))]


def _course(title: str, text: str, inputs: list[Input], ylabel: str,
            curve: Callable[[dict[str, Any], dict[str, Any]], list[float]]) \
        -> Part:
    """A curve of the time series of each run, without the last interval, which
    the end of the run cuts short."""
    part = Part(title, text)
    fig, axes = _axes()
    for one in inputs:
        series = one.result.data.get("series")
        if not series:
            part.lacks(SERIES, one.result.name)
            continue
        whole = slice(max(len(series["requests"]) - 1, 1))
        axes[0][0].plot(_times(series)[whole],
                        curve(one.result.data, series)[whole],
                        color=one.color, label=one.result.name)
    axes[0][0].set_xlabel("time, in s")
    axes[0][0].set_ylabel(ylabel)
    axes[0][0].set_ylim(0, 1.1 * axes[0][0].get_ylim()[1])
    _finish(part, fig, axes[0])
    return part


def rate(inputs: list[Input]) -> Part:
    """Requests a second."""
    return _course("Requests over time",
                   "Without the last interval, which the end of the run cuts"
                   " short.", inputs, "requests per second",
                   lambda _, s: [x / (s["interval_ns"] / 1e9)
                                 for x in s["requests"]])


def _waf(data: dict[str, Any], series: dict[str, Any]) -> list[float]:
    # Bytes of a program: what the run's own WAF has for each.
    totals = [d for _, d in Result("", data).drives()]
    programs = sum(d["nand"]["programs"] for d in totals)
    size = sum((d["waf"] or 0) * d["host_bytes_written"]
               for d in totals) / programs if programs else 0
    return [n * size / b if b else float("nan") for n, b in
            zip(series["nand_programs"], series["bytes_written"])]


def waf(inputs: list[Input]) -> Part:
    """The course of the WAF, and its causes over the whole run."""
    part = _course("Write amplification",
                   "Bytes programmed per byte written: in each interval, and by"
                   " cause over the whole run.", inputs, "WAF", _waf)
    fig, axes = _axes(1, (9.0, 2.6))
    ax = axes[0][0]
    drives = [d for i in inputs for d in i.result.drives()]
    left = [0.0] * len(drives)
    for cause in drives[0][1]["waf_by_cause"]:
        some = [d["waf_by_cause"].get(cause) or 0 for _, d in drives]
        if any(some):
            ax.barh([n for n, _ in drives], some, left=left, label=cause)
            left = [a + b for a, b in zip(left, some)]
    ax.set_xlabel("WAF of the whole run")
    _finish(part, fig, axes[0])
    return part


def free_blocks(inputs: list[Input]) -> Part:
    """Free blocks, and dirty units of the buffer."""
    part = Part("Free blocks and the buffer",
                "Samples of the drive, at most 128 of a run.")
    fig, axes = _axes(2)
    for one in inputs:
        for name, data in one.result.drives():
            several = len(one.result.drives()) > 1
            color = None if several else one.color
            samples = data["gc"]["free_blocks_over_time"]
            if samples:
                axes[0][0].step([t / 1e9 for t, _ in samples],
                                [n for _, n in samples], where="post",
                                color=color, label=name)
            course = data["buffer"]["over_time"]
            if course["at_ns"]:
                axes[0][1].plot([t / 1e9 for t in course["at_ns"]],
                                course["units_dirty"], color=color, label=name)
    for ax, label in zip(axes[0], ("free blocks", "dirty units")):
        ax.set_xlabel("time, in s")
        ax.set_ylabel(label)
    _finish(part, fig, axes[0])
    return part


def gc(inputs: list[Input]) -> Part:
    """Copies over time, and how valid the full blocks are at the end."""
    part = _course("Garbage collection",
                   "Mapping units copied per second; below, the full blocks at"
                   " the end by their share of valid units, in tenths.",
                   inputs, "units per second",
                   lambda _, s: [x / (s["interval_ns"] / 1e9)
                                 for x in s["copied_units"]])
    fig, axes = _axes()
    drives = [(i, *d) for i in inputs for d in i.result.drives()]
    for n, (one, name, data) in enumerate(drives):
        width = 0.8 / len(drives)
        some = data["gc"]["full_blocks_by_valid"]
        axes[0][0].bar([k - 0.4 + width * (n + 0.5) for k in range(len(some))],
                       some, width * 0.9, label=name,
                       color=one.color if len(drives) == len(inputs) else None)
    axes[0][0].set_xlabel("tenths of valid units, rounded up")
    axes[0][0].set_ylabel("full blocks")
    _finish(part, fig, axes[0])
    return part


# ---- the array --------------------------------------------------------------


def _map(part: Part, values: Any, title: str, labels: tuple[str, str, str],
         extent: tuple[float, float, float, float] | None = None,
         top: float | None = None) -> None:
    """A heat map."""
    fig, axes = _axes(1, (9.0, 3.0))
    ax = axes[0][0]
    image = ax.imshow(values, aspect="auto", interpolation="nearest",
                      cmap="viridis", extent=extent, vmin=0, vmax=top)
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.yaxis.get_major_locator().set_params(integer=True)
    if extent is None:
        ax.xaxis.get_major_locator().set_params(integer=True)
    fig.colorbar(image, ax=ax, label=labels[2])
    part.pictures.append(pictures.svg(fig))


def dies(inputs: list[Input]) -> Part:
    """How busy each die was: in all, and over time."""
    import numpy as np

    part = Part("Dies",
                "The share of time in which a die worked: of the whole run by"
                " channel; and over the time of the operation log, which begins"
                " with the fill, the share in which its planes' arrays did.")
    for one in inputs:
        for name, data in one.result.drives():
            busy, span = data["nand"]["busy_ns"], data["nand"]["elapsed_ns"]
            share = np.array(busy["die"], float) / (span or 1)
            _map(part, share.reshape(len(busy["channel"]), -1),
                 f"{name}: busy share of each die",
                 ("die of the channel", "channel", "share"), top=1)
        if one.log:
            _map(part, one.log.busy, f"{one.result.name}: dies over time",
                 ("time, in s", "die", "share"),
                 (0, one.log.end_s, len(one.log.busy) - 0.5, -0.5), 1)
        else:
            part.lacks(OPLOG, one.result.name)
    return part


def wear(inputs: list[Input]) -> Part:
    """Erases of each block, and the distribution that each result has."""
    part = Part("Wear", "Erases of each block in the operation log; erase counts"
                " over the drive's life as quantiles.")
    for one in inputs:
        if one.log:
            _map(part, one.log.erases, f"{one.result.name}: erases of blocks",
                 ("block of the plane", "plane", "erases"))
        else:
            part.lacks(OPLOG, one.result.name)
    names = ["min", "p10", "p50", "p90", "max"]
    rows = [[name, *(pages.number(d["nand"]["erase_counts"][q])
                     for q in names),
             pages.number(d["nand"]["mean_erase_count"]),
             pages.number(d["nand"]["percent_used"])]
            for i in inputs for name, d in i.result.drives()]
    part.pictures.append(_table(
        ["erases of a block", "least", "10 %", "median", "90 %", "most",
         "mean", "% used"], rows))
    return part


PARTS = (summary, bound, latency_cdf, latency_over_time, rate, waf,
         free_blocks, gc, dies, wear)
NEEDED = ("waf", "waf_by_cause", "nand", "explain", "gc", "buffer")
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
          "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22")


def check(results: list[Result]) -> None:
    """Refuse what is no whole result, as the output of vssd-sim info."""
    for one in results:
        for name, data in one.drives():
            missing = [m for m in NEEDED if m not in data]
            if missing:
                raise UserError(f"{name}: no result of a run: {missing[0]} is"
                                " missing; give the output of vssd-sim run"
                                " --json, ./vssd run --stats or ./vssd stat"
                                " --json without patterns")


def page(results: list[Result], how: str) -> str:
    """The whole page; `how` is the command that makes it again."""
    check(results)
    inputs = [Input(r, COLORS[i % len(COLORS)], r.commands(),
                    oplog.read(r.oplog) if r.oplog else None)
              for i, r in enumerate(results)]
    out = pages.head("vssd: " + ", ".join(r.name for r in results))
    out.append(f"<p>Made by <code>{escape(how)}</code></p>")
    out += [part(inputs).html() for part in PARTS]
    return "\n".join(out) + "\n"
