# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of the buffer figures: real traces where there are some, else
stand-ins with the means of Table 1 of I. Shin, Micromachines 14:796, 2023.

Knows the table, traces and how large they are; knows nothing of policies.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from vssd.ui import Stage

from . import readers, standin
from . import traces as ft
from .figure import Context
from .shapes import Kind, Shape, load
from .standin import Table

PAGE = 8192  # of the drive, and the unit of its map
SECTOR = 512
MB = 1_000_000
SEED = 2023
# Whole weeks are played, on so much of their requests and addresses.
WEEK = 0.03
# A real trace that touches less of its volume than this is an excerpt.
WHOLE = 0.5
GRAIN = 4096  # of sizes and addresses


@dataclass(frozen=True)
class Row:
    """A line of Table 1."""

    read_gb: float
    written_gb: float
    accessed_gb: float
    read_sectors: float
    write_sectors: float
    interval_s: float

    def requests(self) -> int:
        """Of the whole week."""
        return round((self.read_gb / self.read_sectors
                      + self.written_gb / self.write_sectors) * 1e9 / SECTOR)

    def table(self, scale: float) -> Table:
        """For a stand-in on so much of the addresses."""
        return Table(self.read_gb / (self.read_gb + self.written_gb),
                     self.read_sectors, self.write_sectors, self.interval_s,
                     GRAIN, int(self.accessed_gb * scale * 1e9) // PAGE * PAGE,
                     scale)


# The table's sizes of prxy0 fit its other columns.  The mix is its four merged
# by time (section 4.1).
TABLE = {
    "web": Row(17.35, 11.67, 7.30, 60.0, 17.2, 0.30),
    "hm0": Row(9.96, 20.48, 2.50, 14.7, 16.7, 0.15),
    "prn0": Row(13.12, 45.97, 14.90, 45.7, 19.3, 0.11),
    "proj0": Row(8.97, 144.27, 3.27, 35.7, 81.8, 0.14),
    "prxy0": Row(3.05, 53.80, 0.96, 16.7, 9.3, 0.05),
    "mix": Row(35.10, 264.51, 21.63, 25.1, 23.7, 0.02),
}
MIXED = ("hm0", "prn0", "proj0", "prxy0")


@dataclass(frozen=True)
class Class:
    """Places that are used alike: their bytes, and their share of the
    requests.  What is left of both is one more class."""

    nbytes: float
    share: float


# Pins: hits of CFLRU that section 4.2.3 gives, by size in MiB.  Those at 64 MB
# follow from the increase of hits and the fall of misses.  No excerpt shows a
# week's reuse of these two volumes.
PINS = {"proj0": {64: 25.9, 1024: 95.0}, "prxy0": {64: 75.2}}
# By the bytes CFLRU has these hits; the hot shares are chosen by outcome.
CLASSES_OF = {
    "proj0": (Class(40 * MB, 0.43), Class(800 * MB, 0.54)),
    "prxy0": (Class(37 * MB, 0.88),)}
# The same hits by stack distances of the excerpts that are so many times longer.
STRETCH = {"proj0": 160.0, "prxy0": 8.0}
CLASSES, STRETCHED, FITTED = "in classes", "stretched", "as fitted"


@dataclass(frozen=True)
class Fit:
    """An attribute: the requested and the generated value."""

    name: str
    asked: float
    made: float


@dataclass(frozen=True)
class Input:
    """The input, and the size of the drive's parts beside the paper's."""

    name: str
    source: str  # for the reader
    real: bool
    requests: int
    extent: int  # bytes of addresses
    scale: float  # of the buffer, and of values that depend on it; 1 for a whole week
    trace: Path
    fit: list[Fit] = field(default_factory=list)


# ---- generated ----------------------------------------------------------------


@dataclass(frozen=True)
class Bursts:
    """b of the arrivals: of parts longer than a second of the week, and of
    shorter ones."""

    long: float
    short: float


@dataclass(frozen=True)
class Make:
    """What a generated input depends on beside its row of the table."""

    seed: int = SEED
    bursts: Bursts | None = None  # None: as fitted to excerpts
    part: float = 1.0  # of addresses, buffers and requests, beside --scale
    places: str = CLASSES  # of the pinned volumes

    def name(self, name: str) -> str:
        """Of the file."""
        bursts = f"{self.bursts.long:g}-{self.bursts.short:g}" \
            if self.bursts else "fitted"
        return (f"buffer-{name}-{self.seed}-{self.part:g}-{bursts}-"
                f"{self.places.replace(' ', '-')}.csv")


def _bursting(kind: Kind, bursts: Bursts, scale: float) -> Kind:
    return replace(kind, arrivals=replace(
        kind.arrivals, bias=bursts.short, long_bias=bursts.long,
        long_ns=int(ft.NS * scale)))


def _classed(shape: Shape, classes: tuple[Class, ...], table: Table) -> Shape:
    """Classes of places instead of the fitted reuse."""
    each = standin.place_bytes(shape, table)
    text = "the paper's hit ratios"
    read, write = (replace(k, reuse=replace(
        k.reuse, near=(), zones=tuple((c.nbytes / each, c.share)
                                      for c in classes),
        source=text, zones_source=text)) for k in (shape.read, shape.write))
    return Shape(read, write)


def volume(ctx: Context, name: str, scale: float, make: Make,
           part: float = 1.0) -> ft.Trace:
    """A week, or its first part, on so much of the addresses."""
    table = TABLE[name].table(scale)
    shape = load()[_base(name)]
    counts = readers.frequencies(ctx.traces, _base(name))
    if counts is not None:
        shape = standin.counted(shape, counts, "the folder's lba_freq")
    if make.bursts:
        shape = Shape(_bursting(shape.read, make.bursts, scale),
                      _bursting(shape.write, make.bursts, scale))
    if name in CLASSES_OF and make.places == CLASSES:
        shape = _classed(shape, CLASSES_OF[name], table)
    if name in STRETCH and make.places == STRETCHED:
        table = replace(table, scale=table.scale * STRETCH[name])
    return standin.made(_base(name), shape, table,
                        max(int(TABLE[name].requests() * scale * part), 100),
                        make.seed * len(TABLE) + list(TABLE).index(name))


def _fits(row: Row, trace: ft.Trace) -> list[Fit]:
    """The means of the table and those of the trace."""
    read, write = (trace.nbytes[trace.write == k] for k in (False, True))
    share = row.read_gb / (row.read_gb + row.written_gb)
    return [Fit("read volume, %", 100 * share,
                100 * float(read.sum() / trace.nbytes.sum())),
            Fit("read_sectors", row.read_sectors, float(read.mean()) / SECTOR),
            Fit("write_sectors", row.write_sectors,
                float(write.mean()) / SECTOR)]


def kept(ctx: Context, name: str, trace: ft.Trace, scale: float,
         make: Make) -> Input:
    """As the input of runs."""
    path = ctx.inputs / make.name(name)
    ft.write_msr(trace, path)
    source = (f"{name}: a week; {trace.source}; addresses, requests, buffers"
              f" and blocks are {scale:g} of the paper's")
    return Input(name, source, False, len(trace), _pages(trace), scale, path,
                 _fits(TABLE[name], trace))


def generate(ctx: Context, make: Make = Make()) -> dict[str, Input]:
    """All weeks, and the mix of its four."""
    scale = min(ctx.scale * WEEK * make.part, 1.0)
    made = {n: volume(ctx, n, scale, make) for n in TABLE if n != "mix"}
    made["mix"] = beside([made[n] for n in MIXED], packed=False)
    return {n: kept(ctx, n, t, scale, make) for n, t in made.items()}


# ---- real ---------------------------------------------------------------------


def _input(ctx: Context, name: str, trace: ft.Trace, table_gb: float) -> Input:
    trace = ft.compact(trace, PAGE)
    path = ctx.inputs / f"buffer-{name}.csv"
    ft.write_msr(trace, path)
    extent = _pages(trace)
    share = extent / (table_gb * 1e9)
    scale = 1.0 if share > WHOLE else share
    source = (f"{name}: real, {trace.source}, {len(trace)} requests in"
              f" {float(trace.at_ns[-1]) / ft.NS:.0f} s,"
              f" {100 * float(trace.write.mean()):.0f} % writes,"
              f" {extent / (1 << 20):.1f} MiB touched")
    if scale < 1:
        source += (f"; an excerpt: buffers are {scale:.3g} of the paper's, as"
                   " is what it touches")
    return Input(name, source, True, len(trace), extent, scale, path)


def _base(name: str) -> str:
    return "web0" if name == "web" else name


def _pages(trace: ft.Trace) -> int:
    """Bytes of the addresses, in whole pages."""
    return -(-ft.extent(trace) // PAGE) * PAGE


def beside(traces: list[ft.Trace], packed: bool = True) -> ft.Trace:
    """Address spaces side by side, merged by time; packed: without the pages
    that are not touched."""
    at, write, offset, nbytes, begin = [], [], [], [], 0
    for t in (ft.compact(t, PAGE) if packed else t for t in traces):
        at.append(t.at_ns)
        write.append(t.write)
        offset.append(t.offset + begin)
        nbytes.append(t.nbytes)
        begin += _pages(t)
    order = np.argsort(np.concatenate(at), kind="stable")
    return ft.Trace(np.concatenate(at)[order], np.concatenate(write)[order],
                    np.concatenate(offset)[order],
                    np.concatenate(nbytes)[order],
                    " + ".join(t.source for t in traces))


def real(ctx: Context) -> dict[str, Input]:
    """Those that --traces has; the mix of those of its four that are
    there."""
    found = {}
    for name, row in TABLE.items():
        if name == "mix":
            continue
        reads = row.read_gb / row.read_sectors
        writes = row.written_gb / row.write_sectors
        trace = readers.find(ctx.traces, _base(name), writes / (reads + writes))
        if trace is not None:
            found[name] = trace
    out = {n: _input(ctx, n, t, TABLE[n].accessed_gb)
           for n, t in found.items()}
    mixed = [n for n in MIXED if n in found]
    if len(mixed) > 1:
        one = _input(ctx, "mix", beside([found[n] for n in mixed]),
                     sum(TABLE[n].accessed_gb for n in mixed))
        if len(mixed) < len(MIXED):
            one = replace(one, source=one.source + "; without "
                          + ", ".join(n for n in MIXED if n not in mixed))
        out["mix"] = one
    return out


def inputs(ctx: Context, makes: list[Make]) \
        -> dict[tuple[str, Make], Input]:
    """All six, each as often as asked for; a real one is always the same."""
    with Stage("buffer: inputs") as stage:
        found = real(ctx) if ctx.traces else {}
        out: dict[tuple[str, Make], Input] = {}

        def done(make: Make, made: dict[str, Input]) -> None:
            out.update({(n, make): found.get(n, one)
                        for n, one in made.items()})
            stage.step(len(out), len(makes) * len(TABLE),
                       make.name("").removeprefix("buffer--"))

        ctx.runner.each(lambda m: generate(ctx, m), makes, done)
    return out
