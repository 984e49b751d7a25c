# SPDX-License-Identifier: GPL-2.0-or-later
"""Does KVM truly work here?

A /dev/kvm that is there may still not run a guest.  So a guest is run: a boot
sector that enters 64-bit mode, and executes an instruction of BMI2 if the
processor has it, as the loader of Linux does.  KVM on a nested host may have to
emulate a guest that begins, and cannot emulate such an instruction.  Then the
sector writes to QEMU's exit port.  A KVM that takes seconds for that is of no
use: on such a host a kernel takes minutes.  The answer holds until the machine is
restarted.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ..arch import X86_64
from ..build.qemu_build import FIRMWARE_DIRS, Qemu
from ..paths import cache_dir, key_of

PROBE_S = 3  # where KVM works, the firmware takes less than a second
EXIT_PORT = 0xF4
EXIT_VALUE = 0x2A
# Linked for 7C00h; `as` with .code16, then .code64.
CODE = bytes.fromhex(
    "fa"                        # cli
    "31c0 8ed8 8ec0 8ed0"       # xor ax, ax; ds, es, ss = 0
    "bc0070 fc"                 # sp = 7000h; cld
    "bf0010 b90018 f3ab"        # zeroes from 1000h to 4000h
    "66c706001003200000"        # page tables of three levels: 2 MiB at 0
    "66c706002003300000"
    "66c706003083000000"
    "660f0116987c"              # lgdt [7C98h]
    "66b800100000 0f22d8"       # cr3 = 1000h
    "66b820000000 0f22e0"       # cr4 = PAE
    "66b9800000c0 0f32"         # EFER.LME
    "0d0001 0f30"
    "66b801000080 0f22c0"       # cr0 = PG, PE
    "ea637c0800"                # jmp 8:7C63h
    "31c0 0fa2 83f807 7214"     # 64 bits: cpuid 0; to the end without leaf 7
    "b807000000 31c9 0fa2"      # cpuid 7
    "0fbae308 7305"             # to the end without BMI2
    "c46269f7c2"                # shlx r8d, edx, edx
    f"b0{EXIT_VALUE:02x} e6{EXIT_PORT:02x}"  # out EXIT_PORT, EXIT_VALUE
    "f4 ebfd"                   # hlt; jump back to it
    "90 0000000000000000"       # 7C88h: descriptors: none, 64-bit code
    "00000000009a2000"
    "0f00 887c0000")            # 7C98h: their size and place


def boots(qemu: Qemu, accel: str, code: bytes = CODE,
          limit_s: float = PROBE_S) -> bool:
    """Does a guest run with this accelerator, to its end, in time?"""
    with tempfile.TemporaryDirectory(prefix="vssd-kvm-") as name:
        disk = Path(name) / "boot.raw"
        disk.write_bytes(code.ljust(510, b"\0") + b"\x55\xaa"
                         + bytes(1 << 20))
        # The machine pc: SeaBIOS 1.16.2 finds no disk of q35 in QEMU 10.0.
        args = [str(qemu.emulator), "-accel", accel, "-M", "pc", "-m", "64",
                "-cpu", "host" if accel == "kvm" else "max",
                "-nodefaults", "-display", "none", "-no-reboot",
                "-device", f"isa-debug-exit,iobase={EXIT_PORT},iosize=1",
                "-drive", f"file={disk},format=raw,if=ide"]
        for folder in FIRMWARE_DIRS:
            args += ["-L", folder]
        try:
            done = subprocess.run(args, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == (EXIT_VALUE << 1 | 1)


def accelerator(qemu: Qemu) -> str:
    """kvm where it works and the guest is of its kind, else tcg."""
    if qemu.arch is not X86_64 or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    answer = cache_dir() / f"kvm-{key_of(boot_id, qemu.build, CODE)}"
    if not answer.exists():
        answer.write_text("kvm" if boots(qemu, "kvm") else "tcg",
                          encoding="ascii")
    return answer.read_text(encoding="ascii")
