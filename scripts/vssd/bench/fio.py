# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed as a guest sees it, by fio: vssd with a drive that takes no time,
against QEMU's own nvme, both on null-co.

One guest holds all the drives that are compared, and the runs alternate, so a
host that is busy for a while slows both sides.  Figures are medians of the
rounds; the ratio is quoted.
"""

from __future__ import annotations

import json
import shlex
import statistics
from dataclasses import dataclass
from typing import Any, Protocol

from ..ui import Stage
from .vm import OURS, PEER, booted, null_drive


class Runner(Protocol):
    """The part of guest.Guest that this module uses."""

    def run(self, command: str) -> str:
        """Run a shell command; its output."""

    def stats(self, drive: int = 0) -> dict[str, Any]:
        """The statistics of a vssd drive."""


@dataclass
class FioResult:
    """Results of one fio run."""

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


def measure(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """speed() in a guest of its own."""
    drives = [null_drive("vssd", OURS, "zero-latency"),
              null_drive("nvme", PEER)]
    with booted(*drives) as guest, Stage("fio: vssd and nvme in turns"):
        return speed(guest, rounds, seconds)
