# SPDX-License-Identifier: GPL-2.0-or-later
"""4 KiB random I/O of another emulator's device, FEMU's, against vssd.

Each emulator has its own guest, of the same image, and the guest that is not
measured is stopped (SIGSTOP): FEMU's threads poll without a pause.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import UserError, one_line
from ..guest.guest import Guest
from ..ui import Stage
from .fio import WORKLOADS, device_of, fio
from .rows import row
from .vm import OURS, booted, null_drive

DEVICE = "femu"
MIB = 512  # of its memory, which holds the data
START_S = 30
AIM = {32: "; aim: 1.5"}  # by depth


def check(path: Path) -> None:
    """Refuse a program that does not start, or has no such device."""
    try:
        done = subprocess.run([path, "-device", f"{DEVICE},help"],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=START_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        reason = e.strerror if isinstance(e, OSError) else "it does not answer"
        raise UserError(f"--peer {path}: cannot start: {reason}") from e
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [
            f"exit status {done.returncode}"]
        raise UserError(f"--peer {path}: cannot start: {one_line(said[-1])}")


@contextmanager
def only(running: Guest, resting: Guest) -> Iterator[None]:
    """One of two guests has the machine."""
    procs = [g.live.proc for g in (running, resting)]
    assert procs[0] and procs[1]
    os.kill(procs[1].pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(procs[1].pid, signal.SIGCONT)


def in_turns(ours: Guest, peer: Guest, devices: dict[Guest, str], rounds: int,
             seconds: float) -> Iterator[tuple[int, str, float, float]]:
    """For each depth and workload the median IOPS of both guests, each on its
    device."""
    for depth, workload in WORKLOADS:
        found: dict[Guest, list[float]] = {ours: [], peer: []}
        for _ in range(rounds):
            for running, resting in ((peer, ours), (ours, peer)):
                with only(running, resting):
                    found[running].append(
                        fio(running, devices[running], workload, depth,
                            seconds).iops)
        mine, other = (statistics.median(found[g]) for g in (ours, peer))
        yield depth, workload, mine, other


def measure(path: Path, rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Rows for each workload and queue depth; the program was checked."""
    theirs = ["-device", f"{DEVICE},devsz_mb={MIB},femu_mode=2,id=peer"]
    with booted(null_drive("vssd", OURS, "zero-latency")) as ours, \
            booted(emulator=path, extra=theirs) as peer, \
            Stage("fio: vssd and the peer in turns"):
        device = {ours: device_of(ours, OURS), peer: "/dev/nvme0n1"}
        for depth, workload, mine, other in in_turns(ours, peer, device, rounds,
                                                     seconds):
            yield row(f"guest_{workload}_4k_qd{depth}_femu", mine, other, "IOPS",
                      "zero-latency on null-co, against FEMU without delays"
                      + AIM.get(depth, ""))
