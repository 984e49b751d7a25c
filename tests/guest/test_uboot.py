# SPDX-License-Identifier: GPL-2.0-or-later
"""U-Boot's NVMe driver, which polls one queue of two entries, on the drive.
Debian's u-boot-qemu has it for an emulated PC."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from long_form import DEVICE, of_part

from conftest import MIB, Env, blank, drive
from vssd.build import packages
from vssd.guest.guest import Guest

pytestmark = of_part(*DEVICE)
ROM = "/usr/lib/u-boot/qemu-x86_64/u-boot.rom"
PROMPT = "=> "
START_S = 300   # U-Boot tries every way to boot, then shows its prompt
COMMAND_S = 120
TEXT = b"text for U-Boot\n" * 64     # two blocks of 512 bytes
Shell = Callable[[str], str]


@pytest.fixture(scope="module")
def shell(env: Env, tmp_path_factory: pytest.TempPathFactory) \
        -> Iterator[Shell]:
    """Types a command; returns what U-Boot says."""
    packages.ensure(packages.U_BOOT)
    disk = blank(tmp_path_factory.mktemp("uboot") / "disk.raw", 64 * MIB)
    with disk.open("r+b") as f:
        f.write(TEXT)
    spec = env.spec([drive(disk, "raw")], kernel=None, initrd=None, append="",
                    network=False, smp=1, pause_at_end=False,
                    extra=["-machine", "pc", "-bios", ROM])
    with Guest(spec) as guest:
        _wait(guest, 0, START_S)

        def say(command: str) -> str:
            before = len(guest.console)
            guest.type(command + "\n")
            return _wait(guest, before + len(command), COMMAND_S)
        say("pci enum")
        assert "unknown" not in say("nvme scan").lower()
        yield say


def _wait(guest: Guest, start: int, limit_s: float) -> str:
    """The console's text from there to a prompt."""
    end = time.monotonic() + limit_s
    while not guest.console[start:].endswith(PROMPT):
        assert time.monotonic() < end, guest.console[-500:]
        time.sleep(0.2)
    return guest.console[start:]


def test_it_identifies_the_drive(shell: Shell) -> None:
    """Its size, block size and serial number."""
    said = shell("nvme info")
    assert "VSSD0000" in said
    assert f"({64 * MIB // 512} x 512)" in said


def test_it_reads_blocks_of_the_image(shell: Shell) -> None:
    """The first two, byte by byte."""
    assert "2 blocks read: OK" in shell("nvme read 0x2000000 0 2")
    dump = shell(f"md.b 0x2000000 {len(TEXT):x}")
    lines = re.findall(r"^\w{8}: ((?:\w\w ){16})", dump, re.M)
    assert bytes.fromhex("".join(lines)) == TEXT


def test_it_reads_what_it_wrote(shell: Shell) -> None:
    """More blocks than one command takes, at the end of the drive."""
    blocks = 0x1000
    first = 64 * MIB // 512 - blocks
    nbytes = blocks * 512
    shell(f"random 0x2000000 {nbytes:x} 1")
    shell(f"mw.b 0x4000000 5a {nbytes:x}")
    where = f"{first:x} {blocks:x}"
    wrote = shell(f"nvme write 0x2000000 {where}")
    assert f"{blocks} blocks written: OK" in wrote
    assert f"{blocks} blocks read: OK" in shell(f"nvme read 0x4000000 {where}")
    same = shell(f"cmp.b 0x2000000 0x4000000 {nbytes:x}")
    assert f"Total of {nbytes} byte(s) were the same" in same


def test_it_cannot_read_beyond_the_end(shell: Shell) -> None:
    """LBA Out of Range; the next command works."""
    assert "ERROR" in shell(f"nvme read 0x2000000 {64 * MIB // 512:x} 1")
    assert "1 blocks read: OK" in shell("nvme read 0x2000000 0 1")
