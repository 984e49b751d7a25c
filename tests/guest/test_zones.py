# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones in a stock guest: the kernel's view, blkzone, fio's zbd mode, a file
system that writes in zones, one beside zones on the same drive."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib

import pytest

from conftest import number_of
from featured import BOTH, GAP, ZONES
from vssd.guest.guest import Guest


@pytest.fixture(name="guest")
def zoned_guest(featured: Guest) -> Guest:
    """Three drives have zones: one with a gap behind their capacity, one with a
    namespace without zones, too."""
    return featured


def device(guest: Guest, i: int, nsid: int = 1) -> str:
    """A namespace of drive i in the guest, as /dev/nvme1n1."""
    found = guest.run(f"grep -lw VSSD{i:04d} /sys/class/nvme/*/serial")
    name = str(found.split("/")[-2])
    return f"/dev/{name}n{number_of(guest, name.removeprefix('nvme'), nsid)}"


def queue(guest: Guest, dev: str, name: str) -> str:
    """An attribute of the block device."""
    return guest.run(f"cat /sys/block/{dev.split('/')[-1]}/queue/{name}").strip()


def zones(guest: Guest, dev: str) -> list[dict[str, int | str]]:
    """As blkzone reports them; sectors."""
    found = []
    for line in guest.run(f"blkzone report {dev}").splitlines():
        m = re.search(r"start: 0x(\w+), len 0x(\w+), cap 0x(\w+), wptr 0x(\w+)"
                      r" reset:\d non-seq:\d, zcond:\s*\d+\((\w+)\)", line)
        assert m, line
        found.append({"start": int(m[1], 16), "len": int(m[2], 16),
                      "cap": int(m[3], 16), "wptr": int(m[4], 16),
                      "state": m[5]})
    return found


def copied(guest: Guest, i: int) -> int:
    """Units that GC has copied."""
    return int(guest.stats(i)["gc"]["copied_units"])


@pytest.mark.parametrize("i", [ZONES, GAP], ids=["plain", "gap"])
def test_kernel(guest: Guest, i: int) -> None:
    """Linux takes it for a host-managed device, with the drive's limits."""
    dev = device(guest, i)
    assert queue(guest, dev, "zoned") == "host-managed"
    assert queue(guest, dev, "max_active_zones") == "14"
    assert queue(guest, dev, "max_open_zones") == "14"
    assert int(queue(guest, dev, "nr_zones")) == len(zones(guest, dev))
    assert queue(guest, dev, "logical_block_size") == "4096"


@pytest.mark.parametrize("i", [ZONES, GAP], ids=["plain", "gap"])
def test_blkzone(guest: Guest, i: int) -> None:
    """Write, close, finish, reset; the write pointer follows."""
    dev = device(guest, i)
    first = zones(guest, dev)[0]
    assert first["state"] == "em" and first["wptr"] == 0
    guest.run(f"dd if=/dev/urandom of={dev} bs=64k count=3 oflag=direct"
              " 2>/dev/null")
    one = zones(guest, dev)[0]
    assert (one["state"], one["wptr"]) == ("oi", 3 * 128)
    guest.run(f"blkzone close -c 1 {dev}")
    assert zones(guest, dev)[0]["state"] == "cl"
    guest.run(f"blkzone finish -c 1 {dev}")
    assert zones(guest, dev)[0]["state"] == "fu"
    assert guest.result(f"dd if=/dev/zero of={dev} bs=4k count=1 oflag=direct"
                        " conv=notrunc").status != 0
    guest.run(f"blkzone reset {dev}")
    assert zones(guest, dev)[0] == first
    assert guest.run(f"dd if={dev} bs=64k count=3 iflag=direct 2>/dev/null"
                     " | tr -d '\\0' | wc -c").strip() == "0"


@pytest.mark.parametrize("i", [ZONES, GAP], ids=["plain", "gap"])
def test_fio(guest: Guest, i: int) -> None:
    """Random zones are written, verified and reset; nothing is copied."""
    dev = device(guest, i)
    guest.run(f"blkzone reset {dev}")
    text = guest.run(
        f"fio --name=z --filename={dev} --direct=1 --zonemode=zbd"
        " --rw=randwrite --bs=64k --iodepth=8 --ioengine=libaio"
        " --max_open_zones=8 --size=100% --io_size=200M --verify=crc32c"
        " --output-format=json")
    job = json.loads(text[text.index("{"):])["jobs"][0]
    assert job["error"] == 0
    assert copied(guest, i) == 0
    guest.run(f"blkzone reset {dev}")


def superblock() -> bytes:
    """zonefs's, for a device without conventional zones: magic, CRC, features
    (an owner, a mode), root, 640 (Linux, fs/zonefs/zonefs.h).  Debian 13 has
    no mkfs.zonefs."""
    head = struct.pack("<II64s16sQIII", 0x5a4f4653, 0, b"vssd", bytes(range(16)),
                       0, 0, 0, 0o640).ljust(4096, b"\0")
    crc = zlib.crc32(head) ^ 0xffffffff     # Linux does not invert the end
    return head[:4] + struct.pack("<I", crc) + head[8:]


def test_zonefs(guest: Guest) -> None:
    """Each zone is a file: written at its end alone, truncated by a reset."""
    dev = device(guest, ZONES)
    guest.run(f"blkzone reset {dev}")
    text = base64.b64encode(superblock()).decode()
    guest.run(f"modprobe zonefs && echo {text} | base64 -d > /tmp/super &&"
              f" dd if=/tmp/super of={dev} bs=4k oflag=direct 2>/dev/null &&"
              f" blkzone finish -c 1 {dev} && mkdir -p /mnt/zonefs &&"
              f" mount -t zonefs {dev} /mnt/zonefs")
    # The first zone is the superblock's.
    assert int(guest.run("ls /mnt/zonefs/seq | wc -l")) \
        == len(zones(guest, dev)) - 1
    file = "/mnt/zonefs/seq/3"
    guest.run("dd if=/dev/urandom of=/tmp/data bs=64k count=20 2>/dev/null &&"
              f" dd if=/tmp/data of={file} bs=64k oflag=direct,append"
              f" conv=notrunc 2>/dev/null && cmp /tmp/data {file}")
    assert zones(guest, dev)[4]["wptr"] == 20 * 128
    assert guest.result(f"dd if=/tmp/data of={file} bs=4k count=1"
                        " oflag=direct conv=notrunc").status != 0
    guest.run(f"umount /mnt/zonefs && mount -t zonefs {dev} /mnt/zonefs &&"
              f" cmp /tmp/data {file} && truncate -s 0 {file}")
    assert zones(guest, dev)[4]["state"] == "em"
    guest.run("umount /mnt/zonefs")
    assert copied(guest, ZONES) == 0


def test_btrfs(guest: Guest) -> None:
    """Zoned btrfs, with its log of superblocks: data is whole after a mount,
    a scrub and the reset of zones that are free."""
    dev = device(guest, ZONES)
    guest.run(f"blkzone reset {dev} && mkfs.btrfs -q -O zoned -d single"
              f" -m single {dev} && mkdir -p /mnt/btrfs &&"
              f" mount -t btrfs {dev} /mnt/btrfs")
    guest.run("for i in 1 2 3; do dd if=/dev/urandom of=/mnt/btrfs/a bs=1M"
              " count=48 conv=fsync 2>/dev/null; done;"
              " md5sum /mnt/btrfs/a > /tmp/sum")
    guest.run(f"umount /mnt/btrfs && mount -t btrfs {dev} /mnt/btrfs &&"
              " md5sum -c /tmp/sum && btrfs scrub start -B /mnt/btrfs")
    guest.run("umount /mnt/btrfs")
    assert copied(guest, ZONES) == 0
    guest.run(f"blkzone reset {dev}")


def test_both(guest: Guest) -> None:
    """A file system and zones share a drive, and both verify their data."""
    dev, plain = (device(guest, BOTH, nsid) for nsid in (1, 2))
    assert queue(guest, dev, "zoned") == "host-managed"
    assert queue(guest, plain, "zoned") == "none"
    assert len(zones(guest, dev)) > 0
    assert guest.result(f"blkzone report {plain}").status != 0
    guest.run(f"mkfs.ext4 -q {plain} && mkdir -p /mnt/plain &&"
              f" mount -o discard {plain} /mnt/plain")
    guest.run("for i in 1 2 3 4; do dd if=/dev/urandom of=/mnt/plain/a bs=1M"
              " count=64 conv=fsync 2>/dev/null; done;"
              " md5sum /mnt/plain/a > /tmp/sum")
    text = guest.run(
        f"fio --name=z --filename={dev} --direct=1 --zonemode=zbd"
        " --rw=randwrite --bs=64k --iodepth=8 --ioengine=libaio"
        " --max_open_zones=8 --size=100% --io_size=200M --verify=crc32c"
        " --output-format=json")
    assert json.loads(text[text.index("{"):])["jobs"][0]["error"] == 0
    guest.run(f"umount /mnt/plain && e2fsck -fn {plain} && mount {plain}"
              " /mnt/plain && md5sum -c /tmp/sum && umount /mnt/plain")
    guest.run(f"blkzone reset {dev}")


def test_f2fs(guest: Guest) -> None:
    """A file system whose kernel code knows zones, if the image has it."""
    dev = device(guest, ZONES)
    if guest.result("command -v mkfs.f2fs && modprobe f2fs").status != 0:
        pytest.skip("the image has no f2fs")
    guest.run(f"blkzone reset {dev}")
    # f2fs needs a conventional device for its metadata.
    guest.run("modprobe loop && truncate -s 200M /var/tmp/meta &&"
              " losetup -b 4096 -f --show /var/tmp/meta > /tmp/loop")
    guest.run(f"mkfs.f2fs -f -m -c {dev} $(cat /tmp/loop)")
    guest.run("mkdir -p /mnt/z && mount -t f2fs $(cat /tmp/loop) /mnt/z")
    guest.run("dd if=/dev/urandom of=/mnt/z/a bs=1M count=64 2>/dev/null &&"
              " md5sum /mnt/z/a > /tmp/sum && sync && umount /mnt/z &&"
              " mount -t f2fs $(cat /tmp/loop) /mnt/z && md5sum -c /tmp/sum")
    guest.run("umount /mnt/z; losetup -d $(cat /tmp/loop); rm /var/tmp/meta")
    assert copied(guest, ZONES) == 0


def test_f2fs_over_both(guest: Guest) -> None:
    """As docs/zones.md has it: both namespaces have blocks of one size."""
    dev, plain = (device(guest, BOTH, nsid) for nsid in (1, 2))
    if guest.result("command -v mkfs.f2fs && modprobe f2fs").status != 0:
        pytest.skip("the image has no f2fs")
    assert queue(guest, dev, "logical_block_size") == "4096"
    assert queue(guest, plain, "logical_block_size") == "4096"
    guest.run(f"blkzone reset {dev} && wipefs -aq {plain}")
    guest.run(f"mkfs.f2fs -f -m -c {dev} {plain} && mkdir -p /mnt/z &&"
              f" mount -t f2fs {plain} /mnt/z")
    guest.run("dd if=/dev/urandom of=/mnt/z/a bs=1M count=64 2>/dev/null &&"
              " md5sum /mnt/z/a > /tmp/sum && sync && umount /mnt/z &&"
              f" mount -t f2fs {plain} /mnt/z && md5sum -c /tmp/sum")
    guest.run(f"umount /mnt/z && blkzone reset {dev}")
