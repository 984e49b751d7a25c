# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: Debian, made once by mmdebstrap, kept in the cache.

Two steps, each kept by a hash of its inputs: the packages as a tar archive,
then a disk with a partition table, both boot loaders and the root file system.
No root, no loop device, no mount: fakeroot keeps the owners of files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from ..build import aptsrc, guest_tools, packages, qemu_build
from ..errors import UserError
from ..paths import (
    PROJECT,
    cache_dir,
    file_bytes,
    find_made,
    key_of,
    locked,
    need_space,
)
from ..proc import log_file, run_logged
from ..ui import Stage
from . import disk, initramfs

SUITE = "trixie"
# Debian's suites that a guest can be made of, and the use of their kernels
# for.  One with -backports is the suite before it, with that kernel.
SUITES = {
    "bullseye": "Linux 5.10: write hints of files become NVMe streams",
    "bookworm": "Linux 6.1",
    "trixie": "Linux 6.12",
    "trixie-backports": "Linux 6.16 or later: block write streams, FDP",
}
KERNEL = "linux-image-amd64"
COMPONENTS = ("main", "contrib")  # of --packages; all else is of main
UNSAFE_IO = "force-unsafe-io"  # dpkg: no fsync for each file
ROOT_BYTES = 3 << 30  # a root while it is made, with its packages
KERNEL_NAME = r"linux-image-\d[\d.]*\+deb\d+-amd64"
OLDER_KERNELS = 4  # to try when the newest cannot be had
PACKAGES = (
    "systemd-sysv", "udev", "kmod", "initramfs-tools", "zstd", KERNEL,
    "busybox-static",
    "login", "procps", "iproute2", "iputils-ping", "acpid", "util-linux",
    "fdisk", "e2fsprogs", "xfsprogs", "f2fs-tools", "btrfs-progs", "fio",
    "nvme-cli", "ca-certificates", "vim-tiny", "less", "openssh-server")
NEED_BYTES = 2500 << 20
FOLDERS = ("guest-tools/rootfs", "guest-tools/initramfs")
STEPS = {
    "I: running apt-get update": "reading the mirror's index",
    "I: downloading packages": "downloading packages",
    "I: extracting archives": "unpacking the base",
    "I: installing essential": "installing the base",
    "I: installing remaining": "installing packages",
    "I: cleaning": "cleaning",
    "I: creating tarball": "writing the archive",
}
PARTUUID_SPACE = uuid.UUID("6a0f0b5e-6c39-4d8c-9b5b-2b3a6a7f1d10")


@dataclass(frozen=True)
class Image:
    """A guest image that is there."""

    folder: Path

    @property
    def disk(self) -> Path:
        """The disk, raw and sparse."""
        return self.folder / "disk.raw"

    @property
    def packed_kernel(self) -> Path:
        """Its kernel as its package has it."""
        return self.folder / "vmlinuz"

    @property
    def kernel(self) -> Path:
        """Its kernel, for direct boot."""
        elf = self.folder / "vmlinux"
        return elf if elf.exists() else self.packed_kernel

    @property
    def initrd(self) -> Path:
        """Its initial RAM disk."""
        return self.folder / "initrd.img"

    @property
    def root(self) -> str:
        """root= for its kernel."""
        said = json.loads((self.folder / "image.json").read_text())
        return f"PARTUUID={said['partuuid']}"

    @property
    def key(self) -> str:
        """Names its inputs."""
        return self.folder.name.removeprefix("image-")


def _tree_bytes(folder: str) -> bytes:
    files = sorted(p for p in (PROJECT / folder).rglob("*") if p.is_file())
    return b"\0".join(str(p.relative_to(PROJECT)).encode() + b"\0"
                      + p.read_bytes() for p in files)


def check_packages(text: str) -> tuple[str, ...]:
    """Names of Debian packages, separated by commas; in order, each once."""
    names = sorted({x.strip() for x in text.split(",")} - {""})
    for name in names:
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise UserError(f"--packages: {name!r} is no name of a package")
    return tuple(names)


def _root_key(suite: str, more: tuple[str, ...] = ()) -> str:
    return key_of("root-1", suite, PACKAGES + more, _tree_bytes(FOLDERS[1]))


def _image_key(suite: str, more: tuple[str, ...] = ()) -> str:
    return key_of("image-1", _root_key(suite, more), _tree_bytes(FOLDERS[0]),
                  guest_tools.source_bytes(),
                  file_bytes("guest-tools/vssd-agent.service",
                             "guest-tools/vssd-agent-early.service",
                             "scripts/vssd/arch.py",
                             "scripts/vssd/guest/image.py",
                             "scripts/vssd/guest/disk.py",
                             initramfs.SCRIPT,
                             "scripts/vssd/guest/initramfs.py",
                             "scripts/vssd/guest/image_root.py"))


def image_name(suite: str, more: tuple[str, ...] = ()) -> str:
    """The directory of the cache that has an image of the present recipe."""
    return f"image-{_image_key(suite, more)}"


def root_name(suite: str, more: tuple[str, ...] = ()) -> str:
    """The file of the cache that has its packages."""
    return f"root-{_root_key(suite, more)}.tar"


def ensure(mirror: str = "", suite: str = SUITE,
           more: tuple[str, ...] = ()) -> Image:
    """The image of a suite, with more packages of it; made when it is not
    there."""
    name = image_name(suite, more)
    if found := find_made(name, "image.json"):
        return Image(found)
    folder = cache_dir() / name
    image = Image(folder)
    with locked("image"):
        if (folder / "image.json").exists():
            return image
        packages.ensure(packages.IMAGE)
        need_space(cache_dir(), NEED_BYTES, "making the guest image")
        tar = _root_tar(mirror or qemu_build.remembered_origin().mirror,
                        suite, more)
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            with Stage("making the guest's disk") as stage:
                _assemble(tar, part, stage, suite, more)
            part.rename(folder)
        except OSError as e:
            raise UserError(f"cannot make the guest image: {e}") from e
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return image


def _tar_path(suite: str, more: tuple[str, ...]) -> Path:
    return cache_dir() / root_name(suite, more)


def _root_tar(mirror: str, suite: str, more: tuple[str, ...]) -> Path:
    tar = _tar_path(suite, more)
    if tar.exists():
        return tar
    part = tar.with_suffix(".part")
    try:
        what = " with ".join([suite, *([", ".join(more)] if more else [])])
        with Stage(f"making a Debian root file system of {what} (once)") \
                as stage:
            _install(part, mirror, stage, suite, more)
        part.rename(tar)
    finally:
        part.unlink(missing_ok=True)
    return tar


def sources_of(suite: str, mirror: str) -> tuple[str, list[aptsrc.Source]]:
    """The suite to begin with, and where all that is needed comes from."""
    base = suite.removesuffix("-backports")
    sources = aptsrc.debian_sources(base, mirror)
    if base != suite:
        sources += [s for s in aptsrc.debian_sources(suite, mirror)
                    if s.suite == suite]
    return base, sources


def sources_of_kernel(suite: str, mirror: str = "") -> list[aptsrc.Source]:
    """Where the kernel of a suite comes from."""
    base, sources = sources_of(suite, mirror)
    return [s for s in sources if base == suite or s.suite == suite]


def _install(to: Path, mirror: str, stage: Stage, suite: str,
             more: tuple[str, ...] = ()) -> None:
    """With the newest kernel of the suite that its mirror really has: an index
    may name one that is not there."""
    base, sources = sources_of(suite, mirror)
    if more:
        sources = [replace(s, components=COMPONENTS) for s in sources]
    if base == suite:
        _mmdebstrap(to, base, sources, KERNEL, stage, more)
        return
    try:
        _mmdebstrap(to, base, sources, f"{KERNEL}/{suite}", stage, more)
    except UserError as problem:
        if not _could_not_fetch():
            raise
        for kernel in older_kernels(suite, sources):
            try:
                stage.note(f"trying {kernel}")
                _mmdebstrap(to, base, sources, f"{kernel}/{suite}", stage,
                            more)
                return
            except UserError:
                if not _could_not_fetch():
                    raise
        raise problem


def _said(text: str) -> bool:
    """Did mmdebstrap say that, the last time?"""
    return text in log_file("mmdebstrap").read_text(errors="replace")


def _could_not_fetch() -> bool:
    return _said("Failed to fetch") or _said("404 ")


def older_kernels(suite: str, sources: list[aptsrc.Source]) -> list[str]:
    """The packages of the kernels before the newest of a suite."""
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="apt.") as name:
        apt = aptsrc.PrivateApt.updated(
            Path(name), [s for s in sources if s.suite == suite], "deb")
        found = {x.split("-")[2]: x for x in apt.names(KERNEL_NAME)}
    ordered = aptsrc.sort_versions(list(found))
    return [found[v] for v in ordered[1:1 + OLDER_KERNELS]]


def _mmdebstrap(to: Path, base: str, sources: list[aptsrc.Source],
                kernel: str, stage: Stage, more: tuple[str, ...]) -> None:
    names = [kernel if p == KERNEL else p for p in PACKAGES + more]
    mmdebstrap(to, base, sources, names, stage, (
        "--variant=minbase",
        f"--essential-hook=copy-in {PROJECT}/{FOLDERS[1]}/etc"
        f" {PROJECT}/{FOLDERS[1]}/usr /",
        # Without manuals, and yet Java's packages link one.
        '--essential-hook=mkdir -p "$1/usr/share/man/man1"'))


def mmdebstrap(to: Path, base: str, sources: list[aptsrc.Source],
               names: list[str], stage: Stage, more: tuple[str, ...]) -> None:
    """Make a tar archive of a root with these packages, without manuals."""
    args = ["mmdebstrap", "--format=tar", *more,
            "--include=" + ",".join(names),
            f"--dpkgopt={UNSAFE_IO}",  # a root that is not whole is not kept
            f"--customize-hook=sed -i '/^{UNSAFE_IO}$/d'"
            ' "$1"/etc/dpkg/dpkg.cfg.d/*',
            "--dpkgopt=path-exclude=/usr/share/man/*",
            "--dpkgopt=path-exclude=/usr/share/doc/*",
            "--dpkgopt=path-include=/usr/share/doc/*/copyright",
            "--dpkgopt=path-exclude=/usr/share/locale/*",
            "--dpkgopt=path-exclude=/usr/share/info/*"]
    args += [f"--aptopt={o}" for o in aptsrc.network_options()]
    args += [base, str(to)]
    args += [aptsrc.one_line_format(s) for s in sources]

    def on_line(line: str) -> None:
        for head, text in STEPS.items():
            if line.startswith(head):
                stage.note(text)

    # mmdebstrap's user namespace cannot look into a private home directory.
    with open(to, "wb"):
        pass
    memory = _in_memory()
    with tempfile.TemporaryDirectory(prefix="vssd-root-") as work:
        os.chmod(work, 0o755)  # apt's own user looks into it

        def make(*words: str) -> None:
            run_logged([*words, *args], "mmdebstrap",
                       "making a Debian root file system",
                       on_line=on_line, env={"LC_ALL": "C", "TMPDIR": work})

        try:
            make(*memory)
        except UserError:
            if not memory or not _said("No space left on device"):
                raise
            make()


def _in_memory() -> list[str]:
    """Words before a command that put its TMPDIR into memory, if it is root's and
    there is enough; else none.  On a disk a root takes twice the time."""
    has = re.search(r"^MemAvailable: *(\d+) kB$",
                    Path("/proc/meminfo").read_text(encoding="ascii"), re.M)
    if os.geteuid() != 0 or not has or 1024 * int(has[1]) < 2 * ROOT_BYTES:
        return []
    words = ["unshare", "--mount", "sh", "-c",
             f'mount -t tmpfs -o mode=755,size={ROOT_BYTES} vssd "$TMPDIR"'
             ' && exec "$@"', "sh"]
    with tempfile.TemporaryDirectory() as work:
        tried = subprocess.run([*words, "true"], capture_output=True,
                               check=False, env=dict(os.environ, TMPDIR=work))
    return [] if tried.returncode else words


def _assemble(tar: Path, part: Path, stage: Stage, suite: str,
              more: tuple[str, ...]) -> None:
    stage.note("guest tools")
    tools = part / "tools"
    tools.mkdir()
    guest_tools.build(tools)
    partuuid = str(uuid.uuid5(PARTUUID_SPACE, _image_key(suite, more)))
    raw = part / "disk.raw"
    stage.note("partitions and boot loaders")
    layout = disk.make(raw, partuuid, part)
    stage.note("root file system")
    args = [sys.executable, "-m", "vssd.guest.image_root", tar, tools, raw,
            part, partuuid, layout.root_start_bytes, layout.root_bytes]
    if os.geteuid() != 0:
        args = ["fakeroot", *args]
    run_logged([str(a) for a in args], "image", "making the root file system",
               env={"PYTHONPATH": str(PROJECT / "scripts"), "LC_ALL": "C",
                    "PATH": "/usr/sbin:/sbin:" + os.environ["PATH"]})
    shutil.rmtree(tools)
    stage.note("holes")
    punch(raw)
    (part / "image.json").write_text(json.dumps(
        {"partuuid": partuuid, "suite": suite, "packages": more}), encoding="utf-8")


def punch(raw: Path) -> None:
    """Make blocks of zeroes holes.

    mke2fs leaves space that is allocated but not written; host file systems
    call that data once it has been read, and then the drive would start from
    another state in each run.
    """
    copy = raw.with_suffix(".sparse")
    run_logged(["cp", "--sparse=always", raw, copy], "image",
               "copying the guest's disk", append=True)
    copy.rename(raw)


def overlay(qemu_img: Path, backing: Path, to: Path, fmt: str = "raw") -> None:
    """A qcow2 file that takes the writes meant for `backing`."""
    done = subprocess.run(
        [str(qemu_img), "create", "-q", "-f", "qcow2", "-F", fmt, "-b",
         str(backing.resolve()), str(to)],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError("cannot make an overlay of the image: "
                        + " ".join(done.stderr.split()))
