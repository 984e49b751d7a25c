# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of S. Zertal, IJAEE 5(1), 2015, section IV.A: OLTP after a
hidden Markov model, and five scientific traces after Table I.

Knows requests; knows nothing of drives.  Needs numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .traces import NS, PAGE, Trace

ALIGN = 2 << 20  # of a region: the largest request


@dataclass(frozen=True)
class Scientific:
    """A row of Table I."""

    read_share: float  # of the requests
    sequential: bool


@dataclass(frozen=True)
class Hmm:
    """Two hidden states, quiet and busy, which last a whole number of bins.
    In each the reads and the writes of a bin are Poisson.

    P. G. Harrison, S. K. Harrison, N. M. Patel, S. Zertal, "Storage workload
    modelling by hidden Markov models: application to FLASH memory",
    Performance Evaluation 69(1), 2012, fit such a model to counts in bins.
    The rate and the share of reads are those of Zertal 2015; the states are
    ours, since neither paper's text gives them."""

    per_second: float = 1600.0
    read_share: float = 0.67
    bin_s: float = 0.1
    burst: float = 5.0  # rate of the busy state over that of the quiet one
    busy_share: float = 0.25  # of the bins
    stay: float = 0.85  # a busy bin is followed by a busy one
    quiet_reads: float = 0.75  # share of reads in the quiet state

    def rates(self) -> Any:
        """Requests per second by state, and of them the share of reads."""
        quiet = self.per_second / (1 + self.busy_share * (self.burst - 1))
        rate = np.array([quiet, self.burst * quiet])
        weight = rate * [1 - self.busy_share, self.busy_share]
        busy = (self.read_share * self.per_second
                - weight[0] * self.quiet_reads) / weight[1]
        return rate, np.array([self.quiet_reads, busy])


SCIENTIFIC = {
    "S1": Scientific(0.51, True), "S2": Scientific(0.50, True),
    "S3": Scientific(0.14, False), "S4": Scientific(0.67, False),
    "S5": Scientific(0.00, False)}


def _states(rng: Any, hmm: Hmm, bins: int) -> Any:
    """A hidden state for each bin."""
    enter = (1 - hmm.stay) * hmm.busy_share / (1 - hmm.busy_share)
    draw = rng.random(bins)
    out = np.zeros(bins, "i8")
    out[0] = draw[0] < hmm.busy_share
    for i in range(1, bins):
        out[i] = draw[i] < (hmm.stay if out[i - 1] else enter)
    return out


def oltp(hmm: Hmm, n: int, region: int, seed: int) -> Trace:
    """n requests of a page at random places, in order of time."""
    rng = np.random.default_rng(seed)
    rate, reads = hmm.rates()
    bins = int(2 * n / (hmm.per_second * hmm.bin_s)) + 20
    state = _states(rng, hmm, bins)
    count = rng.poisson(rate[state] * hmm.bin_s)
    of_bin = np.repeat(np.arange(bins), count)
    at = np.sort((of_bin + rng.random(len(of_bin))) * hmm.bin_s * NS)
    if len(at) < n:
        raise ValueError("the hidden states gave too few requests")
    write = rng.random(len(of_bin)) >= reads[state[of_bin]]
    return Trace(at[:n].astype("i8"), write[:n],
                 rng.integers(0, region // PAGE, n) * PAGE,
                 np.full(n, PAGE, "i8"),
                 f"OLTP, generated, {n} requests, {hmm.per_second:.0f} per"
                 f" second in two hidden states {hmm.burst:g} times apart")


TYPICAL = "typical"


def sizes(kind: float | str) -> tuple[Any, Any]:
    """All powers of two from 1 KiB to 2 MiB, and their shares (the paper has
    "all the granularities", "with different percentages").

    A number: the shares fall with the size to that power.  TYPICAL: nine
    requests of ten have 4 KiB, and nine of the other ten 1 MiB; the rest is
    shared by all.  F. Wang et al., "File system workload analysis for large
    scale scientific computing applications", MSST 2004: each application has
    one or two typical sizes; small requests are more than 90 % in some, and
    large ones carry almost all data.  The sizes in the paper's own source (S.
    Park, K. Shen, "A performance evaluation of scientific I/O workloads on
    flash-based SSDs", IASDS 2009) could not be had, but for its abstract."""
    size = 1024 << np.arange(12)
    if kind == TYPICAL:
        weight = np.full(len(size), 0.01 / len(size))
        weight[2] += 0.9
        weight[10] += 0.09
    else:
        weight = size.astype("f8") ** -float(kind)
    return size, weight / weight.sum()


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


def scientific(name: str, s: Scientific, n: int, per_second: float,
               region: int, kind: float | str, seed: int) -> Trace:
    """n requests, Poisson arrivals."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.exponential(NS / per_second, n)).astype("i8")
    write = rng.random(n) >= s.read_share
    size, share = sizes(kind)
    nbytes = rng.choice(size, n, p=share)
    offset = _runs(rng, write, nbytes, region) if s.sequential \
        else rng.integers(0, region // PAGE, n) * PAGE
    return Trace(at, write, np.minimum(offset, region - nbytes), nbytes,
                 f"{name}, generated, {n} requests, {per_second:.0f} per"
                 " second")


def pages_of(trace: Trace, kind: bool) -> float:
    """Mean pages of a write (kind) or of a read."""
    mine = trace.write == kind
    if not mine.any():
        return 0.0
    first = trace.offset[mine] // PAGE
    last = (trace.offset[mine] + trace.nbytes[mine] - 1) // PAGE
    return float((last - first + 1).mean())
