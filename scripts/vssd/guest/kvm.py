# SPDX-License-Identifier: GPL-2.0-or-later
"""Does KVM truly work here?

A /dev/kvm that is there may still not run a guest.  So a guest is run: a boot
sector of a few bytes that writes to QEMU's exit port.  A KVM that takes
seconds for that is of no use: on such a nested host a kernel takes minutes.  The
answer holds until the machine is restarted.
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
# mov al, EXIT_VALUE; out EXIT_PORT, al; hlt; jump back to the hlt
CODE = bytes((0xB0, EXIT_VALUE, 0xE6, EXIT_PORT, 0xF4, 0xEB, 0xFD))


def boots(qemu: Qemu, accel: str) -> bool:
    """Does a guest run with this accelerator, to its end, in time?"""
    with tempfile.TemporaryDirectory(prefix="vssd-kvm-") as name:
        disk = Path(name) / "boot.raw"
        disk.write_bytes(CODE.ljust(510, b"\0") + b"\x55\xaa"
                         + bytes(1 << 20))
        args = [str(qemu.emulator), "-accel", accel, "-M", "q35", "-m", "64",
                "-nodefaults", "-display", "none", "-no-reboot",
                "-device", f"isa-debug-exit,iobase={EXIT_PORT},iosize=1",
                "-drive", f"file={disk},format=raw,if=ide"]
        for folder in FIRMWARE_DIRS:
            args += ["-L", folder]
        try:
            done = subprocess.run(args, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=PROBE_S)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == (EXIT_VALUE << 1 | 1)


def accelerator(qemu: Qemu) -> str:
    """kvm where it works and the guest is of its kind, else tcg."""
    if qemu.arch is not X86_64 or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    answer = cache_dir() / f"kvm-{key_of(boot_id, qemu.build, 'timed')}"
    if not answer.exists():
        answer.write_text("kvm" if boots(qemu, "kvm") else "tcg",
                          encoding="ascii")
    return answer.read_text(encoding="ascii")
