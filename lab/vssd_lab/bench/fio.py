# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed as a guest sees it, by fio: vssd with a drive that takes no time,
against QEMU's own nvme, both on null-co; and against a device of the guest's
kernel that does nothing.

One guest holds all the drives that are compared, and the runs alternate, so a
host that is busy for a while slows both sides.  Figures are medians of the
rounds; the ratio is quoted.
"""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from vssd.ui import Stage

from .rows import row
from .vm import OURS, PEER, booted, null_drive

WORKLOADS = [(depth, workload) for depth in (1, 32)
             for workload in ("randread", "randwrite")]
NULL_BLOCK = "/dev/nullb0"
QUEUES = 4
# The largest request of the rows of 128 KiB, and how many are in flight.
LARGE, LARGE_DEPTH = "128k", 8


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
    """One run of 4 KiB requests, if `more` says nothing else."""
    command = ["fio", "--name=bench", f"--filename={device}", "--direct=1",
               f"--ioengine={engine}", "--bs=4k", f"--rw={workload}",
               f"--iodepth={depth}", "--size=256m", "--time_based",
               f"--runtime={seconds:g}", "--randrepeat=1",
               "--group_reporting", "--output-format=json", *more]
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
    for depth, workload in WORKLOADS:
        a, b = [], []
        for _ in range(rounds):
            b.append(fio(guest, peer, workload, depth, seconds).iops)
            a.append(fio(guest, ours, workload, depth, seconds).iops)
        rows.append(row(
            f"guest_{workload}_4k_qd{depth}", statistics.median(a),
            statistics.median(b), "IOPS",
            "zero-latency on null-co, against QEMU's nvme on null-co"))
    return rows


def large(guest: Runner, device: str, workload: str, seconds: float) -> float:
    """MiB/s of requests of 128 KiB in order."""
    return fio(guest, device, workload, LARGE_DEPTH, seconds, "libaio",
               f"--bs={LARGE}").iops / 8


def sequential(guest: Runner, rounds: int, seconds: float) -> dict[str, Any]:
    """128 KiB reads, against the guest's own null_blk, which moves no data and
    interrupts nobody: what the guest can do at most."""
    guest.run("modprobe null_blk nr_devices=1 queue_mode=2")
    ours = device_of(guest, OURS)
    found: dict[str, list[float]] = {ours: [], NULL_BLOCK: []}
    for _ in range(rounds):
        for device, speeds in found.items():
            speeds.append(large(guest, device, "read", seconds))
    mine, most = (statistics.median(found[d]) for d in (ours, NULL_BLOCK))
    return row(f"guest_read_{LARGE}_qd{LARGE_DEPTH}", mine, most, "MiB/s",
               "against null_blk of the same guest; aim: 0.9")


def queues(guest: Runner, rounds: int, seconds: float) -> dict[str, Any]:
    """How the IOPS of a job grow with one job on each vCPU, against how a load
    grows that has no device: fio's engine `null`."""
    found: dict[tuple[str, int], list[float]] = {}
    ours = device_of(guest, OURS)
    for _ in range(rounds):
        for engine, device, depth in (("null", ours, 1), ("libaio", ours, 32)):
            for jobs in (1, QUEUES):
                found.setdefault((engine, jobs), []).append(
                    fio(guest, device, "randread", depth, seconds, engine,
                        f"--numjobs={jobs}").iops)
    mine, most = (statistics.median(found[e, QUEUES])
                  / statistics.median(found[e, 1]) for e in ("libaio", "null"))
    return row(f"guest_randread_4k_qd32_{QUEUES}_queues", mine, most,
               "times one",
               f"{QUEUES} jobs on {QUEUES} vCPUs; peer: a load without a device")


def measure(rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """All rows, in guests of their own."""
    drives = [null_drive("vssd", OURS, "zero-latency"),
              null_drive("nvme", PEER)]
    with booted(*drives) as guest, Stage("fio: vssd and nvme in turns"):
        yield from speed(guest, rounds, seconds)
        yield sequential(guest, rounds, seconds)
    with booted(drives[0], smp=QUEUES) as guest, \
            Stage(f"fio: {QUEUES} queues on {QUEUES} vCPUs"):
        yield queues(guest, rounds, seconds)
