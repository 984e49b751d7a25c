# SPDX-License-Identifier: GPL-2.0-or-later
"""Mapping schemes (ftl.map): speed of vssd-sim with each, and its memory.

Requests for each second of processor time, so a host that is busy with other
things does not show; the schemes take turns, and figures are medians of the
rounds.  Memory is how the peak of the process grows with a drive's capacity, all
of it written: constant parts are left out.
"""

from __future__ import annotations

import statistics
from typing import Any

from vssd import paths
from vssd.build import model
from vssd.ui import Stage

from . import sim as bench_sim
from .rows import row

PEER = "page"
SPEED_ON = "c4"
MEMORY_ON = "tlc-generic"
TIB, GIB = 1 << 40, 1 << 30

# Over a part of c4 that leaves room for GC: the inputs of ./vssd bench sim,
# and writes in order, which suit maps by block.
WORKLOADS = {
    "read": ("preload", "rw=randread bs=4k size=2662m iodepth=32"
             " number_ios=400000"),
    "write": ("none", "rw=randwrite bs=4k size=2662m iodepth=32"
              " number_ios=400000"),
    "in_order": ("seq", "rw=write bs=64k size=2662m iodepth=8"
                 " number_ios=40000"),
    "gc": ("seq", "rw=randwrite bs=4k size=2662m iodepth=32"
           " number_ios=400000"),
}


def schemes() -> list[str]:
    """The choices of ftl.map, the peer first."""
    names = model.choices("ftl.map")
    return [PEER] + [n for n in names if n != PEER]


def _play(scheme: str, workload: str) -> dict[str, Any]:
    fill, words = WORKLOADS[workload]
    return bench_sim.run(SPEED_ON, fill, words,
                         sets=[f"ftl.map={scheme}"]).result


def rows_of(workload: str, runs: dict[str, list[dict[str, Any]]]) \
        -> list[dict[str, Any]]:
    """Rows of one workload, from the runs of each scheme."""
    rate = {s: statistics.median(r["requests_per_s_cpu"] for r in rs)
            for s, rs in runs.items()}
    return [row(f"map_{workload}_{s}", rate[s], rate[PEER], "requests/CPU s",
                f"peer: {PEER}; WAF {rs[0]['waf']:.3g}")
            for s, rs in runs.items()]


def _speed(rounds: int) -> list[dict[str, Any]]:
    rows = []
    for workload in WORKLOADS:
        runs: dict[str, list[dict[str, Any]]] = {s: [] for s in schemes()}
        for _ in range(rounds):
            for scheme, done in runs.items():
                done.append(_play(scheme, workload))
        rows += rows_of(workload, runs)
    return rows


def _grown(scheme: str) -> float:
    """Bytes of memory for each byte of capacity."""
    sizes = []
    for sets in (bench_sim.SMALL, bench_sim.LARGE):
        sets = [*sets, f"ftl.map={scheme}"]
        info = model.drive_info(paths.find_profile(MEMORY_ON), sets)
        full = bench_sim.run(MEMORY_ON, "seq",
                             bench_sim.STEADY.format(n=1000), sets=sets)
        sizes.append((int(info["capacity_bytes"]), full.rss))
    (small, small_rss), (large, large_rss) = sizes
    return (large_rss - small_rss) / (large - small)


def _memory() -> list[dict[str, Any]]:
    grown = {s: _grown(s) * TIB / GIB for s in schemes()}
    return [row(f"map_memory_{s}", g, grown[PEER], "GiB/TiB",
                f"peer: {PEER}; all written") for s, g in grown.items()]


def measure(rounds: int) -> list[dict[str, Any]]:
    """Rows for every scheme."""
    with Stage("vssd-sim: mapping schemes in turns"):
        rows = _speed(rounds)
    with Stage("memory of full drives with each"):
        return rows + _memory()
