# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of vssd-sim with each buffer policy, against LRU in the same run.

Requests per second of processor time are compared, so a host that is
busy with other things does not show; the policies take turns, and figures are
medians of the rounds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from typing import Any

from vssd import paths
from vssd.build import model, tuned
from vssd.errors import UserError, one_line
from vssd.ui import Stage

PROFILE = "tlc-generic"
PEER = "lru"
FLOOR = 0.7

# Mostly hits; victims all the time; idle times, in which early flush works.
WORKLOADS = {
    "hits": "rw=randrw bs=4k iodepth=32 number_ios=400000"
            " random_distribution=zipf:1.1",
    "victims": "rw=randwrite bs=4k iodepth=32 number_ios=200000",
    "bursts": "rw=randrw bs=4k iodepth=32 number_ios=200000 rate_iops=20000"
              " rate_process=onoff on_time=20ms off_time=180ms",
}


def _play(policy: str, workload: str) -> dict[str, Any]:
    """vssd-sim's results."""
    done = subprocess.run(
        [str(tuned.sim()), "run",
         "--profile", str(paths.find_profile(PROFILE)),
         "--set", f"buffer.policy={policy}", "--fill", "seq",
         "--workload", workload, "--json"], capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise UserError("vssd-sim: " + one_line(done.stderr))
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def rows_of(name: str, runs: dict[str, list[dict[str, Any]]]) \
        -> list[dict[str, Any]]:
    """Rows of one workload, from the runs of each policy."""
    speed = {p: statistics.median(r["requests_per_s_cpu"] for r in rs)
             for p, rs in runs.items()}
    rows = []
    for policy, rs in runs.items():
        ratio = speed[policy] / speed[PEER]
        hits, misses = rs[0]["buffer"]["hits"], rs[0]["buffer"]["misses"]
        note = (f"peer: {PEER}; {100 * hits / (hits + misses):.0f} % hits,"
                f" {rs[0]['nand']['programs']:,} programs")
        if ratio < FLOOR:
            note += "; BELOW 0.7"
        rows.append({"name": f"buffer_{name}_{policy}", "ours": speed[policy],
                     "peer": speed[PEER], "ratio": ratio,
                     "unit": "requests/CPU s", "note": note})
    return rows


def measure(rounds: int) -> list[dict[str, Any]]:
    """Rows for every policy and workload."""
    with Stage("vssd-sim: buffer policies in turns"):
        return _rows(rounds)


def _rows(rounds: int) -> list[dict[str, Any]]:
    rows = []
    for name, workload in WORKLOADS.items():
        runs: dict[str, list[dict[str, Any]]] = {
            p: [] for p in model.choices("buffer.policy")}
        for _ in range(rounds):
            for policy, done in runs.items():
                done.append(_play(policy, workload))
        rows += rows_of(name, runs)
    return rows
