# SPDX-License-Identifier: GPL-2.0-or-later
"""The operation log for pictures: erases of each block, and how busy each die
was over time.  docs/oplog-format.md describes the file; the checker of the
project (./vssd checklog) judges it, and this module only counts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..signature import refuse_early

if TYPE_CHECKING:
    import numpy as np
    Array = np.ndarray[Any, np.dtype[Any]]

SIGNATURE = b"vssdLOG1"
FIELDS = [("type", "u1"), ("a", "u1"), ("b", "<u2"), ("bytes", "<u4"),
          ("at", "<u8"), ("x", "<u8"), ("y", "<u8"), ("c", "<u8")]
RECORD_BYTES = 40
SUBMIT, SPAN, DONE = 1, 2, 3
ERASE, SLC = 2, 128  # kinds of a submit record
ARRAY = 4  # a span of a plane's array
CHUNK = 1 << 20  # records


@dataclass
class Log:
    """What a log has, counted."""

    end_s: float  # of the log's time
    erases: Array  # by plane and block
    busy: Array  # share by die and interval of time


@dataclass
class Geometry:
    """Of the header."""

    planes: int  # of the whole array
    planes_per_die: int
    blocks: int  # of a plane
    pages: int  # of a block


def _open(path: Path) -> tuple[Geometry, Any]:
    """The header, and the records of a mapped file."""
    import numpy as np

    try:
        head = path.open("rb").read(56)
        size = path.stat().st_size
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}") from e
    refuse_early(path, head)
    if not head.startswith(SIGNATURE) or len(head) < 56:
        raise UserError(f"{path}: no operation log (--oplog of vssd-sim run"
                        " and ./vssd run)")
    begin, record, channels, chips, dies, planes, blocks, pages = \
        struct.unpack_from("<8I", head, 8)
    if record != RECORD_BYTES:
        raise UserError(f"{path}: records of {record} bytes: allowed"
                        f" {RECORD_BYTES}")
    count = (size - begin) // record
    if count <= 0:
        raise UserError(f"{path}: no operation: the log is empty")
    return (Geometry(channels * chips * dies * planes, planes, blocks, pages),
            np.memmap(path, np.dtype(FIELDS), "r", begin, (count,)))


def _chunks(records: Any) -> Any:
    for i in range(0, len(records), CHUNK):
        yield records[i:i + CHUNK]


def _erases(g: Geometry, records: Any) -> Array:
    """Those that ended without failure, by plane and block."""
    import numpy as np

    out = np.zeros(g.planes * g.blocks, np.int64)
    block_of: dict[int, int] = {}  # by operation: those under way
    for part in _chunks(records):
        submitted = part[(part["type"] == SUBMIT)
                         & ((part["a"] & ~np.uint8(SLC)) == ERASE)]
        block_of.update(zip(submitted["x"].tolist(),
                            (submitted["c"] // g.pages).tolist()))
        ended = part[part["type"] == DONE]
        for x, failed in zip(ended["x"].tolist(), ended["a"].tolist()):
            block = block_of.pop(x, None)
            if block is not None and not failed:
                out[block] += 1
    return out.reshape(g.planes, g.blocks)


def _covered(begin: Array, end: Array, edges: Array) -> Array:
    """How much of the spans is before each edge: the sum over spans of
    min(edge, end) - min(edge, begin)."""
    import numpy as np

    def before(points: Array) -> Array:
        points = np.sort(points)
        sums = np.concatenate(([0.0], np.cumsum(points)))
        n = np.searchsorted(points, edges)
        return np.asarray(edges * n - sums[n])

    return before(begin) - before(end)


def _busy(g: Geometry, records: Any, edges: Array) -> Array:
    """The share of the time in which the arrays of a die's planes worked, in
    each interval; instants in ps."""
    import numpy as np

    total = np.zeros((g.planes, len(edges)))
    for part in _chunks(records):
        spans = part[(part["type"] == SPAN) & (part["a"] == ARRAY)]
        for plane in np.unique(spans["b"]):
            mine = spans[spans["b"] == plane]
            total[plane] += _covered(mine["y"].astype(float),
                                     mine["at"].astype(float), edges)
    share = np.diff(total, axis=1) / np.diff(edges)
    return np.asarray(share.reshape(-1, g.planes_per_die, len(edges) - 1)
                      .mean(axis=1))


def read(path: Path, intervals: int = 120) -> Log:
    """Count a log; the whole of its time in so many intervals."""
    import numpy as np

    g, records = _open(path)
    end_ps = float(records["at"][-1])
    edges = np.linspace(0.0, max(end_ps, 1.0), intervals + 1)
    return Log(end_ps / 1e12, _erases(g, records), _busy(g, records, edges))
