# SPDX-License-Identifier: GPL-2.0-or-later
"""Performance modeling and analysis of flash-based storage devices (H. H.
Huang, S. Li, A. Szalay, A. Terzis, MSST 2011, slides): Tables II to IV, the
array and the traces.

Regression trees learn a modelled device from benchmark runs; judged by runs
that they have not seen, by pure workloads, and by traces.  The five samples of
a statement are five folds: each fifth of the runs is told by the model of the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from vssd.build import venv
from vssd.paths import find_profile

from . import blackbox_paper as paper
from . import judge
from .blackbox_paper import TARGETS
from .figure import CHOSEN, Chart, Context, Panel, Row

TITLE = "Black-box performance models (Huang 2011)"
SEED = 2011
RUNS = 12_000  # of a device, as in the paper
PURE_RUNS = 2000  # of each pure workload, at least: 400 in a fold
TRACE_RUNS = 400  # windows of each trace
SWEEP_RUNS = 1500  # for each value of an open parameter
REPEATS = 300  # workloads that are drawn twice
LEAST_RUNS = 40
FULL = 1.0  # of the capacity holds data and is used; the slides do not say
RATES = 0.3  # that mean rates may differ from the paper's
LARGE_LEAVES = (32, 128, 512)  # tried where nothing can be learnt
LEARN = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
GB = 10**9

# Profile, and the published capacity, by which a run's minute is scaled.
DRIVES = {"SSD_I": ("huang2011-i", 80 * GB),
          "SSD_A": ("huang2011-a", 120 * GB),
          "SSD_S": ("huang2011-s", 32 * GB)}
DEVICES = ("HDD_S", *DRIVES)
# The slides do not say how many drives the array has, and how they are put
# together.
ARRAY_DRIVES = 2
STRIPE = "64k"
UNITS = {"latency": "ms", "bandwidth": "MB/s", "iops": "1/s"}


@dataclass(frozen=True)
class Learnt:
    """A device and the models of its runs."""

    device: Any  # br.Device
    valid: Any  # bb.Validated, of its synthetic runs


@dataclass(frozen=True)
class Measure:
    """A number by which a model is judged."""

    name: str
    ours: Callable[[Any], float]  # of a bb.Score
    cell: Callable[[paper.Cell], float]
    reading: Callable[[paper.Cell], float]
    kind: str  # of judge.cell()


R2 = Measure("R2", lambda s: s.r2, lambda c: c.r2,
             lambda c: paper.R2_READING, "R2")
MRE = Measure("MRE", lambda s: s.mre, lambda c: c.mre,
              lambda c: paper.MRE_READING, "error")
MAE = Measure("MAE / mean", lambda s: s.mae / s.mean, lambda c: c.part(),
              lambda c: c.part_reading(), "error")
MEASURES = (R2, MRE, MAE)


def _count(ctx: Context, n: int) -> int:
    return max(int(n * ctx.scale), min(LEAST_RUNS, n))


def _names(model: str) -> Any:
    from . import blackbox_model as bb

    return bb.BASIC if model == "basic" else bb.EXTENDED


def _samples(valid: Any, model: str, target: str, m: Measure,
             **how: Any) -> list[float]:
    return [m.ours(s) for s in valid.scores(_names(model), target, **how)]


def _folds(ctx: Context) -> int:
    from . import blackbox_model as bb

    return min(max(ctx.count, 1), bb.FOLDS)


def _validated(ctx: Context, runs: Any) -> Any:
    from . import blackbox_model as bb

    return bb.Validated(runs, count=_folds(ctx), jobs=ctx.runner.jobs)


# ---- runs ----------------------------------------------------------------------


def _device(ctx: Context, name: str, full: float = FULL) -> Any:
    from . import blackbox_runs as br

    if name == "HDD_S":
        return br.hard_disk(full)
    profile, published = DRIVES[name]
    return br.age(ctx.runner, find_profile(profile), name, full, ctx.inputs,
                  published)


def _runs(ctx: Context, device: Any, n: int, seed: int, what: str,
          ranges: Any = None) -> Any:
    from . import blackbox_runs as br
    from . import blackbox_sweep as sweep

    return br.synthetic(ctx.runner, ctx.inputs, device,
                        f"blackbox: {what} {device.name}", n, seed,
                        ranges or sweep.JUDGED, ctx.series)


def _linked(rows: list[Row], *runs: Any) -> list[Row]:
    """Rows whose numbers come from these runs."""
    for row in rows:
        row["runs"] = list(dict.fromkeys(t for r in runs for t in r.origin))
    return rows


def _learn(ctx: Context, device: Any) -> Learnt:
    """Benchmark a device, and learn it."""
    return Learnt(device, _validated(ctx, _runs(
        ctx, device, _count(ctx, RUNS), SEED, "runs of")))


def _inputs(learnt: Learnt) -> list[str]:
    from . import blackbox_runs as br

    d, runs = learnt.device, learnt.valid.runs
    whole = float((runs.seconds >= br.LASTED * d.seconds).mean())
    what = d.profile.stem if d.profile else "the disk model"
    return [f"{CHOSEN}, the mean rates: sizes of 4 to 256 KiB, writes in"
            " quarters, of each kind no, half or all requests random, the"
            " whole drive used",
            f"{len(runs)} synthetic runs of {what}, {d.span / 1e6:.0f} MB of"
            f" it filled and used; a minute, scaled as the capacity, is"
            f" {d.seconds:.3g} s, and {100 * whole:.4g} % of the runs last it",
            "samples: five folds, each told by the model of the other four"]


# ---- hypotheses -----------------------------------------------------------------


def _bounds(row: Row) -> tuple[float | None, float | None]:
    return row["low"], row["high"]


def _fails(row: Row) -> bool:
    return row["verdict"] not in (None, judge.HOLDS)


def _logs(row: Row, samples: list[float]) -> None:
    """Do runs with small values have the error?"""
    judge.because(
        row, "the error is in the runs with small values, which least squares"
        " weigh least", "trees of the logarithm, which weigh runs by their"
        " relative error, of the same runs", samples, *_bounds(row))


def _repeats(ctx: Context, device: Any) -> Any:
    """Workloads that are drawn twice: scores of one told by the other, by
    target."""
    from . import blackbox_model as bb
    from . import blackbox_runs as br
    from . import blackbox_sweep as sweep

    n = _count(ctx, REPEATS)
    both = [br.play_all(
        ctx.runner, ctx.inputs, device,
        f"blackbox: repeated runs of {device.name}", n,
        br.Series(sweep.JUDGED, SEED + 2, device.span, again),
        "repeats", SEED + 2, again, kept=ctx.series) for again in (0, 1)]
    return {t: bb.score(both[0].y[t], both[1].y[t]) for t in TARGETS}


def _some(ctx: Context, learnt: Learnt, kinds: int) -> Any:
    """Of the same runs, those of one kind of request, or of both."""
    runs = learnt.valid.runs
    share = runs.x["wr_ratio"]
    return _validated(ctx, runs.part(
        ((share < 0.01) | (share > 0.99)) == (kinds == 1)))


class Why:
    """What tests why the cells of a device do not hold; each is played or
    learnt when the first row needs it."""

    def __init__(self, ctx: Context, learnt: Learnt) -> None:
        self.ctx = ctx
        self.learnt = learnt
        self.repeats: Any = None
        self.one_kind: Any = None

    def explain(self, row: Row, model: str, target: str, m: Measure) -> None:
        """Of a cell, if it does not hold."""
        if not _fails(row):
            return
        if m is not R2:
            _logs(row, _samples(self.learnt.valid, model, target, m,
                                logs=True))
        elif model == "extended":
            self.repeats = self.repeats or _repeats(self.ctx,
                                                    self.learnt.device)
            judge.because(
                row, "runs of one workload with other draws differ by as much:"
                " no model can tell them better",
                "workloads that are drawn twice, the second told by the first",
                [self.repeats[target].r2], None, row["low"])
        else:
            self.one_kind = self.one_kind or _some(self.ctx, self.learnt, 1)
            judge.because(
                row, "one size and one randomness do not tell runs of both"
                " kinds, of which the paper may have fewer",
                "the same without runs of both kinds",
                _samples(self.one_kind, "basic", target, m), *_bounds(row))


# ---- accuracy --------------------------------------------------------------------


def _cell_rows(panel: str, learnt: Learnt, name: str, target: str,
               m: Measure) -> dict[str, Row]:
    """The cells of both models, by model; the array has none of the basic."""
    rows = {}
    for model, table, source in (("extended", paper.EXTENDED, "Table III"),
                                 ("basic", paper.BASIC, "Table II")):
        if name in table:
            cell = table[name][target]
            rows[model] = judge.cell(
                panel, f"{target}, {m.name}, {model}",
                _samples(learnt.valid, model, target, m), m.cell(cell),
                kind=m.kind, reading=m.reading(cell),
                source="page SSD Array" if name == "Array_I" else source)
    return rows


def _tables(ctx: Context, name: str, learnt: Learnt) -> list[Row]:
    """A device's cells, explained where they do not hold, and its means."""
    rows: list[Row] = []
    why = Why(ctx, learnt)
    for t in TARGETS:
        for m in MEASURES:
            cells = _cell_rows(name, learnt, name, t, m)
            for model, row in cells.items():
                why.explain(row, model, t, m)
            rows += cells.values()
        rows += _means(name, learnt, t, paper.EXTENDED[name][t])
    return rows


def _accuracy(ctx: Context, name: str, learnt: Learnt) -> Panel:
    rows = _tables(ctx, name, learnt)
    if name in paper.HARDEST:
        rows.append(judge.extreme(
            name, "hardest to predict, by MRE",
            {t: _samples(learnt.valid, "extended", t, MRE) for t in TARGETS},
            "latency", source="page Microbenchmarks, Table III"))
    series: dict[str, list[float | None]] = {
        f"{model}, ours": [judge.mean(_samples(learnt.valid, model, t, MRE))
                           for t in TARGETS]
        for model in ("basic", "extended")}
    for model, table in (("basic", paper.BASIC), ("extended", paper.EXTENDED)):
        series[f"{model}, paper"] = [table[name][t].mre for t in TARGETS]
    _linked(rows, learnt.valid.runs)
    return Panel(name, f"{name}: runs held out (Tables II, III)",
                 _inputs(learnt), rows, Chart(list(TARGETS), series, "MRE"))


def _means(panel: str, learnt: Learnt, target: str, cell: paper.Cell) \
        -> list[Row]:
    scores = learnt.valid.scores(_names("extended"), target)
    unit = UNITS[target]
    part = judge.mean([s.mean for s in scores]) / cell.mean
    within = "within" if abs(part - 1) <= RATES else "not within"
    return [judge.shown(panel, f"{target}, mean in {unit}",
                        [s.mean for s in scores],
                        f"{part:.2f} of the paper's, {within}"
                        f" {100 * RATES:.0f} %; profiles and workloads were"
                        " chosen by these means", f"{cell.mean:g}"),
            judge.shown(panel, f"{target}, MAE in {unit}",
                        [s.mae for s in scores], "the claim is of its share"
                        " of the mean", f"{cell.mae:g}")]


def _learning(name: str, learnt: Learnt) -> Panel:
    """Accuracy by the number of runs, and of labels that say nothing."""
    panel = f"{name} learning"
    n = len(learnt.valid.train(0))
    counts = [max(int(n * s), 5) for s in LEARN]
    series: dict[str, list[float | None]] = {
        t: [judge.mean(_samples(learnt.valid, "extended", t, MRE, share=s))
            for s in LEARN] for t in TARGETS}
    rows = [judge.shown(panel, f"{t}, {c} runs", mre, "MRE by runs learnt")
            for t in TARGETS for c, mre in zip(counts, series[t])]
    rows += [judge.shown(panel, f"{t}, labels shuffled",
                         _shuffled(learnt, t), "R2; no more than chance")
             for t in TARGETS]
    return Panel(panel, f"{name}: MRE of the extended model by runs that it"
                 " learns from", _inputs(learnt), rows,
                 Chart([str(c) for c in counts], series, "MRE", lines=True))


def _shuffled(learnt: Learnt, target: str) -> float:
    """R2 of a model whose runs have the results of others.  Leaves may be large
    there: small ones learn chance, which is worse than the mean."""
    from . import blackbox_model as bb

    held = learnt.valid.held(0)
    model = bb.Model.learn(bb.EXTENDED, learnt.valid.train(0).shuffled(SEED),
                           leaves=(*bb.LEAVES, *LARGE_LEAVES),
                           jobs=learnt.valid.jobs)
    return bb.score(held.y[target], model.predict(target, held)).r2


# ---- from the basic to the extended model ---------------------------------------


def _better(learnts: dict[str, Learnt]) -> list[float]:
    """By fold, the share of devices, targets and measures in which the
    extended model is the better one."""
    votes = []
    for learnt in learnts.values():
        for t in TARGETS:
            for m in MEASURES:
                pairs = zip(*(_samples(learnt.valid, model, t, m)
                              for model in ("basic", "extended")))
                votes.append([float(e > b if m is R2 else e < b)
                              for b, e in pairs])
    return [judge.mean(fold) for fold in zip(*votes)]


def _improved(panel: str, learnt: Learnt, name: str, target: str) -> Row:
    def falls(**how: Any) -> list[float]:
        basic, extended = (_samples(learnt.valid, model, target, MRE, **how)
                           for model in ("basic", "extended"))
        return [1 - e / b for b, e in zip(basic, extended)]

    by = paper.IMPROVED_I if name == "SSD_I" else paper.IMPROVED
    row = judge.claim(
        panel, f"{name}, {target}, MRE falls by", falls(),
        judge.about(by)[0], None, source="page Model Improvements",
        text=f"close to or above {by:g}" if by == paper.IMPROVED
        else f"{by:g}, less 10 %")
    if _fails(row):
        _logs(row, falls(logs=True))
    return row


def _grows(valid: Any) -> tuple[list[float], list[float]]:
    """R2 of the basic model, and by how much that of the extended one is
    larger; in the mean of the three targets."""
    basic, extended = ([judge.mean(fold) for fold in zip(*(
        _samples(valid, model, t, R2) for t in TARGETS))]
        for model in ("basic", "extended"))
    return basic, [e - b for b, e in zip(basic, extended)]


def _increase(ctx: Context, panel: str, learnt: Learnt, name: str) -> Row:
    """Of R2, from the basic to the extended model."""
    basic, more = _grows(learnt.valid)
    theirs = judge.mean([paper.EXTENDED[name][t].r2 - paper.BASIC[name][t].r2
                         for t in TARGETS])
    row = judge.claim(
        panel, f"{name}, large increase of R2", more,
        judge.about(theirs)[0], None, source="page Model Improvements",
        text=f"{theirs:.3f} in the mean of Tables II and III, less 10 %",
        why=f"the basic model has {judge.mean(basic):.3f} here")
    if _fails(row):
        judge.because(
            row, "the basic model tells runs of one kind of request well, of"
            " which the paper may have fewer", "the same without these runs",
            _grows(_some(ctx, learnt, 2))[1], *_bounds(row))
    return row


def _improvements(ctx: Context, learnts: dict[str, Learnt]) -> Panel:
    panel = "improvements"
    rows = [judge.claim(
        panel, "extended better than basic, share of all cells",
        _better(learnts), 1, None, text="all", source="page Microbenchmarks:"
        " \"extended models significantly improve model accuracy\"")]
    for name in DEVICES:
        rows += [_improved(panel, learnts[name], name, t) for t in TARGETS]
    rows += [_increase(ctx, panel, learnts[name], name)
             for name in paper.LARGE_INCREASE]
    _linked(rows, *(x.valid.runs for x in learnts.values()))
    return Panel(panel, "From the basic to the extended model",
                 ["the runs of the panels of the devices"], rows)


# ---- pure workloads ------------------------------------------------------------


def _pure_runs(ctx: Context, learnt: Learnt, i: int, name: str) -> Any:
    """The runs of a device that are of this pattern, and more of them if they
    are few."""
    import numpy as np

    from . import blackbox_model as bb
    from . import blackbox_runs as br
    from . import blackbox_sweep as sweep

    device, runs = learnt.device, learnt.valid.runs
    series = br.Series(sweep.JUDGED, SEED, device.span)
    mine = runs.part(np.array([br.fits(series.knobs(k), name)
                               for k in range(len(runs))]))
    missing = _count(ctx, PURE_RUNS) - len(mine)
    if missing <= 0:
        return mine
    return bb.join(mine, _runs(ctx, device, missing, SEED + 100 + i,
                               f"{name} of", br.pure(name, sweep.JUDGED)))


def _pure_rows(panel: str, valid: Any, name: str, at: int) -> list[Row]:
    r2, mre = paper.PURE[name][at]
    rows = []
    for m, value, reading in ((R2, r2, paper.R2_READING),
                              (MRE, mre, paper.MRE_READING)):
        row = judge.cell(panel, f"{name}, {m.name}",
                         _samples(valid, "extended", "latency", m), value,
                         kind=m.kind, source="Table IV (a)", reading=reading)
        if _fails(row):
            _logs(row, _samples(valid, "extended", "latency", m, logs=True))
        rows.append(row)
    return _linked(rows, valid.runs)


def _pure(ctx: Context, learnt: Learnt) -> Panel:
    device = learnt.device
    panel = f"{device.name} pure workloads"
    at = paper.PURE_DEVICES.index(device.name)
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {
        "ours": [], "paper": [paper.PURE[name][at][1] for name in paper.PURE]}
    for i, name in enumerate(paper.PURE):
        valid = _validated(ctx, _pure_runs(ctx, learnt, i, name))
        rows += _pure_rows(panel, valid, name, at)
        series["ours"].append(rows[-1]["ours"])
    return Panel(panel, f"{device.name}: latency by models of one pattern each"
                 " (Table IV)",
                 [f"the device's runs that are of the pattern, and more up to"
                  f" {_count(ctx, PURE_RUNS)} of each; five folds"],
                 rows, Chart(list(paper.PURE), series, "MRE"))


# ---- array ---------------------------------------------------------------------


def _array_panel(ctx: Context, array: Learnt, single: Learnt) -> Panel:
    panel = "Array_I"
    rows = _tables(ctx, panel, array)
    rows.append(judge.claim(
        panel, "extended better than basic, share of all cells",
        _better({panel: array}), 1, None, text="all", source="page SSD Array:"
        " \"extended models perform better again\""))
    series: dict[str, list[float | None]] = {
        k: [] for k in ("basic, ours", "extended, ours", "extended, paper",
                        "one drive, ours")}
    for t in TARGETS:
        ours = _samples(array.valid, "extended", t, MRE)
        basic = _samples(array.valid, "basic", t, MRE)
        one = _samples(single.valid, "extended", t, MRE)
        rows.append(judge.order(
            panel, f"{t}, MRE above one drive's", one, ours,
            source="page SSD Array: \"accuracy decreases when"
            " compared to the single device\"",
            why="striped drives are no harder to learn here"))
        for name, value in zip(series, (
                judge.mean(basic), judge.mean(ours),
                paper.EXTENDED[panel][t].mre, judge.mean(one))):
            series[name].append(value)
    inputs = _inputs(array)
    inputs[1] += f"; {ARRAY_DRIVES} drives, striped by {STRIPE}"
    _linked(rows, array.valid.runs, single.valid.runs)
    return Panel(panel, "An array of SSD_I: MRE of runs held out", inputs,
                 rows, Chart(list(TARGETS), series, "MRE"))


# ---- traces ----------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A trace's runs, each of a window, and the fold that the window is in."""

    source: str
    runs: Any
    fold: Any


def _windows(ctx: Context, device: Any, name: str) -> Told:
    from . import blackbox_input as fi
    from . import blackbox_model as bb
    from . import blackbox_runs as br
    from . import blackbox_sweep as sweep

    trace = fi.load(ctx.traces, name, device.span)
    make = fi.Windows(trace, _count(ctx, TRACE_RUNS), SEED)
    runs = br.play_all(ctx.runner, ctx.inputs, br.to_the_end(device),
                       f"blackbox: {name} on {device.name}", make.n, make,
                       "windows", make.key(), kept=ctx.series)
    return Told(f"{trace.source}; {make.n} runs of {fi.windows(trace)} windows"
                f" of {fi.WINDOW} requests, with 1 to"
                f" {max(sweep.JUDGED.depths)} in flight", runs,
                make.folds(bb.FOLDS))


def _trace_models(learnt: Learnt, told: dict[str, Told], **how: Any) \
        -> list[Any]:
    """By fold: learnt from the synthetic runs and the traces' windows of the
    other folds."""
    from . import blackbox_model as bb

    models = []
    for i in range(learnt.valid.count):
        train = learnt.valid.train(i)
        for one in told.values():
            train = bb.join(train, one.runs.part(one.fold != i))
        models.append(bb.Model.learn(bb.EXTENDED, train,
                                     jobs=learnt.valid.jobs, **how))
    return models


def _trace_errors(models: list[Any], told: Told) -> dict[str, list[float]]:
    """MRE of the windows that the models have not learnt: by target, a value
    for each fold."""
    from . import blackbox_model as bb

    out: dict[str, list[float]] = {t: [] for t in TARGETS}
    for i, model in enumerate(models):
        held = told.runs.part(told.fold == i)
        for t in TARGETS:
            out[t].append(bb.score(held.y[t], model.predict(t, held)).mre)
    return out


def _trace_rows(panel: str, target: str, errors: dict[str, Any],
                alone: dict[str, Any]) -> list[Row]:
    """Of a target: the cell of each trace, and that a model that has learnt
    no trace is shown."""
    device = panel.removesuffix(" traces")
    rows = []
    for name, cell in zip(paper.TRACE_NAMES, paper.TRACES[target][device]):
        rows += [
            judge.cell(panel, f"{name}, {target}", errors[name][target], cell,
                       kind="error", source="page IO Traces",
                       reading=paper.MRE_READING),
            judge.shown(panel, f"{name}, {target}, no trace learnt",
                        alone[name][target], "MRE; synthetic runs only")]
    return rows


def _web_row(panel: str, target: str, errors: dict[str, Any]) -> Row:
    web, financial = (
        [judge.mean(x) for x in zip(*(errors[n][target] for n in errors
                                      if n.startswith(start)))]
        for start in ("Web", "Fin"))
    return judge.order(
        panel, f"{target}, WebSearch below Financial", web, financial,
        source="page IO Traces: \"two search engine traces produce much"
        " better accuracy for all devices\"")


def _explain_traces(rows: list[Row], learnt: Learnt,
                    told: dict[str, Told]) -> None:
    """Where cells of traces do not hold: trees of the logarithm, by which
    small values count as much as those of the synthetic runs."""
    failed = [r for r in rows if r["kind"] == "claim" and _fails(r)
              and r["point"].split(", ")[0] in told]
    if not failed:
        return
    models = _trace_models(learnt, told, logs=True)
    errors = {name: _trace_errors(models, one) for name, one in told.items()}
    for row in failed:
        name, target = row["point"].split(", ")
        _logs(row, errors[name][target])


def _traces(ctx: Context, name: str, learnt: Learnt) -> Panel:
    from . import blackbox_model as bb

    panel = f"{name} traces"
    told = {n: _windows(ctx, learnt.device, n) for n in paper.TRACE_NAMES}
    both = _trace_models(learnt, told)
    synthetic = learnt.valid.learn(bb.EXTENDED)
    errors, alone = ({n: _trace_errors(models, one)
                      for n, one in told.items()}
                     for models in (both, synthetic))
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {}
    for t in TARGETS:
        rows += [*_trace_rows(panel, t, errors, alone),
                 _web_row(panel, t, errors)]
        series[f"{t}, ours"] = [judge.mean(errors[n][t]) for n in told]
        series[f"{t}, paper"] = list(paper.TRACES[t][name])
    _explain_traces(rows, learnt, told)
    _linked(rows, learnt.valid.runs, *(x.runs for x in told.values()))
    return Panel(panel, f"{name}: MRE of traces, told by models of synthetic"
                 " runs and of the traces' other windows",
                 [t.source for t in told.values()], rows,
                 Chart(list(told), series, "MRE"))


# ---- what the slides leave open ---------------------------------------------------


def _sweep(ctx: Context, panel: Panel) -> Panel:
    """Add to the statements of SSD_I what short sets of runs give over the
    ranges of open parameters: a sample for each seed."""
    from . import blackbox_sweep as sweep

    n = _count(ctx, SWEEP_RUNS)
    for parameter, used, values in sweep.parameters(
            FULL, lambda full: _device(ctx, "SSD_I", full)):
        by = {value: [_validated(ctx, _runs(
            ctx, device, n, seed, f"{parameter} {value},", ranges))
            for seed in ctx.sweep_seeds(SEED + 3)]
            for value, (device, ranges) in values.items()}
        for row in panel.rows:
            _swept_row(row, parameter, by, used)
    panel.inputs.append(f"sweeps: {n} runs for each value, so that errors are"
                        " larger than above; compare values of one sweep")
    return panel


def _swept_row(row: Row, parameter: str, by: dict[str, list[Any]],
               used: str) -> None:
    if row["kind"] != "claim":
        return
    for t in TARGETS:
        for m in MEASURES:
            for model in ("basic", "extended"):
                if row["point"] == f"{t}, {m.name}, {model}":
                    judge.swept(row, parameter, {
                        v: [judge.mean(_samples(x, model, t, m))
                            for x in seeds]
                        for v, seeds in by.items()}, used)


# ---- the figure ----------------------------------------------------------------


def panels(ctx: Context) -> Iterator[Panel]:
    """The slides' tables."""
    venv.extra("blackbox")
    from . import blackbox_runs as br

    learnts = {}
    for name in DEVICES:
        learnts[name] = _learn(ctx, _device(ctx, name))
        panel = _accuracy(ctx, name, learnts[name])
        if name == "SSD_I" and ctx.sweeps:
            panel = _sweep(ctx, panel)
        yield panel
        if name == "SSD_I" and ctx.sweeps:
            yield _learning(name, learnts[name])
        if name in paper.PURE_DEVICES:
            yield _pure(ctx, learnts[name])
    yield _improvements(ctx, learnts)
    array = replace(br.side_by_side(learnts["SSD_I"].device, ARRAY_DRIVES,
                                    STRIPE), name="Array_I")
    learnts["Array_I"] = _learn(ctx, array)
    yield _array_panel(ctx, learnts["Array_I"], learnts["SSD_I"])
    for name in paper.TRACES["latency"]:
        yield _traces(ctx, name, learnts[name])
