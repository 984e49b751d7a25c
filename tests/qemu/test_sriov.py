# SPDX-License-Identifier: GPL-2.0-or-later
"""sriov_vfs=: virtual functions as secondary controllers, and what QEMU does to
them: VF Enable, resets, power cuts, unplugging."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from machine import LIMIT_S, PROFILES, Machine, Qtest, drive_args, start_and_fail
from nvme_host import (
    ACQ,
    AQA,
    ASQ,
    CC,
    CSTS,
    CSTS_CFS,
    CSTS_RDY,
    ENTRIES,
    NvmeHost,
    PciFunction,
    Queue,
)
from test_migration import migrate, monitor, qcow2, wait_for

ECAM = 0xB0000000
VF_BAR = 0xC1000000
BAR_BYTES = 16384
CAP_ID, CAP = 0x10, 0x120  # of SR-IOV, its place
CONTROL, NUM_VFS, OFFSET_STRIDE, BAR = 0x8, 0x10, 0x14, 0x24
VF_ENABLE, MEMORY_ENABLE = 1, 8
MSIX = 0x11
VIRTUALIZATION = 0x1C
ALLOCATE, OFFLINE, ASSIGN, ONLINE = 1, 7, 8, 9
VQ, VI = 0, 1
VFS = 3


class Function(PciFunction):
    """All of the configuration space of a function, in memory."""

    def __init__(self, qtest: Qtest, bus: int, devfn: int) -> None:
        super().__init__(qtest, devfn >> 3, bus)
        self._at = ECAM + (bus << 20) + (devfn << 12)

    def read(self, offset: int) -> int:
        return self.qtest.readl(self._at + offset)

    def write(self, offset: int, value: int) -> None:
        self.qtest.writel(self._at + offset, value)


class VfHost(NvmeHost):
    """The driver of a virtual function, with memory of its own."""

    def __init__(self, qtest: Qtest, function: Function, index: int) -> None:
        super().__init__(qtest)
        self.pci = function
        self._base = VF_BAR + index * BAR_BYTES
        self._memory = 0x1400000 + index * 0x10000

    def reg_read(self, offset: int) -> int:
        return self.qtest.readl(self._base + offset)

    def reg_write(self, offset: int, value: int) -> None:
        self.qtest.writel(self._base + offset, value)

    def enable(self) -> None:
        asq, acq, sq, cq = (self._memory + i * 0x1000 for i in range(4))
        self.qtest.call(f"memset {asq:#x} 0x4000 0x0")
        self.admin = Queue(self, 0, asq, acq)
        self.reg_write(AQA, (ENTRIES - 1) << 16 | ENTRIES - 1)
        self.qtest.writeq(self._base + ASQ, asq)
        self.qtest.writeq(self._base + ACQ, acq)
        self.reg_write(CC, 4 << 20 | 6 << 16 | 1)
        self.wait_csts(CSTS_RDY)
        size = (ENTRIES - 1) << 16 | 1
        self.check(self.admin.run(5, prp1=cq, cdw=(size, 3)))
        self.check(self.admin.run(1, prp1=sq, cdw=(size, 1 << 16 | 1)))
        self.io = Queue(self, 1, sq, cq)


class Pf:
    """The drive on a machine: on the root bus, or behind a port."""

    def __init__(self, machine: Machine, port: bool = False) -> None:
        assert machine.qtest
        self.machine, self.qtest = machine, machine.qtest
        self.bus, self.devfn = (1, 0) if port else (0, 4 << 3)
        self.port = Function(self.qtest, 0, 5 << 3)
        self.host = NvmeHost(self.qtest)
        self.set_up()

    def set_up(self) -> None:
        """What a firmware does."""
        PciFunction(self.qtest, 0).write(0x60, ECAM | 1)
        if self.bus:
            self.port.write(0x18, 0x010100)
            self.port.write(0x20, 0xC1F0C000)
            self.port.write(4, 6)
        self.host.pci = self.function = Function(self.qtest, self.bus,
                                                 self.devfn)
        self.host.enable()

    def enable_vfs(self, n: int) -> None:
        """NumVFs and VF Enable, or neither."""
        self.function.write(CAP + CONTROL, 0)
        if n:
            self.function.write(CAP + NUM_VFS, n)
            self.function.write(CAP + BAR, VF_BAR)
            self.function.write(CAP + BAR + 4, 0)
            self.function.write(CAP + CONTROL, VF_ENABLE | MEMORY_ENABLE)

    def vf(self, index: int) -> VfHost:
        """One of them, with memory and bus mastering on."""
        at = self.function.read(CAP + OFFSET_STRIDE)
        devfn = self.devfn + (at & 0xFFFF) + index * (at >> 16)
        function = Function(self.qtest, self.bus, devfn)
        function.write(4, 6)
        return VfHost(self.qtest, function, index)

    def list(self) -> list[tuple[int, int, int, int]]:
        """Of each secondary: identifier, state, resources."""
        data = self.host.identify(0x15)
        found = [struct.unpack_from("<HxxB5xHH", data, 32 + 32 * i)
                 for i in range(data[0])]
        return [(scid, scs, nvq, nvi) for scid, scs, nvq, nvi in found]

    def manage(self, act: int, index: int, kind: int = 0, n: int = 0) -> int:
        """Virtualization Management; the status."""
        cntlid = self.list()[index][0]
        done = self.host.admin.run(
            VIRTUALIZATION, nsid=0, cdw=(act | kind << 8 | cntlid << 16, n))
        return done.status & 0x7FF

    def online(self, index: int, vq: int, vi: int) -> None:
        """With so many resources."""
        assert self.manage(ASSIGN, index, VQ, vq) == 0
        assert self.manage(ASSIGN, index, VI, vi) == 0
        assert self.manage(ONLINE, index) == 0


def pf_args(image: Path | str, port: bool = False, **more: str) -> list[str]:
    """A drive with virtual functions."""
    options = {"sriov_vfs": str(VFS), "num_queues": "4",
               "sriov_vq_flexible": "9", "sriov_vi_flexible": "8",
               "sriov_vq_per_vf": "4", "sriov_vi_per_vf": "6", **more}
    args = drive_args("tiny", image, **options)
    if not port:
        return args
    args[-1] = args[-1].replace("addr=4", "bus=rp,addr=0")
    return ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            "-device", "pcie-root-port,id=rp,addr=5,chassis=1", *args]


def vectors(function: PciFunction) -> int:
    """Of the MSI-X table, as the guest finds it."""
    return (function.read(function.capability(MSIX)) >> 16 & 0x7FF) + 1


def is_there(vf: VfHost) -> bool:
    """Does the function answer?"""
    return vf.pci.read(8) != 0xFFFFFFFF


@pytest.mark.parametrize("more, want", [
    ({"sriov_vfs": "32"}, "sriov_vfs=32: allowed 0..31"),
    ({"sriov_vfs": "0"}, "sriov_vq_per_vf=4: needs sriov_vfs"),
    ({"sriov_vq_per_vf": "1"}, "sriov_vq_per_vf=1: allowed 2..65"),
    ({"sriov_vi_per_vf": "66"}, "sriov_vi_per_vf=66: allowed 1..65"),
    ({"sriov_vq_flexible": "1"}, "sriov_vq_flexible=1: allowed 2..2015"),
    ({"sriov_vi_flexible": "2016"}, "sriov_vi_flexible=2016: allowed 1..2015"),
    ({"sriov_vi_flexible": "5"},
     "sriov_vi_per_vf=6: more than sriov_vi_flexible=5"),
])
def test_refused(image: Path, more: dict[str, str], want: str) -> None:
    """In one line, with the range."""
    text = start_and_fail(*pf_args(image, **more))
    assert len(text.splitlines()) == 1
    assert text.endswith(f"vssd: {want}"), text


def test_refused_places(image: Path) -> None:
    """A bus without extended configuration space; a function of nothing."""
    text = start_and_fail("-machine", "pc", *pf_args(image))
    assert text.endswith("vssd: sriov_vfs=3: needs a bus of PCI Express"), text
    text = start_and_fail(*pf_args(image), "-device", "vssd-vf")
    assert "vssd-vf" in text


def test_capability(image: Path) -> None:
    """As the guest finds it; without the option there is none."""
    with Machine(*drive_args("tiny", image)) as machine:
        assert Pf(machine).function.read(0x100) == 0
    with Machine(*pf_args(image)) as machine:
        pf = Pf(machine)
        assert pf.function.read(0x100) & 0xFFFF == 0xE  # ARI
        assert pf.function.read(CAP) & 0xFFFF == CAP_ID
        assert pf.function.read(CAP + 0xC) == VFS << 16 | VFS
        assert vectors(pf.function) == 5
        assert [x[1:] for x in pf.list()] == [(0, 0, 0)] * VFS
        assert not is_there(pf.vf(0))
        assert pf.manage(ONLINE, 0) == 0x120


def test_life(image: Path) -> None:
    """Enabled, Online, used without MSI-X, reset, Offline, disabled."""
    with Machine(*pf_args(image)) as machine:
        pf = Pf(machine)
        for turn in range(2):
            pf.enable_vfs(2)
            first, second = pf.vf(0), pf.vf(1)
            assert is_there(first) and is_there(second)
            assert not is_there(pf.vf(2))
            assert first.reg_read(CSTS) == CSTS_CFS
            assert first.reg_read(0) == 0
            assert vectors(first.pci) == 1
            assert first.pci.read(0x3C) >> 8 & 0xFF == 0  # it has no pin
            pf.online(0, 3, 5)
            pf.online(1, 2, 1)
            assert vectors(first.pci) == 5
            assert vectors(second.pci) == 1
            first.enable()
            second.enable()
            data = bytes([turn + 1]) * 4096
            first.write(8, data)
            assert second.read(8, 4096) == pf.host.read(8, 4096) == data
            control = first.pci.capability(0x10) + 8
            first.pci.write(control, 1 << 15)  # function level reset
            first.pci.write(4, 6)
            assert first.reg_read(CSTS) == first.reg_read(CC) == 0
            assert second.read(8, 4096) == data
            first.enable()
            assert first.read(8, 4096) == data
            assert pf.manage(OFFLINE, 1) == 0
            assert second.reg_read(CSTS) == CSTS_CFS
            pf.enable_vfs(0)
            assert not is_there(first)
            assert [x[1:] for x in pf.list()] == [(0, 0, 0)] * VFS
        assert machine.quit() == 0


def test_primary_resources(image: Path) -> None:
    """Those that the primary gets change its table with its next reset."""
    with Machine(*pf_args(image)) as machine:
        pf = Pf(machine)
        cntlid = struct.unpack_from("<H", pf.host.identify(0x14))[0]
        for kind, n in ((VQ, 2), (VI, 3)):
            pf.host.check(pf.host.admin.run(
                VIRTUALIZATION, nsid=0,
                cdw=(ALLOCATE | kind << 8 | cntlid << 16, n)))
        assert vectors(pf.function) == 5
        machine.cmd("system_reset")
        pf.set_up()
        assert vectors(pf.function) == 8
        done = pf.host.admin.run(0xA, nsid=0, cdw=(7,))
        assert done.result == 5 << 16 | 5
        assert machine.quit() == 0


def busy(pf: Pf) -> VfHost:
    """A virtual function with commands in flight."""
    pf.enable_vfs(3)
    pf.online(0, 3, 2)
    vf = pf.vf(0)
    vf.enable()
    vf.io.push_same(20, 1, prp1=0x1100000, cdw=(8, 0, 7))
    vf.io.ring()
    return vf


def at_work(pf: Pf) -> VfHost:
    """Two virtual functions of three, one Online, with data and an own vector
    count; the primary has got a resource."""
    cntlid = struct.unpack_from("<H", pf.host.identify(0x14))[0]
    pf.host.check(pf.host.admin.run(
        VIRTUALIZATION, nsid=0, cdw=(ALLOCATE | VI << 8 | cntlid << 16, 2)))
    pf.enable_vfs(2)
    pf.online(0, 3, 5)
    assert pf.manage(ASSIGN, 1, VQ, 2) == 0
    vf = pf.vf(0)
    vf.enable()
    vf.write(8, b"vf" * 2048)
    return vf


def places(pf: Pf, vf: VfHost) -> list[tuple[int, ...]]:
    """Where the drivers are in their queues."""
    return [(q.sq, q.cq, q.tail, q.head, q.phase, q.cid)
            for q in (pf.host.admin, vf.admin, vf.io)]


def check_at_work(machine: Machine, was: Pf, at: list[tuple[int, ...]]) -> None:
    """The same drivers go on in this machine, which may be another one."""
    pf = object.__new__(Pf)
    pf.__dict__ = dict(was.__dict__)
    assert machine.qtest
    pf.machine, pf.qtest = machine, machine.qtest
    pf.port = Function(machine.qtest, 0, 5 << 3)
    pf.host = NvmeHost(machine.qtest)
    pf.host.pci = pf.function = Function(machine.qtest, was.bus, was.devfn)
    there = pf.vf(0)
    there.admin, there.io = Queue(there, 0, 0, 0), Queue(there, 1, 0, 0)
    for q, one in zip((pf.host.admin, there.admin, there.io), at):
        q.sq, q.cq, q.tail, q.head, q.phase, q.cid = one
    assert [x[1:] for x in pf.list()] == [(1, 3, 5), (0, 2, 0), (0, 0, 0)]
    assert is_there(there) and is_there(pf.vf(1)) and not is_there(pf.vf(2))
    assert vectors(there.pci) == 5
    assert there.read(8, 4096) == b"vf" * 2048
    assert pf.vf(1).reg_read(CSTS) == CSTS_CFS
    assert pf.manage(ASSIGN, 1, VI, 1) == 0
    assert pf.manage(ONLINE, 1) == 0
    second = pf.vf(1)
    second.enable()
    assert second.read(8, 4096) == b"vf" * 2048
    machine.cmd("system_reset")
    pf.set_up()
    assert vectors(pf.function) == 7  # what the primary was to get
    assert [x[1:] for x in pf.list()] == [(0, 0, 0)] * VFS


@pytest.mark.parametrize("port", [False, True])
def test_migration(image: Path, tmp_path: Path, port: bool) -> None:
    """Functions, states and resources go along."""
    args = pf_args(image, port)
    with Machine(*args) as source, \
            Machine(*args, "-incoming", f"unix:{tmp_path}/wire") as target:
        pf = Pf(source, port)
        at = places(pf, at_work(pf))
        migrate(source, target)
        assert source.quit() == 0
        check_at_work(target, pf, at)
        assert target.quit() == 0


def test_snapshot(tmp_path: Path) -> None:
    """A drive with other functions at work takes over those of the snapshot,
    and that of a drive without any."""
    node = qcow2(tmp_path / "disk.qcow2")
    with Machine(*pf_args(node)) as machine:
        pf = Pf(machine)
        assert monitor(machine, "savevm none") == ""
        vf = at_work(pf)
        assert monitor(machine, "savevm some") == ""
        at = places(pf, vf)
        pf.enable_vfs(0)
        pf.enable_vfs(3)
        pf.online(2, 4, 2)
        assert monitor(machine, "loadvm some") == ""
        wait_for(machine, "query-status", "running")
        check_at_work(machine, pf, at)
        assert monitor(machine, "loadvm none") == ""
        wait_for(machine, "query-status", "running")
        pf.set_up()
        assert [x[1:] for x in pf.list()] == [(0, 0, 0)] * VFS
        assert not is_there(pf.vf(0))
        assert machine.quit() == 0


@pytest.mark.parametrize("other, message", [
    ({"sriov_vq_flexible": "10"},
     "it was saved with sriov_vfs=3 vq=9,4 vi=8,6, this drive has"
     " sriov_vfs=3 vq=10,4 vi=8,6"),
    ({"sriov_vi_flexible": "9"}, "sriov_vi_flexible: it was saved with"),
    ({"num_vectors": "4"}, "this drive has num_vectors=4"),
])
def test_other_functions_are_refused(image: Path, tmp_path: Path,
                                     other: dict[str, str], message: str
                                     ) -> None:
    """A target with another number of them, or of their resources."""
    with Machine(*pf_args(image)) as source, \
            Machine(*pf_args(image, **other), "-incoming",
                    f"unix:{tmp_path}/wire") as target:
        at_work(Pf(source))
        source.cmd("migrate", uri=f"unix:{tmp_path}/wire")
        code, error = target.wait()
        assert code != 0
        lines = [x for x in error.splitlines() if "cannot be loaded" in x]
        assert len(lines) == 1 and message in lines[0], error


@pytest.mark.parametrize("port", [False, True])
def test_resets(image: Path, port: bool) -> None:
    """A reset of the machine, and a power cut, disable them; the physical one
    works afterwards."""
    with Machine(*pf_args(image, port)) as machine:
        pf = Pf(machine, port)
        data = b"kept" * 1024
        pf.host.write(64, data)
        pf.host.flush()
        for how in ("reset", "power", "reset", "power"):
            vf = busy(pf)
            if how == "reset":
                machine.cmd("system_reset")
            else:
                machine.cmd("qom-set", path="/machine/peripheral/ssd",
                            property="power-cut", value="running")
                assert vf.reg_read(CSTS) == 0xFFFFFFFF
                assert vf.pci.read(0) == 0xFFFFFFFF
                machine.cmd("qom-set", path="/machine/peripheral/ssd",
                            property="powered", value=True)
            pf.set_up()
            assert pf.function.read(CAP + CONTROL) & 0xFFFF == 0
            assert [x[1:] for x in pf.list()] == [(0, 0, 0)] * VFS
            assert pf.host.read(64, 4096) == data
        assert machine.quit() == 0


def test_unplug(image: Path) -> None:
    """A slot that is switched off, and its drive taken out, with virtual
    functions at work; another one put in."""
    with Machine(*pf_args(image, True)) as machine:
        pf = Pf(machine, True)
        for _ in range(3):
            busy(pf)
            slot = pf.port.capability(0x10) + 0x18
            machine.cmd("device_del", id="ssd")
            pf.port.write(slot, 0x700)  # power and its indicator off
            assert machine.qmp
            end = time.monotonic() + LIMIT_S
            while True:
                event = machine.qmp.pull_event(wait=LIMIT_S)
                assert event and time.monotonic() < end
                if event["event"] == "DEVICE_DELETED" and \
                        event["data"].get("device") == "ssd":
                    break
            machine.cmd("device_add", driver="vssd", id="ssd", drive="d0",
                        bus="rp", addr="0", sriov_vfs=VFS, num_queues=4,
                        profile=str(PROFILES / "tiny.ini"))
            pf.port.write(slot, 0x100)
            pf.set_up()
        assert machine.quit() == 0
