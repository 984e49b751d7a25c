# SPDX-License-Identifier: GPL-2.0-or-later
"""null_blk of the guest's kernel: a block device that moves no data and has no
driver of a controller.  What a guest can do at most."""

from __future__ import annotations

from typing import Protocol

FOLDER = "/sys/kernel/config/nullb"


class Runner(Protocol):
    """The part of guest.Guest that this module uses."""

    def run(self, command: str) -> str:
        """Run a shell command; its output."""


def create(guest: Runner, name: str, irqmode: int, latency_ns: int = 0) -> str:
    """A device of 2 GiB.  irqmode: 1: requests end at once, by a software
    interrupt; 2: by a timer of the guest, after latency_ns."""
    values = {"size": 2048, "queue_mode": 2, "irqmode": irqmode,
              "completion_nsec": latency_ns, "power": 1}
    guest.run(
        "modprobe null_blk nr_devices=0 &&"
        " { mountpoint -q /sys/kernel/config ||"
        " mount -t configfs none /sys/kernel/config; } &&"
        f" mkdir {FOLDER}/{name} && cd {FOLDER}/{name}"
        + "".join(f" && echo {v} > {k}" for k, v in values.items()))
    # Kernels before 5.17 call it by its number.
    return guest.run(f"test -b /dev/{name} && echo /dev/{name} ||"
                     f" echo /dev/nullb$(cat {FOLDER}/{name}/index)").strip()
