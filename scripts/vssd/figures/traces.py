# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of the figures: real ones that are at hand, or generated ones fitted
to a paper's table; re-timed, compacted, written as MSR CSV for vssd-sim.

Knows trace files and numbers; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, one_line

PAGE = 4096
SECTOR = 512
NS = 1_000_000_000


@dataclass(frozen=True)
class Trace:
    """Requests in order of arrival: one array for each column."""

    at_ns: Any
    write: Any
    offset: Any
    nbytes: Any
    source: str  # description, for the reader of the figure

    def __len__(self) -> int:
        return len(self.at_ns)


# ---- reading ------------------------------------------------------------------


def _open(path: Path) -> Any:
    opener: dict[str, Callable[..., Any]] = {
        ".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    return opener.get(path.suffix, open)(path, "rt", encoding="ascii",
                                         errors="replace")


def _columns(path: Path, delimiter: str | None, usecols: tuple[int, ...],
             types: tuple[str, ...]) -> list[Any]:
    """The columns of a text file, one array each."""
    dtype = [(f"f{i}", t) for i, t in enumerate(types)]
    try:
        with _open(path) as f:
            rows = np.loadtxt(f, dtype=dtype, delimiter=delimiter,
                              usecols=usecols, ndmin=1)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as e:
        raise UserError(f"{path}: {one_line(str(e))}") from e
    if not len(rows):
        raise UserError(f"{path}: no requests")
    return [rows[name] for name, _ in dtype]


def read_msr(path: Path) -> Trace:
    """MSR Cambridge CSV: 100 ns ticks, host, disk, type, offset, bytes."""
    ticks, kind, offset, nbytes = _columns(
        path, ",", (0, 3, 4, 5), ("i8", "U8", "i8", "i8"))
    write = np.char.lower(kind) == "write"
    return _made(ticks * 100, write, offset, nbytes, path.name)


def read_spc(path: Path) -> Trace:
    """SPC (UMass): ASU, LBA in sectors, bytes, R or W, seconds."""
    lba, nbytes, kind, at_s = _columns(
        path, ",", (1, 2, 3, 4), ("i8", "i8", "U1", "f8"))
    asu, = _columns(path, ",", (0,), ("i8",))
    # Each ASU is an address space of its own: side by side.
    reach = int((lba * SECTOR + nbytes).max()) // PAGE * PAGE + PAGE
    return _made(np.round(at_s * NS).astype("i8"),
                 np.char.upper(kind) == "W", asu * reach + lba * SECTOR,
                 nbytes, path.name)


def read_ssdsim(path: Path) -> Trace:
    """SSDSim ASCII: ns, ASU, LBA in sectors, sectors, 0 = write."""
    at, asu, lba, n, kind = _columns(
        path, None, (0, 1, 2, 3, 4), ("i8",) * 5)
    reach = int((lba + n).max()) * SECTOR // PAGE * PAGE + PAGE
    return _made(at, kind == 0, asu * reach + lba * SECTOR, n * SECTOR,
                 path.name)


def read_ms_list(path: Path) -> Trace:
    """Windows cut by a third party: ms, device, offset, bytes, 1 = read."""
    at_ms, offset, nbytes, kind = _columns(
        path, None, (0, 2, 3, 4), ("f8", "i8", "i8", "i8"))
    return _made(np.round(at_ms * 1e6).astype("i8"), kind == 0, offset,
                 nbytes, path.name)


def _made(at_ns: Any, write: Any, offset: Any, nbytes: Any, source: str) \
        -> Trace:
    order = np.argsort(at_ns, kind="stable")
    at_ns = at_ns[order] - at_ns.min()
    return Trace(at_ns, write[order], offset[order],
                 np.maximum(nbytes[order], SECTOR), source)


# A base trace: the whole week's names, then excerpts.
FILES: dict[str, list[tuple[str, Callable[[Path], Trace]]]] = {
    "hm0": [("hm_0.csv", read_msr), ("*hm_0.csv", read_msr),
            ("*msr*iops.1006.trace", read_ms_list),
            ("*msr*rw_*.trace", read_ms_list)],
    "proj0": [("proj_0.csv", read_msr), ("*proj_0.csv", read_msr)],
    "prn0": [("prn_0.csv", read_msr)],
    "prxy0": [("prxy_0.csv", read_msr), ("*prxy_0.csv", read_msr)],
    "web0": [("web_0.csv", read_msr), ("CAMRESWEBA03-lvm0.csv", read_msr),
             ("*web_0.csv", read_msr)],
    "fin1": [("Financial1.spc", read_spc),
             ("ssdsim_example.ascii", read_ssdsim)],
    "fin2": [("Financial2.spc", read_spc)],
    "web1": [("WebSearch1.spc", read_spc),
             ("*wsrch*.trace", read_ssdsim)],  # MQSim's columns are the same
    "web2": [("WebSearch2.spc", read_spc)],
}
ENDS = ("", ".gz", ".xz", ".bz2")


def find(folder: Path | None, base: str, write_share: float) -> Trace | None:
    """The real trace, if the folder has it; else, of the excerpts that it has,
    the one whose share of writes is nearest to the whole's."""
    if not folder:
        return None
    excerpts = []
    for name, read in FILES[base]:
        for path in sorted(p for end in ENDS for p in folder.glob(name + end)):
            trace = read(path)
            if "*" not in name:
                return trace
            excerpts.append(trace)
    return min(excerpts, default=None,
               key=lambda t: abs(float(t.write.mean()) - write_share))


# ---- generating ---------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """The attributes of a trace that a paper gives."""

    read_volume: float  # share of the bytes
    read_sectors: float  # mean size
    write_sectors: float
    iat_s: float  # mean time between requests
    grain: int  # bytes that sizes and addresses are multiples of
    footprint: int  # bytes that are touched, at most
    one_percent: float = 0.7  # share of the requests on 1 % of the places

    def read_count(self) -> float:
        """Share of the requests that read."""
        reads = self.read_volume / self.read_sectors
        return reads / (reads + (1 - self.read_volume) / self.write_sectors)


def _sizes(rng: Any, n: int, mean_sectors: float, grain: int) -> Any:
    """Geometric, in grains, of that mean."""
    mean = max(mean_sectors * SECTOR / grain, 1.0)
    return np.minimum(rng.geometric(1 / mean, n), (1 << 20) // grain) * grain


def _zipf_exponent(places: int, one_percent: float) -> float:
    """Such that 1 % of the places take that share."""
    low, high = 0.0, 3.0
    rank = np.arange(1, places + 1, dtype="f8")
    for _ in range(30):
        middle = (low + high) / 2
        weight = rank ** -middle
        if weight[:max(places // 100, 1)].sum() < one_percent * weight.sum():
            low = middle
        else:
            high = middle
    return high


def _places(rng: Any, n: int, table: Table) -> Any:
    """Page numbers, Zipf over pages in scattered order."""
    pages = table.footprint // PAGE
    weight = np.arange(1, pages + 1, dtype="f8") \
        ** -_zipf_exponent(pages, table.one_percent)
    bound = np.cumsum(weight)
    rank = np.searchsorted(bound, rng.random(n) * bound[-1])
    return rng.permutation(pages)[np.minimum(rank, pages - 1)]


def generate(name: str, table: Table, n: int, seed: int) -> Trace:
    """n requests with the table's attributes: Poisson arrivals, geometric
    sizes, Zipf places."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.exponential(table.iat_s * NS, n)).astype("i8")
    write = rng.random(n) >= table.read_count()
    nbytes = np.where(write, _sizes(rng, n, table.write_sectors, table.grain),
                      _sizes(rng, n, table.read_sectors, table.grain))
    offset = _places(rng, n, table) * PAGE
    offset += rng.integers(0, PAGE // table.grain, n) * table.grain
    offset = np.minimum(offset, table.footprint - nbytes)
    return Trace(at, write, offset, nbytes, f"{name}, generated from the"
                 f" paper's table, {n} requests")


# ---- changing -----------------------------------------------------------------


def retime(trace: Trace, k: int, seed: int) -> Trace:
    """Dk of Shin 2018, section III: batches of 1..k writes at once, and the
    next batch N mean inter-arrival times later, N being the batch's size."""
    at = trace.at_ns.copy()
    writes = np.flatnonzero(trace.write)
    n = len(writes)
    if n > 1:
        first, last = int(at[writes[0]]), int(at[writes[-1]])
        batch = np.random.default_rng(seed).integers(1, k + 1, n)
        begins = np.concatenate([[0], np.cumsum(batch)])
        start = np.repeat(begins[:-1], batch)[:n]
        at[writes] = first + np.round(start * ((last - first) / (n - 1))) \
            .astype("i8")
    order = np.argsort(at, kind="stable")
    return Trace(at[order], trace.write[order], trace.offset[order],
                 trace.nbytes[order], trace.source)


def head(trace: Trace, n: int) -> Trace:
    """The first n requests."""
    return replace(trace, at_ns=trace.at_ns[:n], write=trace.write[:n],
                   offset=trace.offset[:n], nbytes=trace.nbytes[:n])


def compact(trace: Trace, page: int = PAGE) -> Trace:
    """The same on the pages that are touched, moved together."""
    first = trace.offset // page
    last = (trace.offset + trace.nbytes - 1) // page
    count = (last - first + 1).astype("i8")
    base = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]),
                     count)
    touched = np.unique(base + np.arange(count.sum()))
    rank = np.searchsorted(touched, first)
    return replace(trace, offset=rank * page + trace.offset % page)


def extent(trace: Trace) -> int:
    """Bytes from 0 to the last one touched, in whole pages."""
    end = int((trace.offset + trace.nbytes).max())
    return (end + PAGE - 1) // PAGE * PAGE


def write_msr(trace: Trace, path: Path) -> None:
    """As MSR CSV; the same trace gives the same file."""
    kind = np.where(trace.write, "Write", "Read")
    tmp = path.with_suffix(".tmp")
    with open(tmp, "w", encoding="ascii") as f:
        f.writelines(
            f"{t},vssd,0,{k},{o},{b},0\n" for t, k, o, b in
            zip((trace.at_ns // 100).tolist(), kind.tolist(),
                trace.offset.tolist(), trace.nbytes.tolist()))
    tmp.replace(path)


# ---- Zertal 2015 ----------------------------------------------------------------


@dataclass(frozen=True)
class Mix:
    """A workload of that paper: Table I, and our choice of open values."""

    read_share: float  # of the requests
    sequential: bool
    one_page: bool  # OLTP; else sizes from 1 KiB to 2 MiB
    region: int  # bytes that are touched


def mix_sizes() -> tuple[Any, Any]:
    """The sizes and their shares: all powers of two from 1 KiB to 2 MiB, the
    share falling with the root of the size (the paper gives none)."""
    sizes = 1024 << np.arange(12)
    weight = sizes ** -0.5
    return sizes, weight / weight.sum()


def _runs(rng: Any, write: Any, nbytes: Any, region: int) -> Any:
    """Two sequential runs, of the reads and of the writes, round the region
    from places of their own."""
    offset = np.zeros(len(nbytes), "i8")
    for kind in (False, True):
        mine = write == kind
        end = np.cumsum(nbytes[mine])
        first = int(rng.integers(0, region // PAGE)) * PAGE
        offset[mine] = (first + end - nbytes[mine]) % region
    return offset


def mix(name: str, m: Mix, n: int, per_second: float, seed: int) -> Trace:
    """n requests, Poisson arrivals."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.exponential(NS / per_second, n)).astype("i8")
    write = rng.random(n) >= m.read_share
    if m.one_page:
        nbytes = np.full(n, PAGE, "i8")
    else:
        sizes, share = mix_sizes()
        nbytes = rng.choice(sizes, n, p=share)
    if m.sequential:
        offset = _runs(rng, write, nbytes, m.region)
    else:
        offset = rng.integers(0, m.region // PAGE, n) * PAGE
    offset = np.minimum(offset, m.region - nbytes)
    return Trace(at, write, offset, nbytes, f"{name}, generated, {n} requests,"
                 f" {per_second:.0f} per second")


def pages_of(trace: Trace, kind: bool) -> float:
    """Mean pages of a write (kind) or of a read."""
    mine = trace.write == kind
    if not mine.any():
        return 0.0
    first = trace.offset[mine] // PAGE
    last = (trace.offset[mine] + trace.nbytes[mine] - 1) // PAGE
    return float((last - first + 1).mean())
