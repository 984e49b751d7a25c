# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of the buffer figures: real traces where there are some, else
workloads that vssd-sim fits to Table 1 of I. Shin, Micromachines 14:796, 2023.

Knows the table, traces and how large they are; knows nothing of policies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import UserError
from ..paths import find_profile
from ..sim.run import result_of
from ..ui import Stage
from . import traces as ft
from .figure import Context

PAGE = 8192  # of the drive, and the unit of its map
SECTOR = 512
SEED = 2023
# A week is played up to here; --scale makes it longer, up to the whole.
MOST = 2_000_000
MOST_MIX = 3_000_000
# A real trace that touches less of its volume than this is an excerpt.
WHOLE = 0.5
# The fit is made for so much of the week on so much of the addresses, which
# touches the same share of them.
FITTED = 0.125


Zones = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Row:
    """A line of Table 1, and its missing part: where the requests go,
    as zones of access % / area %, the hottest first."""

    read_gb: float
    written_gb: float
    accessed_gb: float
    read_sectors: float
    write_sectors: float
    interval_s: float
    zones: Zones
    write_zones: Zones = ()  # of writes, if they are others

    def requests(self) -> int:
        """Of the whole week."""
        return round((self.read_gb / self.read_sectors
                      + self.written_gb / self.write_sectors) * 1e9 / SECTOR)


# Zones: of hm0, and of the writes of web, as often as each address was written
# in the week (of hm0: its first 2,000,000 writes).  Of the others, and of the
# reads of web, which go elsewhere, so that CFLRU's hit ratio at 1 GiB is about
# that of Figure 7 (68 %, 69 %, 95 %, 99 %) and, of proj0 and prxy0, at 64 MiB
# about the one that section 4.2.3 implies (26 %, 75 %).
# So little of web and prn0 is touched in the cold zone that it must be larger
# than the table's accessed space for as much to be touched.
# The table's sizes of prxy0 fit its other columns.  The mean sizes of the mix
# are those of its row, as are all its other attributes.
TABLE = {
    "web": Row(17.35, 11.67, 7.30, 60.0, 17.2, 0.30,
               ((5, 3.2), (60, 4.4), (35, 92.4)),
               ((61, 0.003), (13, 0.027), (10, 0.27), (12, 1.3), (4, 1.6),
                (0, 96.8))),
    "hm0": Row(9.96, 20.48, 2.50, 14.7, 16.7, 0.15,
               ((54, 0.1), (16, 0.9), (10, 9), (15, 40), (5, 50))),
    "prn0": Row(13.12, 45.97, 14.90, 45.7, 19.3, 0.11,
                ((48, 0.4), (24, 1.6), (28, 98))),
    "proj0": Row(8.97, 144.27, 3.27, 35.7, 81.8, 0.14,
                 ((31, 0.6), (65, 20), (4, 79.4))),
    "prxy0": Row(3.05, 53.80, 0.96, 16.7, 9.3, 0.05,
                 ((40, 1), (41, 4), (14, 35), (5, 60))),
}
MIXED = ("hm0", "prn0", "proj0", "prxy0")


def _mixed_zones() -> Zones:
    """The zones of the four, each by its share of the volume and of the
    addresses."""
    rows = [TABLE[n] for n in MIXED]
    volume = sum(r.read_gb + r.written_gb for r in rows)
    area = sum(r.accessed_gb for r in rows)
    return tuple((a * (r.read_gb + r.written_gb) / volume,
                  b * r.accessed_gb / area) for r in rows for a, b in r.zones)


TABLE["mix"] = Row(35.10, 264.51, 21.63, 25.1, 23.7, 0.02, _mixed_zones())


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
    workload: str = ""
    trace: Path | None = None
    fit: list[Fit] = field(default_factory=list)


# ---- generated ----------------------------------------------------------------


def spread(zones: Zones) -> str:
    """As random_distribution wants it: each sum is 100."""
    out = []
    left = [100.0, 100.0]
    for i, pair in enumerate(zones):
        last = i == len(zones) - 1
        one = left if last else [round(v, 4) for v in pair]
        left = [a - b for a, b in zip(left, one)]
        out.append(f"{one[0]:.4f}/{one[1]:.4f}")
    return "zoned:" + ":".join(out)


def _fit_text(name: str, scale: float) -> str:
    r = TABLE[name]
    return (f"read_gb={r.read_gb} written_gb={r.written_gb}"
            f" accessed_gb={r.accessed_gb * scale:.6f}"
            f" read_sectors={r.read_sectors} write_sectors={r.write_sectors}"
            f" interval_s={r.interval_s} scale={scale}"
            f" spread={spread(r.zones)}"
            + (f" write_spread={spread(r.write_zones)}" if r.write_zones
               else ""))


def parse_saved(text: str) -> tuple[str, list[Fit]]:
    """Keywords and the table of the fit, from the file of --save."""
    words = [w for w in text.splitlines() if w and not w.startswith("#")]
    fits = [Fit(m[1], float(m[2]), float(m[3])) for m in re.finditer(
        r"^#\s+(\w+)\s+([\d.]+)\s+([\d.]+)(?:\s|$)", text, re.M)
        if m[1] != "top"]
    return " ".join(words), fits


def _keyword(words: str, key: str) -> int:
    m = re.search(rf"\b{key}=(\d+)", words)
    if not m:
        raise UserError(f"vssd-sim fit: no {key} in {words!r}")
    return int(m[1])


def generate(ctx: Context, name: str) -> Input:
    """Fitted, and as many requests of the week as are to be played."""
    scale = min(ctx.scale, 1.0)
    part = min(scale, FITTED)
    path = ctx.scratch / f"buffer-{name}.workload"
    result_of(*ctx.runner.output(
        [str(ctx.runner.sim), "fit", _fit_text(name, part),
         "--profile", str(find_profile("shin2023")),
         "--set", "ftl.op_percent=100%", "--seed", str(SEED), "--json",
         "--save", str(path), "--describe"]))
    words, fits = parse_saved(path.read_text(encoding="utf-8"))
    whole = int(TABLE[name].requests() * scale)
    n = min(whole, int((MOST_MIX if name == "mix" else MOST) * ctx.scale))
    extent = int(_keyword(words, "size") * scale / part) // PAGE * PAGE
    words = re.sub(r"\bnumber_ios=\d+", f"number_ios={n}", words)
    words = re.sub(r"\bsize=\d+", f"size={extent}", words)
    source = (f"{name}: generated, fitted to Table 1, the first {n} of"
              f" {whole} requests, Poisson arrivals")
    if scale < 1:
        source += f"; addresses and buffers are {scale:g} of the paper's"
    return Input(name, source, False, n, extent, scale, words, None, fits)


# ---- real ---------------------------------------------------------------------


def _input(ctx: Context, name: str, trace: ft.Trace, table_gb: float) -> Input:
    trace = ft.compact(trace, PAGE)
    path = ctx.scratch / f"buffer-{name}.csv"
    ft.write_msr(trace, path)
    extent = -(-ft.extent(trace) // PAGE) * PAGE
    share = extent / (table_gb * 1e9)
    scale = 1.0 if share > WHOLE else share
    source = (f"{name}: real, {trace.source}, {len(trace)} requests in"
              f" {float(trace.at_ns[-1]) / ft.NS:.0f} s,"
              f" {100 * float(trace.write.mean()):.0f} % writes,"
              f" {extent / (1 << 20):.1f} MiB touched")
    if scale < 1:
        source += (f"; an excerpt: buffers are {scale:.3g} of the paper's, as"
                   " is what it touches")
    return Input(name, source, True, len(trace), extent, scale, "", path)


def _base(name: str) -> str:
    return "web0" if name == "web" else name


def beside(traces: list[ft.Trace]) -> ft.Trace:
    """Address spaces side by side, merged by time."""
    at, write, offset, nbytes, begin = [], [], [], [], 0
    for t in (ft.compact(t, PAGE) for t in traces):
        at.append(t.at_ns)
        write.append(t.write)
        offset.append(t.offset + begin)
        nbytes.append(t.nbytes)
        begin += -(-ft.extent(t) // PAGE) * PAGE
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
        trace = ft.find(ctx.traces, _base(name), writes / (reads + writes))
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


def inputs(ctx: Context) -> dict[str, Input]:
    """All six, in the order of the table."""
    with Stage("buffer: inputs") as stage:
        out = real(ctx) if ctx.traces else {}
        missing = [n for n in TABLE if n not in out]

        def done(name: str, one: Input) -> None:
            out[name] = one
            stage.step(len(out), len(TABLE), f"{name} is there")

        ctx.runner.each(lambda n: generate(ctx, n), missing, done)
    return {n: out[n] for n in TABLE}
