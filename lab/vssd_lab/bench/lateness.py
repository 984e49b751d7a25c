# SPDX-License-Identifier: GPL-2.0-or-later
"""How well real time keeps to modelled time: a read of 40 us against the same
run on the drive of no time, in the same guest, in turns.

What is added is the 40 us, the lateness of the drive, and what the guest itself
takes longer because it slept: its interrupt ends its idle loop and changes
tasks.  The drive knows its lateness, so the rest is the guest's.  As a check,
null_blk of the guest's kernel has a timer of 40 us: no device takes part.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from vssd.ui import Stage

from . import nullblk
from .fio import Runner, device_of, fio
from .rows import row
from .vm import OURS, READ40, booted, null_drive, reset_stats

READ40_NS = 40_000
P99_NS = 50_000  # on an idle machine
# fio looks at its ring without end in place of going to sleep.
LOOK = ("--userspace_reap", "--iodepth_batch_complete_min=0")


def added_ns(guest: Runner, zero: str, slow: str, rounds: int, seconds: float,
             *more: str) -> float:
    """What a read takes longer on `slow`, in turns; the median."""
    added = []
    for _ in range(rounds):
        a = fio(guest, zero, "randread", 1, seconds, "libaio", *more)
        b = fio(guest, slow, "randread", 1, seconds, "libaio", *more)
        added.append(b.lat_ns - a.lat_ns)
    return statistics.median(added)


def late_rows(how: str, late: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the drive's own account; how: what the guest does meanwhile."""
    return [
        row(f"guest_read_40us_{how}", READ40_NS + late["mean"], READ40_NS, "ns",
            "from the doorbell to the completion entry, mean; aim: 1.15"),
        row(f"guest_lateness_p99_{how}", late["p99"], P99_NS, "ns",
            f"posted after the modelled instant; p50 {late['p50']}, max"
            f" {late['max']}; peer: the aim"),
    ]


def floor_row(added: float, late: dict[str, Any], timer: float) \
        -> dict[str, Any]:
    """What a guest that sleeps measures, against what it would with a drive
    that is never late."""
    floor = added - late["mean"]
    return row("guest_added_latency_40us_floor", added, floor, "ns",
               "the guest sleeps; peer: without the drive's lateness, so"
               f" {floor - READ40_NS:.0f} ns are the guest's own way out of its"
               f" idle loop; null_blk with a timer of 40 us adds {timer:.0f}")


def lateness(guest: Any, drive: int, rounds: int, seconds: float) \
        -> Iterator[dict[str, Any]]:
    """Rows of the guest's drive number `drive`, which takes 40 us."""
    zero, slow = device_of(guest, OURS), device_of(guest, READ40)
    for how, more, note in (
            ("awake", LOOK, "interrupts, fio looks at its ring meanwhile; aim:"
             " 0.85 to 1.15"),
            ("asleep", (), "interrupts, the guest sleeps meanwhile; aim: 1.15")):
        reset_stats(guest, drive)
        added = added_ns(guest, zero, slow, rounds, seconds, *more)
        late = guest.stats(drive)["lateness_ns"]
        yield row(f"guest_added_latency_40us_{how}", added, READ40_NS, "ns", note)
        yield from late_rows(how, late)
    # The last of the two is the guest that sleeps, as it does with a timer.
    timer = added_ns(
        guest, nullblk.create(guest, "at_once", irqmode=1),
        nullblk.create(guest, "timer", irqmode=2, latency_ns=READ40_NS),
        rounds, seconds)
    yield floor_row(added, late, timer)


def measure(rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """lateness() in a guest of its own."""
    drives = [null_drive("vssd", OURS, "zero-latency"),
              null_drive("vssd", READ40, "read-40us")]
    with booted(*drives) as guest, Stage("fio: lateness"):
        yield from lateness(guest, 2, rounds, seconds)
