# SPDX-License-Identifier: GPL-2.0-or-later
"""The initial RAM disk of a guest that is booted directly: busybox, a script
(guest-tools/initramfs.sh), and the modules of a kernel that find and mount the
root.  It has no udev and starts few processes, so an emulated guest boots in
less time than with that of Debian's initramfs-tools.

Linux unpacks one archive of an initial RAM disk after the other, so modules()
of another kernel, put behind a whole one, make that serve this kernel, too.
"""

from __future__ import annotations

import lzma
import re
from pathlib import Path

from ..errors import UserError
from ..paths import PROJECT

SCRIPT = "guest-tools/initramfs.sh"
PROGRAMS = ("bin/busybox", "init")
# The root on NVMe, of ext4, also behind virtio's IOMMU; or a virtio disk.
# Those that the kernel has built in are left out.
MODULES = ("crc32c_generic", "crc32c_intel", "virtio_pci", "virtio_iommu",
           "virtio_blk", "nvme", "ext4")


def load_order(dep: str, names: tuple[str, ...]) -> list[str]:
    """Files of these modules and of all that they need, each after those that
    it needs, by modules.dep."""
    depends = {path: more.split() for path, _, more
               in (line.partition(":") for line in dep.splitlines())}
    by_name = {_name(p): p for p in depends}
    found: dict[str, None] = {}
    for name in names:
        if path := by_name.get(name):
            # depmod(8) lists what is needed last to first.
            for one in (*reversed(depends[path]), path):
                found[one] = None
    return list(found)


def _name(path: str) -> str:
    return re.sub(r"\.ko(\.\w+)?$", "", Path(path).name).replace("-", "_")


def modules(folder: Path, names: tuple[str, ...] = MODULES) -> bytes:
    """An archive of modules for the script; `folder` has a kernel's name, its
    modules and their modules.dep."""
    return cpio(_module_files(folder, names))


def make(folder: Path, busybox: bytes) -> bytes:
    """A whole initial RAM disk."""
    return cpio({"bin/busybox": busybox, "init": (PROJECT / SCRIPT).read_bytes(),
                 **_module_files(folder, MODULES)}, PROGRAMS)


def _module_files(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    paths = load_order((folder / "modules.dep").read_text(), names)
    if len(paths) > 100:
        raise UserError(f"{folder.name}: {len(paths)} modules in an initial"
                        " RAM disk; allowed 0..100")
    files = {}
    for i, path in enumerate(paths):
        data = (folder / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        elif not path.endswith(".ko"):
            raise UserError(f"{path}: a module that is packed in another way"
                            " than by xz")
        files[f"modules/{folder.name}/{i:02}-{_name(path)}.ko"] = data
    return files


def cpio(files: dict[str, bytes], programs: tuple[str, ...] = ()) -> bytes:
    """An archive of files with their folders, as the kernel's
    Documentation/driver-api/early-userspace/buffer-format.rst has it.
    programs: those of the files that can be executed."""
    folders = {str(p) for name in files for p in Path(name).parents} - {"."}
    out = bytearray()

    def add(name: str, mode: int, data: bytes) -> None:
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name.encode()) + 1, 0)
        out.extend(b"070701" + "".join(f"{x:08x}" for x in fields).encode())
        for part in (name.encode() + b"\0", data):
            out.extend(part)
            out.extend(b"\0" * (-len(out) % 4))

    for name in sorted(folders):
        add(name, 0o40755, b"")
    for name, data in files.items():
        add(name, 0o100755 if name in programs else 0o100644, data)
    add("TRAILER!!!", 0, b"")
    return bytes(out)
