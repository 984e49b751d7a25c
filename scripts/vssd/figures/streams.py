# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-streamed SSD (Kang et al., HotStorage 2014).

A size-tiered store writes to a drive that is 1/16 of the paper's, for 1/16 of
its 40 minutes: a minute here is 3.75 s.  Five series play the same writes:
without and with TRIM, and with three ways to give kinds of writes to streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..build import model
from ..paths import find_profile
from ..sim.run import Point, Result
from ..ui import Stage
from . import lsm
from .figure import Chart, Context, Curves, Panel, Row, band, row

TITLE = "The multi-streamed SSD (Kang 2014)"
PROFILE = "kang2014"
SEED = 2014
SCALE = 16  # of capacity and time
MINUTES = 40
MINUTE_S = 60 / SCALE
FRESH_BYTES_S = 182e6  # about the rate of the fresh drive: length of inputs
PAGE = 4096
IN_FLIGHT = 4  # log, flush, and two compactions
LATE = 0.25  # the last part of the run, of which levels are told
PERCENT = [99 + i / 10 for i in range(11)]


@dataclass(frozen=True)
class Mapping:
    """A series."""

    streams: tuple[int, ...]  # of lsm.KINDS
    trim: bool = True


OFF, ON, APP, LOG, DATA = SERIES = (
    "TRIM off", "TRIM on", "Multi-App", "Multi-Log", "Multi-Data")
MAPPINGS = {
    OFF: Mapping((0, 0, 0, 0, 0), trim=False),
    ON: Mapping((0, 0, 0, 0, 0)),
    APP: Mapping((0, 1, 1, 1, 1)),
    LOG: Mapping((0, 1, 2, 2, 2)),
    DATA: Mapping((0, 1, 2, 3, 4)),
}

# Our reading of the paper's words (its axes carry no numbers for the
# series): "a fraction", "far from ideal", "about the fresh level", "nearly none".
FRACTION = 0.6
FAR = 0.9
LEVEL = (0.9, 1.1)
NEARLY_NONE = 0.05
# 54 % less at 99.9 %; within 10 points.
TAIL = (0.36, 0.56)


@dataclass(frozen=True)
class Series:
    """The result of one."""

    waf: float
    rate: Any  # in each minute after the load
    fresh: float  # the same of a fresh drive
    written: Any  # pages of 4 KiB by the host, so far, at the end of each
    copied: Any  # and by GC
    tail_ms: list[float]  # latency that PERCENT of the writes do not exceed

    def level(self, minutes: int) -> float:
        """Throughput at the end, of the fresh drive's."""
        return float(np.mean(self.rate[late(minutes)])) / self.fresh

    def copies(self, minutes: int) -> float:
        """Pages that were copied for each that the host wrote, at the end."""
        part = late(minutes)
        return float(np.sum(np.diff(self.copied, prepend=0)[part])
                     / np.sum(np.diff(self.written, prepend=0)[part]))

    def tail(self, percent: float) -> float:
        """One of tail_ms."""
        return self.tail_ms[PERCENT.index(percent)]


def late(minutes: int) -> slice:
    """The minutes of which levels are told."""
    return slice(minutes - max(int(minutes * LATE), 1), minutes)


# ---- runs -----------------------------------------------------------------------


def _write(ctx: Context, minutes: int) -> tuple[lsm.Writer, dict[bool, Path]]:
    """Writes of the store, as traces with TRIM and without."""
    capacity = model.drive_info(find_profile(PROFILE), [])["capacity_bytes"]
    with Stage("streams: what the store writes"):
        writer = lsm.Writer(lsm.Store(), capacity, SEED)
        writer.load()
        writer.run(int(minutes * MINUTE_S * FRESH_BYTES_S))
        paths = {}
        for trim in (True, False):
            stem = "trim" if trim else "no-trim"
            paths[trim] = ctx.scratch / f"streams-{stem}.csv"
            lsm.save(writer, paths[trim], trim)
    return writer, paths


def _point(ctx: Context, name: str, trace: Path) -> Point:
    mapping = MAPPINGS[name]
    return Point(
        find_profile(PROFILE), trace=trace,
        sets=(f"streams.max={max(mapping.streams)}", f"seed={SEED}"),
        args=("--fill", "none", "--iodepth", str(IN_FLIGHT),
              "--stream-map", ",".join(map(str, mapping.streams)),
              "--series", str(MINUTE_S),
              "--csv", str(_commands(ctx, name))))


def _commands(ctx: Context, name: str) -> Path:
    return ctx.scratch / f"streams-{name.replace(' ', '-')}-commands.csv"


def _latency(path: Path, skip: int) -> list[float]:
    """Of writes, without the first `skip` commands: the latency that PERCENT
    of them do not exceed, in ms."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1 + skip, usecols=(1, 7),
                      dtype=[("op", "U5"), ("ns", "i8")])
    path.unlink()
    ns = np.sort(rows["ns"][rows["op"] == "write"])
    return [float(ns[int(np.ceil(len(ns) * p / 100)) - 1]) / 1e6
            for p in PERCENT]


def _series(ctx: Context, name: str, result: Result, loaded: int,
            loaded_bytes: int) -> Series:
    """Minutes are counted from the first that begins after the load; the last
    one is not whole."""
    s = result["series"]
    written = np.array(s["bytes_written"], dtype=float)
    first = int(np.searchsorted(np.cumsum(written), loaded_bytes)) + 1
    copied = np.cumsum(s["copied_units"])
    return Series(result["waf"], written[first:-1] / MINUTE_S,
                  float(np.mean(written[:first - 1])) / MINUTE_S,
                  np.cumsum(written[first:-1]) / PAGE,
                  copied[first:-1] - copied[first - 1],
                  _latency(_commands(ctx, name), loaded))


def _play(ctx: Context, minutes: int) \
        -> tuple[lsm.Writer, dict[str, Series]]:
    writer, traces = _write(ctx, minutes)
    points = {n: _point(ctx, n, traces[m.trim]) for n, m in MAPPINGS.items()}
    results = ctx.run("streams: runs of vssd-sim", points)
    return writer, {n: _series(ctx, n, results[n], writer.loaded,
                               writer.loaded_bytes) for n in SERIES}


# ---- panels ---------------------------------------------------------------------


def _inputs(writer: lsm.Writer) -> list[str]:
    c = writer.cfg
    total = sum(writer.written)
    shares = ", ".join(f"{k} {100 * w / total:.0f} %"
                       for k, w in zip(lsm.KINDS, writer.written))
    return [
        f"generated, seed {SEED}: {len(writer.op)} requests,"
        f" {total / 1e9:.1f} GB written ({shares}), of which"
        f" {writer.loaded_bytes / 1e9:.1f} GB are the load;"
        f" {c.records} records of {c.record_bytes} bytes, updates by Zipf"
        f" {c.theta}; memtable {c.memtable >> 20} MiB, merges of {c.tables}"
        f" tables; files of the system {100 * c.other:.0f} % of the drive; the"
        f" file system has {writer.least_free / 1e6:.0f} MB free at the least",
        f"drive: profile {PROFILE}, 1/{SCALE} of 60 GB; {IN_FLIGHT} requests in"
        f" flight; a minute is {MINUTE_S} s"]


def _x(minutes: int) -> list[str]:
    return [str(i + 1) for i in range(minutes)]


def _above(panel: str, name: str, than: str, levels: dict[str, float]) -> Row:
    return band(panel, f"{name} / {than}", levels[name] / levels[than], 1,
                None, f"{levels[name]:.3f} and {levels[than]:.3f} of the fresh"
                " level")


def throughput(series: dict[str, Series], minutes: int,
               inputs: list[str]) -> Panel:
    """Of each minute, and its data that is left at the end."""
    name = "throughput"
    levels = {n: s.level(minutes) for n, s in series.items()}
    why = {n: f"GC copies {s.copies(minutes):.3f} pages for each that"
           " is written in the last quarter" for n, s in series.items()}
    rows = [band(name, OFF, levels[OFF], None, FRACTION, why[OFF]),
            _above(name, ON, OFF, levels),
            band(name, ON, levels[ON], None, FAR, why[ON])]
    rows += [_above(name, n, than, levels)
             for than, n in zip(SERIES[1:], SERIES[2:])]
    rows.append(band(name, DATA, levels[DATA], *LEVEL, why[DATA]))
    rows += [row(name, f"{n}: WAF of the run", series[n].waf, "", None)
             for n in SERIES]
    curves: Curves = {n: [float(v) / s.fresh for v in s.rate[:minutes]]
              for n, s in series.items()}
    return Panel(name, "Throughput of writes, of the fresh drive's, over"
                 " minutes", inputs, rows,
                 Chart(_x(minutes), curves, "of the fresh drive", lines=True,
                       low=[LEVEL[0]] * minutes, high=[LEVEL[1]] * minutes))


def copies(series: dict[str, Series], minutes: int,
           inputs: list[str]) -> Panel:
    """At the end of the runs: after the same work."""
    name = "copies"
    copied = {n: float(s.copied[-1]) for n, s in series.items()}
    rows = []
    for than, n in zip(SERIES, SERIES[1:]):
        some = copied[than] > 0
        rows.append(band(
            name, f"{n} / {than}",
            copied[n] / copied[than] if some else None, None, 1,
            f"{copied[n]:.0f} and {copied[than]:.0f} pages" if some
            else "nothing is copied"))
    rows.append(band(name, f"{DATA} / {OFF}",
                     copied[DATA] / copied[OFF] if copied[OFF] else None,
                     None, NEARLY_NONE, f"{copied[DATA]:.0f} pages"))
    rows += [row(name, f"{n}: pages of 4 KiB", copied[n], "", None)
             for n in SERIES]
    curves: Curves = {n: [float(v) for v in s.copied[:minutes]]
              for n, s in series.items()}
    return Panel(name, "Pages that GC has copied, over minutes",
                 inputs, rows, Chart(_x(minutes), curves, "pages of 4 KiB",
                                     lines=True))


def tails(series: dict[str, Series], inputs: list[str], what: str,
          log: bool = False) -> Panel:
    """Latencies; `what` names their source."""
    name = "latency"
    tail = {n: s.tail(99.9) for n, s in series.items()}
    rows = [band(name, f"{DATA} / {ON} at 99.9 %", tail[DATA] / tail[ON],
                 *TAIL, f"{tail[DATA]:.2f} and {tail[ON]:.2f} ms, {what}"),
            row(name, f"{DATA} / {OFF} at 99.9 %", tail[DATA] / tail[OFF], "",
                None)]
    rows += [band(name, f"{n} / {than} at 99.9 %", tail[n] / tail[than], None,
                  1, f"{tail[n]:.2f} and {tail[than]:.2f} ms")
             for than, n in zip(SERIES[1:], SERIES[2:])]
    curves: dict[str, list[float | None]] = {
        n: list(s.tail_ms) for n, s in series.items()}
    return Panel(name, "Latency of writes that so many percent do not exceed",
                 inputs, rows,
                 Chart([f"{p:g}" for p in PERCENT], curves, "ms", lines=True,
                       log=log, low=[TAIL[0] * tail[ON] if p == 99.9 else None
                            for p in PERCENT],
                       high=[TAIL[1] * tail[ON] if p == 99.9 else None
                             for p in PERCENT]))


def panels(ctx: Context) -> Iterator[Panel]:
    """The figures of its results, in the model."""
    minutes = max(int(MINUTES * ctx.scale), 4)
    writer, series = _play(ctx, minutes)
    inputs = _inputs(writer)
    minutes = min(minutes, *(len(s.rate) for s in series.values()))
    yield throughput(series, minutes, inputs)
    yield copies(series, minutes, inputs)
    yield tails(series, inputs, "with all the requests in flight at the drive;"
                " the paper's are the store's own, 25 to 175 us")
