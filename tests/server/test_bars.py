# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of the drive over vfio-user: the controller memory buffer (BAR 2), by
messages and mapped, and the persistent memory region (BAR 4)."""

from __future__ import annotations

import mmap
import os
import socket
import struct
from pathlib import Path

import pytest
from test_server import refused
from vmm import GET_REGION_INFO, HEADER, MIB, PROJECT, Bus, Refused, Server, Vmm

from nvme_host import CC, OP_READ, OP_WRITE, NvmeHost
from test_cmb import (
    CMB,
    CMBSZ,
    DATA,
    FAR,
    NRDY,
    PMR,
    PMRCTL,
    PMRMSCL,
    PMRMSCU,
    PMRSTS,
    check_all_parts,
    check_legacy,
    use_cmb,
)

KIB = 1 << 10
CMSE = 2
CAPABILITIES = 8  # VFIO_REGION_INFO_FLAG_CAPS
MMAP = 4


class BarBus(Bus):
    """One whose accesses at CMB and PMR are messages to BARs 2 and 4."""

    def write(self, addr: int, data: bytes) -> None:
        at = self._place(addr)
        if not at:
            super().write(addr, data)
            return
        for i in range(0, len(data), 4 * KIB):
            self.vmm.region_write(at[0], at[1] + i, data[i:i + 4 * KIB])

    def read(self, addr: int, size: int) -> bytes:
        at = self._place(addr)
        return self.vmm.region_read(*at, size) if at else super().read(addr, size)

    @staticmethod
    def _place(addr: int) -> tuple[int, int] | None:
        for region, start in ((2, CMB), (4, PMR)):
            if start <= addr < start + MIB:
                return region, addr - start
        return None


def host_of(vmm: Vmm) -> NvmeHost:
    """The drive, with its BARs in place; not enabled."""
    host = NvmeHost(BarBus(vmm))  # type: ignore[arg-type]
    for offset, value in ((0x18, CMB), (0x1C, 0), (0x20, PMR), (0x24, 0)):
        host.pci.write(offset, value)
    host.pci.enable()
    return host


def info(vmm: Vmm, index: int) -> tuple[int, int, list[int]]:
    """Flags and size of a region, and descriptors that came with them."""
    vmm.send(GET_REGION_INFO, struct.pack("<IIIIQQ", 4096, 0, index, 0, 0, 0))
    data, fds, _, _ = socket.recv_fds(vmm.sock, 4096, 4)
    _, flags, _, _, size, _ = struct.unpack_from("<IIIIQQ", data, HEADER.size)
    return flags, size, fds


@pytest.mark.parametrize("base", [CMB, FAR])
def test_queue_list_data(tmp_path: Path, image: Path, base: int) -> None:
    """All parts of commands are in the buffer, wherever the host has put it."""
    with Server(tmp_path, image, "--cmb", "1M") as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert host.qtest.read(CMB, 4) == b"\xff" * 4
        check_all_parts(host, base)


def test_legacy(tmp_path: Path, image: Path) -> None:
    """Without CMBMSC: the address is that of the BAR, where the host puts it."""
    with Server(tmp_path, image, "--cmb", "1M", "--legacy_cmb", "on",
                "--cmb_uses", "sqs+cqs") as server, Vmm(server.socket) as vmm:
        check_legacy(host_of(vmm))


def test_mapped(tmp_path: Path, image: Path) -> None:
    """The client maps the buffer; it cannot make it shorter."""
    with Server(tmp_path, image, "--cmb", "1M") as server, \
            Vmm(server.socket) as vmm:
        flags, size, fds = info(vmm, 2)
        assert flags & MMAP and size == MIB and len(fds) == 1
        with pytest.raises(PermissionError):
            os.ftruncate(fds[0], 0)
        host = host_of(vmm)
        use_cmb(host)
        host.enable()
        with mmap.mmap(fds[0], MIB) as memory:
            memory[DATA:DATA + 4 * KIB] = b"mine" * KIB
            host.check(host.io.run(OP_WRITE, prp1=CMB + DATA, cdw=(0, 0, 7)))
            assert host.read(0, 4 * KIB) == b"mine" * KIB
            host.check(host.io.run(OP_READ, prp1=CMB, cdw=(0, 0, 7)))
            assert memory[:4 * KIB] == b"mine" * KIB
        os.close(fds[0])


def test_power_and_resets(tmp_path: Path, image: Path) -> None:
    """The content of the buffer survives resets, and not a power cut."""
    with Server(tmp_path, image, "--cmb", "1M") as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        use_cmb(host)
        host.qtest.write(CMB + DATA, b"kept")
        host.reg_write(CC, 0)
        host.enable()
        assert host.qtest.read(CMB + DATA, 4) == b"kept"
        server.put("powered", False)
        assert host.qtest.read(CMB + DATA, 4) == b"\xff" * 4
        server.put("powered", True)
        host = host_of(vmm)
        assert host.reg_read(CMBSZ) == 0
        use_cmb(host)
        assert host.qtest.read(CMB + DATA, 4) == bytes(4)


def test_pmr(tmp_path: Path, image: Path) -> None:
    """What a read of PMRSTS has confirmed is in the file, survives the power
    and the end of the server; commands may have data there."""
    file = tmp_path / "pmr"
    file.write_bytes(bytes(MIB))
    with Server(tmp_path, image, "--pmr", str(file)) as server, \
            Vmm(server.socket) as vmm:
        flags, size, fds = info(vmm, 4)
        assert not flags & MMAP and size == MIB and not fds
        host = host_of(vmm)
        assert host.reg_read(PMRSTS) == NRDY
        assert host.qtest.read(PMR, 4) == b"\xff" * 4
        host.reg_write(PMRCTL, 1)
        assert host.reg_read(PMRSTS) == 0
        host.qtest.write(PMR + 0x1000, b"keep" * KIB)
        assert host.reg_read(PMRSTS) == 0
        assert file.read_bytes()[0x1000:0x2000] == b"keep" * KIB
        server.put("powered", False)
        server.put("powered", True)
        host = host_of(vmm)
        host.reg_write(PMRCTL, 1)
        assert host.qtest.read(PMR + 0x1000, 4) == b"keep"
        host.reg_write(PMRMSCU, FAR >> 32)
        host.reg_write(PMRMSCL, CMSE)
        host.enable()
        host.check(host.io.run(OP_WRITE, prp1=FAR + 0x1000, cdw=(0, 0, 7)))
        assert host.read(0, 4 * KIB) == b"keep" * KIB
        server.end()
    with Server(tmp_path, image, "--pmr", str(file)) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.reg_write(PMRCTL, 1)
        assert host.qtest.read(PMR + 0x1000, 4 * KIB) == b"keep" * KIB


def test_outside(tmp_path: Path, image: Path) -> None:
    """Accesses behind the buffer, and of BARs that are not there, end with an
    error; the server lives on."""
    with Server(tmp_path, image, "--cmb", "1M") as server, \
            Vmm(server.socket) as vmm:
        use_cmb(host_of(vmm))
        assert info(vmm, 4)[1] == 0
        for index, offset, count in ((2, MIB - 4, 8), (2, 1 << 40, 8),
                                     (2, (1 << 64) - 4, 8), (4, 0, 8)):
            with pytest.raises(Refused):
                vmm.region_read(index, offset, count)
        assert vmm.region_read(2, MIB - 8, 8) == bytes(8)


@pytest.mark.parametrize("more, words", [
    (["--cmb", "3M"], "--cmb=3145728: allowed 1M..1G, a power of two"),
    (["--cmb", "2G"], "--cmb=2G: allowed 0B..1GiB"),
    (["--cmb", "1M", "--cmb_uses", "all"], "--cmb_uses=all: allowed are some of"),
    (["--legacy_cmb", "on"], "--legacy_cmb=on: it needs cmb=SIZE"),
    (["--pmr", "/none"], "--pmr /none: No such file"),
])
def test_refused(tmp_path: Path, image: Path, more: list[str],
                 words: str) -> None:
    """One line that names the option and its range."""
    base = ("--profile", str(PROJECT / "profiles/tiny.ini"), "--image",
            str(image), "--socket", str(tmp_path / "s"))
    assert words in refused(*base, *more)


def test_sizes_of_a_region(tmp_path: Path, image: Path) -> None:
    """Nothing, and what is no power of two."""
    base = ("--profile", str(PROJECT / "profiles/tiny.ini"), "--image",
            str(image), "--socket", str(tmp_path / "s"))
    file = tmp_path / "pmr"
    for size in (0, 4096, 3 * MIB):
        file.write_bytes(bytes(size))
        assert f"size={size}: allowed 64K..1T, a power of two" in refused(
            *base, "--pmr", str(file))
