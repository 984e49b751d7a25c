# SPDX-License-Identifier: GPL-2.0-or-later
"""virtme-ng with a modelled drive: its command line, and the kernel tree.

virtme-ng boots the kernel of a source tree with the files of this machine as
its root.  It starts our QEMU; drives are further arguments of QEMU.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from ..build.qemu_build import FIRMWARE_DIRS
from ..errors import UserError
from . import hardware

KERNEL = Path("arch/x86/boot/bzImage")
# Files at the top of every tree of Linux's sources.
TREE = ("Kbuild", "Kconfig", "MAINTAINERS")
# With these virtme-ng boots another kernel than the tree's, builds it, or ends.
OTHER = ("-r", "--run", "-b", "--build", "-k", "--kconfig", "-h", "--help",
         "--version", "--clean")
OURS = ("--qemu", "--disable-microvm")
# Its own configuration has no driver of the drive.
CONFIGURE = ("-k", "--kconfig", "-b", "--build")
DRIVER = "CONFIG_BLK_DEV_NVME"


def check(tree: Path, words: list[str]) -> None:
    """Refuse a folder whose kernel virtme-ng could not boot."""
    names = [word.partition("=")[0] for word in words]
    for name in names:
        if name in OURS:
            raise UserError(f"{name}: ./vssd vng gives this argument itself")
    if set(names) & set(OTHER) or any(re.match(r"-[rbk].", w) for w in words):
        return
    if not all((tree / name).exists() for name in TREE):
        raise UserError(f"{tree} is no tree of Linux's sources: go to one, or"
                        " name a kernel, as ./vssd vng -- -r FILE")
    if not (tree / KERNEL).is_file():
        raise UserError(f"{tree} has no built kernel ({KERNEL}): run make, or"
                        " ./vssd vng -- --build")
    config = tree / ".config"
    if config.is_file() and not re.search(
            f"^{DRIVER}=[ym]$", config.read_text(errors="replace"), re.M):
        raise UserError(f"{config} has no {DRIVER}, so its kernel cannot use the"
                        " drive: run ./vssd vng -- --kconfig, then make")


def configures(words: list[str]) -> bool:
    """Does virtme-ng write the tree's .config?"""
    return any(w in CONFIGURE or re.match(r"-[bk]\w", w) for w in words)


def command(program: Path, emulator: Path, accel: str,
            drives: list[hardware.Drive], extra: list[str], words: list[str]) \
        -> list[str]:
    """virtme-ng's command line; it gives our arguments for QEMU to a shell."""
    qemu = [arg for folder in FIRMWARE_DIRS for arg in ("-L", folder)]
    for i, drive in enumerate(drives):
        qemu += hardware.drive_args(i, drive, False, aio=hardware.aio_of(emulator))
    return [str(program), "--qemu", str(emulator), "--disable-microvm",
            *["--disable-kvm"] * (accel != "kvm"),
            "--qemu-opts=" + shlex.join(qemu + extra),
            *["--configitem", f"{DRIVER}=y"] * configures(words), *words]
