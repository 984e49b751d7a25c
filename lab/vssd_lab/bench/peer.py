# SPDX-License-Identifier: GPL-2.0-or-later
"""Another emulator's device, FEMU's, against vssd: IOPS, lateness, CPU.

Each emulator has its own guest, of the same image, and the guests that are not
measured are stopped (SIGSTOP): FEMU's threads poll without a pause.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from vssd.errors import UserError, one_line
from vssd.guest.guest import Guest
from vssd.ui import Stage

from .fio import (
    LARGE,
    LARGE_DEPTH,
    QUEUES,
    WORKLOADS,
    device_of,
    fio,
    large,
)
from .idle import cpu_s, idle_cpu
from .lateness import READ40_NS, added_ns
from .rows import row
from .vm import OURS, READ40, booted, null_drive

DEVICE = "femu"
MIB = 512  # of its memory, which holds the data
# Its modes: 2 takes no time; 1 has a flash translation layer, here 1 GiB with
# 512 MiB of user data and reads of 40 us.
AT_ONCE = f"{DEVICE},devsz_mb={MIB},femu_mode=2,id=peer"
WITH_TIME = (f"{DEVICE},devsz_mb={MIB},femu_mode=1,id=peer,blks_per_pl=16,"
             f"pg_rd_lat={READ40_NS},pg_wr_lat=0,blk_er_lat=0")
THEIRS = "/dev/nvme0n1"
START_S = 30
IDLE_S = 10
AIM = {32: "; aim: 1.5"}  # by depth


def check(path: Path) -> None:
    """Refuse a program that does not start, or has no such device."""
    try:
        done = subprocess.run([path, "-device", f"{DEVICE},help"],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=START_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        reason = e.strerror if isinstance(e, OSError) else "it does not answer"
        raise UserError(f"--peer femu={path}: cannot start: {reason}") from e
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [
            f"exit status {done.returncode}"]
        raise UserError(f"--peer femu={path}: cannot start: {one_line(said[-1])}")


@contextmanager
def stopped(*guests: Guest) -> Iterator[None]:
    """These guests do nothing meanwhile."""
    for guest in guests:
        os.kill(guest.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for guest in guests:
            os.kill(guest.pid, signal.SIGCONT)


def in_turns(ours: Guest, peer: Guest, devices: dict[Guest, str], rounds: int,
             seconds: float) -> Iterator[tuple[int, str, float, float]]:
    """For each depth and workload the median IOPS of both guests, each on its
    device."""
    for depth, workload in WORKLOADS:
        found: dict[Guest, list[float]] = {ours: [], peer: []}
        for _ in range(rounds):
            for running, resting in ((peer, ours), (ours, peer)):
                with stopped(resting):
                    found[running].append(
                        fio(running, devices[running], workload, depth,
                            seconds).iops)
        mine, other = (statistics.median(found[g]) for g in (ours, peer))
        yield depth, workload, mine, other


def medians(measured: dict[Guest, Callable[[], float]], rounds: int) \
        -> list[float]:
    """A figure of each guest, in turns; the others are stopped."""
    found: dict[Guest, list[float]] = {guest: [] for guest in measured}
    for _ in range(rounds):
        for guest, figure in measured.items():
            with stopped(*(g for g in measured if g is not guest)):
                found[guest].append(figure())
    return [statistics.median(values) for values in found.values()]


def one_queue(ours: Guest, peer: Guest, rounds: int, seconds: float) \
        -> Iterator[dict[str, Any]]:
    """4 KiB and 128 KiB of one job, and CPU while nothing is asked."""
    device = {ours: device_of(ours, OURS), peer: THEIRS}
    for depth, workload, mine, other in in_turns(ours, peer, device, rounds,
                                                 seconds):
        yield row(f"guest_{workload}_4k_qd{depth}_femu", mine, other, "IOPS",
                  "zero-latency on null-co, against FEMU without delays"
                  + AIM.get(depth, ""))
    mine, other = medians(
        {g: partial(large, g, device[g], "read", seconds) for g in device},
        rounds)
    yield row(f"guest_read_{LARGE}_qd{LARGE_DEPTH}_femu", mine, other, "MiB/s",
              "against FEMU, which copies from memory")
    mine, other = medians(
        {g: partial(idle_cpu, g.pid, IDLE_S) for g in device}, 1)
    yield row("idle_cpu_femu", 100 * mine, 100 * other, "% of a core",
              "all of QEMU while the guest does nothing")


def queues(ours: Guest, peer: Guest, rounds: int, seconds: float) \
        -> dict[str, Any]:
    """A job on each vCPU."""
    device = {ours: device_of(ours, OURS), peer: THEIRS}

    def iops(guest: Guest) -> float:
        return fio(guest, device[guest], "randread", 32, seconds, "libaio",
                   f"--numjobs={QUEUES}").iops

    mine, other = medians({g: partial(iops, g) for g in device}, rounds)
    return row(f"guest_randread_4k_qd32_{QUEUES}_queues_femu", mine, other,
               "IOPS", f"{QUEUES} jobs on {QUEUES} vCPUs")


def latency_ns(guest: Guest, device: str, seconds: float) -> float:
    """Mean of reads of depth 1."""
    return fio(guest, device, "randread", 1, seconds).lat_ns


def busy_cpu(guest: Guest, device: str, seconds: float) -> float:
    """Share of a core that QEMU takes during reads of depth 1."""
    before, begin = cpu_s(guest.pid), time.monotonic()
    fio(guest, device, "randread", 1, seconds)
    return (cpu_s(guest.pid) - before) / (time.monotonic() - begin)


def lateness(ours: Guest, at_once: Guest, with_time: Guest, rounds: int,
             seconds: float) -> Iterator[dict[str, Any]]:
    """What a read of 40 us adds for a guest that sleeps."""
    slow = device_of(ours, READ40)
    with stopped(at_once, with_time):
        mine = added_ns(ours, device_of(ours, OURS), slow, rounds, seconds)
    least, most = medians(
        {g: partial(latency_ns, g, THEIRS, seconds)
         for g in (at_once, with_time)}, rounds)
    cpu, other = medians({ours: partial(busy_cpu, ours, slow, seconds),
                          with_time: partial(busy_cpu, with_time, THEIRS,
                                             seconds)}, 1)
    yield row("guest_added_latency_40us_femu", mine, most - least, "ns",
              f"the guest sleeps; CPU {100 * cpu:.0f} and {100 * other:.0f} % of"
              " a core")


@contextmanager
def their_guest(path: Path, device: str, smp: int = 2) -> Iterator[Guest]:
    """A guest of theirs; its boot may fail, where check() did not."""
    with ExitStack() as stack:
        try:
            guest = stack.enter_context(
                booted(emulator=path, extra=["-device", device], smp=smp))
        except UserError as e:
            raise UserError(f"--peer femu={path}: {e}") from e
        yield guest


def measure(path: Path, rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """All rows; the program was checked."""
    drives = [null_drive("vssd", OURS, "zero-latency"),
              null_drive("vssd", READ40, "read-40us")]
    with booted(*drives) as ours, their_guest(path, AT_ONCE) as peer:
        with Stage("fio: vssd and the peer in turns"):
            yield from one_queue(ours, peer, rounds, seconds)
        with ExitStack() as stack:
            with stopped(peer):
                slow = stack.enter_context(their_guest(path, WITH_TIME))
            with Stage("fio: lateness of both"):
                yield from lateness(ours, peer, slow, rounds, seconds)
    with booted(drives[0], smp=QUEUES) as ours, \
            their_guest(path, AT_ONCE, QUEUES) as peer, \
            Stage(f"fio: {QUEUES} queues of both"):
        yield queues(ours, peer, rounds, seconds)
