# SPDX-License-Identifier: GPL-2.0-or-later
"""What reading the statistics costs a guest: fio on the drive of no time with
readings at 10 Hz, against the same without, in turns in one guest."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..ui import Stage
from .fio import Runner, device_of, fio
from .rows import row
from .vm import OURS, booted, null_drive

PERIOD_S = 0.1


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


def cost(guest: Runner, drive: int, rounds: int, seconds: float) \
        -> list[dict[str, Any]]:
    """IOPS with readings, against those without; the time of a reading."""
    device = device_of(guest, OURS)
    rows, took = [], []
    for workload in ("randread", "randwrite"):
        with_it, without = [], []
        for _ in range(rounds):
            without.append(fio(guest, device, workload, 32, seconds).iops)
            with reading(lambda: guest.stats(drive)) as some:
                with_it.append(fio(guest, device, workload, 32, seconds).iops)
            took += some
        rows.append(row(f"watch_{workload}_4k_qd32",
                        statistics.median(with_it), statistics.median(without),
                        "IOPS", "statistics read at 10 Hz; peer: not read; aim:"
                        " 0.99 or more"))
    rows.append(row("watch_reading", 1e3 * statistics.median(took), None, "ms",
                    f"of {len(took)} readings of one drive, from the request to"
                    " the answer"))
    return rows


def measure(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """cost() in a guest of its own."""
    with booted(null_drive("vssd", OURS, "zero-latency")) as guest, \
            Stage("fio: with and without readings in turns"):
        return cost(guest, 1, rounds, seconds)
