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

from ..build import venv
from ..paths import find_profile
from .figure import Chart, Context, Panel, Row, band, row

TITLE = "Black-box performance models (Huang 2011)"
SEED = 2011
RUNS = 5000  # of a drive; the paper has 12,000
PURE_RUNS = 500  # of each pure workload,
BOTH_RUNS = 1500  # and of those that have reads and writes
SLOW_RUNS = 2500  # of SSD_S, whose merges take the simulator's time,
SLOW_LENGTH = 0.5  # and whose runs are shorter
ARRAY_RUNS = 2500
TRACE_RUNS = 100  # of each trace
LEAST_RUNS = 20
HELD_OUT = 0.2
FULL = 0.7  # of the capacity holds data and is used; the slides do not say
LEARN = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)

DRIVES = {"SSD_I": ("huang2011-i", RUNS, 1.0),
          "SSD_S": ("huang2011-s", SLOW_RUNS, SLOW_LENGTH)}
# The slides do not say how many drives the array has, and how they are put
# together.
ARRAY_DRIVES = 2
STRIPE = "64k"
UNITS = {"latency": "ms", "bandwidth": "MB/s", "iops": "1/s"}

# The measurements of the slides.
TARGETS = ("latency", "bandwidth", "iops")


@dataclass(frozen=True)
class Known:
    """The results of the slides for a device, by target: R2 and MRE of the basic and
    of the extended model; mean of the observed values."""

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
# The array of SSD_I: R2, MRE of the extended model; mean.
ARRAY = {"latency": (0.939, 0.23, 8.15), "bandwidth": (0.885, 0.25, 101.70),
         "iops": (0.860, 0.17, 4875.0)}
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
        from . import blackbox_model as bb

        told = getattr(self, model).predict(target, self.held)
        return bb.score(self.held.y[target], told)


def _count(ctx: Context, n: int) -> int:
    return max(int(n * ctx.scale), LEAST_RUNS)


def _learn(drive: Any, runs: Any) -> Learnt:
    from . import blackbox_model as bb

    rows, rest = bb.split(len(runs), HELD_OUT, SEED)
    train = runs.part(rows)
    return Learnt(drive, runs, train, runs.part(rest),
                  bb.Model(bb.BASIC, train), bb.Model(bb.EXTENDED, train))


def _runs(ctx: Context, name: str) -> Learnt:
    """Benchmark a drive, and learn it."""
    from . import blackbox_runs as br

    profile, n, length = DRIVES[name]
    drive = br.age(ctx, find_profile(profile), name, FULL, length)
    return _learn(drive, br.synthetic(ctx, drive, f"blackbox: runs of {name}",
                                      _count(ctx, n), SEED))


def _array(ctx: Context, drive: Any) -> Learnt:
    """The same with several of these drives."""
    from . import blackbox_runs as br

    array = br.side_by_side(drive, ARRAY_DRIVES, STRIPE)
    return _learn(array, br.synthetic(ctx, array, "blackbox: runs of the array",
                                      _count(ctx, ARRAY_RUNS), SEED + 1))


# ---- why -----------------------------------------------------------------------


def _last_half(learnt: Learnt, target: str) -> tuple[float, float]:
    """MRE of the extended model of half of the runs, and of all."""
    from . import blackbox_model as bb

    half = bb.Model(bb.EXTENDED, learnt.train.part(
        slice(0, len(learnt.train) // 2)))
    told = half.predict(target, learnt.held)
    return (bb.score(learnt.held.y[target], told).mre,
            learnt.score("extended", target).mre)


def _why(learnt: Learnt, target: str) -> str:
    """The effect of more runs, and the place of the relative error."""
    half, whole = _last_half(learnt, target)
    y = learnt.held.y[target]
    error = np.abs(learnt.extended.predict(target, learnt.held) - y) / y
    small = error[y <= np.percentile(y, 25)].sum() / max(error.sum(), 1e-9)
    return (f"with half of the {len(learnt.train)} runs MRE is"
            f" {100 * half:.0f} %, with all {100 * whole:.0f} %;"
            f" {100 * small:.0f} % of the relative error is in the quarter of"
            f" the runs where {target} is least, which least squares weigh"
            " least")


def _why_basic(learnt: Learnt, target: str) -> str:
    """The weight of the squares, and the variables of the basic tree."""
    y = learnt.held.y[target]
    square = np.sort((y - y.mean()) ** 2)
    tenth = square[-max(len(y) // 10, 1):].sum() / square.sum()
    part = dict(zip(learnt.basic.names,
                    learnt.basic.trees[target].feature_importances_))
    most = sorted(part, key=lambda n: -part[n])[:2]
    return (f"{100 * tenth:.0f} % of the squares are those of a tenth of the"
            f" runs, and the basic model tells these by {most[0]} and"
            f" {most[1]}")


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
    sharp = _why_basic(learnt, target)
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
    from . import blackbox_model as bb

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
        n = PURE_RUNS if br.PURE[name][0] is not None else BOTH_RUNS
        runs = br.synthetic(ctx, drive, f"blackbox: {name}", _count(ctx, n),
                            SEED + 100 + i, name)
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
                 [f"{_count(ctx, PURE_RUNS)} runs of each,"
                  f" {_count(ctx, BOTH_RUNS)} of those with reads and writes, a"
                  " fifth held out"],
                 rows, Chart(list(PURE), series, "MRE"))


# ---- array ---------------------------------------------------------------------


def _array_panel(array: Learnt, single: Learnt) -> Panel:
    panel = "Array_I"
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {
        k: [] for k in ("basic, ours", "extended, ours", "extended, paper",
                        "one drive, ours")}
    for t in TARGETS:
        r2, mre, mean = ARRAY[t]
        ours, basic = array.score("extended", t), array.score("basic", t)
        one = single.score("extended", t)
        why = _why(array, t)
        rows += [
            band(panel, f"{t}, R2", ours.r2, r2, None, why),
            band(panel, f"{t}, MRE", ours.mre, None, mre, why),
            band(panel, f"{t}, MRE / basic", ours.mre / basic.mre, None, 1,
                 why),
            band(panel, f"{t}, MRE / one drive", ours.mre / one.mre, 1, None,
                 "two striped drives are no harder to learn here"),
            row(panel, f"{t}, mean in {UNITS[t]}", ours.mean, f"{mean:g}", None,
                "shown beside it")]
        for name, value in zip(series, (basic.mre, ours.mre, mre, one.mre)):
            series[name].append(value)
    inputs = _inputs(array)
    inputs[0] += f"; {ARRAY_DRIVES} drives, striped by {STRIPE}"
    return Panel(panel, "An array of SSD_I: MRE of runs held out", inputs,
                 rows, Chart(list(TARGETS), series, "MRE"))


# ---- traces ----------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A trace's windows outside the training set, and their predictions."""

    source: str
    seen: Any  # bb.Runs
    by: dict[str, dict[str, Any]]  # target: model: bb.Score
    over: dict[str, float]  # target: share that is overestimated


def _tell(ctx: Context, learnt: Learnt, device: str, name: str) -> Told:
    """Windows of the trace, each with some depth: every other window is told
    by the model of synthetic runs, and by one that had the rest as well."""
    from . import blackbox_input as fi
    from . import blackbox_model as bb
    from . import blackbox_runs as br

    trace = fi.load(ctx.traces, name, learnt.drive.span)
    n = _count(ctx, TRACE_RUNS)
    depths = np.random.default_rng(SEED).choice(br.DEPTHS, n)
    runs = br.play_all(ctx, learnt.drive, f"blackbox: {name} on {device}", n,
                       lambda i: (fi.window(trace, i), int(depths[i])))
    even = np.arange(n) % fi.windows(trace) % 2 == 0
    seen = runs.part(~even if (~even).any() else even)
    models = {"synthetic": learnt.extended}
    if (~even).any():
        models["own"] = bb.Model(bb.EXTENDED, bb.join(learnt.train,
                                                      runs.part(even)))
    told = {t: {m: model.predict(t, seen) for m, model in models.items()}
            for t in TARGETS}
    return Told(
        f"{trace.source}; {len(seen)} windows of {fi.WINDOW} requests are told,"
        f" with 1 to {max(br.DEPTHS)} in flight", seen,
        {t: {m: bb.score(seen.y[t], p) for m, p in told[t].items()}
         for t in TARGETS},
        {t: float(np.mean(told[t]["synthetic"] > seen.y[t])) for t in TARGETS})


def _why_trace(told: Told, target: str) -> str:
    x = {k: float(v.mean()) for k, v in told.seen.x.items()}
    text = (f"of its windows {100 * told.over[target]:.0f} % are overestimated:"
            f" its sizes are mixed (mean {x['rd_size']:.0f} B of reads,"
            f" {x['wr_size']:.0f} B of writes), each run that was learnt has one")
    own = told.by[target].get("own")
    if own:
        text += (f"; with the other half of the windows learnt, too, MRE is"
                 f" {100 * own.mre:.0f} %")
    return text


def _traces(ctx: Context, device: str, learnt: Learnt) -> Panel:
    from . import blackbox_input as fi

    panel = f"{device} traces"
    told = {n: _tell(ctx, learnt, device, n) for n in fi.TRACES}
    mre = {n: {t: told[n].by[t]["synthetic"].mre for t in TARGETS}
           for n in told}
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {}
    for t in TARGETS:
        for i, n in enumerate(told):
            rows.append(band(panel, f"{n}, {t}", mre[n][t], None,
                             max(TRACES[t][d][i] for d in TRACES[t]),
                             _why_trace(told[n], t)))
            rows[-1]["paper"] += f" (here {TRACES[t][device][i]:g})"
            own = told[n].by[t].get("own")
            if own:
                rows.append(row(panel, f"{n}, {t}, half learnt", own.mre, "",
                                None, "shown beside it"))
        series[f"{t}, ours"] = [mre[n][t] for n in told]
        series[f"{t}, paper"] = list(TRACES[t][device])
    rows.append(band(
        panel, "latency, WebSearch / Financial",
        max(mre[n]["latency"] for n in told if n.startswith("Web"))
        / min(mre[n]["latency"] for n in told if n.startswith("Fin")),
        None, 1, "the larger of the two against the smaller"))
    return Panel(panel, f"{device}: MRE of traces, told by the model of"
                 " synthetic runs", [t.source for t in told.values()], rows,
                 Chart(list(told), series, "MRE"))


def panels(ctx: Context) -> Iterator[Panel]:
    """The slides' tables."""
    venv.extra("blackbox")
    learnts = {}
    for name in DRIVES:
        learnts[name] = _runs(ctx, name)
        yield _accuracy(name, learnts[name], "mre", "MRE")
        yield _accuracy(name, learnts[name], "r2", "R2")
        yield _learning(name, learnts[name])
    yield _pure(ctx, learnts["SSD_I"].drive)
    learnts["Array_I"] = _array(ctx, learnts["SSD_I"].drive)
    yield _array_panel(learnts["Array_I"], learnts["SSD_I"])
    for name, learnt in learnts.items():
        yield _traces(ctx, name, learnt)
