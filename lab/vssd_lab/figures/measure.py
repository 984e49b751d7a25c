# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of a trace by which stand-ins are fitted and checked.

Bursts: the entropy plot and b of M. Wang, T. Madhyastha, N. H. Chan,
S. Papadimitriou, C. Faloutsos, "Data Mining Meets Performance Evaluation: Fast
Algorithms for Modeling Bursty Traffic", ICDE 2002, section 4; and the variance
of inter-arrival times over scales.  Reuse: LRU stack distances (R. L. Mattson
et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal
9(2), 1970) and the working set (P. J. Denning, CACM 11(5), 1968).

Knows arrays; knows no files and no figures.  Needs numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .traces import PAGE, Trace

COLD = -1  # the distance of a first touch
LOOK = 8  # requests in which a sequential run goes on
SCALE_LEAST = 16  # blocks of inter-arrival times that a variance needs


# ---- arrivals -------------------------------------------------------------------


def entropy_plot(at_ns: Any) -> list[float]:
    """Entropy, in bits, of the requests over 2, 4, 8, ... equal parts of the
    time, down to as many parts as there are requests."""
    begin, end = int(at_ns[0]), int(at_ns[-1])
    levels = int(np.log2(max(len(at_ns), 2)))
    if end <= begin:
        return []
    place = (at_ns - begin) / (end - begin + 1)
    out = []
    for level in range(1, levels + 1):
        count = np.bincount((place * (1 << level)).astype("i8"))
        share = count[count > 0] / len(at_ns)
        out.append(float(-(share * np.log2(share)).sum()))
    return out


def bias_of(bits: float) -> float:
    """b of 0.5..1 with the entropy -b log2 b - (1-b) log2 (1-b)."""
    low, high = 0.5, 1.0
    for _ in range(40):
        b = (low + high) / 2
        h = -b * np.log2(b) - (1 - b) * np.log2(1 - b)
        low, high = (b, high) if h > bits else (low, b)
    return (low + high) / 2


def bias(at_ns: Any) -> float:
    """b: from the slope of the entropy plot (least squares).  A Poisson
    process has about 0.58 by this, since its finest parts hold one request."""
    plot = entropy_plot(at_ns)
    if len(plot) < 2:
        return 0.5
    slope = float(np.polyfit(np.arange(len(plot)), plot, 1)[0])
    return bias_of(min(max(slope, 0.0), 1.0))


def bias_above(at_ns: Any, least_s: float) -> float | None:
    """b from the entropy over parts of at least so many seconds; None: fewer
    than eight such parts."""
    level = int(np.log2(max(float(at_ns[-1] - at_ns[0]) / 1e9 / least_s, 1)))
    plot = entropy_plot(at_ns)[:level]
    return bias_of(min(plot[-1] / len(plot), 1.0)) if len(plot) >= 3 else None


def interval_variance(at_ns: Any) -> list[float]:
    """The squared coefficient of variation of sums of 1, 2, 4, ... successive
    inter-arrival times, times their number: 1 at each scale for Poisson."""
    gap = np.diff(at_ns).astype("f8")
    out, m = [], 1
    while len(gap) // m >= SCALE_LEAST:
        sums = gap[:len(gap) // m * m].reshape(-1, m).sum(axis=1)
        out.append(float(m * sums.var() / max(sums.mean(), 1e-9) ** 2))
        m *= 2
    return out


# ---- sizes and runs -----------------------------------------------------------------


def size_quantiles(nbytes: Any) -> list[float]:
    """Sizes in sectors at 5, 10, ... 95 %."""
    return [float(q) for q in np.quantile(
        nbytes / 512, np.arange(1, 20) / 20, method="inverted_cdf")]


def continued(offset: Any, nbytes: Any) -> Any:
    """Of each request the number of the one whose end it begins at, of the
    LOOK before it, the nearest first; -1: none."""
    n = len(offset)
    out = np.full(n, -1, "i8")
    end = offset + nbytes
    index = np.arange(n)
    for lag in range(1, min(LOOK, n - 1) + 1):
        same = (offset[lag:] == end[:-lag]) & (out[lag:] < 0)
        out[lag:][same] = index[:-lag][same]
    return out


# ---- reuse ---------------------------------------------------------------------------


def stack_distances(places: Any) -> Any:
    """Of each access, the number of other places since the last access to the
    same one, plus 1; COLD for the first.  A Fenwick tree over time holds the
    last access to each place."""
    n = len(places)
    tree = [0] * (n + 1)
    last: dict[int, int] = {}
    out = np.full(n, COLD, "i8")

    def add(i: int, by: int) -> None:
        while i <= n:
            tree[i] += by
            i += i & -i

    def upto(i: int) -> int:
        total = 0
        while i > 0:
            total += tree[i]
            i -= i & -i
        return total

    for i, place in enumerate(places.tolist(), 1):
        before = last.get(place)
        if before is not None:
            out[i - 1] = len(last) - upto(before) + 1
            add(before, -1)
        add(i, 1)
        last[place] = i
    return out


def pages(trace: Trace, most: int) -> Any:
    """Pages in order of access, of so many requests; without sizes, the first
    page of each."""
    first = trace.offset[:most] // PAGE
    if "sizes" in trace.lacks:
        return first
    count = (trace.offset[:most] + trace.nbytes[:most] - 1) // PAGE - first + 1
    end = np.cumsum(count)
    return np.repeat(first - (end - count), count) + np.arange(end[-1])


def reuse_curve(places: Any, bins: int) -> list[float]:
    """Share of the accesses with a stack distance of at most 1, 2, 4, ..."""
    distance = stack_distances(places)
    distance = np.sort(distance[distance != COLD])
    return [float(np.searchsorted(distance, 1 << k, "right") / len(places))
            for k in range(bins)]


def working_set(places: Any, points: int) -> list[float]:
    """Different places among the first 1/points, 2/points, ... of the
    accesses, as a share of all accesses."""
    first = np.zeros(len(places), bool)
    first[np.unique(places, return_index=True)[1]] = True
    grown = np.cumsum(first)
    ends = np.arange(1, points + 1) * len(places) // points - 1
    return [float(grown[e] / len(places)) for e in ends]


# ---- a trace beside another -------------------------------------------------------------

BINS = 14  # of the reuse curve: to 8192
POINTS = 10  # of the working set
MOST = 10_000  # requests that reuse is measured on
FEWEST = 200  # requests of a kind that can be judged

Curves = dict[str, list[float]]


def curves(trace: Trace) -> Curves:
    """What a stand-in is compared by: of all requests, and for arrivals and
    sizes of reads and writes apart."""
    out: Curves = {}
    for kind, name in ((False, "read"), (True, "write")):
        mine = trace.write == kind
        if mine.sum() >= FEWEST:
            if "times" not in trace.lacks:
                out[f"{name} intervals"] = interval_variance(
                    trace.at_ns[mine])
            if "sizes" not in trace.lacks:
                out[f"{name} sizes"] = size_quantiles(trace.nbytes[mine])
    touched = pages(trace, MOST)
    out["reuse"] = reuse_curve(touched, BINS)
    out["working set"] = working_set(touched, POINTS)
    return out


def distance(name: str, ours: list[float], other: list[float]) -> float:
    """Of two curves: intervals and sizes by the mean of |log2| of the ratio,
    point by point; reuse and working set by the largest difference."""
    n = min(len(ours), len(other))
    a, b = np.array(ours[:n]), np.array(other[:n])
    if name in ("reuse", "working set"):
        return float(np.abs(a - b).max())
    least = 1e-3
    return float(np.abs(np.log2(np.maximum(a, least)
                                / np.maximum(b, least))).mean())
