# SPDX-License-Identifier: GPL-2.0-or-later
"""The four traces of the black-box figure: real ones where they are at hand,
else requests with their published attributes; cut into windows.

Knows traces; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import traces as ft

MIB = 1 << 20
WINDOW = 1000  # requests
GENERATED = 40_000  # requests of a stand-in
SEED = 2011

# Financial1 and 2: the attributes that B. Shin, KIIT 16(7), 2018, Table 1 has.
FINANCIAL = {
    "Financial1": ft.Table(0.154, 4.5, 7.45, 0.01, 512, 400 * MIB),
    "Financial2": ft.Table(0.7846, 4.56, 5.84, 0.01, 512, 400 * MIB),
}
# WebSearch1: attributes of an excerpt of 24,783 requests.  WebSearch2, of the same
# engine, is drawn from the same shares with another seed.
WEB_SIZES = (8192, 16384, 24576, 32768)
WEB_SHARES = (0.601, 0.122, 0.079, 0.198)
WEB_READS = 0.9998
WEB_RANDOM = 0.94
WEB_GRID = 8192
TRACES = {"Financial1": "fin1", "Financial2": "fin2", "WebSearch1": "web1",
          "WebSearch2": "web2"}


def web(name: str, span: int, seed: int) -> ft.Trace:
    """A stand-in for a trace of the search engine."""
    rng = np.random.default_rng(seed)
    n = GENERATED
    nbytes = rng.choice(WEB_SIZES, n, p=WEB_SHARES)
    jumps = rng.random(n) < WEB_RANDOM
    places = (span - max(WEB_SIZES)) // WEB_GRID
    index = np.arange(n)
    last = np.maximum.accumulate(np.where(jumps, index, 0))
    end = np.cumsum(nbytes)
    begin = end - nbytes
    offset = rng.integers(0, places, n)[last] * WEB_GRID + begin - begin[last]
    offset = np.minimum(offset, span - nbytes)
    return ft.Trace(np.arange(n) * 2_400_000, rng.random(n) >= WEB_READS,
                    offset, nbytes, f"{name}, generated from the sizes of an"
                    f" excerpt of WebSearch1, {n} requests")


def fold(trace: ft.Trace, span: int) -> ft.Trace:
    """Compacted, and into the part of the drive that is used."""
    trace = ft.compact(trace)
    nbytes = np.minimum(trace.nbytes, span)
    return replace(trace, nbytes=nbytes, offset=np.minimum(
        trace.offset % span, span - nbytes))


def load(folder: Path | None, name: str, span: int) -> ft.Trace:
    """The trace of that name, or a stand-in."""
    seed = SEED + list(TRACES).index(name)
    table = FINANCIAL.get(name)
    writes = 1 - (table.read_count() if table else WEB_READS)
    trace = ft.find(folder, TRACES[name], writes)
    if trace is None:
        trace = ft.generate(name, table, GENERATED, seed) if table \
            else web(name, span, seed)
    return fold(trace, span)


def windows(trace: ft.Trace) -> int:
    """How many there are."""
    return max(len(trace) // WINDOW, 1)


def window(trace: ft.Trace, i: int) -> ft.Trace:
    """The i-th window; after the last one, the first again."""
    i %= windows(trace)
    rows = slice(i * WINDOW, (i + 1) * WINDOW)
    columns: dict[str, Any] = {k: getattr(trace, k)[rows] for k in (
        "at_ns", "write", "offset", "nbytes")}
    return ft.Trace(**columns, source=trace.source)
