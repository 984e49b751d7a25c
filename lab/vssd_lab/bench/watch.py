# SPDX-License-Identifier: GPL-2.0-or-later
"""What reading the statistics costs a guest.

CPU time of QEMU's main loop for a reading: while it reads, it holds the lock
that vCPUs need.  And fio on the drive of no time, pinned to one vCPU: three runs
a round in one guest, twice without readings and once with readings at 10 Hz.
The first ratio shows how far equal runs differ; a cost below that does not
show in the second.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from vssd.guest.guest import Guest
from vssd.ui import Stage

from .fio import Runner, device_of, fio
from .rows import row
from .vm import OURS, booted, null_drive

PERIOD_S = 0.1
READINGS = 500
WORKLOADS = ("randread", "randwrite")


@contextlib.contextmanager
def reading(read: Callable[[], object]) -> Iterator[list[float]]:
    """Read every PERIOD_S in a thread; how long each reading took, in s."""
    took: list[float] = []
    end = threading.Event()

    def work() -> None:
        due = time.monotonic()
        while not end.wait(max(due - time.monotonic(), 0)):
            begin = time.monotonic()
            read()
            took.append(time.monotonic() - begin)
            due = max(due + PERIOD_S, begin)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield took
    finally:
        end.set()
        thread.join()


def thread_cpu_s(pid: int, tid: int) -> float:
    """CPU time that a thread has used."""
    text = Path(f"/proc/{pid}/task/{tid}/schedstat").read_text()
    return int(text.split()[0]) / 1e9


def cpu_of(pid: int, call: Callable[[], object], times: int) -> float:
    """CPU time of a process's main thread for one call, in s, without what
    the thread uses in the same time when nothing is called."""
    before, start = thread_cpu_s(pid, pid), time.monotonic()
    for _ in range(times):
        call()
    used, took = thread_cpu_s(pid, pid) - before, time.monotonic() - start
    before = thread_cpu_s(pid, pid)
    time.sleep(took)
    return (used - (thread_cpu_s(pid, pid) - before)) / times


def readings(guest: Guest, drive: int, times: int) -> list[dict[str, Any]]:
    """CPU time of QEMU's main loop for a reading as a text, and as objects."""
    found = {name: cpu_of(guest.pid, partial(
        guest.qmp, "qom-get", path=f"/machine/peripheral/ssd{drive}",
        property=name), times) for name in ("stats-text", "stats")}
    share = found["stats-text"] / PERIOD_S
    return [row("watch_reading_cpu", 1e6 * found["stats-text"],
                1e6 * found["stats"], "us",
                f"CPU time of QEMU's main loop, mean of {times};"
                f" {100 * share:.2f} % of its time at 10 Hz, aim: below 1 %;"
                " peer: property `stats`")]


def cost(guest: Runner, drive: int, rounds: int, seconds: float) \
        -> list[dict[str, Any]]:
    """IOPS without readings against those of an equal run, then with readings;
    the time of a reading."""
    device = device_of(guest, OURS)
    rows, took = [], []

    def iops(workload: str) -> float:
        return fio(guest, device, workload, 32, seconds, "libaio",
                   "--cpus_allowed=0").iops

    for workload in WORKLOADS:
        first, second, read = [], [], []
        for _ in range(rounds):
            first.append(iops(workload))
            second.append(iops(workload))
            with reading(lambda: guest.stats(drive)) as some:
                read.append(iops(workload))
            took += some
        for name, ours, peer, note in (
                ("equal", second, first, "no readings; peer: the run before"),
                ("read", read, second, "statistics read at 10 Hz; peer: not"
                 " read")):
            ratios = [a / b for a, b in zip(ours, peer, strict=True)]
            rows.append(row(
                f"watch_{workload}_4k_qd32_{name}", statistics.median(ours),
                statistics.median(peer), "IOPS",
                f"{note}; ratios {min(ratios):.3f} to {max(ratios):.3f}",
                statistics.median(ratios)))
    rows.append(row("watch_reading", 1e3 * statistics.median(took), None, "ms",
                    f"of {len(took)} readings beside fio, from the request to"
                    " the answer"))
    return rows


def measure(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """All rows, in a guest of their own."""
    with booted(null_drive("vssd", OURS, "zero-latency")) as guest:
        with Stage("readings of an idle guest's drive"):
            rows = readings(guest, 1, READINGS)
        with Stage("fio: without, without and with readings in turns"):
            return rows + cost(guest, 1, rounds, seconds)
