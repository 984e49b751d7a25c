# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs on which simulators are compared, on the drives c64 and c4: reads
and fresh writes of 4 KiB, uniform over 40 GiB, and writes over 2.6 GiB, which
keep GC busy.

The benchmarks of vssd-sim measure them, and its tuned build is trained by one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
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


INPUTS = [
    Input("read", "c64", "randread", "preload", 40 << 30, 10_000, 4_200_000),
    Input("write", "c64", "randwrite", "none", 40 << 30, 50_000, 4_200_000),
    Input("gc", "c4", "randwrite", "none", 2662 << 20, 500_000, 2_800_000),
]


# Lines of each kind, of request i: its sector, and is it a read?
TEXTS: dict[str, tuple[str, Callable[[int, int, bool], str]]] = {
    "ssdsim": ("", lambda i, s, r: f"{i * 10000} 0 {s} 8 {r:d}"),
    "disksim": ("", lambda i, s, r: f"{i / 10:.6f} 0 {s} 8 {r:d}"),
    "msr": ("", lambda i, s, r: f"{128166372000000000 + i * 1000},hm,0,"
            f"{'Read' if r else 'Write'},{s * 512},4096,{1000 + i % 900}"),
    "spc": ("", lambda i, s, r: f"0,{s},4096,{'R' if r else 'W'},{i / 1e3:.6f}"),
    "systor17": ("Timestamp,Response,IOType,LUN,Offset,Size\n",
                 lambda i, s, r: f"{1456095145 + i / 1e3:.9f},0.000812,"
                 f"{'R' if r else 'W'},3,{s * 512},4096"),
    "blkparse": ("", lambda i, s, r: f"  8,16   5  {i:7} {i / 1e3:13.9f} 18615"
                 f"  D  {'RS' if r else 'W'} {s} + 8 [java]"),
    "fio": ("fio version 3 iolog\n1 /dev/nvme0n1 add\n",
            lambda i, s, r: f"{i * 100} /dev/nvme0n1"
            f" {'read' if r else 'write'} {s * 512} 4096"),
    "csv": ("host,time_us,op,offset,bytes\n",
            lambda i, s, r: f"h,{i * 100},{'read' if r else 'write'},"
            f"{s * 512},4096"),
}


def write_text(path: Path, kind: str, n: int) -> None:
    """Requests of 4 KiB over 40 GB, as text of a kind."""
    head, line = TEXTS[kind]
    draw = random.Random(1)
    with path.open("w", encoding="ascii") as f:
        f.write(head)
        f.writelines(line(i, draw.randrange(10_000_000) * 8, draw.random() < .5)
                     + "\n" for i in range(n))
