# SPDX-License-Identifier: GPL-2.0-or-later
"""Doorbells and messages as eventfds, which QEMU signals itself without KVM."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from machine import LIMIT_S, Machine, drive_args
from nvme_host import (
    BAR0,
    BUFFER,
    DOORBELLS,
    MSI_TARGET,
    OP_READ,
    NvmeHost,
    Queue,
)
from shadow_host import (
    DOORBELL_BUFFER_CONFIG,
    SHADOW_DB,
    SHADOW_EI,
    Feeder,
    shared_memory,
)

NULL_NODE = "driver=null-co,read-zeroes=on,size=8388608"
MSIX_TABLE = BAR0 + 0x2000
SQ, CQ, ENTRIES = 0x2000000, 0x2100000, 64
EVENTS = {"ioeventfd": "on", "irqfd": "on", "irq_hold_us": "0"}


def traced(log: Path) -> list[str]:
    """Arguments to trace the events."""
    return ["-trace", "vssd_kick*", "-trace", "vssd_irqfd", "-D", str(log)]


def queue_of(host: NvmeHost, qid: int) -> Queue:
    """A queue whose messages go to MSI_TARGET."""
    for word, value in enumerate((MSI_TARGET, 0, 1, 0)):
        host.qtest.writel(MSIX_TABLE + 16 + 4 * word, value)
    cap = host.pci.capability(0x11)
    host.pci.write(cap, host.pci.read(cap) | 1 << 31)
    at = (qid - 2) * 0x10000
    return host.add_queue(qid, ENTRIES, SQ + at, CQ + at, vector=1)


def run(host: NvmeHost, queue: Queue, shadow: bool) -> None:
    """One read from its doorbell to its interrupt."""
    host.qtest.writel(MSI_TARGET, 0)
    queue.push(OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
    if shadow:
        host.qtest.writel(SHADOW_DB + 8 * queue.qid, queue.tail)
        host.reg_write(DOORBELLS + 8 * queue.qid, 0)  # no value goes along
    else:
        queue.ring()
    end = time.monotonic() + LIMIT_S
    while not host.qtest.readl(MSI_TARGET):
        assert time.monotonic() < end, "no interrupt"
    NvmeHost.check(queue.wait())


@pytest.mark.parametrize("threads", ["0", "2"])
def test_queues_with_shadows_are_events(tmp_path: Path, threads: str) -> None:
    log = tmp_path / "trace"
    with Machine(*traced(log), *drive_args(
            "zero-latency", NULL_NODE, doorbell_threads=threads, **EVENTS)
            ) as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.enable()
        run(host, queue_of(host, 2), shadow=False)
        assert "vssd_kick" not in log.read_text(), "its value would be lost"
        host.check(host.admin.run(DOORBELL_BUFFER_CONFIG, prp1=SHADOW_DB,
                                  prp2=SHADOW_EI))
        queues = [queue_of(host, qid) for qid in (3, 4)]
        for _ in range(20):
            for queue in queues:
                run(host, queue, shadow=True)
        # A reset ends it: values come by register again.
        host.enable()
        run(host, queue_of(host, 2), shadow=False)
        assert machine.quit() == 0
    text = log.read_text()
    assert re.findall(r"on (\d)", text) == ["1", "0"]
    assert {"sqid 3", "sqid 4"} == set(re.findall(r"vssd_kick .*(sqid \d)", text))
    assert text.count("vssd_irqfd") >= 41


def test_unplug_under_a_guest_that_feeds(tmp_path: Path) -> None:
    memory = tmp_path / "ram"
    with Machine(*shared_memory(memory), "-machine", "pc", *drive_args(
            "zero-latency", NULL_NODE, doorbell_threads="2", **EVENTS)
            ) as machine:
        with Feeder(machine, memory) as feeder:
            assert machine.qtest
            machine.qtest.limit(60)
            feeder.wait(1000)
            machine.cmd("device_del", id="ssd")
            machine.qtest.outl(0xAE08, 1 << 4)  # ACPI's eject
        assert "ssd" not in str(machine.cmd("qom-list",
                                            path="/machine/peripheral"))
        assert machine.quit() == 0
