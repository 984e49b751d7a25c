# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of the figures: real ones that are at hand, or generated ones fitted
to a paper's table; re-timed, compacted, written as MSR CSV for vssd-sim.

Knows trace files and numbers; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

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
    lacks: tuple[str, ...] = ()  # times, sizes: columns that the file has not

    def __len__(self) -> int:
        return len(self.at_ns)


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


def part(trace: Trace, begin: int, end: int) -> Trace:
    """Requests begin to end - 1."""
    return replace(trace, at_ns=trace.at_ns[begin:end],
                   write=trace.write[begin:end],
                   offset=trace.offset[begin:end],
                   nbytes=trace.nbytes[begin:end])


def head(trace: Trace, n: int) -> Trace:
    """The first n requests."""
    return part(trace, 0, n)


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
