# SPDX-License-Identifier: GPL-2.0-or-later
"""The array's model by itself: vssd-bench-nand's figures as rows."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from vssd.build import model
from vssd.errors import UserError, one_line
from vssd.ui import Stage

from .rows import row

AIM_OPS_PER_S = 5_000_000
LOADS = {
    "read": "random reads",
    "program": "erases and programs",
    "mixed": "three reads to a program",
}


def _measure(what: str) -> dict[str, Any]:
    done = subprocess.run([str(model.bench_nand()), what],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError("vssd-bench-nand: " + one_line(done.stderr))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text)


def speed() -> list[dict[str, Any]]:
    """Operations per second of one core, and the cost of each feature."""
    with Stage("the array's model, with each feature and without"):
        found = _measure("--speed")
    rows = [row(f"nand_{load}", rate, AIM_OPS_PER_S, "operations/s",
                f"peer: the aim; {LOADS[load]}")
            for load, rate in found["nand_ops_per_s"].items()]
    return rows + [
        row("with_" + _word(f["feature"]), f["ns_with"], f["ns_without"],
            "ns/operation", "peer: without it; mixed load")
        for f in found["features"]]


def scaling() -> list[dict[str, Any]]:
    """Modelled throughput by channels and dies, and its limit."""
    with Stage("throughput by channels and dies"):
        found = _measure("--scaling")
    rows = []
    for kind, points in found["scaling"].items():
        one = points[0]["iops"]
        for p in points:
            n = p["channels"] * p["dies"]
            rows.append(row(
                f"scaling_{kind}_{p['channels']}x{p['dies']}", p["iops"],
                one * n, "IOPS",
                f"limit: {p['bottleneck']}; busy: dies"
                f" {p['die_utilization']:.0%}, bus"
                f" {p['bus_utilization']:.0%}"))
    return rows
