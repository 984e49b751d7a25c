# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that boots in three ways, written without devices or mounts.

GPT with a BIOS boot partition (GRUB for SeaBIOS), an EFI system partition
(GRUB for OVMF) and the root partition.  GRUB's own installer wants a device
and root; here its images are put in place by hand, where GRUB's boot.img and
diskboot.img find the rest of it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..proc import run_logged

SECTOR = 512
DISK_BYTES = 3 << 30
BIOS_START = 2048
BIOS_SECTORS = 2048
ESP_START = BIOS_START + BIOS_SECTORS
ESP_SECTORS = 16 << 11
ROOT_START = ESP_START + ESP_SECTORS
TAIL_SECTORS = 2048

TYPE_BIOS = "21686148-6449-6E6F-744E-656564454649"
TYPE_ESP = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
TYPE_LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"

MODULES = ("part_gpt", "ext2", "normal", "linux", "search", "search_label",
           "configfile", "serial", "terminal", "echo", "test", "boot")
GRUB = Path("/usr/lib/grub")

# Offsets in GRUB's first two sectors that its installer fills in.
MBR_CODE_BYTES = 440
BOOT_KERNEL_SECTOR = 0x5C   # boot.img: sector of core.img, 8 bytes
BOOT_DRIVE_CHECK = 0x66     # boot.img: a jump, replaced for hard disks
CORE_BLOCKLIST = 0x1F4      # diskboot.img: sector of the rest, 8 bytes

EARLY_CONFIG = """\
serial --unit=0 --speed=115200
terminal_input serial
terminal_output serial
search --no-floppy --label vssd-root --set=root
set prefix=($root)/boot/grub
configfile ($root)/boot/grub/grub.cfg
"""


@dataclass(frozen=True)
class Layout:
    """Where the root file system goes."""

    root_start_bytes: int
    root_bytes: int


def make(path: Path, partuuid: str, work: Path, loaders: bool = True) \
        -> Layout:
    """Make the disk `path`, all but its root file system.

    loaders: with both boot loaders; else for a kernel that QEMU loads.
    """
    end = DISK_BYTES // SECTOR - TAIL_SECTORS
    with open(path, "wb") as f:
        f.truncate(DISK_BYTES)
    layout = Layout(ROOT_START * SECTOR, (end - ROOT_START) * SECTOR)
    _partition(path, partuuid, end - ROOT_START, work, loaders)
    if not loaders:
        return layout
    early = work / "early.cfg"
    early.write_text(EARLY_CONFIG, encoding="ascii")
    _install_bios(path, early, work)
    _install_efi(path, early, work)
    early.unlink()
    return layout


def _partition(path: Path, partuuid: str, root_sectors: int,
               work: Path, loaders: bool) -> None:
    script = work / "partitions"
    script.write_text(
        "label: gpt\n" + loaders * (
            f"start={BIOS_START}, size={BIOS_SECTORS}, type={TYPE_BIOS}\n"
            f"start={ESP_START}, size={ESP_SECTORS}, type={TYPE_ESP}\n") +
        f"start={ROOT_START}, size={root_sectors}, type={TYPE_LINUX},"
        f" uuid={partuuid}, name={partuuid}\n", encoding="ascii")
    run_logged(["sh", "-c", 'exec /sbin/sfdisk -q "$1" < "$2"', "sh", path,
                script], "disk", "partitioning the guest's disk")
    script.unlink()


def _core(fmt: str, to: Path, early: Path, *modules: str) -> bytes:
    run_logged(["grub-mkimage", "-O", fmt, "-o", to, "-c", early,
                "-p", "/boot/grub", *modules, *MODULES], "disk",
               "making GRUB's image")
    return to.read_bytes()


def _install_bios(path: Path, early: Path, work: Path) -> None:
    image = work / "core.img"
    core = bytearray(_core("i386-pc", image, early, "biosdisk"))
    image.unlink()
    if len(core) > BIOS_SECTORS * SECTOR:
        raise UserError("GRUB's image is larger than its partition")
    struct.pack_into("<Q", core, CORE_BLOCKLIST, BIOS_START + 1)
    boot = bytearray((GRUB / "i386-pc/boot.img").read_bytes())
    struct.pack_into("<Q", boot, BOOT_KERNEL_SECTOR, BIOS_START)
    boot[BOOT_DRIVE_CHECK:BOOT_DRIVE_CHECK + 2] = b"\x90\x90"
    with open(path, "r+b") as f:
        f.write(boot[:MBR_CODE_BYTES])
        f.seek(BIOS_START * SECTOR)
        f.write(core)


def _install_efi(path: Path, early: Path, work: Path) -> None:
    program, esp = work / "boot.efi", work / "esp.img"
    _core("x86_64-efi", program, early, "fat")
    commands: list[list[str | Path]] = [
        ["mformat", "-i", esp, "-C", "-T", str(ESP_SECTORS), "::"],
        ["mmd", "-i", esp, "::/EFI", "::/EFI/BOOT"],
        ["mcopy", "-i", esp, program, "::/EFI/BOOT/BOOTX64.EFI"]]
    for args in commands:
        run_logged(args, "disk", "making the EFI system partition")
    with open(path, "r+b") as f:
        f.seek(ESP_START * SECTOR)
        f.write(esp.read_bytes())
    program.unlink()
    esp.unlink()
