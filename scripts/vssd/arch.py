# SPDX-License-Identifier: GPL-2.0-or-later
"""The processors that a guest can have, and everything that depends on them.

A guest of another architecture than x86-64 runs under TCG, on QEMU's machine
"virt".  Its names differ between QEMU, Debian and the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arch:
    """One architecture of guests."""

    name: str              # QEMU's and the kernel's
    debian: str            # Debian's: packages, and the flavour of its kernel
    machine: str           # -machine
    cpu: str               # -cpu, under TCG
    console: str           # the tty of QEMU's first serial port
    agent: tuple[str, ...]  # QEMU's arguments for the port of the agent
    power_button: bool = False  # does the guest's kernel have one?
    kernel_args: str = ""  # more of the kernel's command line
    bios: str = ""         # -bios: firmware that starts a kernel, of a package
    packages: tuple[str, ...] = ()  # of the host: compiler, firmware
    compiler: str = "gcc"  # for programs in the guest
    # The kernel's magic number: 4 bytes at this offset of the file.
    magic: bytes = b""
    magic_at: int = 0

    @property
    def emulator(self) -> str:
        """The name of QEMU's program."""
        return f"qemu-system-{self.name}"

    @property
    def target(self) -> str:
        """QEMU's --target-list."""
        return f"{self.name}-softmmu"

    @property
    def kernel_command_line(self) -> str:
        """Arguments of the kernel that every guest needs."""
        return f"console={self.console}{self.kernel_args}"


X86_64 = Arch(
    # Without the disks and the keyboard of a PC, which take time at boot; without
    # what is slow under TCG: copies by the byte, a check at each access of the
    # kernel to a program's memory.
    "x86_64", "amd64", "q35,sata=off,i8042=off",
    "max,svm=off,erms=off,fsrm=off,smap=off", "ttyS0",
    ("-serial", "chardev:agent"), power_button=True,
    # Without the first Linux on x86 counts timer interrupts at boot, and panics on
    # a host that is too busy to deliver them.  The others keep an emulated guest
    # from work that takes time: guards against faults of a real processor, tests
    # of ciphers, a program of BPF that systemd loads into the kernel.
    kernel_args=" no_timer_check mitigations=off cryptomgr.notests"
                " lsm=lockdown,landlock,yama,apparmor", magic=b"HdrS", magic_at=0x202)

# The machine "virt" has one serial port that Linux always finds.
PCI_SERIAL = ("-device", "pci-serial,chardev=agent")
AARCH64 = Arch(
    # Of the processors of servers, one without pointer authentication, which
    # is slow under TCG.
    "aarch64", "arm64", "virt", "neoverse-n1", "ttyAMA0", PCI_SERIAL,
    packages=("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    compiler="aarch64-linux-gnu-gcc", magic=b"ARM\x64", magic_at=0x38)
RISCV64 = Arch(
    "riscv64", "riscv64", "virt", "rv64", "ttyS0", PCI_SERIAL,
    bios="/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin",
    packages=("gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross", "opensbi"),
    compiler="riscv64-linux-gnu-gcc", magic=b"RSC\x05", magic_at=0x38)

FOREIGN = {arch.name: arch for arch in (AARCH64, RISCV64)}
ALL = {X86_64.name: X86_64, **FOREIGN}
