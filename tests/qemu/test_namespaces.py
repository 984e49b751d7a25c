# SPDX-License-Identifier: GPL-2.0-or-later
"""namespaces=: several of them in one image, in a state file, in a snapshot."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from machine import PROFILES, Machine, drive_args, start_and_fail
from nvme_host import BUFFER, OP_FLUSH, OP_READ, OP_WRITE, NvmeHost

KIB = 1 << 10
MIB = 1 << 20
PATH = "/machine/peripheral/ssd"
MANAGE = 0x0D
ATTACH = 0x15
CC = 0x14


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def allocated(host: NvmeHost) -> list[int]:
    """Identifiers of all namespaces."""
    ids = struct.unpack("<1024I", host.identify(0x10))
    return [nsid for nsid in ids if nsid]


def size(host: NvmeHost, nsid: int) -> tuple[int, int]:
    """Its blocks, and bytes of one."""
    data = host.identify(0, nsid)
    shift = data[128 + 4 * (data[26] & 15) + 2]
    return struct.unpack_from("<Q", data)[0], 1 << shift


def write(host: NvmeHost, nsid: int, lba: int, data: bytes, block: int) -> None:
    """Write and wait."""
    host.qtest.write(BUFFER, data)
    host.check(host.io.run(OP_WRITE, nsid=nsid, prp1=BUFFER,
                           cdw=(lba, 0, len(data) // block - 1)))


def read(host: NvmeHost, nsid: int, lba: int, nbytes: int, block: int) -> bytes:
    """Read and wait."""
    host.check(host.io.run(OP_READ, nsid=nsid, prp1=BUFFER,
                           cdw=(lba, 0, nbytes // block - 1)))
    return host.qtest.read(BUFFER, nbytes)


def create(host: NvmeHost, nblocks: int, block_format: int) -> int:
    """A new namespace, attached."""
    page = bytearray(4096)
    struct.pack_into("<QQ", page, 0, nblocks, nblocks)
    page[26] = block_format
    host.qtest.write(BUFFER, bytes(page))
    done = host.check(host.admin.run(MANAGE, nsid=0, prp1=BUFFER, cdw=(0,)))
    nsid = done.result
    cntlid = struct.unpack_from("<H", host.identify(1), 78)[0]
    host.qtest.write(BUFFER, struct.pack("<HH", 1, cntlid) + bytes(4092))
    host.check(host.admin.run(ATTACH, nsid=nsid, prp1=BUFFER, cdw=(0,)))
    return nsid


def test_one_image(image: Path) -> None:
    """They follow each other in the image."""
    with Machine(*drive_args("tiny", image, namespaces="1M;2M:4096;rest")
                 ) as machine:
        host = host_of(machine)
        assert size(host, 1) == (2048, 512)
        assert size(host, 2) == (512, 4096)
        write(host, 1, 0, b"one!" * KIB, 512)
        write(host, 2, 1, b"two!" * KIB, 4096)
        write(host, 3, 0, b"tri!" * KIB, 512)
        host.check(host.io.run(OP_FLUSH, nsid=2))
        assert read(host, 1, 0, 4 * KIB, 512) == b"one!" * KIB
        found = machine.cmd("qom-get", path=PATH, property="stats")
        assert isinstance(found, dict)
        spaces = found["namespaces"]
        assert [s["write"]["commands"] for s in spaces] == [1, 1, 1]
        assert [s["bytes"] for s in spaces][:2] == [MIB, 2 * MIB]
        assert machine.quit() == 0
    data = image.read_bytes()
    assert data[:4 * KIB] == b"one!" * KIB
    assert data[MIB + 4 * KIB:MIB + 8 * KIB] == b"two!" * KIB
    assert data[3 * MIB:3 * MIB + 4 * KIB] == b"tri!" * KIB


def test_state(image: Path, tmp_path: Path) -> None:
    """Namespaces that the guest made go on in the next run."""
    state = tmp_path / "drive.state"
    with Machine(*drive_args("tiny", image, state=str(state), namespaces="2")
                 ) as machine:
        host = host_of(machine)
        write(host, 1, 0, b"gone" * KIB, 512)
        host.check(host.io.run(OP_FLUSH, nsid=1))
        host.check(host.admin.run(MANAGE, nsid=1, cdw=(1,)))
        assert create(host, 256, 1) == 1
        assert read(host, 1, 0, 4 * KIB, 4096) == bytes(4 * KIB)
        write(host, 1, 255, b"mine" * KIB, 4096)
        host.check(host.io.run(OP_FLUSH, nsid=1))
        assert machine.quit() == 0
    with Machine(*drive_args("tiny", image, state=str(state), namespaces="0")
                 ) as machine:
        host = host_of(machine)
        assert allocated(host) == [1, 2]
        assert size(host, 1) == (256, 4096)
        assert read(host, 1, 255, 4 * KIB, 4096) == b"mine" * KIB
        assert read(host, 1, 0, 4 * KIB, 4096) == bytes(4 * KIB)
        assert machine.quit() == 0
    message = start_and_fail(*drive_args("tiny", image, state=str(state)))
    assert "namespaces=" in message and str(state) in message


def test_old_state(image: Path, tmp_path: Path) -> None:
    """A drive that had one namespace gets those of the option; data beyond
    them is trimmed before another namespace gets it."""
    state = tmp_path / "drive.state"
    with Machine(*drive_args("tiny", image, state=str(state))) as machine:
        host = host_of(machine)
        host.write(0, b"kept" * KIB)
        host.write(4 * 2048, b"old!" * KIB)
        host.flush()
        assert machine.quit() == 0
    with Machine(*drive_args("tiny", image, state=str(state), namespaces="1M")
                 ) as machine:
        host = host_of(machine)
        assert read(host, 1, 0, 4 * KIB, 512) == b"kept" * KIB
        assert create(host, 4 * 2048, 0) == 2
        assert read(host, 2, 3 * 2048, 4 * KIB, 512) == bytes(4 * KIB)
        assert machine.quit() == 0


def test_image_with_data(image: Path) -> None:
    """Data of an image that no namespace has is not seen by a new one."""
    with image.open("r+b") as f:
        f.seek(2 * MIB)
        f.write(b"old!" * KIB)
    with Machine(*drive_args("tiny", image, namespaces="0")) as machine:
        host = host_of(machine)
        nsid = create(host, 4 * 2048, 0)
        assert read(host, nsid, 2 * 2048, 4 * KIB, 512) == bytes(4 * KIB)
        assert machine.quit() == 0


def test_snapshot(tmp_path: Path) -> None:
    """savevm and loadvm: the namespaces of then are back."""
    disk = tmp_path / "disk.qcow2"
    subprocess.run([os.environ["VSSD_QEMU_IMG"], "create", "-q", "-f", "qcow2",
                    str(disk), "8M"], check=True)
    node = f"driver=qcow2,file.driver=file,file.filename={disk}"
    with Machine(*drive_args("tiny", node, namespaces="1M")) as machine:
        host = host_of(machine)
        write(host, 1, 0, b"then" * KIB, 512)
        answer = machine.cmd("human-monitor-command",
                             **{"command-line": "savevm a"})
        assert answer == ""
        assert create(host, 256, 0) == 2
        write(host, 1, 0, b"now!" * KIB, 512)
        answer = machine.cmd("human-monitor-command",
                             **{"command-line": "loadvm a"})
        assert answer == ""
        host.reg_write(CC, 0)
        host = host_of(machine)
        assert allocated(host) == [1]
        assert read(host, 1, 0, 4 * KIB, 512) == b"then" * KIB
        assert machine.quit() == 0


def two_nodes(tmp_path: Path, second: int, **device: str) -> list[str]:
    """A drive whose namespaces have images of 2 MiB and of so many bytes."""
    files = [tmp_path / "one.img", tmp_path / "two.img"]
    for path, nbytes in zip(files, (2 * MIB, second)):
        if not path.exists():
            path.write_bytes(bytes(nbytes))
    return ["-blockdev", "driver=raw,file.driver=file,node-name=d1,"
            f"file.filename={files[1]}",
            *drive_args("tiny", files[0], drive2="d1", **device)]


def test_profile(image: Path, tmp_path: Path) -> None:
    """A profile has them, the property goes before it, and a state file of a
    drive with one namespace leaves the profile's."""
    profile, state = tmp_path / "two.ini", str(tmp_path / "state")
    with Machine(*drive_args("tiny", image, state=state)) as machine:
        host_of(machine)
        assert machine.quit() == 0
    profile.write_text((PROFILES / "tiny.ini").read_text()
                       + "\n[host]\nnamespaces = 1M;rest\n")
    with Machine(*drive_args(str(profile), image, state=state)) as machine:
        host = host_of(machine)
        assert allocated(host) == [1, 2]
        assert size(host, 1) == (2048, 512)
        assert machine.quit() == 0
    with Machine(*drive_args(str(profile), image, namespaces="3")) as machine:
        assert allocated(host_of(machine)) == [1, 2, 3]
        assert machine.quit() == 0


def test_own_nodes(tmp_path: Path) -> None:
    """Namespace n is all of node n; a write that ends with the image, trims and
    the data of the next run stay in it."""
    second = MIB + 3 * 512
    args = two_nodes(tmp_path, second, state=str(tmp_path / "drive.state"))
    (tmp_path / "two.img").write_bytes(b"old!" * (second // 4))
    with Machine(*args) as machine:
        host = host_of(machine)
        assert allocated(host) == [1, 2]
        assert size(host, 1) == (4096, 512)
        assert size(host, 2) == (second // 512, 512)
        assert read(host, 2, 0, 4 * KIB, 512) == b"old!" * KIB
        write(host, 1, 4088, b"one!" * KIB, 512)
        write(host, 2, 0, b"two!" * KIB, 512)
        write(host, 2, second // 512 - 3, b"end!" * 384, 512)
        assert host.admin.run(MANAGE, nsid=2, cdw=(1,)).status & 0x7FF == 1
        assert host.identify(1)[256] & 8 == 0
        host.check(host.io.run(OP_FLUSH, nsid=1))
        found = machine.cmd("query-blockstats")
        assert isinstance(found, list)
        assert {s["node-name"]: s["stats"]["wr_operations"]
                for s in found} == {"d0": 1, "d1": 2}
        assert machine.quit() == 0
    one = (tmp_path / "one.img").read_bytes()
    two = (tmp_path / "two.img").read_bytes()
    assert one == bytes(2 * MIB - 4 * KIB) + b"one!" * KIB
    assert two == (b"two!" * KIB + b"old!" * ((second - 5632) // 4)
                   + b"end!" * 384)
    with Machine(*args) as machine:
        host = host_of(machine)
        assert read(host, 2, 0, 4 * KIB, 512) == b"two!" * KIB
        host.qtest.write(BUFFER, struct.pack("<IIQ", 0, second // 512, 0))
        host.check(host.io.run(9, nsid=2, prp1=BUFFER, cdw=(0, 4)))
        assert read(host, 2, 0, 4 * KIB, 512) == bytes(4 * KIB)
        assert read(host, 1, 4088, 4 * KIB, 512) == b"one!" * KIB
        assert machine.quit() == 0
    assert (tmp_path / "one.img").read_bytes() == one
    with (tmp_path / "two.img").open("r+b") as f:
        f.truncate(MIB)
    message = start_and_fail(*args)
    assert "namespace 2" in message and "image 2" in message


def test_own_nodes_refused(tmp_path: Path, image: Path) -> None:
    """One line that names the option."""
    message = start_and_fail(*two_nodes(tmp_path, MIB, namespaces="2"))
    assert "namespaces= does not go with drive2=ID" in message
    node = ["-blockdev", "driver=null-co,size=1048576,node-name=n"]
    message = start_and_fail(*node, *drive_args("tiny", image, drive3="n"))
    assert "drive3=ID needs drive2=ID" in message
    node = ["-blockdev", "driver=null-co,size=1099511627776,node-name=n"]
    message = start_and_fail(*node, *drive_args("tiny", image, drive2="n"))
    assert "the drive has" in message


@pytest.mark.parametrize("text", ["257", "1M;x", "1T", "513"])
def test_refused(image: Path, text: str) -> None:
    """One line that names the option and what it may be."""
    message = start_and_fail(*drive_args("tiny", image, namespaces=text))
    assert f"namespaces={text}: " in message
