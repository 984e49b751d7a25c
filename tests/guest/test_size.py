# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive of 3.84 TB costs a small host little: time to start, memory."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from long_form import LONG

from conftest import Env, blank, drive
from vssd.build import model
from vssd.guest.guest import Guest
from vssd.paths import find_profile

# The whole drive of the profile's class (its head) with eight dies a channel.
SETS = ["nand.pages=1536", "nand.blocks=1365", "nand.erase=3500us",
        "nand.dies=8"]
GIB = 1 << 30
MIB_OF_GUEST = 1024


def cpu_seconds(pid: int) -> float:
    """That the process has taken (proc_pid_stat(5), fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def started(env: Env, folder: Path, size: int, sets: list[str]) \
        -> Iterator[tuple[Guest, float]]:
    """A guest with a second drive, and the CPU seconds until its agent answered."""
    folder.mkdir()
    spec = env.lean([drive(env.overlay(folder)),
                     drive(blank(folder / "data.raw", size), "raw", "pm9a3", sets)],
                    mem_mib=MIB_OF_GUEST)
    with Guest(spec) as guest:
        guest.wait_agent()
        yield guest, cpu_seconds(guest.pid)


def resident(pid: int) -> int:
    """Bytes of memory that the process has."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    assert found
    return int(found[1]) << 10


@LONG
def test_four_terabytes(env: Env, tmp_path: Path) -> None:
    """Two CPU seconds more than a small drive until it runs; 10 GB written take less
    than 1 GB of memory, the guest's with it, and no more of the image."""
    whole = model.drive_info(find_profile("pm9a3"), SETS)["capacity_bytes"]
    assert whole > 3.8e12
    with started(env, tmp_path / "small", GIB, []) as (_, small_s):
        pass
    with started(env, tmp_path / "whole", whole, SETS) as (guest, whole_s):
        print(f"started after {small_s:.1f} and {whole_s:.1f} s")
        assert whole_s < small_s + 2
        found = guest.run("grep -lw VSSD0001 /sys/class/nvme/*/serial")
        disk = f"/dev/{found.split('/')[-2]}n1"
        assert int(guest.run(f"blockdev --getsize64 {disk}")) == whole
        guest.run("fio --name=w --rw=write --bs=1M --size=10G --direct=1"
                  f" --ioengine=libaio --iodepth=8 --filename={disk}"
                  " --offset=1T --output=/dev/null")
        print(f"{resident(guest.pid) >> 20} MiB")
        assert resident(guest.pid) < GIB
        blocks = (tmp_path / "whole" / "data.raw").stat().st_blocks * 512
        assert 10 * GIB <= blocks < 10.1 * GIB
        assert int(guest.run(f"dd if={disk} bs=4k count=1 skip=3T iflag=direct,"
                             "skip_bytes 2>/dev/null | tr -d '\\0' | wc -c")) == 0
