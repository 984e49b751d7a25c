# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of a run over its time, in levels of detail, and the slowest ones.

One pass over the file of --csv (docs/results.md), in bounded memory: the finest
level has at most BINS bins, whose width doubles when the run outlasts them.  A
bin counts latencies in the buckets of the drive's own histograms (core/hist.h,
after HdrHistogram: 64 for each power of two), so a percentile is less than 1/64
above the true one, and that of the whole run equals latency_ns of the result.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from .result import COLUMNS, FIRST_PART, rows_of

if TYPE_CHECKING:
    import numpy as np
    Array = np.ndarray[Any, np.dtype[Any]]

BINS = 1 << 14     # of the finest level, at most
FAN = 4            # bins that a bin of the next level joins
COARSEST = 512     # bins of the coarsest level, at most
FIRST_NS = 1 << 10  # width of a bin, before it doubles
SUB_BITS = 6       # HIST_SUB_BITS
BUCKETS = (64 - SUB_BITS + 1) << SUB_BITS
CHUNK = 1 << 16    # rows
PENDING = 1 << 20  # keys, before equal ones are counted together
SLOWEST = 64       # commands, as the live page keeps
PPM = {"p50": 500_000, "p99": 990_000}


def bucket_of(ns: Array) -> Array:
    """hist_index() of each; below 2^53."""
    import numpy as np

    shift = np.maximum(np.frexp(ns.astype(float))[1] - 1 - SUB_BITS, 0)
    group = np.where(ns < 1 << SUB_BITS, 0, shift + 1)
    found: Array = (group << SUB_BITS) + (ns >> shift) - \
        np.where(group > 0, 1 << SUB_BITS, 0)
    return found


def value_of(bucket: Array) -> Array:
    """The upper bound of each, which stands for its values."""
    import numpy as np

    group, sub = bucket >> SUB_BITS, bucket & ((1 << SUB_BITS) - 1)
    wide = np.maximum(group - 1, 0)
    return np.where(group == 0, sub,
                    ((sub + (1 << SUB_BITS) + 1) << wide) - 1)


class Kind:
    """Reads, or writes: the latencies in each bin of the finest level."""

    def __init__(self) -> None:
        import numpy as np

        self.keys = np.zeros(0, np.int64)  # bin * BUCKETS + bucket, ascending
        self.counts = np.zeros(0, np.int64)
        self.pending: list[Array] = []
        self.least = np.full(BINS, np.iinfo(np.int64).max)
        self.most = np.zeros(BINS, np.int64)
        self.sum = np.zeros(BINS)

    def add(self, bins: Array, ns: Array) -> None:
        """Latencies, and the bin of each."""
        import numpy as np

        np.minimum.at(self.least, bins, ns)
        np.maximum.at(self.most, bins, ns)
        np.add.at(self.sum, bins, ns)
        self.pending.append(bins * BUCKETS + bucket_of(ns))
        if sum(map(len, self.pending)) > PENDING:
            self.settle()

    def settle(self) -> None:
        """Count what is pending."""
        import numpy as np

        for new in self.pending:
            keys, counts = np.unique(new, return_counts=True)
            self.keys, self.counts = _joined(
                np.concatenate((self.keys, keys)),
                np.concatenate((self.counts, counts)))
        self.pending = []

    def halve(self) -> None:
        """Bins become twice as wide."""
        import numpy as np

        self.settle()
        self.keys, self.counts = _joined(
            self.keys // BUCKETS // 2 * BUCKETS + self.keys % BUCKETS,
            self.counts)
        for name, join, empty in (
                ("least", np.minimum, np.iinfo(np.int64).max),
                ("most", np.maximum, 0), ("sum", np.add, 0)):
            old = getattr(self, name)
            new = np.full_like(old, empty)
            new[:BINS // 2] = join(old[::2], old[1::2])
            setattr(self, name, new)

    def level(self, fan: int) -> dict[str, list[float]]:
        """The bins that have commands, `fan` of the finest level in one: their
        number, how many commands, and latencies in ns."""
        import numpy as np

        keys, counts = _joined(
            self.keys // BUCKETS // fan * BUCKETS + self.keys % BUCKETS,
            self.counts)
        bins, begin = np.unique(keys // BUCKETS, return_index=True)
        before = np.concatenate(([0], np.cumsum(counts)))
        ends = np.append(begin[1:], len(keys))
        n = before[ends] - before[begin]
        least = self.least.reshape(-1, fan).min(axis=1)[bins]
        most = self.most.reshape(-1, fan).max(axis=1)[bins]
        mean = self.sum.reshape(-1, fan).sum(axis=1)[bins] / n
        out = {"bin": bins, "count": n, "min": least,
               "mean": np.round(mean, 1)}
        for name, ppm in PPM.items():
            rank = before[begin] + (n * ppm + 999_999) // 1_000_000
            at = np.searchsorted(before[1:], rank)
            out[name] = np.clip(value_of(keys[at] % BUCKETS), least, most)
        out["max"] = most
        return {name: found.tolist() for name, found in out.items()}

    def distribution(self) -> dict[str, list[int]]:
        """Of the whole run: the value of each bucket, and its commands."""
        import numpy as np

        buckets, counts = _joined(self.keys % BUCKETS, self.counts)
        ns = np.clip(value_of(buckets), self.least.min(), self.most.max())
        return {"ns": ns.tolist(), "count": counts.tolist()}


def _joined(keys: Array, counts: Array) -> tuple[Array, Array]:
    """Ascending keys, each once, with the sum of its counts."""
    import numpy as np

    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.concatenate(([True], keys[1:] != keys[:-1])).nonzero()[0]
    return keys[first], np.add.reduceat(counts, first)


@dataclass
class Levels:
    """All kinds of commands of a run."""

    width_ns: int = FIRST_NS
    kinds: dict[str, Kind] = field(default_factory=dict)
    slowest: list[dict[str, Any]] = field(default_factory=list)

    def add(self, op: list[str], at: array[int], latency: array[int]) -> None:
        """Commands: kind, completion, latency."""
        import numpy as np

        times, ns = np.array(at, np.int64), np.array(latency, np.int64)
        if not len(times):
            return
        if times.min() < 0 or ns.min() < 0 or ns.max() >= 1 << 53:
            raise ValueError("a time out of range")
        while times.max() // self.width_ns >= BINS:
            self.width_ns *= 2
            for kind in self.kinds.values():
                kind.halve()
        ops = np.array(op)
        for name in dict.fromkeys(op):
            mine = ops == name
            self.kinds.setdefault(name, Kind()).add(
                times[mine] // self.width_ns, ns[mine])

    def json(self) -> dict[str, Any]:
        """For the page: docs/watch.md has the format."""
        used = 1
        for kind in self.kinds.values():
            kind.settle()
            used = max(used, int(kind.keys[-1]) // BUCKETS + 1)
        fans = [1]
        while used / fans[-1] > COARSEST:
            fans.append(fans[-1] * FAN)
        return {"levels": [{"width_ns": self.width_ns * fan, "kinds": {
                    name: kind.level(fan) for name, kind in self.kinds.items()}}
                    for fan in fans],
                "distribution": {name: kind.distribution()
                                 for name, kind in self.kinds.items()},
                "slowest": self.slowest}


def read(path: Path) -> Levels:
    """The file of --csv; UserError: it is none, or damaged."""
    out = Levels()
    slow: list[tuple[int, int, list[str]]] = []  # a heap; the quickest first
    with rows_of(path) as (head, every):
        op, complete, latency = (head.index(c) for c in COLUMNS)
        head.index(FIRST_PART)
        ops: list[str] = []
        at, ns = array("q"), array("q")
        for n, row in enumerate(every):
            if len(row) != len(head):
                raise ValueError(f"{len(row)} of {len(head)} columns")
            ops.append(row[op])
            at.append(int(row[complete]))
            took = int(row[latency])
            ns.append(took)
            if len(slow) < SLOWEST:
                heapq.heappush(slow, (took, -n, row))
            elif took > slow[0][0]:
                heapq.heapreplace(slow, (took, -n, row))
            if len(ops) == CHUNK:
                out.add(ops, at, ns)
                ops, at, ns = [], array("q"), array("q")
        out.add(ops, at, ns)
        out.slowest = [_command(head, row) for *_, row in sorted(
            slow, key=lambda one: (-one[0], -one[1]))]
    if not out.kinds:
        raise UserError(f"{path}: no command in it")
    return out


def _command(head: list[str], row: list[str]) -> dict[str, Any]:
    """One row, with the parts of its latency in ns."""
    first = head.index(FIRST_PART)
    cell = dict(zip(head, row))
    return {"number": int(cell["n"]), "op": cell["op"],
            "offset": int(cell["offset"]), "bytes": int(cell["bytes"]),
            "start": int(cell["arrival_ns"]),
            "latency": int(cell["latency_ns"]),
            "costs": [[name.removesuffix("_ns"), int(cell[name])]
                      for name in head[first:]]}
