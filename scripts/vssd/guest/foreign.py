# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image of another architecture than x86-64.

No program of that architecture runs while it is made, so neither binfmt_misc
nor qemu-user is needed.  Debian's packages are unpacked and not configured;
programs of guest-tools/foreign take the place of systemd.  The kernel is
Debian's; an initial RAM disk of busybox and its modules finds the root.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import uuid
from pathlib import Path

from ..arch import ALL, Arch
from ..build import aptsrc, guest_tools, packages, qemu_build
from ..errors import UserError
from ..paths import PROJECT, cache_dir, file_bytes, find_made, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage, say
from . import disk, image, initramfs, suite_kernel

FOLDER = PROJECT / "guest-tools/foreign"
BUSYBOX = "busybox"
PACKAGES = (
    "base-files", "base-passwd", "bash", "busybox-static", "coreutils", "dash",
    "debianutils", "diffutils", "findutils", "grep", "gzip", "hostname",
    "libc-bin", "mawk", "mount", "ncurses-base", "sed", "tar", "util-linux",
    "kmod", "procps", "iproute2", "iputils-ping", "ca-certificates", "less",
    "vim-tiny", "fdisk", "e2fsprogs", "xfsprogs", "f2fs-tools", "btrfs-progs",
    "fio", "nvme-cli", "openssh-server", "openssh-client")
START_SSH = "/usr/local/lib/vssd/start-ssh"
PARTUUID_SPACE = uuid.UUID("0d6c0a0e-51a9-4b2e-8f0b-7f5a3f1f2c11")
RECIPE = tuple(f"scripts/vssd/{name}.py" for name in (
    "arch", "guest/foreign", "guest/foreign_root", "guest/image_root",
    "guest/disk", "guest/initramfs", "guest/suite_kernel"))


def check(args: argparse.Namespace) -> None:
    """Refuse options of ./vssd run that need an x86-64 guest."""
    arch = args.arch
    for option, given in (
            ("--suite", args.suite), ("--disk", args.disk),
            ("--firmware", args.firmware), ("--server", args.server)):
        if given:
            raise UserError(f"{option}: not with --arch {arch.name}"
                            " (docs/architectures.md)")


def check_kernel(path: Path, arch: Arch) -> None:
    """Refuse a kernel of another architecture, which would only hang."""
    with open(path, "rb") as f:
        head = f.read(4096)
    for other in ALL.values():
        has = head[other.magic_at:][:len(other.magic)] == other.magic
        if has and other is not arch:
            raise UserError(f"--kernel {path}: a kernel of {other.name}, and"
                            f" the guest is {arch.name} (--arch)")


def _root_key(arch: Arch, more: tuple[str, ...]) -> str:
    return key_of("foreign-root-1", arch.debian, image.SUITE, PACKAGES + more)


def image_name(arch: Arch, more: tuple[str, ...] = ()) -> str:
    """The directory of the cache that has an image of the present recipe."""
    files = sorted(p for p in FOLDER.rglob("*") if p.is_file())
    key = key_of("foreign-1", _root_key(arch, more), guest_tools.source_bytes(),
                 file_bytes(*RECIPE, initramfs.SCRIPT,
                            *(str(p.relative_to(PROJECT)) for p in files)))
    return f"image-{arch.name}-{key}"


def root_name(arch: Arch, more: tuple[str, ...] = ()) -> str:
    """The file of the cache that has its packages."""
    return f"root-{arch.name}-{_root_key(arch, more)}.tar"


def ensure(arch: Arch, more: tuple[str, ...] = (), mirror: str = "") \
        -> image.Image:
    """The image of an architecture, with more packages; made when it is not
    there."""
    name = image_name(arch, more)
    if found := find_made(name, "image.json"):
        return image.Image(found)
    folder = cache_dir() / name
    with locked(f"image-{arch.name}"):
        if (folder / "image.json").exists():
            return image.Image(folder)
        packages.ensure(packages.IMAGE, packages.foreign(arch))
        need_space(cache_dir(), image.NEED_BYTES, "making the guest image")
        mirror = mirror or qemu_build.remembered_origin().mirror
        sources = sources_for(arch, mirror)
        tar = _root_tar(arch, more, sources)
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            _assemble(arch, more, sources, tar, part)
            part.rename(folder)
        except OSError as e:
            raise UserError(f"cannot make the guest image: {e}") from e
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return image.Image(folder)


def sources_for(arch: Arch, mirror: str) -> list[aptsrc.Source]:
    """The archives of packages, but for those of which the mirror cannot give
    the index of this architecture now; the suite's own must be there."""
    _, sources = image.sources_of(image.SUITE, mirror)
    own = [s for s in sources if s.suite == image.SUITE]
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="apt.") as name:
        try:
            apt = aptsrc.PrivateApt(Path(name), sources, "deb")
            apt.only(arch.debian)
            apt.get("update", what="reading the mirror's index")
        except UserError as e:
            if len(own) == len(sources):
                raise
            left = ", ".join(s.suite for s in sources if s not in own)
            say(f"makes the guest of {arch.name} without {left}: {e}")
            return own
    return sources


def _root_tar(arch: Arch, more: tuple[str, ...],
              sources: list[aptsrc.Source]) -> Path:
    tar = cache_dir() / root_name(arch, more)
    if tar.exists():
        return tar
    part = tar.with_suffix(".part")
    try:
        with Stage(f"unpacking Debian's packages of {arch.debian} (once)") \
                as stage:
            image.mmdebstrap(part, image.SUITE, sources, [*PACKAGES, *more], stage, (
                "--variant=extract", f"--architectures={arch.debian}"))
        part.rename(tar)
    finally:
        part.unlink(missing_ok=True)
    return tar


def _assemble(arch: Arch, more: tuple[str, ...], sources: list[aptsrc.Source],
              tar: Path, part: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="foreign.") \
            as name, Stage(f"making the disk of a guest of {arch.name}") \
            as stage:
        work = Path(name)
        kernel, modules = suite_kernel.unpack(image.SUITE, sources, work, stage,
                                              arch)
        shutil.copy(kernel, part / "vmlinuz")
        (part / "initrd.img").write_bytes(
            initramfs.make(modules, busybox_of(tar)))
        stage.note("guest tools")
        tools = work / "tools"
        tools.mkdir()
        guest_tools.build(tools, arch)
        partuuid = str(uuid.uuid5(PARTUUID_SPACE, part.name))
        raw = part / "disk.raw"
        layout = disk.make(raw, partuuid, work, loaders=False)
        stage.note("root file system")
        args = [sys.executable, "-m", "vssd.guest.foreign_root", tar, tools,
                modules, raw, part, layout.root_start_bytes, layout.root_bytes]
        if os.geteuid() != 0:
            args = ["fakeroot", *args]
        run_logged([str(a) for a in args], "image",
                   "making the root file system",
                   env={"PYTHONPATH": str(PROJECT / "scripts"), "LC_ALL": "C",
                        "PATH": "/usr/sbin:/sbin:" + os.environ["PATH"]})
        image.punch(raw)
        (part / "image.json").write_text(json.dumps(
            {"partuuid": partuuid, "suite": image.SUITE, "packages": more,
             "arch": arch.name}), encoding="utf-8")


def busybox_of(tar: Path) -> bytes:
    """The static busybox of a root."""
    with tarfile.open(tar) as root:
        for one in root:
            if re.fullmatch(rf"(\./)?(usr/)?bin/{BUSYBOX}", one.name):
                data = root.extractfile(one)
                if data:
                    return data.read()
    raise UserError(f"{tar.name} has no {BUSYBOX}")
