# SPDX-License-Identifier: GPL-2.0-or-later
"""metadata=: where it is in the image, who refuses it, and what keeps it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from machine import Machine, drive_args, start_and_fail
from nvme_host import BUFFER, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost

KIB = 1 << 10
MIB = 1 << 20
CC = 0x14
PRACT = 8 << 26
PRCHK = 7 << 26
HEAD = 4096


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def crc16(data: bytes) -> int:
    """T10 DIF guard, bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = crc << 1 ^ (0x8BB7 if crc & 0x8000 else 0)
        crc &= 0xFFFF
    return crc


def tuple_of(data: bytes, app: int, lba: int) -> bytes:
    """Protection information of type 1."""
    return (crc16(data).to_bytes(2, "big") + app.to_bytes(2, "big") +
            lba.to_bytes(4, "big"))


def write(host: NvmeHost, lba: int, data: bytes) -> None:
    """One block of 512 bytes; the drive makes the protection information."""
    host.qtest.write(BUFFER, data)
    host.check(host.io.run(OP_WRITE, prp1=BUFFER,
                           cdw=(lba, 0, PRACT, 0, lba, 0xFFFF0000 | 0x1234)))


def read(host: NvmeHost, lba: int) -> bytes:
    """One block and its 8 bytes, all tags checked."""
    host.check(host.io.run(OP_READ, prp1=BUFFER,
                           cdw=(lba, 0, PRCHK, 0, lba, 0xFFFF0000 | 0x1234)))
    return host.qtest.read(BUFFER, 520)


def protected(image: Path | str, **more: str) -> list[str]:
    """A drive whose blocks have 520 bytes."""
    return drive_args("tiny", image, metadata="8", pi="1",
                      metadata_at="extended", **more)


def test_image(image: Path) -> None:
    """The blocks are where they are without metadata; the next run finds
    both."""
    data = bytes(range(256)) * 2
    with Machine(*protected(image)) as machine:
        host = host_of(machine)
        blocks = int.from_bytes(host.identify(0, 1)[:8], "little")
        assert blocks % 8 == 0
        assert 0 <= image.stat().st_size - HEAD - blocks * 520 < 2 * 8 * 520
        assert read(host, 1) == bytes(512) + b"\xff" * 8
        write(host, 8, data)
        write(host, blocks - 1, data)
        host.check(host.io.run(OP_FLUSH))
        assert machine.quit() == 0
    content = image.read_bytes()
    assert content[8 * 512:9 * 512] == data
    where = blocks * 512 + 8 * 8
    assert bytes(b ^ 0xFF for b in content[where:where + 8]) == \
        tuple_of(data, 0x1234, 8)
    with Machine(*protected(image)) as machine:
        host = host_of(machine)
        assert read(host, 8) == data + tuple_of(data, 0x1234, 8)
        assert read(host, blocks - 1)[:512] == data
        assert machine.quit() == 0
    with Machine(*drive_args("tiny", image)) as machine:  # as it is
        host = host_of(machine)
        assert host.read(8, 512) == data
        assert machine.quit() == 0


def test_data_from_outside(image: Path) -> None:
    """Blocks that were written without the drive can be read: their tags say
    that nothing is to be checked."""
    with image.open("r+b") as f:
        f.write(b"boot" * 128)
    with Machine(*protected(image)) as machine:
        host = host_of(machine)
        assert read(host, 0) == b"boot" * 128 + b"\xff" * 8
        assert machine.quit() == 0


def test_other_division(image: Path) -> None:
    """An image with data at its end, or with other metadata, is refused."""
    with image.open("r+b") as f:
        f.seek(-5000, os.SEEK_END)
        f.write(b"x")
    message = start_and_fail(*protected(image))
    assert "metadata=8: the image has data in its last" in message
    with image.open("r+b") as f:
        f.seek(-5000, os.SEEK_END)
        f.write(b"\0")
    with Machine(*protected(image)) as machine:
        assert machine.quit() == 0
    message = start_and_fail(*drive_args("tiny", image, metadata="16"))
    assert "metadata=16: the image is of a drive with metadata=8" in message


def test_state(image: Path, tmp_path: Path) -> None:
    """With state=: of a namespace that the file knows."""
    args = {"state": str(tmp_path / "drive.state"), "namespaces": "1M:512+8:pi=1:"
            "extended", "metadata": "8"}
    with Machine(*drive_args("tiny", image, **args)) as machine:
        host = host_of(machine)
        write(host, 8, b"kept" * 128)
        host.check(host.io.run(OP_FLUSH))
        assert machine.quit() == 0
    args["namespaces"] = "0"
    with Machine(*drive_args("tiny", image, **args)) as machine:
        host = host_of(machine)
        data = b"kept" * 128
        assert read(host, 8) == data + tuple_of(data, 0x1234, 8)
        assert machine.quit() == 0
    del args["metadata"]
    message = start_and_fail(*drive_args("tiny", image, **args))
    assert "it was saved with metadata=" in message


def test_snapshot(tmp_path: Path) -> None:
    """savevm and loadvm take data and metadata back, in the buffer, too."""
    disk = tmp_path / "disk.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(disk), "8M"], check=True)
    node = f"driver=qcow2,file.driver=file,file.filename={disk}"
    with Machine(*protected(node)) as machine:
        host = host_of(machine)
        write(host, 8, b"then" * 128)
        assert machine.cmd("human-monitor-command",
                           **{"command-line": "savevm a"}) == ""
        write(host, 8, b"now!" * 128)
        host.check(host.io.run(OP_FLUSH))
        assert machine.cmd("human-monitor-command",
                           **{"command-line": "loadvm a"}) == ""
        host.reg_write(CC, 0)
        host = host_of(machine)
        data = b"then" * 128
        assert read(host, 8) == data + tuple_of(data, 0x1234, 8)
        assert machine.quit() == 0


@pytest.mark.parametrize(("options", "text"), [
    ({"metadata": "4"}, "metadata=4: allowed 0, 8, 16, 64"),
    ({"pi": "1"}, "need metadata=8, 16 or 64"),
    ({"metadata": "8", "pi": "4"}, "pi=4: allowed 0..3"),
    ({"metadata": "8", "pi_at": "end"}, "pi_at=end: allowed first, last"),
    ({"metadata": "8", "metadata_at": "x"},
     "metadata_at=x: allowed separate, extended"),
    ({"metadata": "8", "pi_guard": "64"}, "pi_guard=64: allowed with"),
    ({"metadata": "8", "trace": "/dev/null"}, "trace= does not go with"),
])
def test_refused(image: Path, options: dict[str, str], text: str) -> None:
    """One line that names the option and what it may be."""
    message = start_and_fail(*drive_args("tiny", image, **options))
    assert text in message
    assert "\n" not in message.strip()
