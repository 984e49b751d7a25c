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
from .figure import Chart, Context, Panel, Row

TITLE = "Black-box performance models (Huang 2011)"
SEED = 2011
RUNS = 12_000  # of a device, as in the paper
MIXED_RUNS = 3000  # with several sizes in a run, for the traces' models
MIXED_SIZES = 4
PURE_RUNS = 500  # of each pure workload,
BOTH_RUNS = 1500  # and of those that have reads and writes
TRACE_RUNS = 100  # windows of each trace
SWEEP_RUNS = 1500  # for each value of an open parameter
REPEATS = 300  # workloads that are drawn twice
LEAST_RUNS = 40
FULL = 0.7  # of the capacity holds data and is used; the slides do not say
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
    valid: Any  # bb.Validated, of runs with one size of reads and of writes
    mixed: Any = None  # the same, learnt with runs of several sizes, too


@dataclass(frozen=True)
class Measure:
    """A number by which a model is judged."""

    name: str
    ours: Callable[[Any], float]  # of a bb.Score
    cell: Callable[[paper.Cell], float]
    reading: Callable[[paper.Cell], float]
    more: bool  # more is better


R2 = Measure("R2", lambda s: s.r2, lambda c: c.r2,
             lambda c: paper.R2_READING, True)
MRE = Measure("MRE", lambda s: s.mre, lambda c: c.mre,
              lambda c: paper.MRE_READING, False)
MAE = Measure("MAE / mean", lambda s: s.mae / s.mean, lambda c: c.part(),
              lambda c: c.part_reading(), False)
MEASURES = (R2, MRE, MAE)


def _count(ctx: Context, n: int) -> int:
    return max(int(n * ctx.scale), min(LEAST_RUNS, n))


def _names(model: str) -> Any:
    from . import blackbox_model as bb

    return bb.BASIC if model == "basic" else bb.EXTENDED


def _samples(valid: Any, model: str, target: str, m: Measure,
             **how: Any) -> list[float]:
    return [m.ours(s) for s in valid.scores(_names(model), target, **how)]


def _validated(ctx: Context, runs: Any, extra: Any = None) -> Any:
    from . import blackbox_model as bb

    return bb.Validated(runs, extra, min(max(ctx.count, 1), bb.FOLDS),
                        jobs=ctx.runner.jobs)


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

    return br.synthetic(ctx.runner, ctx.inputs, device,
                        f"blackbox: {what} {device.name}", n, seed, ranges,
                        ctx.series)


def _linked(rows: list[Row], *runs: Any) -> list[Row]:
    """Rows whose numbers come from these runs."""
    for row in rows:
        row["runs"] = list(dict.fromkeys(t for r in runs for t in r.origin))
    return rows


def _learn(ctx: Context, device: Any) -> Learnt:
    """Benchmark a device, and learn it."""
    from . import blackbox_runs as br

    runs = _runs(ctx, device, _count(ctx, RUNS), SEED, "runs of")
    if device.name not in paper.TRACES["latency"]:
        return Learnt(device, _validated(ctx, runs))
    mixed = _runs(ctx, device, _count(ctx, MIXED_RUNS), SEED + 1,
                  "runs of several sizes of", br.Ranges(mixed=MIXED_SIZES))
    return Learnt(device, _validated(ctx, runs), _validated(ctx, runs, mixed))


def _inputs(learnt: Learnt) -> list[str]:
    d, runs = learnt.device, learnt.valid.runs
    whole = float((runs.seconds >= 0.99 * d.seconds).mean())
    what = d.profile.stem if d.profile else "the disk model"
    return [f"{len(runs)} synthetic runs of {what}, {d.span / 1e6:.0f} MB of"
            f" it filled and used; a minute, scaled as the capacity, is"
            f" {d.seconds:.3g} s, and {100 * whole:.0f} % of the runs last it"
            f" (mean {runs.seconds.mean():.3g} s; others end after"
            f" {d.most()} requests)",
            "samples: five folds, each told by the model of the other four"]


# ---- hypotheses -----------------------------------------------------------------


def _repeats(ctx: Context, device: Any) -> Any:
    """Workloads that are drawn twice: scores of one told by the other, by
    target."""
    from . import blackbox_model as bb
    from . import blackbox_runs as br

    n = _count(ctx, REPEATS)
    both = [br.play_all(
        ctx.runner, ctx.inputs, device,
        f"blackbox: repeated runs of {device.name}", n,
        br.Series(br.Ranges(), SEED + 2, device.span, device.most(), again),
        "repeats", SEED + 2, again, kept=ctx.series) for again in (0, 1)]
    return {t: bb.score(both[0].y[t], both[1].y[t]) for t in TARGETS}


def _both_kinds(ctx: Context, learnt: Learnt) -> Any:
    """The same runs, without those of nearly one kind of request."""
    runs = learnt.valid.runs
    share = runs.x["wr_ratio"]
    return _validated(ctx, runs.part((share > 0.25) & (share < 0.75)))


def _explain_extended(row: Row, learnt: Learnt, target: str, m: Measure,
                      cell: paper.Cell, repeats: Any) -> None:
    if m is R2:
        judge.because(
            row, "runs of one workload with other draws differ by as much:"
            " no model can tell them better",
            "workloads that are drawn twice, the second told by the first",
            [m.ours(repeats[target])], None, m.cell(cell))
        return
    judge.because(
        row, "the error is in the runs with small values, which least squares"
        " weigh least", "trees of the logarithm, which weigh runs by their"
        " relative error, of the same runs",
        _samples(learnt.valid, "extended", target, m, logs=True), None,
        m.cell(cell) + m.reading(cell))


def _explain_basic(row: Row, both: Any, target: str, m: Measure,
                   cell: paper.Cell) -> None:
    samples = _samples(both, "basic", target, m)
    low, high = (None, m.cell(cell)) if m.more else (m.cell(cell), None)
    judge.because(
        row, "runs of nearly one kind, of which the paper may have fewer, are"
        " what the basic model tells well: its one size is theirs",
        "the same runs where writes are a quarter to three quarters", samples,
        low, high)


# ---- accuracy --------------------------------------------------------------------


def _cell_rows(panel: str, learnt: Learnt, name: str, target: str,
               m: Measure) -> list[Row]:
    """The extended model is at least as good as the paper's, the basic one no
    better; and the extended one is the better of the two."""
    ours = {model: _samples(learnt.valid, model, target, m)
            for model in ("basic", "extended")}
    rows = []
    for model, table, source in (("extended", paper.EXTENDED, "Table III"),
                                 ("basic", paper.BASIC, "Table II")):
        cell = table[name][target]
        value = m.cell(cell)
        floor = m.more == (model == "extended")
        rows.append(judge.claim(
            panel, f"{target}, {m.name}, {model}", ours[model],
            value if floor else None, None if floor else value,
            source=source, reading=m.reading(cell),
            text=f"{'at least' if floor else 'at most'} {value:.3g}"))
    better = [ours["basic"], ours["extended"]]
    lower, higher = better if m.more else better[::-1]
    rows.append(judge.order(
        panel, f"{target}, {m.name}, extended better", lower, higher,
        source="Tables II and III"))
    return rows


def _improved(panel: str, learnt: Learnt, name: str, target: str) -> Row:
    basic = _samples(learnt.valid, "basic", target, MRE)
    extended = _samples(learnt.valid, "extended", target, MRE)
    by = paper.IMPROVED_I if name == "SSD_I" else paper.IMPROVED
    return judge.claim(
        panel, f"{target}, MRE falls by",
        [1 - e / b for e, b in zip(extended, basic)], judge.about(by)[0],
        None, source="page Model Improvements",
        text=f"close to or above {by:g}" if by == paper.IMPROVED
        else f"{by:g}, less 10 %")


def _accuracy(ctx: Context, name: str, learnt: Learnt, repeats: Any) -> Panel:
    rows: list[Row] = []
    both = None
    for t in TARGETS:
        for m in MEASURES:
            extended, basic, better = _cell_rows(name, learnt, name, t, m)
            if extended["verdict"] not in (None, judge.HOLDS):
                _explain_extended(extended, learnt, t, m,
                                  paper.EXTENDED[name][t], repeats)
            if basic["verdict"] not in (None, judge.HOLDS):
                both = both or _both_kinds(ctx, learnt)
                _explain_basic(basic, both, t, m, paper.BASIC[name][t])
            rows += [extended, basic, better]
        rows.append(_improved(name, learnt, name, t))
        rows += _means(name, learnt, t, paper.EXTENDED[name][t])
    if name in paper.HARDEST:
        rows.append(judge.extreme(
            name, "hardest to predict, by MRE",
            {t: _samples(learnt.valid, "extended", t, MRE) for t in TARGETS},
            "latency", source="page Microbenchmarks, Table III"))
    rows += [judge.shown(name, f"{t}, R2 of repeated runs", repeats[t].r2,
                         "one run of a workload told by another with other"
                         " draws: what any model could reach")
             for t in TARGETS]
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
    return [judge.shown(panel, f"{target}, mean in {unit}",
                        [s.mean for s in scores], "of the observed values",
                        f"{cell.mean:g}"),
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


# ---- pure workloads ------------------------------------------------------------


def _pure(ctx: Context, device: Any) -> Panel:
    from . import blackbox_runs as br

    panel = f"{device.name} pure workloads"
    at = paper.PURE_DEVICES.index(device.name)
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {"ours": [], "paper": []}
    for i, name in enumerate(paper.PURE):
        n = PURE_RUNS if br.PURE[name][0] is not None else BOTH_RUNS
        runs = _runs(ctx, device, _count(ctx, n), SEED + 100 + i,
                     f"{name} of", br.pure(name, br.Ranges()))
        valid = _validated(ctx, runs)
        r2, mre = paper.PURE[name][at]
        ours = _samples(valid, "extended", "latency", MRE)
        pair = [
            judge.claim(panel, f"{name}, R2",
                        _samples(valid, "extended", "latency", R2), r2, None,
                        source="Table IV (a)", reading=paper.R2_READING),
            judge.claim(panel, f"{name}, MRE", ours, None, mre,
                        source="Table IV (a)", reading=paper.MRE_READING)]
        rows += _linked(pair, runs)
        if rows[-1]["verdict"] not in (None, judge.HOLDS):
            judge.because(
                rows[-1], "the error is in the runs with small latency, which"
                " least squares weigh least",
                "trees of the logarithm of the same runs",
                _samples(valid, "extended", "latency", MRE, logs=True), None,
                mre + paper.MRE_READING)
        series["ours"].append(judge.mean(ours))
        series["paper"].append(mre)
    return Panel(panel, f"{device.name}: latency by models of one pattern each"
                 " (Table IV)",
                 [f"{_count(ctx, PURE_RUNS)} runs of each,"
                  f" {_count(ctx, BOTH_RUNS)} of those with reads and writes;"
                  " five folds"],
                 rows, Chart(list(paper.PURE), series, "MRE"))


# ---- array ---------------------------------------------------------------------


def _array_panel(array: Learnt, single: Learnt) -> Panel:
    panel = "Array_I"
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {
        k: [] for k in ("basic, ours", "extended, ours", "extended, paper",
                        "one drive, ours")}
    for t in TARGETS:
        cell = paper.EXTENDED[panel][t]
        for m in MEASURES:
            ours = _samples(array.valid, "extended", t, m)
            low, high = (m.cell(cell), None) if m.more \
                else (None, m.cell(cell))
            rows.append(judge.claim(
                panel, f"{t}, {m.name}", ours, low, high,
                source="page SSD Array", reading=m.reading(cell)))
        ours = _samples(array.valid, "extended", t, MRE)
        basic = _samples(array.valid, "basic", t, MRE)
        one = _samples(single.valid, "extended", t, MRE)
        rows += [
            judge.order(panel, f"{t}, MRE, extended better", ours, basic,
                        source="page SSD Array: \"extended models perform"
                        " better again\""),
            judge.order(panel, f"{t}, MRE above one drive's", one, ours,
                        source="page SSD Array: \"accuracy decreases when"
                        " compared to the single device\"",
                        why="striped drives are no harder to learn here"),
            *_means(panel, array, t, cell)]
        for name, value in zip(series, (basic, ours, [cell.mre], one)):
            series[name].append(judge.mean(value))
    inputs = _inputs(array)
    inputs[0] += f"; {ARRAY_DRIVES} drives, striped by {STRIPE}"
    _linked(rows, array.valid.runs, single.valid.runs)
    return Panel(panel, "An array of SSD_I: MRE of runs held out", inputs,
                 rows, Chart(list(TARGETS), series, "MRE"))


# ---- traces ----------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A trace's windows that no model has learnt, told by the models of the
    folds: relative errors by target, a value for each fold."""

    source: str
    runs: Any  # the windows
    mixed: dict[str, list[float]]  # learnt with runs of several sizes,
    single: dict[str, list[float]]  # without,
    own: dict[str, list[float]]  # and with every other window of the trace


def _tell(ctx: Context, learnt: Learnt, name: str) -> Told:
    from . import blackbox_input as fi
    from . import blackbox_model as bb
    from . import blackbox_runs as br

    device = learnt.device
    trace = fi.load(ctx.traces, name, device.span)
    make = fi.Windows(trace, _count(ctx, TRACE_RUNS), SEED)
    runs = br.play_all(ctx.runner, ctx.inputs, br.to_the_end(device),
                       f"blackbox: {name} on {device.name}", make.n, make,
                       "windows", make.key(), kept=ctx.series)
    even = make.even()
    seen, rest = runs.part(~even), runs.part(even)

    def mre(models: list[Any]) -> dict[str, list[float]]:
        return {t: [bb.score(seen.y[t], m.predict(t, seen)).mre
                    for m in models] for t in TARGETS}

    own = [bb.Model.learn(bb.EXTENDED,
                          bb.join(learnt.mixed.train(i), rest),
                          jobs=ctx.runner.jobs)
           for i in range(learnt.mixed.count)]
    return Told(f"{trace.source}; {len(seen)} windows of {fi.WINDOW} requests"
                f" are told, with 1 to {max(br.Ranges().depths)} in flight",
                runs,
                mre(learnt.mixed.learn(bb.EXTENDED)),
                mre(learnt.valid.learn(bb.EXTENDED)), mre(own))


def _trace_row(panel: str, told: Told, name: str, target: str,
               cell: float) -> Row:
    row = judge.claim(panel, f"{name}, {target}", told.mixed[target], None,
                      cell, source="page IO Traces",
                      reading=paper.MRE_READING)
    if row["verdict"] not in (None, judge.HOLDS):
        judge.because(
            row, "the training set has no workloads like the trace's (hot"
            " places, a small footprint, its mix of sizes); the paper does not"
            " give its own",
            "the same with every other window of the trace learnt, too",
            told.own[target], None, cell + paper.MRE_READING)
    return row


def _traces(ctx: Context, name: str, learnt: Learnt) -> Panel:
    panel = f"{name} traces"
    told = {n: _tell(ctx, learnt, n) for n in paper.TRACE_NAMES}
    rows: list[Row] = []
    series: dict[str, list[float | None]] = {}
    for t in TARGETS:
        cells = paper.TRACES[t][name]
        for n, cell in zip(told, cells):
            rows += _linked([
                _trace_row(panel, told[n], n, t, cell),
                judge.shown(panel, f"{n}, {t}, one size a run",
                            told[n].single[t], "without runs of several"
                            " sizes"),
                judge.shown(panel, f"{n}, {t}, half learnt", told[n].own[t],
                            "with every other window learnt, too")],
                told[n].runs, learnt.valid.runs)
        web, financial = (
            [judge.mean(x) for x in zip(*(told[n].mixed[t] for n in told
                                          if n.startswith(start)))]
            for start in ("Web", "Fin"))
        rows.append(judge.order(
            panel, f"{t}, WebSearch below Financial", web, financial,
            source="page IO Traces: \"two search engine traces produce much"
            " better accuracy for all devices\""))
        _linked(rows[-1:], learnt.valid.runs, *(x.runs for x in told.values()))
        series[f"{t}, ours"] = [judge.mean(told[n].mixed[t]) for n in told]
        series[f"{t}, paper"] = list(cells)
    return Panel(panel, f"{name}: MRE of traces, told by the models of"
                 " synthetic runs", [t.source for t in told.values()], rows,
                 Chart(list(told), series, "MRE"))


# ---- what the slides leave open ---------------------------------------------------


def _sweep(ctx: Context, panel: Panel) -> Panel:
    """Add to the statements of SSD_I what short sets of runs give over the
    ranges of open parameters."""
    from . import blackbox_sweep as sweep

    n = _count(ctx, SWEEP_RUNS)
    for parameter, used, values in sweep.parameters(
            FULL, lambda full: _device(ctx, "SSD_I", full)):
        by: dict[str, Any] = {}
        for value, (device, ranges) in values.items():
            by[value] = _validated(ctx, _runs(
                ctx, device, n, SEED + 3, f"{parameter} {value},", ranges))
        for row in panel.rows:
            _swept_row(row, parameter, by, used)
    panel.inputs.append(f"sweeps: {n} runs for each value, so that errors are"
                        " larger than above; compare values of one sweep")
    return panel


def _swept_row(row: Row, parameter: str, by: dict[str, Any],
               used: str) -> None:
    if row["kind"] != "claim":
        return
    for t in TARGETS:
        for m in MEASURES:
            for model in ("basic", "extended"):
                if row["point"] == f"{t}, {m.name}, {model}":
                    judge.swept(row, parameter,
                                {v: _samples(x, model, t, m)
                                 for v, x in by.items()}, used)


# ---- the figure ----------------------------------------------------------------


def panels(ctx: Context) -> Iterator[Panel]:
    """The slides' tables."""
    venv.extra("blackbox")
    from . import blackbox_runs as br

    learnts = {}
    for name in DEVICES:
        learnts[name] = _learn(ctx, _device(ctx, name))
        repeats = _repeats(ctx, learnts[name].device)
        panel = _accuracy(ctx, name, learnts[name], repeats)
        if name == "SSD_I" and ctx.sweeps:
            panel = _sweep(ctx, panel)
        yield panel
        if name == "SSD_I":
            yield _learning(name, learnts[name])
        if name in paper.PURE_DEVICES:
            yield _pure(ctx, learnts[name].device)
    array = replace(br.side_by_side(learnts["SSD_I"].device, ARRAY_DRIVES,
                                    STRIPE), name="Array_I")
    learnts["Array_I"] = _learn(ctx, array)
    yield _array_panel(learnts["Array_I"], learnts["SSD_I"])
    for name in paper.TRACES["latency"]:
        yield _traces(ctx, name, learnts[name])
