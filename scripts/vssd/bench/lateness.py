# SPDX-License-Identifier: GPL-2.0-or-later
"""How well real time keeps to modelled time: a read of 40 us against the same
run on the drive of no time, in the same guest, in turns."""

from __future__ import annotations

import statistics
from typing import Any

from ..ui import Stage
from .fio import Runner, device_of, fio
from .vm import OURS, READ40, booted, null_drive, reset_stats

READ40_NS = 40_000
P99_NS = 50_000  # on an idle machine


def lateness(guest: Runner, read40_drive: int, rounds: int = 3,
             seconds: float = 4) -> list[dict[str, Any]]:
    """Time that 40 us of tR add to a read in the guest, and the drive's
    own account of how late it was.  read40_drive: its number for stats()."""
    zero, slow = device_of(guest, OURS), device_of(guest, READ40)
    rows = []
    for engine, more, note in (
            ("libaio", ("--userspace_reap", "--iodepth_batch_complete_min=0"),
             "interrupts, fio looks at its ring meanwhile; aim: 0.85 to 1.15"),
            ("libaio", (), "interrupts, the guest sleeps meanwhile: with the"
             " guest's own way out of its idle loop; aim: 1.15")):
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
                 "peer": P99_NS, "ratio": late["p99"] / P99_NS,
                 "unit": "ns", "note": "posted after the modelled instant; "
                 f"p50 {late['p50']}, max {late['max']}; peer: the aim"})
    return rows


def measure(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """lateness() in a guest of its own."""
    drives = [null_drive("vssd", OURS, "zero-latency"),
              null_drive("vssd", READ40, "read-40us")]
    with booted(*drives) as guest, Stage("fio: lateness"):
        reset_stats(guest, 2)
        return lateness(guest, 2, rounds, seconds)
