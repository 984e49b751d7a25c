# SPDX-License-Identifier: GPL-2.0-or-later
"""Effects of scattering write request arrivals on SSD performance
(I. Shin, J. KIIT 16(7), 2018), Figures 1 to 3.

Base traces whose writes are re-timed: batches of 1..k writes at once, the mean
rate unchanged (section III); k = 1, 4, 16, 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from vssd.sim.run import Result

from . import judge, ssdsim
from . import traces as ft
from .figure import Chart, Context, Panel
from .judge import Row
from .scatter_runs import (
    FAST,
    JUDGED,
    KS,
    PARAMETERS,
    SECOND,
    SEED,
    SWEEP,
    TABLE,
    USED,
    Choice,
    Key,
    Plan,
    choices,
)

TITLE = "Scattering write arrivals (Shin 2018)"
MEAN = (3.7, 9.1)
TAIL = (2.4, 4.8)
EQUAL = 1.1  # "similar" of the paper's Figure 3: the paper's wording plus 10 %
INVERTED = "prn0"  # whose tail is longer in D1
FINS = ("fin1", "fin2")
ENDS = (1, 64)  # the two that ratios compare
MIB = 1 << 20

Measure = Callable[[Result], float]


def _mean(r: Result) -> float:
    return float(r["latency_ns"]["all"]["mean"]) / 1000


def _tail(r: Result) -> float:
    return float(r["latency_ns"]["all"]["tail_001pct_mean"]) / 1e6


def _erases(r: Result) -> float:
    return float(r["nand"]["erases"])


class Runs:
    """The judged runs of both settings, those of the sweep, and those that test
    a hypothesis."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.seeds = ctx.seeds(SEED)
        self.few = ctx.sweep_seeds(SEED)  # of the sweep, of a hypothesis
        self.plan = Plan(ctx, "judged", 1.0)
        self.results = self.plan.run([JUDGED, SECOND], self.seeds)
        if ctx.sweeps:
            self.results |= Plan(ctx, "sweep", SWEEP).run(
                [JUDGED, *choices()], self.few)

    def get(self, of: Measure, name: str, k: int, choice: Choice,
            sweep: bool = False) -> list[float]:
        """By seed."""
        return [of(self.results[name, k, s, choice, sweep])
                for s in (self.few if sweep else self.seeds)]

    def labels(self, names: Iterable[str], choice: Choice,
               ks: Iterable[int] = ENDS) -> list[Key]:
        """Of judged runs."""
        return [(n, k, s, choice, False) for n in names for k in ks
                for s in self.seeds]

    def ratio(self, of: Measure, name: str, choice: Choice,
              sweep: bool = False) -> list[float]:
        """D64 / D1, by seed."""
        return [b / max(a, 1e-9) for a, b in zip(
            *(self.get(of, name, k, choice, sweep) for k in ENDS))]

    def least_step(self, name: str, choice: Choice, sweep: bool = False) \
            -> list[float]:
        """The least of D4 / D1, D16 / D4 and D64 / D16 of the mean, by
        seed."""
        by_k = [self.get(_mean, name, k, choice, sweep) for k in KS]
        return [min(b / a for a, b in zip(v, v[1:])) for v in zip(*by_k)]

    def most_by_least(self, of: Measure, name: str, choice: Choice,
                      sweep: bool = False) -> list[float]:
        """The largest over the smallest of D1 to D64, by seed."""
        by_k = [self.get(of, name, k, choice, sweep) for k in KS]
        return [max(v) / min(v) for v in zip(*by_k) if min(v) > 0]

    def tried(self, of: Measure, name: str, choice: Choice) -> list[float]:
        """D64 / D1 of a run that tests a hypothesis, in full length."""
        if (name, 64, self.few[0], choice, False) not in self.results:
            self.results |= self.plan.run([choice], self.few, [name], ENDS)
        return [b / a for a, b in zip(*(
            [of(self.results[name, k, s, choice, False]) for s in self.few]
            for k in ENDS))]

    def sweep(self, row: Row, setting: Choice,
              get: Callable[[Choice], list[float]]) -> Row:
        """Add each parameter's sweep to a claim of the first setting."""
        if self.ctx.sweeps and setting == JUDGED:
            for parameter, values in PARAMETERS.items():
                judge.swept(row, parameter, {
                    v: get(JUDGED if v == USED[parameter]
                           else Choice(parameter, v)) for v in values},
                    USED[parameter])
        return row

    def inputs(self, setting: Choice) -> list[str]:
        """For the reader: those of the first seed."""
        out = [f"{name}: {t.source}, {len(t)} requests,"
               f" {100 * t.write.mean():.0f} % writes,"
               f" {ft.extent(t) / MIB:.0f} MiB of addresses"
               for (name, seed, choice), t in self.plan.traces.items()
               if seed == SEED and choice == JUDGED]
        out += ["open in the paper: " + ", ".join(
                    f"{p} {setting.of(p)}" for p in PARAMETERS if p != "tR"),
                f"{self.plan.blocks} blocks per plane",
                f"{ssdsim.CHOSEN}, an aged drive"]
        out.append(f"tR {setting.of('tR')}" + (
            ", as if the paper's 500 us were a misprint"
            if setting == SECOND else ", as printed"))
        if self.ctx.sweeps:
            out.append(f"sweeps: {len(self.few)} seeds, {SWEEP:g} of requests,"
                       " addresses and blocks; hypotheses: in full length")
        return out


# ---- why ----------------------------------------------------------------------


def _fails(row: Row) -> bool:
    return row["verdict"] in (judge.DEVIATES, judge.UNSTABLE)


def _tested(runs: Runs, row: Row, of: Measure, name: str, choice: Choice,
            text: str) -> None:
    """Test why a ratio deviates by a run in which it should not."""
    judge.because(row, text, choice.text(), runs.tried(of, name, choice),
                  row["low"], row["high"])


def _shares(runs: Runs, name: str, setting: Choice) -> str:
    """The parts of the mean response of D1 and D64."""
    def us(kind: str, k: int) -> float:
        return judge.mean(runs.get(
            lambda r: float(r["latency_ns"][kind]["mean"]) / 1000, name, k,
            setting))

    return (f"reads take {us('read', 1):.0f} us in D1 and"
            f" {us('read', 64):.0f} in D64, writes {us('write', 1):.0f} and"
            f" {us('write', 64):.0f}")


def _explain_mean(runs: Runs, row: Row, name: str, setting: Choice) -> None:
    """Why a ratio of means is out of its range."""
    if not runs.ctx.sweeps or not _fails(row):
        return
    if row["ours"] > MEAN[1]:
        _tested(runs, row, _mean, name,
                replace(setting, parameter="chip", value="dies apart"),
                "a chip locked as a whole makes a batch wait; dies that work"
                " apart bring the ratio down")
    else:
        _tested(runs, row, _mean, name,
                replace(setting, parameter="b of the reads", value="0.5"),
                "bursts of the stand-in's reads, which D1 and D64 share, are"
                " much of the response; reads that come like Poisson's bring"
                " the ratio up")


def _explain_tail(runs: Runs, row: Row, name: str, setting: Choice) -> None:
    """Why a ratio of tails is out of its range."""
    if not runs.ctx.sweeps or not _fails(row):
        return
    if name == INVERTED:
        _tested(runs, row, _tail, name,
                replace(setting, parameter="b of the reads", value="fitted"),
                "in the paper's trace a burst of reads is longer than any"
                " batch of writes; with b as fitted to hm_0 D1's tail is not"
                " shorter")
    elif row["ours"] > TAIL[1]:
        _tested(runs, row, _tail, name,
                replace(setting, parameter="GC", value="foreground"),
                "GC in idle time keeps out of D1's way; GC in the foreground"
                " lengthens D1's tail")
    elif name == "hm0" and row["ours"] < TAIL[0]:
        _tested(runs, row, _tail, name,
                replace(setting, parameter="largest size of hm_0",
                        value="64 KiB"),
                "hm0's reads of up to 452 KiB are the tail of D1, and of D64;"
                " without those above 64 KiB batches are the tail of D64")
    elif setting == JUDGED:
        _tested(runs, row, _tail, name, SECOND,
                "the reads of large requests, and of GC, at 500 us a page are"
                " the tail of D1; with tR 50 us they are not")
    else:
        _tested(runs, row, _tail, name,
                replace(setting, parameter="b of the reads", value="0.5"),
                "bursts of reads are the tail of D1; reads that come like"
                " Poisson's bring the ratio up")


def _explain_order(runs: Runs, row: Row, setting: Choice) -> None:
    """Why fin1 or fin2 is above another trace."""
    if not runs.ctx.sweeps or not _fails(row):
        return
    whole = replace(setting, parameter="grain of Financial", value="4096")
    of = {n: runs.tried(_mean, n, whole if n in FINS else setting)
          for n in TABLE}
    judge.because(
        row, "most writes of the Financial traces are parts of pages, each of"
        " which is read first; whole pages bring fin1 below the others",
        whole.text(), _below(of), row["low"], row["high"])


# ---- panels ---------------------------------------------------------------------


def _panel(name: str, title: str, runs: Runs, setting: Choice,
           rows: list[Row], chart: Chart) -> Panel:
    """A panel of a setting; those of the second are totalled apart."""
    if setting == JUDGED:
        return Panel(name, title, runs.inputs(setting), rows, chart)
    suffix = f" (tR {FAST})"
    rows = [r | {"panel": r["panel"] + suffix} for r in rows]
    return Panel(name + suffix, title + f", tR {FAST}", runs.inputs(setting),
                 judge.in_setting(rows, f"tR {FAST}"), chart)


def _growth(runs: Runs, setting: Choice) -> Panel:
    series: dict[str, list[float | None]] = {}
    errors: dict[str, list[float | None]] = {}
    rows = []
    for name in TABLE:
        by_k = [runs.get(_mean, name, k, setting) for k in KS]
        series[name] = [judge.mean(v) for v in by_k]
        errors[name] = [judge.interval(v)[1] - judge.mean(v) for v in by_k]
        rows.append(runs.sweep(
            judge.claim("mean", f"{name}: least step",
                        runs.least_step(name, setting), 1, None,
                        source="Figure 1 and section III: the response"
                        " increases with the number of simultaneous writes",
                        why=_shares(runs, name, setting),
                        runs=runs.labels([name], setting, KS)),
            setting, partial(runs.least_step, name, sweep=True)))
    return _panel("mean", "Mean response grows with k (Figure 1)", runs,
                  setting, rows,
                  Chart([f"D{k}" for k in KS], series, "mean response, us",
                        lines=True, log=True, errors=errors))


def _chart(of: dict[str, list[float]], low: list[float | None],
           high: list[float | None]) -> Chart:
    return Chart(list(of), {"ours": [judge.mean(v) for v in of.values()]},
                 "D64 / D1", low=low, high=high,
                 errors={"ours": [judge.interval(v)[1] - judge.mean(v)
                                  for v in of.values()]})


def _below(of: dict[str, list[float]]) -> list[float]:
    """How far fin1 and fin2 are below the others, by seed."""
    fins = [max(v) for v in zip(*(of[n] for n in FINS))]
    others = [min(v) for v in zip(*(of[n] for n in TABLE if n not in FINS))]
    return [b - a for a, b in zip(fins, others)]


def _ratios(runs: Runs, setting: Choice) -> Panel:
    panel = "mean ratio"
    ratio = {n: runs.ratio(_mean, n, setting) for n in TABLE}
    text = "section III: D64 is 3.7-9.1 times D1"
    all_runs = runs.labels(TABLE, setting)
    rows = []
    for name in TABLE:
        row = judge.claim(panel, name, ratio[name], *MEAN, source=text,
                          why=_shares(runs, name, setting),
                          runs=runs.labels([name], setting))
        _explain_mean(runs, row, name, setting)
        rows.append(runs.sweep(row, setting, partial(runs.ratio, _mean, name,
                                                     sweep=True)))
    rows += judge.ends(panel, "the traces", ratio, *MEAN, source=text,
                       runs=all_runs)
    rows.append(judge.extreme(
        panel, "largest", ratio, "proj0", source="section III: more severe in"
        " proj0, where the average write is large", runs=all_runs))
    order = judge.claim(
        panel, "fin1 and fin2 below the others", _below(ratio), 0, None,
        text="difference above 0", source="section III: less in fin1 and"
        " fin2, where writes are small", runs=all_runs)
    _explain_order(runs, order, setting)
    rows.append(runs.sweep(order, setting, lambda c: _below(
        {n: runs.ratio(_mean, n, c, True) for n in TABLE})))
    return _panel(panel, "Mean response, D64 / D1 (Figure 1)", runs, setting,
                  rows, _chart(ratio, [MEAN[0]] * len(ratio),
                               [MEAN[1]] * len(ratio)))


def _tails(runs: Runs, setting: Choice) -> Panel:
    panel = "tail ratio"
    ratio = {n: runs.ratio(_tail, n, setting) for n in TABLE}
    bounds: dict[str, tuple[float | None, float]] = {
        n: (None, 1.0) if n == INVERTED else TAIL for n in TABLE}
    text = "section III: 2.4-4.8 times, except in prn0, where D1 is longer"
    rows = []
    for name in TABLE:
        slow = [judge.mean(runs.get(_tail, name, k, setting)) for k in ENDS]
        row = judge.claim(
            panel, name, ratio[name], *bounds[name], source=text,
            why=f"D1's tail is {slow[0]:.1f} ms, D64's {slow[1]:.1f} ms",
            runs=runs.labels([name], setting))
        _explain_tail(runs, row, name, setting)
        rows.append(runs.sweep(row, setting, partial(runs.ratio, _tail, name,
                                                     sweep=True)))
    others = {n: v for n, v in ratio.items() if n != INVERTED}
    rows += judge.ends(panel, "the traces but prn0", others, *TAIL,
                       source=text, runs=runs.labels(others, setting))
    return _panel(panel, "Mean of the slowest 0.01 %, D64 / D1 (Figure 2)",
                  runs, setting, rows,
                  _chart(ratio, [bounds[n][0] for n in TABLE],
                         [bounds[n][1] for n in TABLE]))


def _erased(runs: Runs, setting: Choice) -> Panel:
    rows = []
    for name in TABLE:
        rows.append(runs.sweep(
            judge.claim("erases", f"{name}: most / least",
                        runs.most_by_least(_erases, name, setting), None, EQUAL,
                        source="Figure 3: the count is similar",
                        why="a batch writes a page again that still waits in"
                        " the drive",
                        runs=runs.labels([name], setting, KS)),
            setting, partial(runs.most_by_least, _erases, name, sweep=True)))
    series: dict[str, list[float | None]] = {
        f"D{k}": [judge.mean(runs.get(_erases, n, k, setting)) for n in TABLE]
        for k in KS}
    return _panel("erases", "Blocks erased (Figure 3)", runs, setting, rows,
                  Chart(list(TABLE), series, "blocks erased"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 1 to 3 of the paper, with its tR and with 50 us."""
    runs = Runs(ctx)
    for setting in (JUDGED, SECOND):
        for panel in (_growth, _ratios, _tails, _erased):
            yield panel(runs, setting)
