# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones beside a saved drive: write pointers, states and data go on in the next
run, and in a snapshot."""

from __future__ import annotations

import struct
import subprocess
from os import environ
from pathlib import Path

import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import BUFFER, OP_READ, OP_WRITE, NvmeHost

BLOCK = 4096
ZONE = 256  # blocks; two superblocks do not fit into the image of 8 MiB
MANAGE_SEND, MANAGE_RECEIVE, APPEND = 0x79, 0x7A, 0x7D
FINISH, RESET = 2, 4
EMPTY, IMPLICIT, FULL = 1, 2, 0xE
OPTIONS = ("nand.blocks=24;ftl.op_percent=0%;buffer.size=1MiB;buffer.plp=on;"
           "ftl.alloc=in-order;zones.enabled=on")
INVALID_WRITE = 0x1BC


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up with all command sets."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def write(host: NvmeHost, lba: int, data: bytes) -> None:
    """One block."""
    host.qtest.write(BUFFER, data)
    host.check(host.io.run(OP_WRITE, prp1=BUFFER, cdw=(lba, 0, 0)))


def read(host: NvmeHost, lba: int) -> bytes:
    """One block."""
    host.check(host.io.run(OP_READ, prp1=BUFFER, cdw=(lba, 0, 0)))
    return host.qtest.read(BUFFER, BLOCK)


def manage(host: NvmeHost, zone: int, action: int) -> None:
    """Zone Management Send."""
    host.check(host.io.run(MANAGE_SEND, cdw=(zone * ZONE, 0, 0, action)))


def zones(host: NvmeHost) -> list[tuple[int, int]]:
    """State and blocks before the write pointer of the first four zones."""
    host.check(host.io.run(MANAGE_RECEIVE, prp1=BUFFER,
                           cdw=(0, 0, BLOCK // 4 - 1, 0)))
    page = host.qtest.read(BUFFER, BLOCK)
    found = []
    for i in range(4):
        start, wp = struct.unpack_from("<QQ", page, 64 + 64 * i + 16)
        found.append((page[64 + 64 * i + 1] >> 4, wp - start))
    return found


def fill(host: NvmeHost) -> list[tuple[int, int]]:
    """Zone 0 in part, zone 1 finished, zone 2 reset; what they are then."""
    for i in range(3):
        write(host, i, bytes([i + 1]) * BLOCK)
    write(host, ZONE, b"f" * BLOCK)
    manage(host, 1, FINISH)
    write(host, 2 * ZONE, b"r" * BLOCK)
    manage(host, 2, RESET)
    found = zones(host)
    assert found[0] == (IMPLICIT, 3)
    assert [x[0] for x in found[1:]] == [FULL, EMPTY, EMPTY]
    return found


def test_state(image: Path, tmp_path: Path) -> None:
    """The next run writes on where the first one was."""
    args = drive_args("tiny", image, options=OPTIONS,
                      state=str(tmp_path / "drive.state"))
    with Machine(*args) as machine:
        before = fill(host_of(machine))
        assert machine.quit() == 0
    with Machine(*args) as machine:
        host = host_of(machine)
        after = zones(host)
        assert [x[1] for x in after[:1]] == [3]
        assert [x[0] for x in after[1:]] == [x[0] for x in before[1:]]
        assert read(host, 2) == bytes([3]) * BLOCK
        assert read(host, ZONE) == b"f" * BLOCK
        host.qtest.write(BUFFER, b"x" * BLOCK)
        status = host.io.run(OP_WRITE, prp1=BUFFER, cdw=(7, 0, 0)).status
        assert status & 0x7FF == INVALID_WRITE
        write(host, 3, b"n" * BLOCK)
        assert read(host, 3) == b"n" * BLOCK
        assert machine.quit() == 0


def test_snapshot(tmp_path: Path) -> None:
    """loadvm takes write pointers back."""
    disk = tmp_path / "disk.qcow2"
    subprocess.run([environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(disk), "8M"], check=True)
    node = f"driver=qcow2,file.driver=file,file.filename={disk}"
    with Machine(*drive_args("tiny", node, options=OPTIONS)) as machine:
        host = host_of(machine)
        before = fill(host)
        for command in ("savevm a", "loadvm a"):
            assert machine.cmd("human-monitor-command",
                               **{"command-line": command}) == ""
            if command == "savevm a":
                write(host, 3, b"x" * BLOCK)
                assert zones(host)[0] == (IMPLICIT, 4)
        host = host_of(machine)
        assert [x[1] for x in zones(host)] == [x[1] for x in before]
        write(host, 3, b"y" * BLOCK)
        assert machine.quit() == 0


@pytest.mark.parametrize(("more", "text"), [
    ({"namespaces": "2"}, "namespaces"),
    ({"metadata": "8"}, "zones.enabled=on"),
])
def test_refused(image: Path, more: dict[str, str], text: str) -> None:
    """One line each."""
    message = start_and_fail(*drive_args("tiny", image, options=OPTIONS, **more))
    assert text in message
    assert len(message.strip().splitlines()) == 1
