# SPDX-License-Identifier: GPL-2.0-or-later
"""Fill the root file system of the guest's disk.

Runs as a program of its own, under fakeroot when the user is not root:
python -m vssd.guest.image_root TAR TOOLS DISK OUT PARTUUID START BYTES
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from ..arch import X86_64
from ..build import guest_tools
from ..paths import PROJECT
from . import initramfs

UNITS = "etc/systemd/system"
AGENT_UNITS = ("vssd-agent-early.service", "vssd-agent.service")
ENABLED = {
    **{f"multi-user.target.wants/{name}": f"/{UNITS}/{name}"
       for name in AGENT_UNITS},
    "multi-user.target.wants/systemd-networkd.service":
        "/usr/lib/systemd/system/systemd-networkd.service",
    "getty.target.wants/serial-getty@ttyS0.service":
        "/usr/lib/systemd/system/serial-getty@.service",
}
# Work in the background that would only show up in the drive's counts.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer",
          "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer",
          "systemd-networkd-wait-online.service", "logrotate.timer",
          "systemd-pcrphase.service", "systemd-hwdb-update.service",
          "xfs_scrub_all.timer", "getty@tty1.service",
          "getty-static.service", "modprobe@drm.service",
          "modprobe@efi_pstore.service",
          "nvmf-autoconnect.service",
          # Modules load when they are used; in an emulated guest each of these
          # takes a while at boot.
          "sys-fs-fuse-connections.mount", "systemd-binfmt.service",
          "proc-sys-fs-binfmt_misc.automount",
          # Each is a process or two at boot: the log stays in memory, the
          # processor has random numbers, and nobody passes credentials.
          "systemd-journal-flush.service", "systemd-random-seed.service",
          "systemd-udev-load-credentials.service",
          "systemd-tmpfiles-setup-dev-early.service",
          "systemd-networkd-persistent-storage.service")
# For disks that this guest has not, and for logins through vsock.
GENERATORS = tuple(f"systemd-{name}-generator" for name in (
    "bless-boot", "cryptsetup", "factory-reset", "gpt-auto",
    "hibernate-resume", "integritysetup", "ssh", "system-update", "tpm2",
    "veritysetup"))
# Started only when a run asks for it (guest/setup.py), or by udev when the
# module is loaded; and a list of modules that is empty.
NOT_ENABLED = (
    f"{UNITS}/multi-user.target.wants/ssh.service",
    f"{UNITS}/sockets.target.wants/ssh.socket",
    "usr/lib/systemd/system/sysinit.target.wants/sys-kernel-config.mount",
    "etc/modules-load.d/modules.conf")
# Of an ELF file that QEMU starts: name of 4 bytes, type XEN_ELFNOTE_PHYS32_ENTRY.
PVH_NOTE = struct.pack("<I", 18) + b"Xen\0"
GRUB_CONFIG = """\
serial --unit=0 --speed=115200
terminal_input serial
terminal_output serial
set timeout=1
menuentry "Debian on vssd" {{
    linux /boot/{kernel} root=PARTUUID={partuuid} rw {arguments}
    initrd /boot/{initrd}
}}
"""


def fill(root: Path, tools: Path, partuuid: str) -> Path:
    """Put our files into an unpacked root; its kernel."""
    shutil.copytree(PROJECT / "guest-tools/rootfs", root, dirs_exist_ok=True)
    for name in guest_tools.TOOLS:
        place = root / ("usr/local/lib/vssd" if name == guest_tools.AGENT
                        else "usr/local/bin")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(tools / name, place / name)
        os.chmod(place / name, 0o755)
    for name in AGENT_UNITS:
        shutil.copy(PROJECT / "guest-tools" / name, root / UNITS)
    for name, target in ENABLED.items():
        _symlink(root / UNITS / name, target)
    for name in MASKED:
        _symlink(root / UNITS / name, "/dev/null")
    for name in GENERATORS:
        _symlink(root / "etc/systemd/system-generators" / name, "/dev/null")
    for name in NOT_ENABLED:
        (root / name).unlink(missing_ok=True)
    shadow = root / "etc/shadow"
    lines = shadow.read_text().splitlines()
    shadow.write_text("\n".join("root:" + x[x.index(":", 5):]
                                if x.startswith("root:") else x
                                for x in lines) + "\n")
    machine = hashlib.sha256(partuuid.encode()).hexdigest()[:32]
    (root / "etc/machine-id").write_text(machine + "\n")
    kernel = max((root / "boot").glob("vmlinuz-*"))
    initrd = root / "boot" / kernel.name.replace("vmlinuz", "initrd.img")
    (root / "boot/grub").mkdir()
    (root / "boot/grub/grub.cfg").write_text(GRUB_CONFIG.format(
        kernel=kernel.name, initrd=initrd.name, partuuid=partuuid,
        arguments=X86_64.kernel_command_line))
    for name in ("etc/.updated", "var/.updated"):
        (root / name).touch()
    return kernel


def _symlink(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def unpacked(kernel: bytes, root: Path) -> bytes | None:
    """The ELF file in a kernel for x86, by the protocol of its boot (Linux's
    Documentation/arch/x86/boot.rst); None if QEMU could not start that.  An
    emulated guest takes a second to unpack it at boot."""
    sectors = kernel[0x1f1] or 4
    offset, nbytes = struct.unpack_from("<II", kernel, 0x248)
    at = 512 * (sectors + 1) + offset
    packed = kernel[at:at + nbytes - 4]  # its length unpacked follows
    if packed.startswith(b"\xfd7zXZ\0"):
        data = lzma.decompress(packed)
    elif packed.startswith(b"\x28\xb5\x2f\xfd"):  # the root has zstd
        lib = root / "usr/lib/x86_64-linux-gnu"
        data = subprocess.run(
            [lib / "ld-linux-x86-64.so.2", "--library-path", lib, root / "usr/bin/zstd",
             "-dc"], input=packed, stdout=subprocess.PIPE, check=True).stdout
    else:
        return None
    return data if PVH_NOTE in data else None


def make_file_system(root: Path, disk: str, start: int, nbytes: int) -> None:
    """ext4 with the files of a root, at its place in a disk."""
    subprocess.run(
        ["mke2fs", "-q", "-F", "-t", "ext4", "-L", "vssd-root", "-m", "1",
         "-O", "^metadata_csum_seed,^orphan_file",
         "-E", f"offset={start},root_owner=0:0,lazy_itable_init=0,"
               "lazy_journal_init=0,nodiscard",
         "-b", "4096", "-d", str(root), disk, str(nbytes // 4096)],
        check=True)


def main(argv: list[str]) -> None:
    """See the head of this file."""
    tar, tools, disk, out, partuuid, start, nbytes = argv
    with tempfile.TemporaryDirectory(dir=out, prefix="root.") as name:
        root = Path(name)
        os.chmod(root, 0o755)
        subprocess.run(["tar", "-C", name, "--exclude=./dev/*", "-xpf", tar],
                       check=True)
        kernel = fill(root, Path(tools), partuuid)
        shutil.copy(kernel, Path(out) / "vmlinuz")
        if elf := unpacked(kernel.read_bytes(), root):
            (Path(out) / "vmlinux").write_bytes(elf)
        release = kernel.name.removeprefix("vmlinuz-")
        (Path(out) / "initrd.img").write_bytes(initramfs.make(
            root / "lib/modules" / release,
            (root / "bin/busybox").read_bytes()))
        make_file_system(root, disk, int(start), int(nbytes))


if __name__ == "__main__":
    main(sys.argv[1:])
