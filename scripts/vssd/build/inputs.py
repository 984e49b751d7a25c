# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs on which simulators are compared, on the drives c64 and c4: reads
and fresh writes of 4 KiB, uniform over 40 GiB, and writes over 2.6 GiB, which
keep GC busy.

The benchmarks of vssd-sim measure them, and its tuned build is trained by one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

BLOCK = 4096


@dataclass
class Input:
    """One of the inputs, and its form for the peers."""

    name: str
    profile: str
    rw: str
    fill: str
    size: int        # bytes that are touched
    interval_ns: int
    peer: int        # requests per second of the fastest peer
    note: str
    aim: int         # requests per second of CPU time, parsing included

    def workload(self, n: int) -> str:
        """The input as keywords."""
        return (f"rw={self.rw} bs=4k size={self.size} number_ios={n}"
                f" interval={self.interval_ns}ns")

    def write(self, path: Path, n: int) -> None:
        """The input as text: ns, device, sector, sectors, 1 for a read."""
        draw = random.Random(1)
        blocks, kind = self.size // BLOCK, int(self.rw == "randread")
        with path.open("w") as f:
            for first in range(0, n, 10000):
                f.writelines(
                    f"{i * self.interval_ns} 0 {draw.randrange(blocks) * 8} 8"
                    f" {kind}\n" for i in range(first, min(first + 10000, n)))


# Peers: one core of a virtual machine with two of an EPYC (Zen 5), parsing of
# the text included, start-up of the slowest not.
INPUTS = [
    Input("read", "c64", "randread", "preload", 40 << 30, 10_000, 240_000,
          "MQSim 236 k, SSDSim 240 k, SimpleSSD 178 k", 2_500_000),
    Input("write", "c64", "randwrite", "none", 40 << 30, 50_000, 385_000,
          "MQSim 224 k, SSDSim 385 k, SimpleSSD 207 k", 3_000_000),
    Input("gc", "c4", "randwrite", "none", 2662 << 20, 500_000, 332_000,
          "MQSim 140 k, SSDSim 332 k, SimpleSSD 110 k", 2_500_000),
]
