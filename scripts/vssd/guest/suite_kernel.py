# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel of a Debian suite by itself, for the root of another suite.

Its package is unpacked, not installed.  The kernel stays, and an archive
of the modules that find and mount file systems on NVMe, which makes an image's
initial RAM disk serve this kernel, too (guest/initramfs.py).

A minute where image.ensure() takes many; but no module beyond these, and no
program of the suite.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..arch import X86_64, Arch
from ..build import aptsrc, packages
from ..errors import UserError
from ..paths import cache_dir, file_bytes, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage
from . import image, initramfs

PACKAGE = r"linux-image-(\d[\d.]*(?:\+deb\d+|-\d+))-"  # then the flavour
TRIES = 5  # kernels, the newest first: an index may list missing files
# The root has none of its modules.
MODULES = (*initramfs.MODULES, "xfs", "f2fs", "dm_mod")
NEED_BYTES = 1500 << 20


@dataclass(frozen=True)
class SuiteKernel:
    """A kernel that is there."""

    folder: Path

    @property
    def kernel(self) -> Path:
        """For direct boot."""
        return self.folder / "vmlinuz"

    def initrd(self, base: Path, to: Path) -> Path:
        """`base`, an image's initial RAM disk, for this kernel."""
        data = base.read_bytes()
        to.write_bytes(data + (self.folder / "modules.cpio").read_bytes())
        return to


def ensure(suite: str, mirror: str = "") -> SuiteKernel:
    """The suite's newest kernel; fetched when it is not there."""
    key = key_of("suite-kernel-1", suite, file_bytes(
        "scripts/vssd/guest/initramfs.py",
        "scripts/vssd/guest/suite_kernel.py"))
    found = SuiteKernel(cache_dir() / f"suite-kernel-{suite}-{key}")
    if found.folder.exists():
        return found
    with locked("suite-kernel"):
        if found.folder.exists():
            return found
        packages.ensure(packages.IMAGE)
        need_space(cache_dir(), NEED_BYTES, "a kernel's package")
        with tempfile.TemporaryDirectory(dir=cache_dir(),
                                         prefix="suite-kernel.") as name:
            work = Path(name)
            with Stage(f"fetching the kernel of {suite} (once)") as stage:
                _make(suite, mirror, work, stage)
            (work / "done").rename(found.folder)
    return found


def _make(suite: str, mirror: str, work: Path, stage: Stage) -> None:
    kernel, modules = unpack(suite, image.sources_of_kernel(suite, mirror),
                             work, stage)
    done = work / "done"
    done.mkdir()
    shutil.copy(kernel, done / "vmlinuz")
    (done / "modules.cpio").write_bytes(initramfs.modules(modules, MODULES))


def unpack(suite: str, sources: list[aptsrc.Source], work: Path, stage: Stage,
           arch: Arch = X86_64) -> tuple[Path, Path]:
    """Unpack the newest kernel of a suite below `work`: the kernel, and the
    folder of its modules with their index."""
    tree = work / "tree"
    for deb in fetch(sources, work, stage, arch):
        stage.note("unpacking " + deb.name)
        run_logged(["dpkg-deb", "-x", deb, tree], "suite-kernel",
                   "unpacking " + deb.name)
    if not (tree / "lib").exists():
        (tree / "lib").symlink_to("usr/lib")
    found = [*tree.glob("boot/vmlinu[xz]-*"),
             *tree.glob("lib/modules/*/vmlinu[xz]")]
    if len(found) != 1:
        raise UserError(f"the package of the kernel of {suite} has"
                        f" {len(found)} kernels")
    release = next((tree / "lib/modules").iterdir()).name
    run_logged(["/sbin/depmod", "-b", tree, release], "suite-kernel",
               f"listing the modules of {release}")
    return found[0], tree / "lib/modules" / release


def fetch(sources: list[aptsrc.Source], work: Path, stage: Stage,
          arch: Arch = X86_64) -> list[Path]:
    """The packages of the newest kernel that the mirror really has, of the
    series that the suite installs: it may have others, too."""
    apt = aptsrc.PrivateApt(work / "apt", sources, "deb")
    apt.only(arch.debian)
    apt.get("update", what="reading the mirror's index")
    pattern = PACKAGE + arch.debian
    names = of_series({re.sub(pattern, r"\1", n): n
                       for n in apt.names(pattern)},
                      apt.depends(f"linux-image-{arch.debian}"))
    problem = UserError(f"the mirror has no package linux-image-*-{arch.debian}")
    for version in aptsrc.sort_versions(list(names))[:TRIES]:
        try:
            stage.note(names[version])
            return _download(apt, names[version], version, work, arch)
        except UserError as e:
            problem = e
    raise problem


def of_series(names: dict[str, str], installed: list[str]) -> dict[str, str]:
    """Those of the packages, by version, that have the first two numbers of
    the one that the suite installs; all of them if it installs none of them."""
    for version, name in names.items():
        if name in installed:
            series = version.split(".")[:2]
            return {v: n for v, n in names.items() if v.split(".")[:2] == series}
    return names


def _download(apt: aptsrc.PrivateApt, name: str, version: str, work: Path,
              arch: Arch) -> list[Path]:
    """The package, and those of kernel and modules where it only names them,
    as it does from Linux 7 on."""
    folder = work / version
    folder.mkdir()
    apt.get("download", name, cwd=folder, what=f"fetching {name}")
    deb = next(folder.glob("*.deb"))
    depends = subprocess.run(["dpkg-deb", "-f", deb, "Depends"], check=True,
                             capture_output=True, text=True).stdout
    parts = [p for p in (f"linux-{x}-{version}-{arch.debian}"
                         for x in ("base", "binary", "modules"))
             if f"{p} " in depends]
    if parts:
        apt.get("download", *parts, cwd=folder, what=f"fetching {parts[0]}")
    return sorted(folder.glob("*.deb"))
