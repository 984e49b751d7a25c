# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed and lateness as a guest sees them, by fio.

One guest holds all the drives that are compared, and the runs alternate, so a
host that is busy for a while slows both sides.  Figures are medians of the
rounds; what is quoted is the ratio.

  speed     vssd with a drive that takes no time, against QEMU's own nvme, both
            on null-co
  lateness  a read of 40 us against the same run on the drive of no time
  idle      CPU time of the QEMU process, with and without the drive
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

NULL_BYTES = 2 << 30
PEER, OURS, READ40 = "bench-peer", "bench-zero", "bench-read40"
READ40_NS = 40_000


class Runner(Protocol):
    """What this module needs of a guest (scripts/vssd/guest/guest.py has it)."""

    def run(self, command: str) -> str:
        """Run a shell command; its output."""

    def stats(self, drive: int = 0) -> dict[str, Any]:
        """The statistics of a vssd drive."""


def null_node() -> dict[str, Any]:
    """A block node that moves no bytes, the same for every drive."""
    return {"driver": "null-co", "size": NULL_BYTES}


@dataclass
class FioResult:
    """What one fio run says."""

    iops: float
    lat_ns: float
    clat_ns: float


def device_of(guest: Runner, serial: str) -> str:
    """The block device of the drive with this serial number."""
    name = guest.run(
        f"grep -l '^{serial} *$' /sys/class/nvme/*/serial | head -n 1 | "
        "xargs dirname | xargs basename").strip()
    return f"/dev/{name}n1"


def fio(guest: Runner, device: str, workload: str, depth: int,
        seconds: float, engine: str = "libaio", *more: str) -> FioResult:
    """One run of 4 KiB requests."""
    command = ["fio", "--name=bench", f"--filename={device}", "--direct=1",
               f"--ioengine={engine}", "--bs=4k", f"--rw={workload}",
               f"--iodepth={depth}", "--size=256m", "--time_based",
               f"--runtime={seconds:g}", "--randrepeat=1",
               "--output-format=json", *more]
    text = guest.run(shlex.join(command))
    job = json.loads(text[text.index("{"):])["jobs"][0]
    side = job["read" if "read" in workload else "write"]
    return FioResult(side["iops"], side["lat_ns"]["mean"],
                     side["clat_ns"]["mean"])


def speed(guest: Runner, rounds: int = 3, seconds: float = 4
          ) -> list[dict[str, Any]]:
    """Rows for the four combinations of workload and queue depth."""
    ours, peer = device_of(guest, OURS), device_of(guest, PEER)
    rows = []
    for depth in (1, 32):
        for workload in ("randread", "randwrite"):
            a, b = [], []
            for _ in range(rounds):
                b.append(fio(guest, peer, workload, depth, seconds).iops)
                a.append(fio(guest, ours, workload, depth, seconds).iops)
            mine, theirs = statistics.median(a), statistics.median(b)
            rows.append({
                "name": f"guest_{workload}_4k_qd{depth}", "ours": mine,
                "peer": theirs, "ratio": mine / theirs, "unit": "IOPS",
                "note": "zero-latency on null-co, against QEMU's nvme on "
                        "null-co"})
    return rows


def lateness(guest: Runner, read40_drive: int, rounds: int = 3,
             seconds: float = 4) -> list[dict[str, Any]]:
    """What 40 us of tR add to a read as the guest times it, and the drive's
    own account of how late it was.  read40_drive: its number for stats()."""
    zero, slow = device_of(guest, OURS), device_of(guest, READ40)
    rows = []
    for engine, more, note in (
            ("libaio", ("--userspace_reap", "--iodepth_batch_complete_min=0"),
             "interrupts, fio looks at its ring meanwhile; aim: 0.85 to 1.15"),
            ("libaio", (), "interrupts, the guest sleeps meanwhile: with the"
             " time to wake a vCPU and the guest's scheduler")):
        added = []
        for _ in range(rounds):
            a = fio(guest, zero, "randread", 1, seconds, engine, *more)
            b = fio(guest, slow, "randread", 1, seconds, engine, *more)
            added.append(b.lat_ns - a.lat_ns)
        mean = statistics.median(added)
        rows.append({"name": "guest_added_latency_40us", "ours": mean,
                     "peer": READ40_NS, "ratio": mean / READ40_NS,
                     "unit": "ns", "note": note})
    late = guest.stats(read40_drive)["lateness_ns"]
    rows.append({"name": "guest_lateness_p99", "ours": late["p99"],
                 "peer": 200_000, "ratio": late["p99"] / 200_000,
                 "unit": "ns", "note": "posted after the modelled instant; "
                 f"p50 {late['p50']}, max {late['max']}; peer: the aim"})
    return rows


def cpu_s(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_cpu(pid: int, seconds: float = 20) -> float:
    """Share of a core that a process uses, while nothing is asked of it."""
    before, start = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - start)
