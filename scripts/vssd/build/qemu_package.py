# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU that nobody builds: Debian's package, unmodified, as the machine has it
installed, or in a root of its own in the cache.

The machine's own apt names the mirror.  The package and all that it needs are
unpacked there, not installed: its programs run with the libraries of that root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..arch import AARCH64, RISCV64, X86_64, Arch
from ..errors import UserError
from ..paths import cache_dir, find_made, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage
from . import aptsrc
from .qemu_build import Qemu

BASE = "trixie"
BACKPORTS = "trixie-backports"  # has QEMU 10.1 or later
# Of each architecture of guests.
PACKAGES = {X86_64: "qemu-system-x86", AARCH64: "qemu-system-arm",
            RISCV64: "qemu-system-misc"}
TOOLS = "qemu-utils"
IMAGE_TOOLS = ("qemu-img", "qemu-io")
VFIO_USER = "vfio-user-pci"
VERSION = "version"  # a file of the folder; written last
ROOT_BYTES = 500 << 20
TRIPLET = "x86_64-linux-gnu"
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
FIRMWARE = ("seabios", "qemu")  # of /usr/share
LIBRARY = b"liburing.so"
MACHINE = Path("/")


@dataclass(frozen=True)
class Package:
    """QEMU of a suite for guests of an architecture."""

    root: Path  # what would be / if it were installed; MACHINE: it is
    version: str  # Debian's, as 1:10.0.13+ds-0+deb13u1
    arch: Arch = X86_64

    def start(self, program: str, *more: str,
              preload: Path | None = None) -> str:
        """A script that starts a program of it, an emulator with the arguments
        `more`; preload: a library that is there before the program."""
        binary = self.root / "usr/bin" / program
        words = [str(binary), *more]
        if preload:
            words = ["--preload", str(preload), *words]
        if preload or self.root != MACHINE:
            words = [str(self.root / LOADER), "--library-path",
                     str(self.root / "usr/lib" / TRIPLET), *words]
        if program == self.arch.emulator:
            words += ["-name", f"process={program}"]  # not that of the loader
            for name in FIRMWARE:
                words += ["-L", str(self.root / "usr/share" / name)]
            words += ["-L", str(self.root / "usr/lib/ipxe/qemu")]
        modules = self.root / "usr/lib" / TRIPLET / "qemu"
        linked = " It is linked with liburing.so." \
            if LIBRARY in binary.read_bytes() else ""
        return ("#!/bin/sh\n"
                f"# {program} of Debian's QEMU {self.version}.{linked}\n"
                f"export QEMU_MODULE_DIR={shlex.quote(str(modules))}\n"
                f"exec {shlex.join(words)} \"$@\"\n")


def upstream(version: str) -> str:
    """QEMU's own version, as 10.0.13, of Debian's."""
    return version.split(":")[-1].split("+")[0].split("-")[0]


def write_start(path: Path, text: str) -> Path:
    """Make such a script."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def installed(arch: Arch = X86_64) -> Package | None:
    """The one that the machine has, if its qemu-img is of the same version."""
    try:
        out = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}\\n",
             PACKAGES[arch], TOOLS], capture_output=True, text=True,
            check=False, env=dict(os.environ, LC_ALL="C")).stdout
    except FileNotFoundError:
        return None
    found = [line.split() for line in out.splitlines()]
    if len(found) != 2 or found[0] != found[1] or found[0][0] != "installed":
        return None
    return Package(MACHINE, found[0][1], arch)


def unpacked(suite: str, arch: Arch = X86_64, mirror: str = "") -> Package:
    """QEMU of this suite for guests of an architecture, with qemu-img."""
    if found := there(suite, arch):
        return found
    name = _name(suite, arch)
    folder = cache_dir() / name
    with locked(name):
        if not (folder / VERSION).exists():
            _make(folder, suite, arch, mirror)
    return _package(folder, arch)


def there(suite: str, arch: Arch = X86_64) -> Package | None:
    """The same, if it is there."""
    found = find_made(_name(suite, arch), VERSION)
    return _package(found, arch) if found else None


def _package(folder: Path, arch: Arch) -> Package:
    version = (folder / VERSION).read_text(encoding="ascii").strip()
    return Package(folder / "root", version, arch)


def _name(suite: str, arch: Arch) -> str:
    return "qemu-package-" + key_of(suite, PACKAGES[arch], TOOLS, "2")


def ensure_vfio_user(mirror: str = "") -> Qemu:
    """For drives in vssd-server: the machine's own QEMU if it is new enough; else
    that of BACKPORTS."""
    own = shutil.which(X86_64.emulator)
    if own and has_vfio_user(Path(own)):
        return Qemu(Path(own).parent)
    package = unpacked(BACKPORTS, X86_64, mirror)
    folder = package.root.parent
    for name in (X86_64.emulator, *IMAGE_TOOLS):
        if not (folder / name).exists():
            part = write_start(folder / f"{name}.{os.getpid()}.part",
                               package.start(name))
            part.rename(folder / name)
    if not has_vfio_user(folder / X86_64.emulator):
        raise UserError(f"QEMU {package.version} of {BACKPORTS} has no"
                        f" {VFIO_USER}: QEMU 10.1 or later is needed")
    return Qemu(folder)


def has_vfio_user(emulator: Path) -> bool:
    """Can it have a drive of vssd-server?  QEMU ends with status 0 also for a
    device that it does not know."""
    done = subprocess.run([str(emulator), "-device", f"{VFIO_USER},help"],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode == 0 and f"{VFIO_USER} options" in done.stdout


def _make(folder: Path, suite: str, arch: Arch, mirror: str) -> None:
    if os.uname().machine != "x86_64":
        raise UserError("Debian's QEMU in a root of its own needs an x86-64"
                        " machine")
    need_space(cache_dir(), ROOT_BYTES, "Debian's QEMU")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    part.mkdir()
    try:
        archives = _download(part / "apt", suite, PACKAGES[arch], mirror)
        _unpack(archives, part / "root")
        (part / VERSION).write_text(_version(archives, PACKAGES[arch]) + "\n",
                                    encoding="ascii")
        shutil.rmtree(part / "apt")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _version(archives: list[Path], package: str) -> str:
    """Of the package, which is the second part of its archive's name."""
    name = next(p.name for p in archives if p.name.startswith(package + "_"))
    return name.split("_")[1].replace("%3a", ":")


def _sources(suite: str, mirror: str) -> list[aptsrc.Source]:
    found = aptsrc.require(BASE, mirror, "Debian's QEMU")
    if suite == BASE:
        return found
    return found + [s for s in aptsrc.require(suite, mirror, "Debian's QEMU")
                    if s.suite == suite]


def _download(root: Path, suite: str, package: str, mirror: str) -> list[Path]:
    with Stage(f"fetching the package {package} by apt") as stage:
        stage.note("index of " + suite)
        apt = aptsrc.PrivateApt(root, _sources(suite, mirror), kind="deb")
        apt.only("amd64")
        apt.options += ["-o", "APT::Install-Recommends=false"]
        apt.get("update", what="reading the mirror's index")
        stage.note(package)
        apt.get("install", "--download-only", "-y", "-t", suite, package, TOOLS,
                what=f"fetching the package {package}")
    return sorted((root / "archives").glob("*.deb"))


def _unpack(archives: list[Path], root: Path) -> None:
    root.mkdir()
    with Stage("unpacking Debian's QEMU") as stage:
        for i, path in enumerate(archives):
            stage.step(i, len(archives), path.name.split("_")[0])
            run_logged(["dpkg", "-x", path, root], "qemu-package",
                       f"unpacking {path.name}")
