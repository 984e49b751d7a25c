# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's software in a measured latency, which the model does not have.

The same times for all drives, by the word in the note of a row; none is fitted
on a row.  SPDK: what the makers of the measurements state.  The kernel: the
order of J. Yang et al., "When poll is better than interrupt", FAST 2012.
Latencies of data sheets are measured through a kernel with interrupts.
"""

from __future__ import annotations

import re

from .rows import Row

POLLED, KERNEL_POLLED, INTERRUPTS = 1.0, 2.0, 5.0  # us a request
HOSTS = {"spdk": POLLED, "io_uring poll": KERNEL_POLLED,
         "io_uring sqpoll": KERNEL_POLLED, "io_uring irq": INTERRUPTS,
         "sw": INTERRUPTS, "data sheet": INTERRUPTS}


def host_us(row: Row) -> float:
    """What the host adds to each request of the row; 0: its note names no
    host."""
    words = re.split(r" *[;,:] *", row.note)
    return max((us for word, us in HOSTS.items() if word in words),
               default=0.0)
