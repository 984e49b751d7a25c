# SPDX-License-Identifier: GPL-2.0-or-later
"""Effects of scattering write request arrivals on SSD performance
(I. Shin, J. KIIT 16(7), 2018), Figures 1 to 3.

Base traces whose writes are re-timed: batches of 1..k writes at once, the mean
rate unchanged (section III); k = 1, 4, 16, 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from vssd.sim.run import Result

from . import judge, ssdsim
from . import traces as ft
from .figure import Chart, Context, Panel
from .judge import Row
from .scatter_runs import (
    JUDGED,
    KS,
    PARAMETERS,
    SEED,
    SWEEP,
    TABLE,
    USED,
    Choice,
    Key,
    Plan,
    Results,
    choices,
)

TITLE = "Scattering write arrivals (Shin 2018)"
MEAN = (3.7, 9.1)
TAIL = (2.4, 4.8)
EQUAL = 1.1  # "similar" of the paper's Figure 3: the paper's wording plus 10 %
INVERTED = "prn0"  # whose tail is longer in D1
FINS = ("fin1", "fin2")
MIB = 1 << 20

Measure = Callable[[Result], float]


def _mean(r: Result) -> float:
    return float(r["latency_ns"]["all"]["mean"]) / 1000


def _tail(r: Result) -> float:
    return float(r["latency_ns"]["all"]["tail_001pct_mean"]) / 1e6


def _erases(r: Result) -> float:
    return float(r["nand"]["erases"])


class Runs:
    """The judged runs and those of the sweep."""

    def __init__(self, ctx: Context) -> None:
        self.plan = Plan(ctx, "judged", 1.0, ctx.seeds(SEED), [JUDGED])
        self.results = self.plan.run()
        self.seeds = ctx.seeds(SEED)
        self.swept: Results = {}
        if ctx.sweeps:
            more = Plan(ctx, "sweep", SWEEP, [SEED], [JUDGED, *choices()])
            self.swept = more.run()

    def get(self, of: Measure, name: str, k: int,
            choice: Choice = JUDGED, sweep: bool = False) -> list[float]:
        """By seed."""
        if sweep:
            return [of(self.swept[name, k, SEED, choice, True])]
        return [of(self.results[name, k, s, choice, False])
                for s in self.seeds]

    def labels(self, names: Iterable[str], ks: Iterable[int] = (1, 64)) \
            -> list[Key]:
        """Of the judged runs."""
        return [(n, k, s, JUDGED, False) for n in names for k in ks
                for s in self.seeds]

    def ratio(self, of: Measure, name: str, choice: Choice = JUDGED,
              sweep: bool = False) -> list[float]:
        """D64 / D1, by seed."""
        return [b / max(a, 1e-9) for a, b in zip(
            self.get(of, name, 1, choice, sweep),
            self.get(of, name, 64, choice, sweep))]

    def most_by_least(self, of: Measure, name: str, choice: Choice = JUDGED,
                      sweep: bool = False) -> list[float]:
        """The largest over the smallest of D1 to D64, by seed."""
        by_k = [self.get(of, name, k, choice, sweep) for k in KS]
        return [max(v) / min(v) for v in zip(*by_k) if min(v) > 0]

    def sweep(self, row: Row, get: Callable[[Choice], list[float]]) -> Row:
        """Add each parameter's sweep to a claim."""
        if self.swept:
            for parameter, values in PARAMETERS.items():
                judge.swept(row, parameter, {
                    v: get(JUDGED if v == USED[parameter]
                           else Choice(parameter, v)) for v in values},
                    USED[parameter])
        return row

    def inputs(self) -> list[str]:
        """For the reader: those of the first seed."""
        out = [f"{name}: {t.source}, {len(t)} requests,"
               f" {100 * t.write.mean():.0f} % writes,"
               f" {ft.extent(t) / MIB:.0f} MiB of addresses,"
               f" {self.plan.blocks} blocks per plane"
               for (name, seed, _), t in self.plan.traces.items()
               if seed == SEED]
        out += ["open in the paper: " + ", ".join(
                    f"{p} {v}" for p, v in USED.items()),
                f"{ssdsim.CHOSEN}, an aged drive"]
        if self.swept:
            out.append(f"sweeps: one seed, {SWEEP:g} of requests, addresses and"
                       " blocks")
        return out


# ---- why ----------------------------------------------------------------------


def _tested(runs: Runs, row: Row, of: Measure, name: str, choice: Choice,
            text: str, low: float | None, high: float | None) -> None:
    """Test why a claim deviates by a run of the sweep."""
    if runs.swept and row["verdict"] in (judge.DEVIATES, judge.UNSTABLE):
        judge.because(row, text, f"the sweep's run with {choice.text()}",
                      runs.ratio(of, name, choice, True), low, high)


def _shares(runs: Runs, name: str) -> str:
    """The parts of the mean response of D1 and D64."""
    def us(kind: str, k: int) -> float:
        return judge.mean(runs.get(
            lambda r: float(r["latency_ns"][kind]["mean"]) / 1000, name, k))

    return (f"reads take {us('read', 1):.0f} us in D1 and"
            f" {us('read', 64):.0f} in D64, writes {us('write', 1):.0f} and"
            f" {us('write', 64):.0f}")


def _explain(runs: Runs, row: Row, of: Measure, name: str) -> None:
    """The hypothesis that fits the side on which a ratio deviates."""
    if row["ours"] is None:
        return
    if row["low"] is not None and row["ours"] < row["low"]:
        _tested(runs, row, of, name, Choice("b of the reads", "0.5"),
                "bursts of the stand-in's reads, which D1 and D64 share, are"
                " most of the response; reads that come like Poisson's bring"
                " the ratio up", row["low"], None)
    elif row["high"] is not None and row["ours"] > row["high"]:
        _tested(runs, row, of, name, Choice("chip", "dies apart"),
                "a chip locked as a whole makes a batch wait; dies that work"
                " apart bring the ratio down", None, row["high"])


# ---- panels ---------------------------------------------------------------------


def _growth(runs: Runs) -> Panel:
    series: dict[str, list[float | None]] = {}
    errors: dict[str, list[float | None]] = {}
    rows = []
    for name in TABLE:
        by_k = [runs.get(_mean, name, k) for k in KS]
        series[name] = [judge.mean(v) for v in by_k]
        errors[name] = [judge.interval(v)[1] - judge.mean(v) for v in by_k]
        steps = [min(b / a for a, b in zip(v, v[1:])) for v in zip(*by_k)]
        rows.append(runs.sweep(
            judge.claim("mean", f"{name}: least step", steps, 1, None,
                        source="Figure 1 and section III: the response"
                        " increases with the number of simultaneous writes",
                        why=_shares(runs, name),
                        runs=runs.labels([name], KS)),
            partial(_steps, runs, name)))
    return Panel("mean", "Mean response grows with k (Figure 1)",
                 runs.inputs(), rows,
                 Chart([f"D{k}" for k in KS], series, "mean response, us",
                       lines=True, log=True, errors=errors))


def _steps(runs: Runs, name: str, choice: Choice) -> list[float]:
    by_k = [runs.get(_mean, name, k, choice, True)[0] for k in KS]
    return [min(b / a for a, b in zip(by_k, by_k[1:]))]


def _swept_ratio(runs: Runs, of: Measure, name: str, choice: Choice) \
        -> list[float]:
    return runs.ratio(of, name, choice, True)


def _swept_erases(runs: Runs, name: str, choice: Choice) -> list[float]:
    return runs.most_by_least(_erases, name, choice, True)


def _chart(of: dict[str, list[float]], low: list[float | None],
           high: list[float | None]) -> Chart:
    return Chart(list(of), {"ours": [judge.mean(v) for v in of.values()]},
                 "D64 / D1", low=low, high=high,
                 errors={"ours": [judge.interval(v)[1] - judge.mean(v)
                                  for v in of.values()]})


def _ends(runs: Runs, panel: str, of: dict[str, list[float]],
          bounds: tuple[float, float], source: str) -> list[Row]:
    """The range that the paper gives has these ends."""
    out = []
    for word, pick, end in (("least", min, bounds[0]), ("most", max,
                                                        bounds[1])):
        out.append(judge.claim(
            panel, f"{word} of the traces", [pick(v) for v in
                                             zip(*of.values())],
            *judge.about(end), source=source, text=f"{end:g}",
            runs=runs.labels(of)))
    return out


def _modes(runs: Runs, panel: str, of: Measure) -> list[Row]:
    """Other settings beside the judged one."""
    out = []
    for choice in (Choice("completion", "data-in"), Choice("tR", "50 us"),
                   Choice("b of the reads", "fitted")):
        for name in TABLE if runs.swept else ():
            out.append(judge.shown(
                panel, f"{name}, {choice.text()}",
                runs.ratio(of, name, choice, True), "a run of the sweep"))
    return out


def _ratios(runs: Runs) -> Panel:
    panel = "mean ratio"
    ratio = {n: runs.ratio(_mean, n) for n in TABLE}
    text = "section III: D64 is 3.7-9.1 times D1"
    rows = []
    for name in TABLE:
        row = judge.claim(panel, name, ratio[name], *MEAN, source=text,
                          why=_shares(runs, name), runs=runs.labels([name]))
        _explain(runs, row, _mean, name)
        rows.append(runs.sweep(row, partial(_swept_ratio, runs, _mean, name)))
    rows += _ends(runs, panel, ratio, MEAN, text)
    rows.append(judge.extreme(
        panel, "largest", ratio, "proj0", source="section III: more severe in"
        " proj0, where the average write is large", runs=runs.labels(TABLE)))
    fins = [max(v) for v in zip(*(ratio[n] for n in FINS))]
    others = [min(v) for v in zip(*(ratio[n] for n in TABLE
                                    if n not in FINS))]
    rows.append(judge.order(
        panel, "fin1 and fin2 below the others", fins, others,
        source="section III: less in fin1 and fin2, where writes are small",
        runs=runs.labels(TABLE)))
    return Panel(panel, "Mean response, D64 / D1 (Figure 1)", runs.inputs(),
                 rows + _modes(runs, panel, _mean),
                 _chart(ratio, [MEAN[0]] * len(ratio),
                        [MEAN[1]] * len(ratio)))


def _tails(runs: Runs) -> Panel:
    panel = "tail ratio"
    ratio = {n: runs.ratio(_tail, n) for n in TABLE}
    bounds: dict[str, tuple[float | None, float]] = {
        n: (None, 1.0) if n == INVERTED else TAIL for n in TABLE}
    text = "section III: 2.4-4.8 times, except in prn0, where D1 is longer"
    rows = []
    for name in TABLE:
        slow = judge.mean(runs.get(_tail, name, 1))
        row = judge.claim(
            panel, name, ratio[name], *bounds[name], source=text,
            why=f"D1's tail is {slow:.1f} ms, D64's"
            f" {judge.mean(runs.get(_tail, name, 64)):.1f} ms",
            runs=runs.labels([name]))
        _explain(runs, row, _tail, name)
        rows.append(runs.sweep(row, partial(_swept_ratio, runs, _tail, name)))
    rows += _ends(runs, panel, {n: v for n, v in ratio.items()
                                if n != INVERTED}, TAIL, text)
    return Panel(panel, "Mean of the slowest 0.01 %, D64 / D1 (Figure 2)",
                 runs.inputs(), rows + _modes(runs, panel, _tail),
                 _chart(ratio, [bounds[n][0] for n in TABLE],
                        [bounds[n][1] for n in TABLE]))


def _erased(runs: Runs) -> Panel:
    rows = []
    for name in TABLE:
        rows.append(runs.sweep(
            judge.claim("erases", f"{name}: most / least",
                        runs.most_by_least(_erases, name), 1, EQUAL,
                        source="Figure 3: the count is similar",
                        why="a batch writes a page again that still waits in"
                        " the drive", runs=runs.labels([name], KS)),
            partial(_swept_erases, runs, name)))
    series: dict[str, list[float | None]] = {
        f"D{k}": [judge.mean(runs.get(_erases, n, k)) for n in TABLE]
        for k in KS}
    return Panel("erases", "Blocks erased (Figure 3)", runs.inputs(), rows,
                 Chart(list(TABLE), series, "blocks erased"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 1 to 3 of the paper."""
    runs = Runs(ctx)
    yield _growth(runs)
    yield _ratios(runs)
    yield _tails(runs)
    yield _erased(runs)
