# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time of the QEMU process, with and without the drive, while the guest
idles."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import Any

from vssd.ui import Stage

from .rows import row
from .vm import OURS, SETTLE_S, booted, null_drive

IDLE_S = 20


def cpu_s(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_cpu(pid: int, seconds: float = 20) -> float:
    """Share of a core that a process uses, while nothing is asked of it."""
    before, start = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - start)


def measure(rounds: int) -> list[dict[str, Any]]:
    """CPU time of QEMU while the guest does nothing, with and without us."""
    found: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        for who, drives in (("peer", []), ("ours", [
                null_drive("vssd", OURS, "zero-latency")])):
            with booted(*drives) as guest, Stage(f"an idle guest ({who})"):
                guest.run("sync")
                time.sleep(SETTLE_S)
                share = idle_cpu(guest.pid, IDLE_S)
                found[who].append(100 * share)
    ours, peer = (statistics.median(found[w]) for w in ("ours", "peer"))
    return [row("idle_cpu", ours, peer, "% of a core",
                f"peer: without the device; difference {ours - peer:+.2f},"
                " aim: within 1")]
