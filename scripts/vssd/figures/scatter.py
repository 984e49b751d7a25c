# SPDX-License-Identifier: GPL-2.0-or-later
"""Effects of scattering write request arrivals on SSD performance
(I. Shin, J. KIIT 16(7), 2018), Figures 1 to 3.

Base traces whose writes are re-timed: batches of 1..k writes at once, the mean
rate unchanged (section III); k = 1, 4, 16, 64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..paths import find_profile
from ..sim.run import Point, Result
from . import readers, standin
from . import traces as ft
from .figure import Chart, Context, Panel, Row, band, row
from .standin import Table

TITLE = "Scattering write arrivals (Shin 2018)"
KS = (1, 4, 16, 64)
# Completion at data-in is SSDSim's rule, and so the paper's; tR is as printed,
# while its other figures suggest 50 us.
MODES = {
    "data-in": ("host.complete_at=data-in",),
    "program": ("host.complete_at=program",),
    "data-in, tR 50 us": ("host.complete_at=data-in", "nand.read=50us"),
}
PAPER_MODE = "data-in"
MEAN = (3.7, 9.1)
TAIL = (2.4, 4.8)
EQUAL = 1.1  # "similar" of the paper's Figure 3, taken as within 10 %
SEED = 2018

# Table 1 (its inter-arrival times are seconds).  The footprint is not in it;
# with it, a drive of FLASH blocks per plane runs GC in every run.
MIB = 1 << 20
TABLE = {
    "hm0": Table(0.3273, 14.74, 16.67, 0.15, 4096, 1000 * MIB),
    "proj0": Table(0.0585, 35.68, 81.83, 0.14, 4096, 1000 * MIB),
    "prn0": Table(0.2221, 45.67, 23.31, 0.11, 4096, 1000 * MIB),
    "fin1": Table(0.154, 4.5, 7.45, 0.01, 512, 1000 * MIB),
    "fin2": Table(0.7846, 4.56, 5.84, 0.01, 512, 1000 * MIB),
}
REQUESTS = {"hm0": 200_000, "proj0": 100_000, "prn0": 200_000,
            "fin1": 300_000, "fin2": 900_000}
LEAST_BLOCKS = 128
PLANE_BLOCK = 2 * 2 * 4 * 4 * 128 * 4096  # one block on each plane
# The smaller drive cannot keep 10 % free; these are the nearest marks.
MARKS = ("ftl.gc_low=8.6%", "ftl.gc_high=9.3%")

Key = tuple[str, int, str]  # base, k, mode


def _base(ctx: Context, name: str) -> ft.Trace:
    trace = readers.find(ctx.traces, name, 1 - TABLE[name].read_count())
    if trace is None:
        trace = standin.generate(name, TABLE[name],
                                 ctx.length(REQUESTS[name]), SEED,
                                 readers.frequencies(ctx.traces, name))
    return ft.compact(trace)


def _blocks(trace: ft.Trace) -> int:
    """Blocks per plane of a drive that holds the trace, at 20 % of the raw
    capacity over-provisioned."""
    need = -(-ft.extent(trace) * 5 // 4 // PLANE_BLOCK)
    return max(LEAST_BLOCKS, int(need) + 1)


def _points(ctx: Context, bases: dict[str, ft.Trace]) -> dict[Key, Point]:
    profile = find_profile("shin2018")
    points = {}
    for name, trace in bases.items():
        blocks = f"nand.blocks={_blocks(trace)}"
        for k in KS:
            path = ctx.scratch / f"scatter-{name}-D{k}.csv"
            ft.write_msr(ft.retime(trace, k, SEED), path)
            for mode, sets in MODES.items():
                points[name, k, mode] = Point(
                    profile, trace=path, sets=(blocks, *MARKS, *sets))
    return points


def _mean(r: Result) -> float:
    return float(r["latency_ns"]["all"]["mean"]) / 1000


def _tail(r: Result) -> float:
    return float(r["latency_ns"]["all"]["tail_001pct_mean"]) / 1e6


def _erases(r: Result) -> int:
    return int(r["nand"]["erases"])


def _inputs(bases: dict[str, ft.Trace]) -> list[str]:
    return [f"{name}: {t.source}, {len(t)} requests,"
            f" {100 * t.write.mean():.0f} % writes, addresses compacted to"
            f" {ft.extent(t) / MIB:.0f} MiB, {_blocks(t)} blocks per plane"
            for name, t in bases.items()]


# ---- why ----------------------------------------------------------------------


def _shares(name: str, trace: ft.Trace, results: dict[Key, Result]) -> str:
    """The parts of the mean response of D1 and D64."""
    d1, d64 = (results[name, k, PAPER_MODE]["latency_ns"] for k in (1, 64))
    pages = float(trace.nbytes[trace.write].mean()) / ft.PAGE
    return (f"reads, {100 * (1 - trace.write.mean()):.0f} % of the requests,"
            f" take {d1['read']['mean'] / 1000:.0f} us whatever k is, and"
            f" writes of {pages:.1f} pages go from"
            f" {d1['write']['mean'] / 1000:.0f} to"
            f" {d64['write']['mean'] / 1000:.0f} us: a batch queues for two"
            " channels at 102 us a page")


def _why_tail(name: str, trace: ft.Trace, results: dict[Key, Result]) -> str:
    n = len(trace)
    text = f"the tail is the mean of {max(n // 10_000, 1)} requests"
    d1, d64 = (results[name, k, PAPER_MODE] for k in (1, 64))
    if _erases(d1):
        text += (f"; {d1['gc']['victims']} blocks were cleaned in D1 already,"
                 f" its slowest took"
                 f" {d1['latency_ns']['all']['max'] / 1e6:.1f} ms")
    else:
        text += "; nothing was cleaned, so D1's slowest waited for reads"
    return text + f", D64's {d64['latency_ns']['all']['max'] / 1e6:.1f} ms"


def _why_erases(name: str, results: dict[Key, Result]) -> str:
    d1, d64 = (results[name, k, PAPER_MODE] for k in (1, 64))
    hits = [r["buffer"]["hits"] for r in (d1, d64)]
    programs = [r["nand"]["by_cause"]["host"]["programs"] for r in (d1, d64)]
    return (f"the host's programs are {programs[0]} in D1 and {programs[1]} in"
            f" D64: a batch writes a page again that still waits in the"
            f" drive's buffer ({hits[0]} and {hits[1]} hits), and the paper's"
            " drive has none")


# ---- panels ---------------------------------------------------------------------


def _growth(bases: dict[str, ft.Trace], results: dict[Key, Result],
            mode: str) -> Panel:
    panel = "mean" if mode == PAPER_MODE else f"mean, {mode}"
    series: dict[str, list[float | None]] = {}
    rows = []
    for name in bases:
        means = [_mean(results[name, k, mode]) for k in KS]
        series[name] = list(means)
        least = min(b / a for a, b in zip(means, means[1:]))
        rows.append(band(panel, f"{name}: least step", least, 1, None,
                         "the mean falls as k grows"))
    return Panel(panel, f"Mean response grows with k (Figure 1; completion at"
                 f" {mode})", _inputs(bases), rows,
                 Chart([f"D{k}" for k in KS], series, "mean response, us",
                       lines=True, log=True))


def _beside(panel: str, names: list[str], ratio: dict[tuple[str, str], float],
            bounds: str) -> list[Row]:
    """The other modes: shown, not judged."""
    return [row(panel, f"{n}, {m}", ratio[n, m], bounds, None,
                "not what the paper has: shown beside it")
            for m in MODES if m != PAPER_MODE for n in names]


def _ratio_chart(names: list[str], ratio: dict[tuple[str, str], float],
                 lows: list[float | None], highs: list[float | None]) -> Chart:
    return Chart(names, {m: [ratio[n, m] for n in names]
                         for m in MODES}, "D64 / D1", low=lows, high=highs)


def _order(ratio: dict[tuple[str, str], float], names: list[str]) -> list[Row]:
    """The largest is proj0, the smallest are fin1 and fin2."""
    ours = {n: ratio[n, PAPER_MODE] for n in names}
    out = []
    if "proj0" in ours:
        top = max(ours, key=lambda n: ours[n])
        out.append(row("mean ratio", "largest", ours[top], "proj0",
                       top == "proj0", "" if top == "proj0"
                       else f"{top} is largest here"))
    fins = sorted(n for n in ours if n.startswith("fin"))
    if fins and len(fins) < len(ours):
        low = sorted(ours, key=lambda n: ours[n])[:len(fins)]
        same = sorted(low) == fins
        out.append(row("mean ratio", "smallest", ours[low[0]],
                       " and ".join(fins), same, "" if same else
                       " and ".join(low) + " are smallest here"))
    return out


def _ratios(bases: dict[str, ft.Trace], results: dict[Key, Result]) -> Panel:
    names = list(bases)
    ratio = {(n, m): _mean(results[n, 64, m]) / _mean(results[n, 1, m])
             for n in names for m in MODES}
    rows = [band("mean ratio", n, ratio[n, PAPER_MODE], *MEAN,
                 _shares(n, bases[n], results)) for n in names]
    rows += _order(ratio, names)
    rows += _beside("mean ratio", names, ratio, "3.7 to 9.1")
    return Panel("mean ratio", "Mean response, D64 / D1 (Figure 1)",
                 _inputs(bases), rows,
                 _ratio_chart(names, ratio, [MEAN[0]] * len(names),
                              [MEAN[1]] * len(names)))


def _tails(bases: dict[str, ft.Trace], results: dict[Key, Result]) -> Panel:
    names = list(bases)
    ratio = {(n, m): _tail(results[n, 64, m]) / _tail(results[n, 1, m])
             for n in names for m in MODES}
    bounds: dict[str, tuple[float | None, float]] = {
        n: (None, 1.0) if n == "prn0" else TAIL for n in names}
    rows = [band("tail ratio", n, ratio[n, PAPER_MODE], *bounds[n],
                 _why_tail(n, bases[n], results)) for n in names]
    rows += _beside("tail ratio", names, ratio, "")
    return Panel("tail ratio", "Mean of the slowest 0.01 %, D64 / D1"
                 " (Figure 2)", _inputs(bases), rows,
                 _ratio_chart(names, ratio, [bounds[n][0] for n in names],
                              [bounds[n][1] for n in names]))


def _erased(bases: dict[str, ft.Trace], results: dict[Key, Result]) -> Panel:
    names = list(bases)
    rows: list[Row] = []
    for n in names:
        counts = [_erases(results[n, k, PAPER_MODE]) for k in KS]
        point = f"{n}: most / least"
        if min(counts) == 0:
            rows.append(band("erases", point, None, 1, EQUAL,
                             "the input is too short to erase a block"))
        else:
            rows.append(band("erases", point, max(counts) / min(counts), 1,
                             EQUAL, _why_erases(n, results)))
    series: dict[str, list[float | None]] = {
        f"D{k}": [_erases(results[n, k, PAPER_MODE]) for n in names]
        for k in KS}
    return Panel("erases", "Blocks erased (Figure 3)", _inputs(bases), rows,
                 Chart(names, series, "blocks erased"))


def panels(ctx: Context) -> Iterator[Panel]:
    """Figures 1 to 3 of the paper."""
    bases: dict[str, Any] = {name: _base(ctx, name) for name in TABLE}
    results = ctx.run("scatter: runs of vssd-sim", _points(ctx, bases))
    for mode in MODES:
        yield _growth(bases, results, mode)
    yield _ratios(bases, results)
    yield _tails(bases, results)
    yield _erased(bases, results)
