# SPDX-License-Identifier: GPL-2.0-or-later
"""Who runs the controller, and when: large backlogs, concurrent doorbells."""

from __future__ import annotations

from pathlib import Path

from machine import Machine, drive_args
from nvme_host import BAR0, BUFFER, CAP, CSTS, CSTS_RDY, DOORBELLS, OP_READ, OP_WRITE, NvmeHost
from shadow_host import FEED_ENTRIES, Feeder, shared_memory

NULL_NODE = "driver=null-co,read-zeroes=on,size=8388608"
ACPI_EJECT = 0xAE08
MSIX_TABLE = BAR0 + 0x2000
MANY_SQ, MANY_CQ, MANY_ENTRIES = 0x2000000, 0x2100000, 4096
# More than a vCPU does in one go (serve.c): 5 rounds of 256 commands.
MANY = 2000


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def test_kick_that_leaves_work_behind() -> None:
    """The IOThread takes over while the vCPU is still in its register write.

    The drive answered nothing afterwards: QEMU's guard against re-entrance,
    which has no lock, stayed set.  A doorbell rung meanwhile was dropped.
    """
    with Machine(*drive_args("zero-latency", NULL_NODE, queue_size="4096")
                 ) as machine:
        host = host_of(machine)
        many = host.add_queue(2, MANY_ENTRIES, MANY_SQ, MANY_CQ)
        for kick in range(40):
            many.push_same(MANY, OP_READ, prp1=BUFFER, cdw=(0, 0, 0))
            host.io.push(OP_WRITE, prp1=BUFFER, cdw=(8, 0, 0))
            many.ring()
            host.io.ring()
            NvmeHost.check(host.io.wait(100_000, limit_s=30))
            many.wait_count(MANY, limit_s=30)
            assert host.reg_read(CAP), f"registers are dead after kick {kick}"
            assert host.reg_read(CSTS) == CSTS_RDY
        assert machine.quit() == 0


def test_interrupt_that_rings_the_drive() -> None:
    """A message whose address is a doorbell of the drive rings it."""
    with Machine(*drive_args("zero-latency", NULL_NODE)) as machine:
        host = host_of(machine)
        qtest = host.qtest
        # Vector 1: the tail of queue 2 is 100.
        for word, value in enumerate((BAR0 + DOORBELLS + 16, 0, 100, 0)):
            qtest.writel(MSIX_TABLE + 16 + 4 * word, value)
        cap = host.pci.capability(0x11)
        host.pci.write(cap, host.pci.read(cap) | 1 << 31)
        queue = host.add_queue(2, 128, MANY_SQ, MANY_CQ, vector=1)
        queue.push_same(100, OP_READ, prp1=BUFFER, cdw=(0, 0, 0))
        host.reg_write(DOORBELLS + 16, 1)
        queue.wait_count(100, limit_s=30)
        assert machine.quit() == 0


def test_unplug_under_a_guest_that_feeds(tmp_path: Path) -> None:
    """A guest that goes on to write shadow doorbells while it is unplugged from.

    The commands that were at the store fetched others when they ended, as long
    as the guest was quick enough.
    """
    memory = tmp_path / "ram"
    # Each read takes 20 ms of the host's time, so there are always some.
    node = "driver=null-co,size=8388608,latency-ns=20000000"
    with Machine(*shared_memory(memory), "-machine", "pc",
                 *drive_args("zero-latency", node)) as machine:
        with Feeder(machine, memory) as feeder:
            assert machine.qtest
            machine.qtest.limit(60)
            feeder.wait(1000)
            machine.cmd("device_del", id="ssd")
            before = feeder.completed
            machine.qtest.outl(ACPI_EJECT, 1 << 4)
            # What was in flight, and a round before the eject; 2550 once.
            assert feeder.completed - before <= 3 * FEED_ENTRIES
        assert "ssd" not in str(machine.cmd("qom-list",
                                            path="/machine/peripheral"))
        assert machine.quit() == 0
