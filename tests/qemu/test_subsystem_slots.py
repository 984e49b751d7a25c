# SPDX-License-Identifier: GPL-2.0-or-later
"""Two controllers of one drive in two hot-plug slots: power of the slots, and
work of one controller that has the guest's slot remove it or the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from machine import Machine, drive_args
from nvme_host import BUFFER, CSTS, OP_READ, OP_WRITE, NvmeHost, PciFunction
from test_self_unplug import (
    ECAM,
    ECAM_ENABLE,
    ECAM_REGISTER,
    PCI_EXPRESS,
    POWER_OFF,
    msix,
)
from test_subsystem import PATH, STRIDE, deleted, pattern

PORTS = (5, 6)
SWITCHED_OFF = 0x500  # power off, the indicator is on: the device stays
ON = 0x100
PRESENT, ABSENT_AND_SEEN = 0x40, 8
MANY_SQ, MANY_CQ = 0x5000000, 0x5100000


class Slots:
    """A drive in the first slot, a further controller in the second."""

    def __init__(self, machine: Machine) -> None:
        qtest = machine.qtest
        assert qtest
        self.machine = machine
        self.ports = [PciFunction(qtest, slot) for slot in PORTS]
        PciFunction(qtest, 0).write(ECAM_REGISTER, ECAM | ECAM_ENABLE)
        self.hosts = [NvmeHost(qtest, 0, bus=n + 1, at=n * STRIDE)
                      for n in range(2)]
        self.control = []
        for n, port in enumerate(self.ports):
            window = self.hosts[n].bar0 >> 16
            port.write(0x18, (n + 1) << 16 | (n + 1) << 8)
            port.write(0x20, window << 16 | window)
            port.write(4, 6)
            self.control.append((ECAM | PORTS[n] << 15) + 0x18
                                + port.capability(PCI_EXPRESS))

    def switch(self, n: int, value: int) -> None:
        """Write Slot Control."""
        assert self.machine.qtest
        self.machine.qtest.writel(self.control[n], value)

    def presence(self, n: int) -> int:
        """Presence of the slot, and its change."""
        status = self.ports[n].read(self.ports[n].capability(PCI_EXPRESS)
                                    + 0x18) >> 16
        return status & (PRESENT | 8)

    def powered(self) -> object:
        """Has the drive power?"""
        return self.machine.cmd("qom-get", path=PATH, property="powered")


def arguments(image: Path, *more: str, profile: str = "tiny") -> list[str]:
    """Both slots; native hot-plug."""
    args = [*more, "-global",
            "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
    for n, slot in enumerate(PORTS):
        args += ["-device", f"pcie-root-port,id=rp{n},slot={n},addr={slot}"]
    args += [a.replace("addr=4", "addr=0,bus=rp0") for a in drive_args(
        profile, image, controllers="2", power_return_ms="0")]
    return [*args, "-device", "vssd-ctrl,id=c1,subsys=ssd,bus=rp1"]


def test_the_drive_has_power_while_one_slot_has(image: Path) -> None:
    with Machine(*arguments(image)) as machine:
        slots = Slots(machine)
        first, second = slots.hosts
        for host in slots.hosts:
            host.enable()
        first.write(0, pattern(1, 4096))
        slots.switch(1, SWITCHED_OFF)
        assert slots.powered() is True
        assert first.read(0, 4096) == pattern(1, 4096)
        slots.switch(1, ON)
        second.enable()
        slots.switch(0, SWITCHED_OFF)
        assert slots.powered() is True
        assert second.read(0, 4096) == pattern(1, 4096)
        slots.switch(1, SWITCHED_OFF)
        assert slots.powered() is False
        slots.switch(1, ON)
        assert slots.powered() is True
        second.enable()
        slots.switch(0, ON)
        first.enable()
        first.write(8, pattern(2, 4096))
        assert second.read(8, 4096) == pattern(2, 4096)
        assert machine.quit() == 0


def test_power_cut_empties_both_slots(image: Path) -> None:
    with Machine(*arguments(image)) as machine:
        slots = Slots(machine)
        machine.cmd("qom-set", path=PATH, property="powered", value=False)
        assert [slots.presence(n) for n in range(2)] == 2 * [ABSENT_AND_SEEN]
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        assert [slots.presence(n) & PRESENT for n in range(2)] == 2 * [PRESENT]
        for host in slots.hosts:
            host.enable()
        assert machine.quit() == 0


def test_a_drive_that_is_taken_out_leaves_the_other_slot(image: Path) -> None:
    with Machine(*arguments(image)) as machine:
        slots = Slots(machine)
        second = slots.hosts[1]
        second.enable()
        for lba in range(16):
            second.io.push(OP_WRITE, prp1=BUFFER, cdw=(lba, 0, 0))
        second.io.ring()
        slots.switch(0, POWER_OFF)
        deleted(machine, "ssd")
        assert slots.presence(1) == ABSENT_AND_SEEN
        assert second.pci.read(0) == 0xFFFFFFFF
        assert second.reg_read(CSTS) == 0xFFFFFFFF
        slots.switch(1, POWER_OFF)
        machine.cmd("device_del", id="c1")
        deleted(machine, "c1")
        machine.cmd("blockdev-del", **{"node-name": "d0"})
        assert machine.quit() == 0


@pytest.mark.parametrize("profile", ["zero-latency", "tiny"])
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("sender", [0, 1])
@pytest.mark.parametrize("iommu", [True, False], ids=["iommu", "plain"])
def test_interrupt_that_unplugs(image: Path, profile: str, victim: int,
                                sender: int, iommu: bool) -> None:
    """A message of one controller removes it, or the other, or the drive."""
    more = ["-device", "virtio-iommu-pci"] if iommu else []
    with Machine(*arguments(image, *more, profile=profile)) as machine:
        slots = Slots(machine)
        for host in slots.hosts:
            host.enable()
        host = slots.hosts[sender]
        msix(host.pci, host.bar0, 1, slots.control[victim])
        queue = host.add_queue(2, 64, MANY_SQ, MANY_CQ, vector=1)
        for one in (queue, slots.hosts[1 - sender].io):
            one.push_same(20, OP_READ, prp1=BUFFER, cdw=(0, 0, 7))
        slots.hosts[1 - sender].io.ring()
        queue.ring()
        host.qtest.clock_step(100_000_000)
        deleted(machine, "c1" if victim else "ssd")
        if victim:
            slots.hosts[0].enable()
            slots.hosts[0].write(0, pattern(3, 512))
        else:
            slots.switch(1, POWER_OFF)
            machine.cmd("device_del", id="c1")
            deleted(machine, "c1")
        assert machine.quit() == 0
