# SPDX-License-Identifier: GPL-2.0-or-later
"""A live file (docs/live-format.md) by a writer that shares no code with the
product's: for tests of the reader and of the page.

The values of picture n follow from n, so that a test knows what must be shown.
"""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path
from typing import Any

SIZES = {"u8": ("B", 1), "u16": ("H", 2), "u32": ("I", 4), "u64": ("Q", 8),
         "f64": ("d", 8)}
COSTS = ("firmware", "link", "buffer", "bus_wait", "bus", "die_wait", "cell", "ecc",
         "gc_wait", "flush", "map")
COUNTERS = ("requests", "host_bytes_read", "host_bytes_written", "commands_failed",
            "latency_ns.read.count", "latency_ns.write.count", "nand.reads",
            "nand.programs", "nand.erases", "gc.victims", "gc.copied_units",
            "lateness_ns.count")
GAUGES = ("waf", "waf_by_cause.host", "waf_by_cause.gc", "buffer.units_used",
          "buffer.units_dirty", "gc.free_blocks", "thermal.celsius", "power.mean_w",
          "lateness_ns.mean", "lateness_ns.p99", "explain.commands_in_flight")
EDGES = [0, *(1000 * 2 ** i for i in range(16))]  # ns: where each bin begins
KEPT = 64


class FakeDrive:
    """Writes pictures when it is told."""

    def __init__(self, path: Path, channels: int = 4, per_channel: int = 8,
                 superblocks: int = 96, signature: bytes = b"vssdLIV1",
                 without: tuple[str, ...] = (), process: int = 0) -> None:
        self.path = path
        self.n = 0
        self.channels, self.dies = channels, channels * per_channel
        self.superblocks = superblocks
        self.sections: list[dict[str, Any]] = []
        self.picture_bytes = 0
        for name, kind, count, more in self._list():
            if name not in without:
                self.sections.append({"name": name, "type": kind, "count": count,
                                      "offset": self.picture_bytes, **more})
                self.picture_bytes += -(-count * SIZES[kind][1] // 8) * 8
        self.drive = {
            "profile": "fake", "name": "fake", "channels": channels,
            "dies": self.dies, "planes_per_die": 2,
            "dies_per_channel": per_channel, "unit_bytes": 4096,
            "capacity_bytes": 1 << 30, "superblocks": superblocks,
            "superblocks_per_cell": 1, "buffer_units": 1000,
            "superblock_units": 4096, "queues": 3,
            "gc_marks": {"low": 20, "high": 40}}
        layout = json.dumps({"schema": "vssd-live 1", "drive": self.drive,
                             "sections": self.sections}).encode()
        self.layout = (4096, len(layout))
        self.picture = (4096 + -(-len(layout) // 8) * 8, self.picture_bytes)
        self.process = process or os.getpid()
        part = path.with_name(path.name + ".part")
        with open(part, "wb") as f:
            f.truncate(sum(self.picture))
            f.write(struct.pack("<8sIIQ4QQ", signature, 4096, 1,
                                sum(self.picture), *self.layout, *self.picture,
                                self.process))
            f.seek(self.layout[0])
            f.write(layout)
        part.rename(path)
        self.fd = os.open(path, os.O_RDWR)

    def close(self) -> None:
        """The file stays."""
        os.close(self.fd)

    def _list(self) -> list[tuple[str, str, int, dict[str, Any]]]:
        cells, dies = self.superblocks, self.dies
        slow: list[tuple[str, str, int, dict[str, Any]]] = [
            ("slow." + name, kind, KEPT, more) for name, kind, more in (
                ("start_ns", "u64", {}), ("latency_ns", "u64", {}),
                ("op", "u8", {"words": ["read", "write"]}), ("unit", "u64", {}),
                ("bytes", "u32", {}), ("die", "u16", {}),
                ("waited_for", "u8", {"words": ["", "gc program", "gc erase"]}))]
        return [
            ("sim_ns", "u64", 1, {}), ("host_ns", "u64", 1, {}),
            ("counter", "u64", len(COUNTERS), {"words": list(COUNTERS)}),
            ("gauge", "f64", len(GAUGES), {"words": list(GAUGES)}),
            ("die.state", "u8", dies,
             {"words": ["idle", "read", "program", "erase", "suspended"]}),
            ("die.cause", "u8", dies, {"words": ["host", "gc", "wear"]}),
            ("die.waiting", "u16", dies, {}), ("die.busy_ns", "u64", dies, {}),
            ("channel.state", "u8", self.channels,
             {"words": ["idle", "in", "status", "out"]}),
            ("channel.busy_ns", "u64", self.channels, {}),
            ("superblock.state", "u8", cells,
             {"words": ["free", "open", "full", "victim", "bad"]}),
            ("superblock.valid", "u8", cells, {}),
            ("superblock.age", "u32", cells, {}),
            ("superblock.erases", "u32", cells, {}),
            ("queue.depth", "u16", 3, {}),
            ("latency.read", "u64", len(EDGES), {"edges_ns": EDGES}),
            ("latency.write", "u64", len(EDGES), {"edges_ns": EDGES}),
            *((f"stream.{name}", "u64", 2, {"words": ["0", "1"]})
              for name in ("units", "host_bytes", "nand_bytes")),
            ("slow.count", "u64", 1, {}), *slow,
            ("slow.cost", "u32", KEPT * len(COSTS), {"words": list(COSTS)})]

    def values(self, n: int) -> dict[str, list[float]]:
        """Of picture n, by section: n * 25 ms of the drive's time, n * 50 ms of the
        host's."""
        dies, cells = range(self.dies), range(self.superblocks)
        kept = [max(0, n - 1 - (n - 1 - i) % KEPT) for i in range(KEPT)]
        reads = [n * (i % 4) * 10 for i in range(len(EDGES))]
        writes = [n * 3 // 2 if i == 2 else n * 31 // 20 if i == 5 else 0
                  for i in range(len(EDGES))]
        return {
            "sim_ns": [n * 25_000_000], "host_ns": [n * 50_000_000],
            "counter": [n * 500, n * 4096 * 300, n * 4096 * 200, n // 10, n * 300,
                        n * 200, n * 310, n * 60, n, n, n * 30, n * 500],
            "gauge": [1.5, 1.0, 0.5, 100 + n % 300, 40 + n % 100, 30 + n % 40,
                      41.5 + n % 5, 6.25, 2500.0, 9000.0, 12.0],
            "die.state": [(i + n) % 5 for i in dies],
            "die.cause": [(i // 5) % 3 for i in dies],
            "die.waiting": [i % 4 for i in dies],
            "die.busy_ns": [n * 12_500_000 for _ in dies],
            "channel.state": [(i + n) % 4 for i in range(self.channels)],
            "channel.busy_ns": [n * 5_000_000] * self.channels,
            "superblock.state": [0 if i < 30 else 1 if i < 34 else 3 if i == 40 else
                                 4 if i == 50 else 2 for i in cells],
            "superblock.valid": [i * 255 // max(self.superblocks - 1, 1)
                                 for i in cells],
            "superblock.age": [i * 3 for i in cells],
            "superblock.erases": [100 + i % 7 for i in cells],
            "queue.depth": [n % 8, 5, 0],
            "latency.read": reads, "latency.write": writes,
            "stream.units": [1000 + n, 500],
            "stream.host_bytes": [n * 4096 * 100, n * 4096 * 100],
            "stream.nand_bytes": [n * 4096 * 120, n * 4096 * 180],
            "slow.count": [n], "slow.start_ns": [i * 1_000_000 for i in kept],
            "slow.latency_ns": [(i + 1) * 100_000 for i in kept],
            "slow.op": [i % 2 for i in kept], "slow.unit": kept,
            "slow.bytes": [4096] * KEPT, "slow.die": [i % self.dies for i in kept],
            "slow.waited_for": [i % 3 for i in kept],
            "slow.cost": [(i + 1) * (50_000 if c == 8 else 5_000)
                          for i in kept for c in range(len(COSTS))]}

    def write(self, n: int | None = None,
              changed: dict[str, list[float]] | None = None) -> None:
        """Picture n, or the next one; with other values of some sections."""
        self.n = self.n + 1 if n is None else n
        values = self.values(self.n) | (changed or {})
        picture = bytearray(self.picture_bytes)
        for one in self.sections:
            struct.pack_into(f"<{one['count']}{SIZES[one['type']][0]}", picture,
                             one["offset"], *values[one["name"]])
        sequence = self.word(64)
        self._word(64, sequence + 1)
        os.pwrite(self.fd, picture, self.picture[0])
        self._word(80, time.monotonic_ns())
        self._word(88, self.word(88) + 1)
        self._word(64, sequence + 2)

    def end(self) -> None:
        """In order."""
        os.pwrite(self.fd, struct.pack("<I", 2), 12)

    def wanted(self) -> bool:
        """Does a reader want a picture now?"""
        return self.word(72) > time.monotonic_ns()

    def word(self, offset: int) -> int:
        """8 bytes of the header."""
        found: int = struct.unpack("<Q", os.pread(self.fd, 8, offset))[0]
        return found

    def _word(self, offset: int, value: int) -> None:
        os.pwrite(self.fd, struct.pack("<Q", value), offset)
