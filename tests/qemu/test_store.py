# SPDX-License-Identifier: GPL-2.0-or-later
"""The path from the device to its image: holes, and a host disk that is slow,
full or failing."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from machine import LIMIT_S, Machine, drive_args
from nvme_host import BUFFER, OP_DSM, NvmeHost

KIB = 1 << 10
MIB = 1 << 20


def pattern(seed: int, nbytes: int) -> bytes:
    """Bytes that differ from block to block."""
    return b"".join(struct.pack("<QQ", seed, i) for i in range(nbytes // 16))


def host_of(machine: Machine) -> NvmeHost:
    """The machine's drive, brought up."""
    assert machine.qtest
    host = NvmeHost(machine.qtest)
    host.enable()
    return host


def overlay(machine: Machine) -> dict:
    """What the statistics say of the path to the image."""
    stats = machine.cmd("qom-get", path="/machine/peripheral/ssd",
                        property="stats")
    assert isinstance(stats, dict)
    return stats["overlay"]


def trim(host: NvmeHost, lba: int, nblocks: int) -> None:
    """Deallocate one range."""
    host.qtest.write(BUFFER, struct.pack("<IIQ", 0, nblocks, lba))
    host.check(host.io.run(OP_DSM, prp1=BUFFER, cdw=(0, 4)))


def allocated(image: Path) -> int:
    """Bytes of the image that take room on the host's disk."""
    return os.stat(image).st_blocks * 512


# ---- holes --------------------------------------------------------------------

def test_holes_are_made_in_the_end(image: Path) -> None:
    """Flush and shutdown do not wait for a hole; the drive's idle time, or the
    end of the machine, makes it."""
    node = ("driver=raw,discard=unmap,file.driver=file,file.discard=unmap,"
            f"file.filename={image}")
    with Machine(*drive_args("tiny", node)) as machine:
        host = host_of(machine)
        for at in range(0, 4 * MIB, 128 * KIB):
            host.write(at // 512, pattern(at, 128 * KIB))
        host.flush()
        assert allocated(image) >= 4 * MIB
        trim(host, 0, 2 * MIB // 512)
        end = time.monotonic() + LIMIT_S
        while overlay(machine)["zero_ranges"]:
            assert time.monotonic() < end, "nobody zeroes the range"
            host.qtest.clock_step(10_000_000)
        assert allocated(image) <= 2 * MIB + 64 * KIB
        trim(host, 2 * MIB // 512, 1 * MIB // 512)
        host.shutdown()
        assert machine.quit() == 0
    assert allocated(image) <= 1 * MIB + 64 * KIB
    content = image.read_bytes()
    assert content[:3 * MIB] == bytes(3 * MIB)
    assert content[3 * MIB:][:128 * KIB] == pattern(3 * MIB, 128 * KIB)
