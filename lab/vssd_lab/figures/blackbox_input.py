# SPDX-License-Identifier: GPL-2.0-or-later
"""The four traces of the black-box figure: real ones where they are at hand,
else stand-ins with their published attributes; cut into windows.

Knows traces; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vssd.paths import key_of

from . import readers, standin
from . import traces as ft
from .blackbox_sweep import JUDGED
from .standin import Table

WINDOW = 1000  # requests
GENERATED = 100_000  # requests of a stand-in
SEED = 2011

# Financial1 and 2: the attributes that I. Shin, KIIT 16(7), 2018, Table 1 has.
FINANCIAL = {
    "Financial1": Table(0.154, 4.5, 7.45, 0.01, 512, standin.FINANCIAL),
    "Financial2": Table(0.7846, 4.56, 5.84, 0.01, 512, standin.FINANCIAL),
}
# WebSearch1 and 2: attributes of an excerpt of WebSearch1, 24,783 requests.
WEB = (0.9998, 30.1, 16.0, 0.0024, 8192)
TRACES = {"Financial1": "fin1", "Financial2": "fin2", "WebSearch1": "web1",
          "WebSearch2": "web2"}


def fold(trace: ft.Trace, span: int) -> ft.Trace:
    """Compacted, and into the part of the drive that is used."""
    trace = ft.compact(trace)
    nbytes = np.minimum(trace.nbytes, span)
    return replace(trace, nbytes=nbytes, offset=np.minimum(
        trace.offset % span, span - nbytes))


def load(folder: Path | None, name: str, span: int) -> ft.Trace:
    """The trace of that name, or a stand-in."""
    seed = SEED + list(TRACES).index(name)
    table = FINANCIAL.get(name) or Table(*WEB, span)
    trace = readers.find(folder, TRACES[name], 1 - table.read_count())
    if trace is None:
        trace = standin.generate(TRACES[name], table, GENERATED, seed)
    return fold(trace, span)


def windows(trace: ft.Trace) -> int:
    """How many there are."""
    return max(len(trace) // WINDOW, 1)


def window(trace: ft.Trace, i: int) -> ft.Trace:
    """The i-th window; after the last one, the first again."""
    i %= windows(trace)
    return ft.part(trace, i * WINDOW, (i + 1) * WINDOW)


@dataclass(frozen=True)
class Windows:
    """n runs of a trace's windows, each with some depth: a trace has none
    without its drive."""

    trace: ft.Trace
    n: int
    seed: int

    def depths(self) -> Any:
        """Of each run."""
        return np.random.default_rng(self.seed).choice(JUDGED.depths,
                                                       self.n)

    def __call__(self, i: int, n: int) -> tuple[ft.Trace, int]:
        return ft.head(window(self.trace, i), n), int(self.depths()[i])

    def folds(self, count: int) -> Any:
        """The part of the windows that the window of each run is in: all runs
        of a window are in the same one."""
        part = np.random.default_rng(self.seed).permutation(
            windows(self.trace)) % count
        return part[np.arange(self.n) % windows(self.trace)]

    def key(self) -> str:
        """Of the same runs, the same."""
        t = self.trace
        return key_of(t.write.tobytes(), t.offset.tobytes(),
                      t.nbytes.tobytes(), self.seed, self.n)
