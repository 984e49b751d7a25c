# SPDX-License-Identifier: GPL-2.0-or-later
"""Performance modeling and analysis of flash-based storage devices (H. H.
Huang, S. Li, A. Szalay, A. Terzis, MSST 2011), Tables II to IV and those of
the array and of the traces.

Regression trees learn a modelled drive from benchmark runs; judged by runs
that they have not seen, by pure workloads, and by traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import venv
from .figures import Chart, Context, Panel, Row, band, row
from .paths import find_profile

TITLE = "Black-box performance models (Huang 2011)"
SEED = 2011
RUNS = 6000  # of a drive; the paper has 12,000
PURE_RUNS = 400  # of each pure workload
ARRAY_RUNS = 3000
TRACE_RUNS = 50  # of each trace
LEAST_RUNS = 60
HELD_OUT = 0.2
FULL = 0.7  # of the capacity holds data and is used; the slides do not say
LEARN = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)

TARGETS = ("latency", "bandwidth", "iops")
UNITS = {"latency": "ms", "bandwidth": "MB/s", "iops": "1/s"}


@dataclass(frozen=True)
class Known:
    """What the slides have of a device, by target: R2 and MRE of the basic and
    of the extended model; mean of what was observed."""

    basic: dict[str, tuple[float, float]]
    extended: dict[str, tuple[float, float]]
    mean: dict[str, float]


def _known(*rows: tuple[float, float, float, float, float]) -> Known:
    by = dict(zip(TARGETS, rows))
    return Known({t: r[0:2] for t, r in by.items()},
                 {t: r[2:4] for t, r in by.items()},
                 {t: r[4] for t, r in by.items()})


# Tables II and III: basic R2 and MRE, extended R2 and MRE, mean; of latency,
# bandwidth, throughput.
PAPER = {
    "SSD_I": _known((0.627, 0.63, 0.986, 0.12, 15.97),
                    (0.515, 0.40, 0.981, 0.06, 68.61),
                    (0.500, 0.53, 0.970, 0.06, 3967)),
    "SSD_A": _known((0.926, 0.23, 0.976, 0.09, 36.31),
                    (0.570, 0.86, 0.882, 0.18, 38.17),
                    (0.765, 0.19, 0.971, 0.08, 1054)),
    "SSD_S": _known((0.693, 0.55, 0.911, 0.20, 34.90),
                    (0.548, 0.63, 0.917, 0.19, 36.33),
                    (0.459, 0.48, 0.951, 0.15, 1702)),
}
DRIVES = {"SSD_I": "huang2011-i", "SSD_S": "huang2011-s"}
# Table IV (a), latency of SSD_I and SSD_A: R2, MRE.
PURE = {
    "rd_only": ((0.999, 0.04), (0.999, 0.01)),
    "wr_only": ((0.996, 0.04), (0.990, 0.07)),
    "rand_only": ((0.975, 0.15), (0.991, 0.05)),
    "seq_only": ((0.954, 0.12), (0.989, 0.06)),
    "rand_rd": ((0.999, 0.02), (0.968, 0.08)),
    "rand_wr": ((0.993, 0.09), (0.993, 0.05)),
    "seq_rd": ((0.999, 0.02), (0.999, 0.06)),
    "seq_wr": ((0.999, 0.07), (0.998, 0.03)),
}
# MRE of the traces: Financial1, Financial2, WebSearch1, WebSearch2.
TRACES = {
    "latency": {"SSD_I": (0.07, 0.19, 0.01, 0.01),
                "SSD_S": (0.18, 0.15, 0.02, 0.01),
                "Array_I": (0.19, 0.11, 0.01, 0.01)},
    "bandwidth": {"SSD_I": (0.11, 0.38, 0.01, 0.01),
                  "SSD_S": (0.17, 0.14, 0.02, 0.01),
                  "Array_I": (0.26, 0.25, 0.02, 0.02)},
    "iops": {"SSD_I": (0.09, 0.37, 0.01, 0.01),
             "SSD_S": (0.15, 0.14, 0.02, 0.01),
             "Array_I": (0.25, 0.12, 0.01, 0.01)},
}
# Table III's improvement of Table II's MRE is at least 58 % (SSD_A, throughput).
IMPROVED = 0.58


@dataclass(frozen=True)
class Learnt:
    """A drive, its runs, and the models of four fifths of them."""

    drive: Any
    runs: Any
    train: Any
    held: Any
    basic: Any
    extended: Any

    def score(self, model: str, target: str) -> Any:
        """Of the runs held out."""
        from . import blackbox as bb

        told = getattr(self, model).predict(target, self.held)
        return bb.score(self.held.y[target], told)


def _count(ctx: Context, n: int) -> int:
    return max(int(n * ctx.scale), LEAST_RUNS)


def _learn(drive: Any, runs: Any) -> Learnt:
    from . import blackbox as bb

    rows, rest = bb.split(len(runs), HELD_OUT, SEED)
    train = runs.part(rows)
    return Learnt(drive, runs, train, runs.part(rest),
                  bb.Model(bb.BASIC, train), bb.Model(bb.EXTENDED, train))


def _drive(ctx: Context, name: str) -> Any:
    from . import blackbox_runs as br

    return br.age(ctx, find_profile(DRIVES[name]), name, FULL)


# ---- why -----------------------------------------------------------------------


def _last_half(learnt: Learnt, target: str) -> tuple[float, float]:
    """MRE of the extended model of half of the runs, and of all."""
    from . import blackbox as bb

    half = bb.Model(bb.EXTENDED, learnt.train.part(
        slice(0, len(learnt.train) // 2)))
    told = half.predict(target, learnt.held)
    return (bb.score(learnt.held.y[target], told).mre,
            learnt.score("extended", target).mre)


def _why(learnt: Learnt, target: str) -> str:
    """What more runs would do, and what there is to learn."""
    half, whole = _last_half(learnt, target)
    return (f"of {len(learnt.train)} runs there is more to learn: with half of"
            f" them MRE is {100 * half:.0f} %, with all {100 * whole:.0f} %")


# ---- accuracy --------------------------------------------------------------------


def _inputs(learnt: Learnt) -> list[str]:
    d = learnt.drive
    return [f"{len(learnt.runs)} synthetic runs of {d.profile.stem}"
            f" ({d.span / 1e6:.0f} MB of it filled and overwritten at random),"
            f" {len(learnt.held)} of them held out"]


def _bounds(panel: str, learnt: Learnt, target: str, measure: str) \
        -> list[Row]:
    """The models against the range of the paper's three SSDs; a model better
    than those is no deviation."""
    which = 0 if measure == "r2" else 1
    ours = {m: getattr(learnt.score(m, target), measure)
            for m in ("basic", "extended")}
    paper = {m: [getattr(k, m)[target][which] for k in PAPER.values()]
             for m in ours}
    why = _why(learnt, target)
    sharp = "this drive depends less on what the basic model leaves out"
    if measure == "r2":
        rows = [band(panel, f"{target}, extended", ours["extended"],
                     min(paper["extended"]), None, why),
                band(panel, f"{target}, basic", ours["basic"], None,
                     max(paper["basic"]), sharp)]
    else:
        rows = [band(panel, f"{target}, extended", ours["extended"], None,
                     max(paper["extended"]), why),
                band(panel, f"{target}, basic", ours["basic"],
                     min(paper["basic"]), None, sharp),
                band(panel, f"{target}, lower by", 1 - ours["extended"]
                     / ours["basic"], IMPROVED, None, why)]
    for r, m in zip(rows, ("extended", "basic")):
        r["paper"] += f" ({min(paper[m]):g} to {max(paper[m]):g})"
    return rows


def _accuracy(name: str, learnt: Learnt, measure: str, title: str) -> Panel:
    panel = f"{name} {title}"
    which = 0 if measure == "r2" else 1
    rows = [r for t in TARGETS for r in _bounds(panel, learnt, t, measure)]
    if measure == "mre":
        rows += [row(panel, f"{t}, mean in {UNITS[t]}",
                     learnt.score("extended", t).mean,
                     f"{PAPER[name].mean[t]:g}", None,
                     "shown beside it") for t in TARGETS]
    series: dict[str, list[float | None]] = {}
    for m in ("basic", "extended"):
        series[f"{m}, ours"] = [getattr(learnt.score(m, t), measure)
                                for t in TARGETS]
        series[f"{m}, paper"] = [getattr(PAPER[name], m)[t][which]
                                 for t in TARGETS]
    return Panel(panel, f"{name}: {title} of runs held out (Tables II, III)",
                 _inputs(learnt), rows, Chart(list(TARGETS), series, title))


def _learning(name: str, learnt: Learnt) -> Panel:
    """Accuracy by the number of runs: would more of them help?"""
    from . import blackbox as bb

    panel = f"{name} learning"
    counts = [max(int(len(learnt.train) * s), bb.FOLDS) for s in LEARN]
    series: dict[str, list[float | None]] = {t: [] for t in TARGETS}
    for n in counts:
        model = bb.Model(bb.EXTENDED, learnt.train.part(slice(0, n)))
        for t in TARGETS:
            told = model.predict(t, learnt.held)
            series[t].append(bb.score(learnt.held.y[t], told).mre)
    rows = [row(panel, f"{t}, {n} runs", mre, "", None, "shown beside it")
            for t in TARGETS for n, mre in zip(counts, series[t])]
    return Panel(panel, f"{name}: MRE of the extended model by runs that it"
                 " learns from", _inputs(learnt), rows,
                 Chart([str(n) for n in counts], series, "MRE", lines=True))


# ---- pure workloads ------------------------------------------------------------


def _pure(ctx: Context, drive: Any) -> Panel:
    from . import blackbox_runs as br

    panel = "pure workloads"
    rows, ours = [], []
    for i, name in enumerate(PURE):
        runs = br.synthetic(ctx, drive, f"blackbox: {name}",
                            _count(ctx, PURE_RUNS), SEED + 100 + i, name)
        learnt = _learn(drive, runs)
        s = learnt.score("extended", "latency")
        why = _why(learnt, "latency")
        least = min(r2 for r2, _ in PURE[name])
        most = max(mre for _, mre in PURE[name])
        rows += [band(panel, f"{name}, R2", s.r2, 0.95, None, why),
                 band(panel, f"{name}, MRE", s.mre, None, 0.15, why)]
        rows[-2]["paper"] += f" (here {least:g})"
        rows[-1]["paper"] += f" (here {most:g})"
        ours.append(s.mre)
    series: dict[str, list[float | None]] = {
        "ours": ours, "SSD_I, paper": [p[0][1] for p in PURE.values()],
        "SSD_A, paper": [p[1][1] for p in PURE.values()]}
    return Panel(panel, "SSD_I: latency by models of one pattern each"
                 " (Table IV)",
                 [f"{_count(ctx, PURE_RUNS)} runs of each, a fifth held out"],
                 rows, Chart(list(PURE), series, "MRE"))


# ---- traces ----------------------------------------------------------------------


def _trace_runs(ctx: Context, learnt: Learnt, name: str, trace: str) \
        -> tuple[Any, str]:
    """Windows of the trace, each at some depth; and what they are of."""
    from . import blackbox_runs as br
    from . import figures_blackbox_input as fi

    whole = fi.load(ctx.traces, trace, learnt.drive.span)
    n = _count(ctx, TRACE_RUNS)
    depths = np.random.default_rng(SEED).choice(br.DEPTHS, n)
    runs = br.play_all(ctx, learnt.drive, f"blackbox: {trace} on {name}", n,
                       lambda i: (fi.window(whole, i), int(depths[i])))
    return runs, (f"{whole.source}; {n} windows of {fi.WINDOW} requests, 1 to"
                  f" {max(br.DEPTHS)} in flight")


def _outside(learnt: Learnt, runs: Any, target: str) -> str:
    """What the trace has that the training lacks."""
    told = learnt.extended.predict(target, runs)
    over = 100 * float(np.mean(told > runs.y[target]))
    return (f"sizes are mixed in a trace, and one in each run that was learnt;"
            f" {over:.0f} % of the windows are overestimated")


def _traces(ctx: Context, learnts: dict[str, Learnt]) -> Iterator[Panel]:
    from . import blackbox as bb
    from . import figures_blackbox_input as fi

    names = list(fi.TRACES)
    for device, learnt in learnts.items():
        panel = f"{device} traces"
        rows: list[Row] = []
        inputs = []
        mre: dict[str, list[float | None]] = {t: [] for t in TARGETS}
        for i, name in enumerate(names):
            runs, what = _trace_runs(ctx, learnt, device, name)
            inputs.append(what)
            for t in TARGETS:
                s = bb.score(runs.y[t], learnt.extended.predict(t, runs))
                mre[t].append(s.mre)
                known = TRACES[t]
                rows.append(band(
                    panel, f"{name}, {t}", s.mre, None,
                    max(known[d][i] for d in known),
                    _outside(learnt, runs, t)))
                rows[-1]["paper"] += f" (here {known[device][i]:g})"
        series = {k: v for t in TARGETS for k, v in (
            (f"{t}, ours", mre[t]),
            (f"{t}, paper", list(TRACES[t][device])))}
        yield Panel(panel, f"{device}: MRE of traces, told by the model of"
                    " synthetic runs", inputs, rows,
                    Chart(names, series, "MRE"))


def panels(ctx: Context) -> Iterator[Panel]:
    """The slides' tables."""
    venv.extra("blackbox")
    from . import blackbox_runs as br

    learnts = {}
    for name in DRIVES:
        drive = _drive(ctx, name)
        runs = br.synthetic(ctx, drive, f"blackbox: runs of {name}",
                            _count(ctx, RUNS), SEED)
        learnts[name] = _learn(drive, runs)
        yield _accuracy(name, learnts[name], "mre", "MRE")
        yield _accuracy(name, learnts[name], "r2", "R2")
    yield _learning("SSD_I", learnts["SSD_I"])
    yield _pure(ctx, learnts["SSD_I"].drive)
    yield from _traces(ctx, learnts)
