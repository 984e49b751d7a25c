# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts of commands that cost no modelled time are sent together, and none
is lost; those of commands that take time are not held."""

from __future__ import annotations

import time

import pytest

from machine import LIMIT_S, Machine, drive_args
from nvme_host import BAR0, BUFFER, MSI_TARGET, OP_READ, NvmeHost, Queue

NULL_NODE = "driver=null-co,read-zeroes=on,size=8388608"
MSIX_TABLE = BAR0 + 0x2000
SQ, CQ, ENTRIES = 0x2000000, 0x2100000, 4096
HOLD_US = 500
ALONE = 4096  # doorbells of one vCPU in a row, before any is held


def started(machine: Machine) -> tuple[NvmeHost, Queue]:
    """A queue whose messages go to MSI_TARGET."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    for word, value in enumerate((MSI_TARGET, 0, 1, 0)):
        host.qtest.writel(MSIX_TABLE + 16 + 4 * word, value)
    cap = host.pci.capability(0x11)
    host.pci.write(cap, host.pci.read(cap) | 1 << 31)
    return host, host.add_queue(2, ENTRIES, SQ, CQ, vector=1)


def message(host: NvmeHost) -> bool:
    """Has one come since the last time?"""
    if not host.qtest.readl(MSI_TARGET):
        return False
    host.qtest.writel(MSI_TARGET, 0)
    return True


def submit(host: NvmeHost, queue: Queue) -> bool:
    """One read; was the guest interrupted at once?"""
    queue.push(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
    queue.ring()
    return message(host)


def ring_alone(host: NvmeHost, queue: Queue) -> None:
    """None is held before the last of these."""
    for _ in range(ALONE - 1):
        assert submit(host, queue), "an interrupt was held"
        queue.wait_count(1)


def wait_message(host: NvmeHost) -> None:
    """Without the clock moving."""
    end = time.monotonic() + LIMIT_S
    while not message(host):
        assert time.monotonic() < end, "an interrupt is lost"


def args(profile: str, hold_us: int) -> list[str]:
    """The drive."""
    return drive_args(profile, NULL_NODE, queue_size="4096",
                      irq_hold_us=str(hold_us))


def test_one_interrupt_for_several() -> None:
    with Machine(*args("zero-latency", HOLD_US)) as machine:
        host, queue = started(machine)
        ring_alone(host, queue)
        assert all(submit(host, queue) for _ in range(63))
        first = [submit(host, queue) for _ in range(500)]
        # A guest that goes on to submit: 2, 4, 8, at last 16 together.
        assert [submit(host, queue) for _ in range(160)].count(True) == 10
        assert first.count(False) > 250
        queue.wait_count(723)
        while submit(host, queue):
            pass
        host.qtest.clock_step((HOLD_US - 1) * 1000)
        assert not message(host), "it was to be held longer"
        host.qtest.clock_step(1000)
        wait_message(host)
        assert machine.quit() == 0


def test_guest_that_waits_pays_rarely() -> None:
    """It waits for each command: fewer and fewer tries."""
    with Machine(*args("zero-latency", HOLD_US)) as machine:
        host, queue = started(machine)
        ring_alone(host, queue)
        held = 0
        for _ in range(4000):
            if not submit(host, queue):
                held += 1
                host.qtest.clock_step(HOLD_US * 1000)
                wait_message(host)
            queue.wait_count(1)
        assert 3 <= held <= 8
        assert machine.quit() == 0


@pytest.mark.parametrize("profile, hold_us", [
    ("zero-latency", 0),  # switched off
    ("read-40us", HOLD_US),  # the commands take time
])
def test_none_is_held(profile: str, hold_us: int) -> None:
    with Machine(*args(profile, hold_us)) as machine:
        host, queue = started(machine)
        # Blocks that were written: the others need no tR.
        host.write(0, bytes(4096))
        host.flush()
        for _ in range(ALONE + 300):
            if not submit(host, queue):
                assert hold_us, "an interrupt was held"
                host.qtest.clock_step(40_000)
                wait_message(host)
            queue.wait_count(1)
        assert machine.quit() == 0
