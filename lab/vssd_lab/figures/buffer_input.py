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
from .shapes import load
from .standin import Table

PAGE = 8192  # of the drive, and the unit of its map
SECTOR = 512
SEED = 2023
# A week is played up to here; --scale makes it longer, up to the whole.
MOST = 500_000
MOST_MIX = 750_000
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
class Make:
    """What a generated input depends on beside its row of the table."""

    seed: int = SEED
    bias: float | None = None  # b of all arrivals; None: as fitted
    part: float = 1.0  # of addresses, buffers and requests, beside --scale
    week: bool = False  # all its requests, not the first MOST


def _made(ctx: Context, name: str, scale: float, n: int, make: Make) \
        -> ft.Trace:
    """The first n requests of a week on so much of the addresses."""
    shape = load()[_base(name)]
    counts = readers.frequencies(ctx.traces, _base(name))
    if counts is not None:
        shape = standin.counted(shape, counts, "the folder's lba_freq")
    if make.bias is not None:
        read, write = (replace(k, arrivals=replace(k.arrivals,
                                                   bias=make.bias))
                       for k in (shape.read, shape.write))
        shape = replace(shape, read=read, write=write)
    return standin.made(_base(name), shape, TABLE[name].table(scale), n,
                        make.seed * len(TABLE) + list(TABLE).index(name))


def _merged(ctx: Context, scale: float, n: int, make: Make) -> ft.Trace:
    """The mix: of each of its four as many requests as it has in that
    time."""
    whole = {name: TABLE[name].requests() for name in MIXED}
    total = sum(whole.values())
    return beside([_made(ctx, name, scale, max(n * whole[name] // total, 1),
                         make) for name in MIXED], packed=False)


def _fits(row: Row, trace: ft.Trace) -> list[Fit]:
    """The means of the table and those of the trace."""
    read, write = (trace.nbytes[trace.write == k] for k in (False, True))
    share = row.read_gb / (row.read_gb + row.written_gb)
    return [Fit("read volume, %", 100 * share,
                100 * float(read.sum() / trace.nbytes.sum())),
            Fit("read_sectors", row.read_sectors, float(read.mean()) / SECTOR),
            Fit("write_sectors", row.write_sectors,
                float(write.mean()) / SECTOR)]


def generate(ctx: Context, name: str, make: Make = Make()) -> Input:
    """As many requests of the week as are to be played."""
    scale = min(ctx.scale, 1.0) * make.part
    whole = int(TABLE[name].requests() * scale)
    n = whole if make.week else min(
        whole, int((MOST_MIX if name == "mix" else MOST) * ctx.scale
                   * make.part))
    trace = _merged(ctx, scale, n, make) if name == "mix" \
        else _made(ctx, name, scale, n, make)
    path = ctx.inputs / (f"buffer-{name}-{make.seed}-{make.part:g}-"
                          f"{make.bias or 'fitted'}{'-week' * make.week}.csv")
    ft.write_msr(trace, path)
    source = (f"{name}: the first {n} of {whole} requests of a week;"
              f" {trace.source}")
    if scale < 1:
        source += f"; addresses and buffers are {scale:g} of the paper's"
    return Input(name, source, False, len(trace), _pages(trace), scale, path,
                 _fits(TABLE[name], trace))


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
        keys = [(n, m) for m in makes for n in TABLE]
        out = {k: found[k[0]] for k in keys if k[0] in found}

        def done(key: tuple[str, Make], one: Input) -> None:
            out[key] = one
            stage.step(len(out), len(keys), f"{key[0]} is there")

        ctx.runner.each(lambda k: generate(ctx, *k),
                        [k for k in keys if k not in out], done)
    return {k: out[k] for k in keys}
