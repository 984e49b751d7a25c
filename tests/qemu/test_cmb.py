# SPDX-License-Identifier: GPL-2.0-or-later
"""cmb= and pmr=: memory of the drive at BARs, in power cuts, snapshots and the
next run."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from machine import Machine, drive_args, pid, start_and_fail
from nvme_host import BAR0, BUFFER, CC, OP_READ, OP_WRITE, NvmeHost, Queue

KIB = 1 << 10
MIB = 1 << 20
PATH = "/machine/peripheral/ssd"
CMB, PMR = 0xC1000000, 0xC2000000  # where the test puts BARs 2 and 4
FAR = 0x8000000000  # an address without memory, for the controller
CMBLOC, CMBSZ, CMBMSC = 0x38, 0x3C, 0x50
PMRCTL, PMRSTS, PMRMSCL, PMRMSCU = 0xE04, 0xE08, 0xE14, 0xE18
CRE, CMSE, NRDY = 1, 2, 0x100
SQ, CQ, LIST, DATA = 0, 0x1000, 0x2000, 0x10000


def host_of(machine: Machine) -> NvmeHost:
    """The drive, with its BARs in place; not enabled."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    for offset, value in ((0x18, CMB), (0x1C, 0), (0x20, PMR), (0x24, 0)):
        host.pci.write(offset, value)
    host.pci.enable()
    return host


def use_cmb(host: NvmeHost, base: int = CMB) -> None:
    """Enable the buffer, at `base` for the controller."""
    host.qtest.writeq(BAR0 + CMBMSC, base | CRE | CMSE)


def queue_in_cmb(host: NvmeHost, base: int = CMB) -> Queue:
    """A queue pair whose entries are in the buffer; the test uses the BAR, the
    controller its own addresses."""
    size = 31 << 16 | 2
    host.qtest.call(f"memset {CMB:#x} 0x2000 0x0")
    host.check(host.admin.run(5, prp1=base + CQ, cdw=(size, 1)))
    host.check(host.admin.run(1, prp1=base + SQ, cdw=(size, 2 << 16 | 1)))
    return Queue(host, 2, CMB + SQ, CMB + CQ)


def pages(base: int, count: int) -> bytes:
    """A PRP list for pages after the first."""
    return struct.pack(f"<{count - 1}Q",
                       *(base + 4096 * i for i in range(1, count)))


def check_all_parts(host: NvmeHost, base: int) -> Queue:
    """A Write and a Read whose entries, list and data are in the buffer at
    `base`; their queue."""
    assert host.reg_read(CMBSZ) == 0
    use_cmb(host, base)
    assert host.reg_read(CMBSZ) == 0x10001F
    assert host.reg_read(CMBLOC) & 7 == 2
    host.enable()
    queue = queue_in_cmb(host, base)
    host.qtest.write(CMB + DATA, b"data" * (4 * KIB))
    host.qtest.write(CMB + LIST, pages(base + DATA, 4))
    host.check(queue.run(OP_WRITE, prp1=base + DATA, prp2=base + LIST,
                         cdw=(0, 0, 31)))
    host.qtest.write(CMB + DATA, bytes(16 * KIB))
    host.check(queue.run(OP_READ, prp1=base + DATA, prp2=base + LIST,
                         cdw=(0, 0, 31)))
    assert host.qtest.read(CMB + DATA, 16 * KIB) == b"data" * (4 * KIB)
    return queue


def check_legacy(host: NvmeHost) -> None:
    """Entries in the buffer work, and data there is refused, without CMBMSC."""
    assert host.reg_read(CMBSZ) == 0x100003
    host.enable()
    queue = queue_in_cmb(host)
    host.check(queue.run(OP_READ, prp1=BUFFER, cdw=(0, 0, 7)))
    done = queue.run(OP_READ, prp1=CMB + DATA, cdw=(0, 0, 7))
    assert done.status & 0x7FF == 0x12


@pytest.mark.parametrize("base", [CMB, FAR])
def test_queue_list_data(image: Path, base: int) -> None:
    """All parts of commands are in the buffer, wherever the host has put it."""
    with Machine(*drive_args("tiny", image, cmb="1M")) as machine:
        host = host_of(machine)
        queue = check_all_parts(host, base)
        host.qtest.write(CMB + LIST + 8, struct.pack("<Q", BUFFER))
        done = queue.run(OP_READ, prp1=base + DATA, prp2=base + LIST,
                         cdw=(0, 0, 31))
        assert done.status & 0x7FF == 0x12
        host.flush()
        assert machine.quit() == 0
    assert image.read_bytes()[:16 * KIB] == b"data" * (4 * KIB)


def test_legacy(image: Path) -> None:
    """Without CMBMSC: the BAR is the address."""
    with Machine(*drive_args("tiny", image, cmb="1M", legacy_cmb="on",
                             cmb_uses="sqs+cqs")) as machine:
        check_legacy(host_of(machine))


def test_power_and_resets(image: Path) -> None:
    """The content survives resets, and not a power cut."""
    with Machine(*drive_args("tiny", image, cmb="1M")) as machine:
        host = host_of(machine)
        use_cmb(host)
        host.qtest.write(CMB + DATA, b"kept")
        host.reg_write(CC, 0)
        host.enable()
        assert host.qtest.read(CMB + DATA, 4) == b"kept"
        machine.cmd("qom-set", path=PATH, property="powered", value=False)
        assert host.qtest.read(CMB + DATA, 4) != b"kept"
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        host = host_of(machine)
        assert host.reg_read(CMBSZ) == 0
        use_cmb(host)
        assert host.qtest.read(CMB + DATA, 4) == bytes(4)
        assert machine.quit() == 0


def hmp(machine: Machine, line: str) -> None:
    """A command of the monitor that prints nothing."""
    assert machine.cmd("human-monitor-command",
                       **{"command-line": line}) == ""


def test_snapshot(tmp_path: Path) -> None:
    """savevm and loadvm keep the buffer, with a queue in it, and the region."""
    disk = tmp_path / "disk.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(disk), "8M"], check=True)
    node = f"driver=qcow2,file.driver=file,file.filename={disk}"
    with Machine("-object", "memory-backend-ram,id=m,size=64K",
                 *drive_args("tiny", node, cmb="1M", pmr="m")) as machine:
        host = host_of(machine)
        use_cmb(host)
        host.reg_write(PMRCTL, 1)
        host.enable()
        queue = queue_in_cmb(host)
        host.qtest.write(CMB + DATA, b"then" * KIB)
        host.qtest.write(PMR, b"then")
        hmp(machine, "savevm a")
        host.qtest.write(CMB + DATA, b"now!" * KIB)
        host.qtest.write(PMR, b"now!")
        host.qtest.writeq(BAR0 + CMBMSC, 0)
        hmp(machine, "loadvm a")
        assert host.qtest.read(CMB + DATA, 4) == b"then"
        assert host.qtest.read(PMR, 4) == b"then"
        host.check(queue.run(OP_WRITE, prp1=CMB + DATA, cdw=(8, 0, 7)))
        assert host.read(8, 4 * KIB) == b"then" * KIB
        assert machine.quit() == 0


def pmr_args(file: Path) -> list[str]:
    """The memory backend of a region of 1 MiB."""
    return ["-object", f"memory-backend-file,id=m,size=1M,share=on,mem-path={file}"]


def test_pmr(image: Path, tmp_path: Path) -> None:
    """Writes that a read of PMRSTS has confirmed survive the power and the end
    of QEMU; commands may have data there."""
    file = tmp_path / "pmr"
    with Machine(*pmr_args(file), *drive_args("tiny", image, pmr="m")
                 ) as machine:
        host = host_of(machine)
        assert host.reg_read(PMRSTS) == NRDY
        host.reg_write(PMRCTL, 1)
        assert host.reg_read(PMRSTS) == 0
        host.qtest.write(PMR + 0x1000, b"keep" * KIB)
        assert host.reg_read(PMRSTS) == 0
        assert file.read_bytes()[0x1000:0x2000] == b"keep" * KIB
        machine.cmd("qom-set", path=PATH, property="powered", value=False)
        assert host.qtest.read(PMR + 0x1000, 4) != b"keep"
        machine.cmd("qom-set", path=PATH, property="powered", value=True)
        host = host_of(machine)
        assert host.reg_read(PMRCTL) == 0
        host.reg_write(PMRCTL, 1)
        assert host.qtest.read(PMR + 0x1000, 4) == b"keep"
        host.reg_write(PMRMSCU, FAR >> 32)
        host.reg_write(PMRMSCL, CMSE)
        host.enable()
        host.check(host.io.run(OP_WRITE, prp1=FAR + 0x1000, cdw=(0, 0, 7)))
        assert host.read(0, 4 * KIB) == b"keep" * KIB
        host.check(host.io.run(OP_READ, prp1=FAR + 0x3000, cdw=(0, 0, 7)))
        assert machine.quit() == 0
    with Machine(*pmr_args(file), *drive_args("tiny", image, pmr="m")
                 ) as machine:
        host = host_of(machine)
        host.reg_write(PMRCTL, 1)
        assert host.qtest.read(PMR + 0x3000, 4 * KIB) == b"keep" * KIB
        assert machine.quit() == 0


def test_pmr_of_another_drive(image: Path, tmp_path: Path) -> None:
    """The file of a region is one drive's, whatever the machine."""
    file = tmp_path / "pmr"
    copy = tmp_path / "copy.img"
    shutil.copyfile(image, copy)
    second = [*pmr_args(file), *drive_args("tiny", copy, pmr="m")]
    with Machine(*pmr_args(file), *drive_args("tiny", image, pmr="m")
                 ) as machine:
        said = start_and_fail(*second)
        assert said.endswith(f"vssd: pmr: mem-path={file}: in use by another"
                             f" drive (process {pid(machine)})"), said
        assert machine.quit() == 0
    with Machine(*second) as machine:
        assert machine.quit() == 0
    assert sorted(x.name for x in tmp_path.iterdir() if "pmr" in x.name
                  ) == ["pmr"]


@pytest.mark.parametrize("options, words", [
    ({"cmb": "3M"}, ["cmb=3145728: allowed 1M..1G, a power of two"]),
    ({"cmb": "2G"}, ["cmb=2GiB: allowed 0B..1GiB"]),
    ({"cmb": "1M", "cmb_uses": "all"}, ["cmb_uses=all: allowed are some of"]),
    ({"legacy_cmb": "on"}, ["legacy_cmb=on: it needs cmb=SIZE"]),
    ({"cmb": "1M", "trace": "/dev/null"}, ["trace= does not go with cmb="]),
    ({"pmr": "m"}, ["pmr: size=4096: allowed 64K..1T, a power of two"]),
])
def test_refused(image: Path, options: dict[str, str],
                 words: list[str]) -> None:
    """One line that names the option and its range."""
    message = start_and_fail("-object", "memory-backend-ram,id=m,size=4K",
                             *drive_args("tiny", image, **options))
    assert all(word in message for word in words), message
    assert "\n" not in message
