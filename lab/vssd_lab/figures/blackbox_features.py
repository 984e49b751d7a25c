# SPDX-License-Identifier: GPL-2.0-or-later
"""Characteristics of a stream of requests, as Huang 2011 has them: four of the
basic model, eight of the extended one.

Counts and distances come from the requests, not from what made them.  Knows
requests and numbers.  Needs numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .traces import SECTOR, Trace

BASIC = ("wr_ratio", "q_dep", "req_size", "rand")
EXTENDED = ("wr_ratio", "q_dep", "wr_size", "rd_size", "wr_rand", "rd_rand",
            "wr_stride", "rd_stride")
MOST_STRIDE = 1 << 20


def stride(offset: Any) -> int:
    """Of requests of one kind: the largest power of two that three quarters of
    them begin at a multiple of; their alignment, and when they go on one behind
    the other the grid on which they do.  (Of random multiples of a grid half are
    multiples of twice the grid, too.)"""
    low = np.where(offset == 0, MOST_STRIDE, offset & -offset)
    low = np.sort(np.minimum(low, MOST_STRIDE))
    return int(low[(len(low) - 1) // 4]) if len(low) else 0


def is_random(offset: Any, nbytes: Any, grid: int) -> Any:
    """For each request of one kind but the first: does it not go on where the
    one before ended, or at the next place of the grid?"""
    gap = offset[1:] - (offset[:-1] + nbytes[:-1])
    return (gap < 0) | (gap >= max(grid, SECTOR))


def features(trace: Trace, depth: int) -> dict[str, float]:
    """The characteristics of a stream of requests, basic and extended.  A kind
    that does not occur has zeros."""
    out = {"wr_ratio": float(trace.write.mean()), "q_dep": float(depth),
           "req_size": float(trace.nbytes.mean())}
    n_random = n_judged = 0
    for kind, name in ((True, "wr"), (False, "rd")):
        mine = trace.write == kind
        offset, nbytes = trace.offset[mine], trace.nbytes[mine]
        grid = stride(offset)
        random = is_random(offset, nbytes, grid)
        out[f"{name}_size"] = float(nbytes.mean()) if len(nbytes) else 0.0
        out[f"{name}_rand"] = float(random.mean()) if len(random) else 0.0
        out[f"{name}_stride"] = float(grid)
        n_random += int(random.sum())
        n_judged += len(random)
    out["rand"] = n_random / n_judged if n_judged else 0.0
    return out
