# SPDX-License-Identifier: GPL-2.0-or-later
<<<<<<< HEAD
"""Measurements in guests: speed against QEMU's own nvme, lateness, idle CPU.

Everything that is compared is measured in the same guest, or in guests of the
same kind one right after the other, in turns, and the medians are told.
=======
"""Speed and lateness as a guest sees them, by fio.

One guest holds all the drives that are compared, and the runs alternate, so a
host that is busy for a while slows both sides.  Figures are medians of the
rounds; what is quoted is the ratio.

  speed     vssd with a drive that takes no time, against QEMU's own nvme, both
            on null-co
  lateness  a read of 40 us against the same run on the drive of no time
  idle      CPU time of the QEMU process, with and without the drive
>>>>>>> w/qemu
"""

from __future__ import annotations

import json
import os
<<<<<<< HEAD
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import image as image_module
from . import kvm, machine, paths, qemu_build
from .guest import Guest
from .rundir import rundir
from .ui import Stage

NULL_BYTES = 4 << 30
FIO = ("fio --output-format=json --name=b --ioengine=libaio --direct=1 --bs=4k"
       " --time_based --norandommap --randrepeat=1 --size=2g")
SPEED_JOBS = [("randread", 1), ("randwrite", 1), ("randread", 32),
              ("randwrite", 32)]
SETTLE_S = 10


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    repeat: int = 3
    runtime_s: int = 3
    idle_s: int = 20


def null_drive(device: str, profile: str = "") -> machine.Drive:
    """A drive in front of a block node that does nothing."""
    node = {"driver": "null-co", "size": NULL_BYTES, "read-zeroes": False}
    return machine.Drive(Path(), "", device,
                         paths.find_profile(profile) if profile else None,
                         node=node)


@contextmanager
def booted(*more: machine.Drive) -> Iterator[Guest]:
    """A guest on a virtio disk, which takes no part, with these drives."""
    qemu = qemu_build.ensure()
    built_in = image_module.ensure()
    with rundir() as folder:
        root = folder / "root.qcow2"
        image_module.overlay(qemu.img, built_in.disk, root)
        spec = machine.Spec(
            qemu.emulator, kvm.accelerator(qemu),
            [machine.Drive(root, "qcow2", "virtio-blk-pci"), *more],
            kernel=built_in.kernel, initrd=built_in.initrd, serve=True,
            append=f"root={built_in.root} rw console=ttyS0")
        with Guest(spec) as guest:
            with Stage("booting a guest to measure in"):
                guest.wait_agent()
                guest.wait_prompt()
                time.sleep(SETTLE_S)
            yield guest


def disk_of(guest: Guest, drive: int) -> str:
    """The guest's name of a drive, found by its serial number."""
    return guest.run("lsblk -dnro NAME,SERIAL | awk '$2 == \""
                     f"VSSD{drive:04d}" "\" {print \"/dev/\" $1}'").strip()


def fio(guest: Guest, disk: str, rw: str, depth: int, runtime_s: int) \
        -> dict[str, Any]:
    """One fio run; the direction's part of its report."""
    text = guest.run(f"{FIO} --filename={disk} --rw={rw} --iodepth={depth}"
                     f" --runtime={runtime_s} --ramp_time=1")
    job = json.loads(text[text.index("{"):])["jobs"][0]
    found: dict[str, Any] = job["read" if "read" in rw else "write"]
    return found


def row(name: str, ours: float, peer: float | None, unit: str, note: str = "",
        ratio: float | None = None) -> dict[str, Any]:
    """One line of results."""
    if ratio is None and peer:
        ratio = ours / peer
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio,
            "unit": unit, "note": note}


def speed(effort: Effort) -> list[dict[str, Any]]:
    """IOPS against QEMU's nvme, both on null-co."""
    found: dict[tuple[str, int, str], list[float]] = {}
    drives = [null_drive("vssd", "zero-latency"), null_drive("nvme")]
    with booted(*drives) as guest, Stage("fio: vssd and nvme") as stage:
        disks = {"ours": disk_of(guest, 1), "peer": disk_of(guest, 2)}
        for turn in range(effort.repeat):
            for rw, depth in SPEED_JOBS:
                order = sorted(disks, reverse=bool(turn % 2))
                for who in order:
                    stage.note(f"{rw} depth {depth} {who} {turn + 1}")
                    iops = fio(guest, disks[who], rw, depth,
                               effort.runtime_s)["iops"]
                    found.setdefault((rw, depth, who), []).append(iops)
    rows = []
    for rw, depth in SPEED_JOBS:
        ours, peer = (statistics.median(found[rw, depth, who])
                      for who in ("ours", "peer"))
        rows.append(row(f"fio 4k {rw} depth {depth}", ours, peer, "IOPS",
                        "peer: QEMU nvme on null-co, same guest"))
    return rows


def lateness(effort: Effort) -> list[dict[str, Any]]:
    """Does a modelled 40 us read take 40 us longer, and how late is it?"""
    means: dict[int, list[float]] = {1: [], 2: []}
    late: list[float] = []
    drives = [null_drive("vssd", "zero-latency"), null_drive("vssd",
                                                             "read-40us")]
    with booted(*drives) as guest, Stage("fio: lateness") as stage:
        for turn in range(effort.repeat):
            for i in (1, 2):
                stage.note(f"drive {i} turn {turn + 1}")
                guest.qmp("qom-set", path=f"/machine/peripheral/ssd{i}",
                          property="reset-stats", value=True)
                out = fio(guest, disk_of(guest, i), "randread", 1,
                          effort.runtime_s)
                means[i].append(out["clat_ns"]["mean"])
            late.append(guest.stats(2)["lateness_ns"]["p99"])
        modelled = guest.stats(2)["latency_ns"]["read"]["mean"]
    added = statistics.median(means[2]) - statistics.median(means[1])
    return [
        row("added latency of a 40 us read", added / 1000, modelled / 1000,
            "us", "peer: the model's own latency; aim: within 15 %"),
        row("lateness p99, read-40us, depth 1", statistics.median(late) / 1000,
            None, "us", "aim: under 200 us"),
    ]


def _cpu_s(guest: Guest) -> float:
    assert guest.live.proc
    text = Path(f"/proc/{guest.live.proc.pid}/stat").read_text()
    fields = text.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(effort: Effort) -> list[dict[str, Any]]:
    """CPU time of QEMU while the guest does nothing, with and without us."""
    found: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(2):
        for who, drives in (("peer", []), ("ours", [
                null_drive("vssd", "zero-latency")])):
            with booted(*drives) as guest:
                guest.run("sync")
                time.sleep(SETTLE_S)
                before, begin = _cpu_s(guest), time.monotonic()
                with Stage(f"an idle guest ({who})"):
                    time.sleep(effort.idle_s)
                used = _cpu_s(guest) - before
                found[who].append(100 * used / (time.monotonic() - begin))
    ours, peer = (statistics.median(found[w]) for w in ("ours", "peer"))
    return [row("CPU of QEMU, guest idle", ours, peer, "% of a core",
                f"peer: without the device; difference {ours - peer:+.2f},"
                " aim: within 1")]
=======
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
    """What this module needs of a guest (scripts/vssd/guest.py has it)."""

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
            ("libaio", (), "interrupts, the guest sleeps meanwhile"),
            ("libaio", ("--userspace_reap",),
             "interrupts, fio looks at its ring meanwhile")):
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
>>>>>>> w/qemu
