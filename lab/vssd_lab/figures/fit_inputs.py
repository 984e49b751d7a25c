# SPDX-License-Identifier: GPL-2.0-or-later
"""Fit the shapes of volumes to excerpts, and keep the curves of other excerpts
that they are checked on:

    PYTHONPATH=scripts:lab python -m vssd_lab.figures.fit_inputs DIR [--list]

DIR is a folder of traces as of --traces.  Writes shapes.json and, for the
tests, tests/lab/inputs_heldout.json; with --list, only describes each file
of DIR.  Needs numpy.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vssd.errors import UserError
from vssd.paths import PROJECT

from . import measure, readers
from .shapes import Arrivals, Kind, Pairs, Reuse, Runs, Shape, Sizes, save
from .standin import Table, arrivals, counted, made, zones
from .traces import PAGE, SECTOR, Trace, part

HELD_OUT = PROJECT / "tests/lab/inputs_heldout.json"
BLOCK = 10_000  # requests
DEEPEST = 4096  # of the stack
SEEDS = 6  # of the b-models that b is found by
PEAK_LEAST = 16  # requests
PEAK_WINDOWS = 8  # of so many requests, in an excerpt
FEWEST = 200  # requests of a kind that a part is fitted to
MOST_LISTED = 20_000  # requests that --list counts pages of
COARSE_S = 300
MOST_SIZES, LEAST_SHARE = 48, 1e-4  # the most frequent ones


@dataclass(frozen=True)
class Excerpt:
    """A part of a file: requests begin to end - 1."""

    file: str
    begin: int = 0
    end: int = 0  # 0: the last
    rounded: bool = False  # its sizes are not exact

    def text(self) -> str:
        """For the reader."""
        return self.file + (f" [{self.begin}..{self.end}]" if self.end else "")


def blocks(file: str, n: int, odd: bool, rounded: bool = False) \
        -> tuple[Excerpt, ...]:
    """Every other 10,000 requests of the first n: volumes change with the
    time, and so both a fit and its check need parts of all times."""
    return tuple(Excerpt(file, i, i + BLOCK, rounded)
                 for i in range(BLOCK if odd else 0, n, 2 * BLOCK))


@dataclass(frozen=True)
class Recipe:
    """What a volume is fitted to, and what it is checked on.  Parts for which
    there is no excerpt come from another volume."""

    fit: tuple[Excerpt, ...] = ()
    check: tuple[Excerpt, ...] = ()
    other: str = ""
    sizes: bool = True  # False: they are the other volume's
    busiest: tuple[Excerpt, ...] = ()  # a week's: peaks of the rate only
    counts: str = ""  # volume of lba_freq: popularity of the writes
    footprint_mib: int = 1000  # of the check


HM0_20_80 = "heimdall_msr.cut.per_10k.rw_20_80.105.trace"
HM0_40_60 = "heimdall_msr.cut.per_10k.rw_40_60.1370.trace"
# Which 10,000 requests of the week come fastest, as a third party chose.
HM0_BUSIEST = "heimdall_msr.cut.per_10k.most_thpt_rand_iops.1006.trace"
HM0_FIRST = "caffeine_msr-cambridge1-sample.csv"
FIN1, WEB1 = "leokang_fin1.trace", "leokang_web1.trace"
PRN0 = "szu_prn_0_mangled.csv"
RECIPES = {
    "hm0": Recipe((Excerpt("tupdateb_hm_0.csv"), Excerpt(HM0_20_80)),
                  (Excerpt(HM0_40_60), Excerpt(HM0_FIRST)),
                  busiest=(Excerpt(HM0_BUSIEST),), counts="hm0",
                  footprint_mib=2384),
    "proj0": Recipe((Excerpt("tupdateb_proj_0.csv", 0, 500),),
                    (Excerpt("tupdateb_proj_0.csv", 500, 1000),), "hm0",
                    # Its largest, 24 KiB, is below the week's mean.
                    sizes=False, footprint_mib=3119),
    "prn0": Recipe(blocks(PRN0, 96_568, False), blocks(PRN0, 96_568, True),
                   "hm0", footprint_mib=14210),
    "prxy0": Recipe(other="hm0", counts="prxy0"),
    "web0": Recipe(other="hm0", counts="web0"),
    "fin1": Recipe((Excerpt("ssdsim_example.ascii", 0, 6000),
                    *blocks(FIN1, 50_000, False, True)[1:]),
                   (Excerpt("ssdsim_example.ascii", 6000, 10_000),
                    *blocks(FIN1, 50_000, True, True))),
    "fin2": Recipe(other="fin1"),
    "web1": Recipe(blocks(WEB1, 50_000, False), blocks(WEB1, 50_000, True),
                   footprint_mib=16000),
    "web2": Recipe(other="web1"),
}


# ---- excerpts -------------------------------------------------------------------


def excerpt(folder: Path, one: Excerpt) -> Trace:
    """The requests of an excerpt."""
    found = readers.named(folder, one.file)
    if not found:
        raise UserError(f"{folder}: no {one.file}")
    trace = readers.read(found[0])
    lacks = trace.lacks + (("sizes",) if one.rounded else ())
    return replace(part(trace, one.begin, one.end or len(trace)),
                   source=one.text(), lacks=lacks)


def _mine(trace: Trace, write: bool) -> Trace:
    """The requests of one kind."""
    rows = np.flatnonzero(trace.write == write)
    return replace(trace, at_ns=trace.at_ns[rows], write=trace.write[rows],
                   offset=trace.offset[rows], nbytes=trace.nbytes[rows])


def _source(traces: list[Trace]) -> str:
    return " and ".join(t.source for t in traces)


# ---- parts -----------------------------------------------------------------------


def fit_peaks(traces: list[Trace], busiest: list[Trace]) -> Pairs:
    """The least time of 16, 64, ... requests.  An excerpt that is not the
    busiest of a week tells only of few requests."""
    out: list[tuple[float, float]] = []
    k = PEAK_LEAST
    while True:
        good = [t for t in traces if len(t) >= PEAK_WINDOWS * k] \
            + [t for t in busiest if len(t) > k]
        if not good:
            return tuple(out)
        out.append((float(k), float(min(
            int((t.at_ns[k:] - t.at_ns[:-k]).min()) for t in good))))
        k *= 4


def _bias(wanted: float, n: int, span: int, given: Arrivals) -> float:
    """The b of a b-model whose entropy plot measures as the excerpt's."""
    low, high = 0.5, 0.99
    for _ in range(12):
        b = (low + high) / 2
        model = replace(given, bias=b)
        got = np.mean([measure.bias(arrivals(np.random.default_rng(s), n,
                                             span, model))
                       for s in range(SEEDS)])
        low, high = (b, high) if got < wanted else (low, b)
    return round((low + high) / 2, 3)


def fit_arrivals(traces: list[Trace], busiest: list[Trace]) \
        -> Arrivals | None:
    """The mean over the excerpts, by their requests; the peaks of the busiest
    excerpts, too."""
    good = [t for t in traces if "times" not in t.lacks
            and len(t) >= FEWEST]
    if not good:
        return None
    measured, fitted, finest = [], [], []
    peaks = fit_peaks(good, busiest)
    for t in good:
        gap = np.diff(t.at_ns)
        finest.append(max(int(np.quantile(gap[gap > 0], 0.05)), 1))
        measured.append(measure.bias(t.at_ns))
        fitted.append(_bias(measured[-1], len(t),
                            int(t.at_ns[-1] - t.at_ns[0]),
                            Arrivals(0.5, finest[-1], 0, peaks, "")))
    weight = [len(t) for t in good]
    return Arrivals(round(float(np.average(fitted, weights=weight)), 3),
                    min(finest),
                    round(float(np.average(measured, weights=weight)), 3),
                    peaks, _source(good))


def fit_sizes(traces: list[Trace]) -> Sizes | None:
    """Shares of the sizes, and how often a size is the last one again beyond
    what the shares imply."""
    good = [t for t in traces if "sizes" not in t.lacks
            and len(t) >= FEWEST]
    if not good:
        return None
    count = Counter(int(-(-b // SECTOR)) for t in good
                    for b in t.nbytes.tolist())
    kept = sorted(count.most_common(MOST_SIZES))
    total = sum(c for _, c in kept)
    kept = [(s, c) for s, c in kept if c / total > LEAST_SHARE]
    again = float(np.average([np.mean(t.nbytes[1:] == t.nbytes[:-1])
                              for t in good], weights=[len(t) for t in good]))
    chance = sum((c / total) ** 2 for _, c in kept)
    stay = max(again - chance, 0) / max(1 - chance, 1e-9)
    return Sizes(tuple((s, round(c / total, 5)) for s, c in kept),
                 round(stay, 3), _source(good))


def fit_runs(traces: list[Trace]) -> Runs | None:
    """Of the first and of the later requests of runs, the shares that another
    one continues, and how soon."""
    good = [t for t in traces if "sizes" not in t.lacks
            and len(t) >= FEWEST]
    if not good:
        return None
    first, more, lag = [], [], []
    for t in good:
        before = measure.continued(t.offset, t.nbytes)
        later = before >= 0
        goes_on = np.zeros(len(t), bool)
        goes_on[before[later]] = True
        first.append(~later)
        more.append(goes_on)
        lag.append(np.flatnonzero(later) - before[later])
    one, goes_on = np.concatenate(first), np.concatenate(more)
    lags = np.concatenate(lag)

    def mean(values: Any, default: float) -> float:
        return round(float(values.mean()) if len(values) else default, 3)

    return Runs(mean(goes_on[one], 0), mean(goes_on[~one], 0),
                min(mean(lags == 1, 1), 0.999), mean(lags[lags > 1], 2),
                _source(good))


@dataclass(frozen=True)
class Starts:
    """The first requests of the runs of an excerpt, in order of time."""

    offset: Any
    write: Any
    distance: Any  # LRU stack distance among reads and writes


def starts(trace: Trace) -> Starts:
    """A request that continues an earlier one of its kind is no first one."""
    first = np.ones(len(trace), bool)
    if "sizes" not in trace.lacks:
        for kind in (False, True):
            mine = np.flatnonzero(trace.write == kind)
            first[mine] = measure.continued(trace.offset[mine],
                                            trace.nbytes[mine]) < 0
    return Starts(trace.offset[first], trace.write[first],
                  measure.stack_distances(trace.offset[first]))


def near(excerpts: list[Starts], write: bool, depth: int) \
        -> tuple[float, ...]:
    """Shares of the stack distances 1, 2, to 4, ... depth: the product-limit
    estimate (E. Kaplan, P. Meier, J. Am. Stat. Assoc. 53(282), 1958), in which
    a first touch says no more than that the distance is larger than the number
    of places so far."""
    left, out = 1.0, []
    for k in range(depth.bit_length()):
        low, high = (1 << k) // 2, 1 << k  # low < distance <= high
        events = at_risk = 0
        for s in excerpts:
            cold = s.distance == measure.COLD
            seen = np.where(cold, np.cumsum(cold) - 1, s.distance)
            hit = (s.distance > low) & (s.distance <= high)
            events += int((hit & (s.write == write)).sum())
            at_risk += int(((hit | (seen >= high)) & (s.write == write)).sum())
        share = left * events / max(at_risk, 1)
        out.append(round(share, 5))
        left -= share
    return tuple(out)


def fit_reuse(traces: list[Trace], write: bool) -> Reuse | None:
    """Stack distances and popularity of the runs' first offsets.  The share of
    unseen places is that of the places seen once (I. J. Good, Biometrika
    40(3), 1953)."""
    good = [t for t in traces if (t.write == write).sum() >= FEWEST]
    if not good:
        return None
    excerpts = [starts(t) for t in good]
    most = max(int((s.distance == measure.COLD).sum()) for s in excerpts)
    depth = min(1 << max(most // 2, 1).bit_length() - 1, DEEPEST)
    count = np.unique(np.concatenate([s.offset[s.write == write]
                                      for s in excerpts]),
                      return_counts=True)[1]
    unseen = float((count == 1).sum() / count.sum())
    return Reuse(near(excerpts, write, depth), zones(count, unseen),
                 _source(good), _source(good))


# ---- volumes ---------------------------------------------------------------------


def _kind(traces: list[Trace], busiest: list[Trace], write: bool,
          other: Kind | None) -> Kind:
    """A kind of a volume; parts without an excerpt are the other's."""
    mine = [_mine(t, write) for t in traces]
    a = fit_arrivals(mine, [_mine(t, write) for t in busiest])
    s = fit_sizes(mine)
    r, u = fit_runs(mine), fit_reuse(traces, write)
    if a and other:
        more = other.arrivals.peaks[len(a.peaks):]
        a = replace(a, peaks=a.peaks + more)
    if other:
        a, s = a or other.arrivals, s or other.sizes
        r, u = r or other.runs, u or other.reuse
    if not (a and s and r and u):
        raise UserError("fit_inputs: too few requests, and no other volume")
    return Kind(a, s, r, u)


def fit(folder: Path, recipe: Recipe, done: dict[str, Shape]) -> Shape:
    """The shape of a volume."""
    traces = [excerpt(folder, e) for e in recipe.fit]
    busiest = [excerpt(folder, e) for e in recipe.busiest]
    other = done.get(recipe.other)
    # WebSearch hardly writes: its writes are like its reads.
    read = _kind(traces, busiest, False, other.read if other else None)
    write = _kind(traces, busiest, True,
                  other.write if other else read)
    if other and not recipe.sizes:
        read = replace(read, sizes=other.read.sizes)
        write = replace(write, sizes=other.write.sizes)
    shape = Shape(read, write)
    counts = readers.frequencies(folder, recipe.counts)
    if counts is None:
        return shape
    return counted(shape, counts, f"lba_freq_{recipe.counts}")


def table_of(trace: Trace, footprint: int) -> Table:
    """A trace's own means, in place of a paper's."""
    read, write = (trace.nbytes[trace.write == k] for k in (False, True))
    total = float(trace.nbytes.sum())
    span = float(trace.at_ns[-1] - trace.at_ns[0]) / 1e9
    return Table(float(read.sum()) / total,
                 float(read.mean()) / SECTOR if len(read) else 8.0,
                 float(write.mean()) / SECTOR if len(write) else 8.0,
                 max(span / len(trace), 1e-9),
                 PAGE if "sizes" in trace.lacks else SECTOR, footprint)


def stand_in(shape: Shape, held: dict[str, Any], seed: int) -> Trace:
    """As long as an excerpt, with its means."""
    if "sizes" in held["lacks"]:
        shape = replace(shape, **{
            name: replace(getattr(shape, name), runs=Runs(0, 0, 0.999, 2, ""))
            for name in ("read", "write")})
    trace = made("", shape, Table(**held["table"]), held["requests"], seed)
    return replace(trace, lacks=tuple(held["lacks"]))


def held_out(folder: Path, recipe: Recipe) -> list[dict[str, Any]]:
    """Means and curves of the excerpts that were not fitted."""
    out = []
    for e in recipe.check:
        trace = excerpt(folder, e)
        table = table_of(trace, recipe.footprint_mib << 20)
        out.append({"source": trace.source, "requests": len(trace),
                    "lacks": list(trace.lacks), "table": vars(table),
                    "curves": measure.curves(trace)})
    return out


def _short(value: Any) -> Any:
    """Numbers with five digits."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {k: _short(v) for k, v in value.items()}
    return [_short(v) for v in value] if isinstance(value, list) else value


def described(path: Path) -> str:
    """One line about a file of traces."""
    t = readers.read(path)
    words = [f"{len(t)} requests", f"{100 * float(t.write.mean()):.0f} % writes",
             f"{measure.working_set(measure.pages(t, MOST_LISTED), 1)[0]:.2f}"
             " new pages per page"]
    if "times" not in t.lacks:
        words.insert(1, f"{float(t.at_ns[-1]) / 1e9:.1f} s")
        for name, write in (("reads", False), ("writes", True)):
            mine = t.at_ns[t.write == write]
            if len(mine) >= FEWEST:
                words.append(f"b of {name} {measure.bias(mine):.2f}")
        coarse = measure.bias_above(t.at_ns, COARSE_S)
        if coarse:
            words.append(f"b over {COARSE_S} s and more {coarse:.2f}")
    words += [f"no {name}" for name in t.lacks]
    return f"{readers.plain_name(path)}: " + ", ".join(words)


def fit_all(folder: Path) -> None:
    """Write both files."""
    shapes: dict[str, Shape] = {}
    checks = {}
    for name, recipe in RECIPES.items():
        shapes[name] = fit(folder, recipe, shapes)
        if recipe.check:
            checks[name] = _short(held_out(folder, recipe))
        print(f"{name}: fitted", flush=True)
    save(shapes)
    HELD_OUT.write_text(json.dumps(checks, indent=1) + "\n", encoding="ascii")


def main(argv: list[str] | None = None) -> None:
    """python -m vssd_lab.figures.fit_inputs"""
    p = argparse.ArgumentParser(prog="fit_inputs")
    p.add_argument("traces", type=Path, metavar="DIR")
    p.add_argument("--list", action="store_true",
                   help="describe each file, and write nothing")
    args = p.parse_args(argv)
    if not args.traces.is_dir():
        raise UserError(f"{args.traces}: no such folder")
    if args.list:
        for path in readers.files(args.traces):
            print(described(path), flush=True)
    else:
        fit_all(args.traces)


if __name__ == "__main__":
    try:
        main()
    except UserError as e:
        raise SystemExit(f"fit_inputs: {e}") from e
