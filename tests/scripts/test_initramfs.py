# SPDX-License-Identifier: GPL-2.0-or-later
"""What guests that are booted directly start with: the initial RAM disk
(guest/initramfs.py), the unpacked kernel (guest/image_root.py)."""

from __future__ import annotations

import lzma
import re
import struct
import subprocess
from pathlib import Path

import pytest

from vssd.errors import UserError
from vssd.guest import image_root, initramfs, suite_kernel
from vssd.paths import PROJECT

RELEASE = "6.12.0-test"
DEP = """\
kernel/drivers/nvme/host/nvme.ko.xz: kernel/drivers/nvme/host/nvme-core.ko.xz kernel/a/auth.ko.xz
kernel/drivers/nvme/host/nvme-core.ko.xz: kernel/a/auth.ko.xz
kernel/a/auth.ko.xz:
kernel/fs/ext4/ext4.ko.xz: kernel/lib/jbd2.ko.xz
kernel/lib/jbd2.ko.xz:
kernel/drm.ko.xz:
"""
NAMES = ("auth", "nvme_core", "nvme", "jbd2", "ext4")


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A kernel's modules, each with its own name in it."""
    folder = tmp_path / RELEASE
    for line in DEP.splitlines():
        path = folder / line.partition(":")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(path.name.encode()))
    (folder / "modules.dep").write_text(DEP)
    return folder


def unpacked(archive: bytes) -> dict[str, bytes]:
    """The files of a cpio archive, folders as b"/"."""
    found, at = {}, 0
    while True:
        head = archive[at:at + 110]
        assert head[:6] == b"070701" and at % 4 == 0
        mode, nbytes, name_bytes = (int(head[6 + 8 * i:14 + 8 * i], 16)
                                    for i in (1, 6, 11))
        name = archive[at + 110:at + 110 + name_bytes - 1].decode()
        at += (110 + name_bytes + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert at == len(archive)
            return found
        found[name] = b"/" if mode >> 12 == 4 else archive[at:at + nbytes]
        at += (nbytes + 3) // 4 * 4


def test_archive() -> None:
    """Folders come before what is in them; the next archive begins where Linux
    looks for it."""
    files = {"a/b/one": b"12345", "a/two": b"", "conf": b"x" * 7}
    archive = initramfs.cpio(files)
    found = unpacked(archive)
    assert list(found) == ["a", "a/b", "a/b/one", "a/two", "conf"]
    assert {n: d for n, d in found.items() if d != b"/"} == files
    assert len(archive) % 4 == 0


def test_order_of_modules() -> None:
    """Each after those that it needs; those that are built in are skipped."""
    order = initramfs.load_order(DEP, initramfs.MODULES)
    assert [Path(p).name.removesuffix(".ko.xz").replace("-", "_")
            for p in order] == list(NAMES)


def test_whole(modules: Path) -> None:
    """busybox, init, and the modules unpacked, in order."""
    archive = initramfs.make(modules, b"busybox!")
    found = unpacked(archive)
    assert found["bin/busybox"] == b"busybox!"
    assert found["init"].startswith(b"#!/bin/busybox sh\n")
    assert archive.count(b"%08x" % 0o100755) == 2  # these two can be executed
    assert [n for n in found if n.endswith(".ko")] == [
        f"modules/{RELEASE}/{i:02}-{n}.ko" for i, n in enumerate(NAMES)]
    assert found[f"modules/{RELEASE}/02-nvme.ko"] == b"nvme.ko.xz"


def test_packed_in_another_way(modules: Path) -> None:
    """One line that names it."""
    path = modules / "kernel/lib/jbd2.ko.xz"
    path.rename(path.with_suffix(".zst"))
    (modules / "modules.dep").write_text(DEP.replace("jbd2.ko.xz", "jbd2.ko.zst"))
    with pytest.raises(UserError, match="jbd2.ko.zst: a module that is packed"):
        initramfs.make(modules, b"")


def test_for_a_further_kernel(modules: Path, tmp_path: Path) -> None:
    """Its modules follow an image's archive."""
    base = tmp_path / "base"
    base.write_bytes(initramfs.cpio({"init": b"1"}))
    more = initramfs.modules(modules, suite_kernel.MODULES)
    (tmp_path / "modules.cpio").write_bytes(more)
    both = suite_kernel.SuiteKernel(tmp_path).initrd(base, tmp_path / "both")
    assert both.read_bytes() == base.read_bytes() + more
    assert f"modules/{RELEASE}/02-nvme.ko" in unpacked(more)


def test_parameters_of_modules() -> None:
    """Those of the kernel's command line; of that module only."""
    script = (PROJECT / initramfs.SCRIPT).read_text()
    function = re.search(r"^parameters\(\) \{.*?^\}", script, re.M | re.S)
    assert function
    line = "rw nvme_core.multipath=N nvme.poll_queues=2 nvme_core.x nvme_core. quiet"
    for name, want in (("nvme_core", ["multipath=N", "x"]),
                       ("nvme", ["poll_queues=2"]), ("ext4", [])):
        said = subprocess.run(
            ["sh", "-c", f"cmdline='{line}'\n{function[0]}\nparameters {name}"],
            check=True, capture_output=True, text=True).stdout
        assert said.split() == want


@pytest.mark.parametrize("packed, starts", [(True, True), (True, False), (False, True)])
def test_unpacked_kernel(tmp_path: Path, packed: bool, starts: bool) -> None:
    """The ELF file in a kernel; none if QEMU cannot start it, or if it is packed in
    an unknown way."""
    elf = b"\x7fELF" + b"x" * 1000 + image_root.PVH_NOTE * starts
    payload = (lzma.compress(elf) if packed else elf) + struct.pack("<I", len(elf))
    kernel = bytearray(512 * 3 + 100) + payload + b"more"
    kernel[0x1f1] = 2
    struct.pack_into("<II", kernel, 0x248, 100, len(payload))
    assert image_root.unpacked(kernel, tmp_path) == (elf if packed and starts else None)
