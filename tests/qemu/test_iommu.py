# SPDX-License-Identifier: GPL-2.0-or-later
"""The drive behind a virtual IOMMU: DMA is translated, and faults are reported.

Intel's registers and tables: Intel Virtualization Technology for Directed I/O,
chapters 9 and 11; virtio's: virtio_iommu.py.  There is no guest: the test programs
them.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from machine import Machine, drive_args
from nvme_host import ADMIN_SQ, BUFFER, CC, CSTS, CSTS_CFS, CSTS_RDY, OP_READ, OP_WRITE, NvmeHost
from virtio_iommu import (
    ENTRIES,
    FAULT_F_ADDRESS,
    FAULT_F_WRITE,
    FAULT_R_MAPPING,
    Fault,
    VirtioIommu,
)

VTD = 0xFED90000
GCMD, GSTS, RTADDR, FSTS, FECTL, FEDATA, FEADDR = (
    0x18, 0x1C, 0x20, 0x34, 0x38, 0x3C, 0x40)
ROOT, CONTEXT, LEVEL3, LEVEL2 = 0x3000000, 0x3001000, 0x3002000, 0x3003000
LARGE = 2 << 20
SLOT = 4
# Mapped are the two MiB with the queues and the buffer, and those of more queues.
MAPPED = (ADMIN_SQ, 0x2000000)
UNMAPPED = 0x4000000
READ_ONLY = 0x4200000
# INTA of slot 7 is the last input of the I/O APIC: Intel I/O Controller Hub 9
# Family Datasheet, clauses 5.10 and 13.5.
VIRTIO_SLOT, IO_APIC, VIRTIO_PIN = 7, 0xFEC00000, 23
# INIT to processor 0, whose APIC is as it was at power-on.
MESSAGE_ADDR, MESSAGE_DATA = 0xFEE00000, 0x500
MANY_SQ, MANY_CQ, MANY_ENTRIES = 0x2000000, 0x2100000, 4096


def translate(host: NvmeHost) -> None:
    """Switch the IOMMU on, with the pages of the driver and no others."""
    qtest = host.qtest

    for table in (ROOT, CONTEXT, LEVEL3, LEVEL2):
        qtest.call(f"memset {table:#x} 0x1000 0x0")
    qtest.write(ROOT, struct.pack("<QQ", CONTEXT | 1, 0))
    # Three levels, domain 1.
    qtest.write(CONTEXT + 16 * 8 * SLOT,
                struct.pack("<QQ", LEVEL3 | 1, 1 << 8 | 1))
    qtest.write(LEVEL3, struct.pack("<Q", LEVEL2 | 3))
    for addr in MAPPED:
        qtest.write(LEVEL2 + 8 * (addr // LARGE),
                    struct.pack("<Q", addr // LARGE * LARGE | 0x80 | 3))
    qtest.writeq(VTD + RTADDR, ROOT)
    qtest.writel(VTD + GCMD, 1 << 30)
    qtest.writel(VTD + FEDATA, MESSAGE_DATA)
    qtest.writel(VTD + FEADDR, MESSAGE_ADDR)
    qtest.writel(VTD + FECTL, 0)
    qtest.writel(VTD + GCMD, 1 << 31)
    assert qtest.readl(VTD + GSTS) >> 30 == 3


def faults(host: NvmeHost) -> bool:
    """Was a fault recorded?  Forget it, so that the next one interrupts."""
    qtest = host.qtest
    status = qtest.readl(VTD + FSTS)
    capability = qtest.readq(VTD + 8)
    record = VTD + 16 * (capability >> 24 & 0x3FF)
    for i in range((capability >> 40 & 0xFF) + 1):
        qtest.writel(record + 16 * i + 12, 1 << 31)
    qtest.writel(VTD + FSTS, status)
    return bool(status & 2)


def idle_firmware(folder: Path) -> Path:
    """For processors that have nothing to do: cli; hlt; and hlt again."""
    path = folder / "idle.bin"
    path.write_bytes(bytes(0xFFF0) + b"\xfa\xf4\xeb\xfd" + bytes(12))
    return path


def intel(profile: str, node: Path | str, **props: str) -> list[str]:
    """A machine with an IOMMU in front of the drive."""
    return ["-device", "intel-iommu,intremap=off",
            *drive_args(profile, node, **props)]


def started(machine: Machine) -> NvmeHost:
    """A driver whose DMA is translated."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    translate(host)
    host.enable()
    return host


@pytest.mark.parametrize("profile", ["zero-latency", "tiny"])
@pytest.mark.parametrize("iothread", [False, True])
def test_translated_and_faulting(image: Path, tmp_path: Path, profile: str,
                                 iothread: bool) -> None:
    """Data, entries and completions go through the IOMMU, or fault.

    Completions are posted by a timer (tiny) or by whoever ends the last of
    many commands.  Outside the BQL, a fault's interrupt ended QEMU: TCG looks
    who interrupts a processor.
    """
    args = intel(profile, image, queue_size="4096",
                 **({"iothread": "io0"} if iothread else {}))
    args += ["-bios", str(idle_firmware(tmp_path)), "-smp", "2",
             "-object", "iothread,id=io0"]
    with Machine(*args, accel="tcg,thread=multi") as machine:
        host = started(machine)
        data = bytes(range(256)) * 16
        host.write(0, data)
        host.flush()
        assert host.read(0, 4096) == data
        assert not faults(host)
        for opcode in (OP_READ, OP_WRITE):
            done = host.io.run(opcode, prp1=UNMAPPED, cdw=(0, 0, 7))
            assert done.status & 0x7FF == 4, "data transfer error"
            assert faults(host)
        # Many reads into pages that are not there, more than a vCPU does.
        many = host.add_queue(2, MANY_ENTRIES, MANY_SQ, MANY_CQ)
        many.push_same(2000, OP_READ, prp1=UNMAPPED, cdw=(0, 0, 7))
        many.ring()
        many.wait_count(2000, status=4)
        assert faults(host)
        # A completion queue that is not there: the controller fails.
        lost = host.add_queue(3, 64, MANY_SQ + 0x80000, UNMAPPED)
        lost.push_same(20, OP_WRITE, prp1=BUFFER, cdw=(64, 0, 7))
        lost.ring()
        host.wait_csts(CSTS_RDY | CSTS_CFS)
        assert faults(host)
        host.reg_write(CC, 0)
        host.enable()
        assert host.read(0, 4096) == data
        machine.cmd("qom-set", path="/machine/peripheral/ssd",
                    property="power-cut", value="running")
        assert machine.quit() == 0


def test_iommu_that_comes_later(image: Path) -> None:
    """On the command line the drive is before the IOMMU."""
    with Machine(*drive_args("read-40us", image), "-device",
                 "virtio-iommu-pci,addr=7,boot-bypass=off") as machine:
        assert machine.qtest
        host = NvmeHost(machine.qtest)
        host.pci.enable()
        # No guest has told the IOMMU of any page: nothing can be fetched.
        host.reg_write(0x24, 31 << 16 | 31)
        machine.qtest.writeq(0xC0000028, ADMIN_SQ)
        machine.qtest.writeq(0xC0000030, ADMIN_SQ + 0x1000)
        host.reg_write(CC, 4 << 20 | 6 << 16 | 1)
        host.admin.push(6, prp1=BUFFER, cdw=(1,))
        host.admin.ring()
        host.wait_csts(CSTS_CFS)
        assert machine.quit() == 0


def test_virtio_iommu_that_lets_pass(image: Path) -> None:
    """Before a guest has started it."""
    with Machine("-device", "virtio-iommu-pci,addr=7",
                 *drive_args("read-40us", image)) as machine:
        host = NvmeHost(machine.qtest)
        host.enable()
        host.write(0, bytes(range(256)) * 16)
        assert host.read(0, 4096) == bytes(range(256)) * 16
        assert host.reg_read(CSTS) == CSTS_RDY
        assert machine.quit() == 0


@pytest.mark.parametrize("profile", ["zero-latency", "tiny"])
@pytest.mark.parametrize("iothread", [False, True])
def test_virtio_iommu_that_faults(image: Path, tmp_path: Path, profile: str,
                                  iothread: bool) -> None:
    """Each access to a page that is not mapped comes to the guest's event queue.

    By interrupt, of two vCPUs; a guest that has no buffers left loses faults,
    and nothing else.
    """
    args = ["-device", f"virtio-iommu-pci,addr={VIRTIO_SLOT}",
            *drive_args(profile, image, queue_size="4096",
                        **({"iothread": "io0"} if iothread else {})),
            "-bios", str(idle_firmware(tmp_path)), "-smp", "2",
            "-object", "iothread,id=io0"]
    with Machine(*args, accel="tcg,thread=multi") as machine:
        assert machine.qtest
        machine.qtest.writel(IO_APIC, 0x10 + 2 * VIRTIO_PIN)
        machine.qtest.writel(IO_APIC + 0x10, MESSAGE_DATA)
        iommu = VirtioIommu(machine.qtest, VIRTIO_SLOT)
        iommu.attach(SLOT << 3)
        for addr in MAPPED:
            iommu.map(addr, LARGE)
        iommu.map(READ_ONLY, LARGE, access=1)
        host = NvmeHost(machine.qtest)
        host.enable()
        data = bytes(range(256)) * 16
        host.write(0, data)
        host.flush()
        assert host.read(0, 4096) == data
        assert not iommu.interrupted()
        for opcode, addr, flags in (
                (OP_READ, UNMAPPED, 0), (OP_WRITE, UNMAPPED, 0),
                (OP_READ, READ_ONLY, FAULT_F_WRITE)):
            done = host.io.run(opcode, prp1=addr, cdw=(0, 0, 7))
            assert done.status & 0x7FF == 4, "data transfer error"
            assert iommu.interrupted()
            assert iommu.faults() == [Fault(
                FAULT_R_MAPPING, flags | FAULT_F_ADDRESS, SLOT << 3, addr)]
        many = host.add_queue(2, MANY_ENTRIES, MANY_SQ, MANY_CQ)
        many.push_same(2000, OP_READ, prp1=UNMAPPED, cdw=(0, 0, 7))
        many.ring()
        many.wait_count(2000, status=4)
        assert len(iommu.faults()) == ENTRIES
        lost = host.add_queue(3, 64, MANY_SQ + 0x80000, UNMAPPED)
        lost.push_same(20, OP_WRITE, prp1=BUFFER, cdw=(64, 0, 7))
        lost.ring()
        host.wait_csts(CSTS_RDY | CSTS_CFS)
        assert iommu.faults()[0].endpoint == SLOT << 3
        host.reg_write(CC, 0)
        host.enable()
        assert host.read(0, 4096) == data
        assert machine.quit() == 0
