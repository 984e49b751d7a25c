# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces of vssd-server: several in one image, one in each image, managed
by the host, with formats and protection information."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from test_server import host_of, refused
from vmm import MIB, PROJECT, Server, Vmm

from nvme_host import BUFFER, OP_FLUSH, OP_WRITE, NvmeHost
from test_metadata import HEAD, tuple_of
from test_metadata import read as read_protected
from test_metadata import write as write_protected
from test_namespaces import MANAGE, allocated, create, read, size, write

KIB = 1 << 10
FORMAT = 0x80


def flush(host: NvmeHost) -> None:
    """Of all namespaces."""
    host.check(host.io.run(OP_FLUSH, nsid=0xFFFFFFFF))


def test_one_image(tmp_path: Path, image: Path) -> None:
    """They follow each other in the image, and the statistics tell them
    apart."""
    with Server(tmp_path, image, "--namespaces", "1M;2M:4096;rest") as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert allocated(host) == [1, 2, 3]
        assert size(host, 1) == (2048, 512)
        assert size(host, 2) == (512, 4096)
        write(host, 1, 0, b"one!" * KIB, 512)
        write(host, 2, 1, b"two!" * KIB, 4096)
        write(host, 3, 0, b"tri!" * KIB, 512)
        assert read(host, 2, 1, 4 * KIB, 4096) == b"two!" * KIB
        found = server.get("stats")
        assert isinstance(found, dict)
        assert [s["write"]["commands"] for s in found["namespaces"]] == [1, 1, 1]
        flush(host)
        server.end()
    data = image.read_bytes()
    assert data[:4 * KIB] == b"one!" * KIB
    assert data[MIB + 4 * KIB:MIB + 8 * KIB] == b"two!" * KIB
    assert data[3 * MIB:3 * MIB + 4 * KIB] == b"tri!" * KIB


def test_management(tmp_path: Path, image: Path) -> None:
    """The host deletes and creates; with a state file the next run has them."""
    more = ("--namespaces", "1M;rest", "--state", str(tmp_path / "state"))
    with Server(tmp_path, image, *more) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        write(host, 2, 0, b"gone" * KIB, 512)
        host.check(host.admin.run(MANAGE, nsid=2, cdw=(1,)))
        assert allocated(host) == [1]
        nsid = create(host, 512, 1)
        assert nsid == 2 and size(host, 2) == (512, 4096)
        assert read(host, 2, 0, 4 * KIB, 4096) == bytes(4 * KIB)
        write(host, 2, 3, b"new!" * KIB, 4096)
        server.end()
    with Server(tmp_path, image, "--namespaces", "0", *more[2:]) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert allocated(host) == [1, 2] and size(host, 2) == (512, 4096)
        assert read(host, 2, 3, 4 * KIB, 4096) in (b"new!" * KIB, bytes(4 * KIB))


def two(tmp_path: Path, second: int) -> tuple[Path, Path]:
    """Images of 2 MiB and of `second` bytes, made if they are not there."""
    paths = tmp_path / "one.img", tmp_path / "two.img"
    for path, nbytes in zip(paths, (2 * MIB, second)):
        if not path.exists():
            path.write_bytes(bytes(nbytes))
    return paths


def test_own_images(tmp_path: Path) -> None:
    """Namespace n is all of image n: data that was there, a write that ends
    with the image, a trim, and the next run."""
    second = MIB + 3 * 512
    one, other = two(tmp_path, second)
    other.write_bytes(b"old!" * (second // 4))
    more = ("--image", str(other), "--state", str(tmp_path / "state"))
    with Server(tmp_path, one, *more) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert allocated(host) == [1, 2]
        assert size(host, 1) == (4096, 512)
        assert size(host, 2) == (second // 512, 512)
        assert read(host, 2, 0, 4 * KIB, 512) == b"old!" * KIB
        write(host, 1, 4088, b"one!" * KIB, 512)
        write(host, 2, second // 512 - 3, b"end!" * 384, 512)
        assert host.admin.run(MANAGE, nsid=2, cdw=(1,)).status & 0x7FF == 1
        flush(host)
        server.end()
    assert one.read_bytes() == bytes(2 * MIB - 4 * KIB) + b"one!" * KIB
    assert other.read_bytes() == (b"old!" * ((second - 1536) // 4)
                                  + b"end!" * 384)
    with Server(tmp_path, one, *more) as server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        host.qtest.write(BUFFER, struct.pack("<IIQ", 0, second // 512, 0))
        host.check(host.io.run(9, nsid=2, prp1=BUFFER, cdw=(0, 4)))
        assert read(host, 2, 0, 4 * KIB, 512) == bytes(4 * KIB)
        assert read(host, 1, 4088, 4 * KIB, 512) == b"one!" * KIB
        server.put("power-cut", "running")
        server.put("powered", True)
        host.enable()
        assert read(host, 1, 4088, 4 * KIB, 512) == b"one!" * KIB
        server.end()
    os.truncate(other, MIB)
    said = refused("--profile", str(PROJECT / "profiles/tiny.ini"), "--image",
                   str(one), "--socket", str(tmp_path / "s.sock"), *more)
    assert "namespace 2" in said and "image 2" in said


def test_neighbours(tmp_path: Path) -> None:
    """The last blocks of one image and the first of the next leave the drive by
    one program, so as one request, and each image has its own."""
    one, other = two(tmp_path, 2 * MIB)
    places = ((1, 4096 - 16), (1, 4096 - 8), (2, 0), (2, 8))  # units of a page
    with Server(tmp_path, one, "--image", str(other)) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        for i, (nsid, lba) in enumerate(places):
            host.qtest.write(BUFFER + 4096 * i, bytes([i + 1]) * 4 * KIB)
            host.io.push(OP_WRITE, nsid=nsid, prp1=BUFFER + 4096 * i,
                         cdw=(lba, 0, 7))
        host.io.ring()
        host.io.wait_count(len(places))
        flush(host)
        server.end()
    assert one.read_bytes()[-8 * KIB:] == bytes([1]) * 4 * KIB + bytes([2]) * 4 * KIB
    assert one.stat().st_size == 2 * MIB
    assert other.read_bytes()[:8 * KIB] == bytes([3]) * 4 * KIB + bytes([4]) * 4 * KIB


def protected(*more: str) -> list[str]:
    """A drive whose blocks have 520 bytes."""
    return ["--metadata", "8", "--pi", "1", "--metadata_at", "extended", *more]


def test_protection(tmp_path: Path, image: Path) -> None:
    """Metadata and tags are in the image, behind the blocks; the next run finds
    both, and a wrong tag is refused."""
    data = bytes(range(256)) * 2
    with Server(tmp_path, image, *protected()) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        blocks = int.from_bytes(host.identify(0, 1)[:8], "little")
        assert 0 <= image.stat().st_size - HEAD - blocks * 520 < 16 * 520
        assert read_protected(host, 1) == bytes(512) + b"\xff" * 8
        for lba in (8, blocks - 1):
            write_protected(host, lba, data)
        host.qtest.write(BUFFER, data + tuple_of(data, 0x1234, 9))
        done = host.io.run(1, prp1=BUFFER, cdw=(10, 0, 7 << 26, 0, 10,
                                                0xFFFF0000 | 0x1234))
        assert done.status & 0x7FF == 0x284  # Reference Tag Check Error
        flush(host)
        server.end()
    with image.open("rb") as file:
        file.seek(blocks * 512 + 8 * 8)
        found = file.read(8)
    assert bytes(b ^ 0xFF for b in found) == tuple_of(data, 0x1234, 8)
    with Server(tmp_path, image, *protected()) as server, \
            Vmm(server.socket) as vmm:
        host = host_of(vmm)
        assert read_protected(host, 8) == data + tuple_of(data, 0x1234, 8)
        assert read_protected(host, blocks - 1)[:512] == data
    with image.open("rb") as file:
        file.seek(-HEAD, os.SEEK_END)
        assert file.read(14) == b"vssd metadata\0"


def test_format(tmp_path: Path, image: Path) -> None:
    """Format NVM to another LBA format of the drive."""
    with Server(tmp_path, image, "--metadata", "8", "--namespaces", "4M") as \
            server, Vmm(server.socket) as vmm:
        host = host_of(vmm)
        page = host.identify(0, 1)
        formats = [struct.unpack_from("<HB", page, 128 + 4 * i)
                   for i in range(page[25] + 1)]
        assert {(0, 9), (0, 12), (8, 9)} <= {*formats}, formats
        wanted = formats.index((0, 12))
        assert page[26] & 15 != wanted
        host.check(host.admin.run(FORMAT, nsid=1, cdw=(wanted,)))
        page = host.identify(0, 1)
        assert page[26] & 15 == wanted
        host.write(1, b"4KiB" * KIB, 4096)
        assert host.read(1, 4 * KIB, 4096) == b"4KiB" * KIB


@pytest.mark.parametrize("more, words", [
    (["--namespaces", "2"], "--namespaces: not with several --image"),
    (["--metadata", "8"], "--metadata=8: not with several --image"),
    (["--image", "x"] * 7, "--image: 9 of them: allowed 1..8"),
])
def test_images_refused(tmp_path: Path, more: list[str], words: str) -> None:
    """One line that names the option."""
    one, other = two(tmp_path, MIB)
    said = refused("--profile", "tiny", "--image", str(one), "--image",
                   str(other), "--socket", str(tmp_path / "s"), *more)
    assert words in said


def test_images_that_do_not_fit(tmp_path: Path, image: Path) -> None:
    """Metadata over data, a head of other metadata, an image of less than a
    block, and more than the drive has."""
    profile = str(PROJECT / "profiles/tiny.ini")
    base = ("--profile", profile, "--socket", str(tmp_path / "s"))
    with image.open("r+b") as file:
        file.seek(-5000, os.SEEK_END)
        file.write(b"x")
    said = refused(*base, "--image", str(image), "--metadata", "8")
    assert "--metadata=8: the image has data in its last" in said
    with image.open("r+b") as file:
        file.seek(-5000, os.SEEK_END)
        file.write(b"\0")
    with Server(tmp_path, image, *protected()):
        pass
    said = refused(*base, "--image", str(image), "--metadata", "16")
    assert "--metadata=16: the image is of a drive with metadata=8" in said
    said = refused(*base, "--image", str(image), "--metadata", "4")
    assert "metadata=4: allowed 0, 8, 16, 64" in said
    one, other = two(tmp_path, 100)
    said = refused(*base, "--image", str(one), "--image", str(other))
    assert f"--image {other}: it is smaller than one block" in said
    os.truncate(other, 1 << 40)
    said = refused(*base, "--image", str(one), "--image", str(other))
    assert "the drive has" in said
