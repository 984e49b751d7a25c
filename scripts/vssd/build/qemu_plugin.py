# SPDX-License-Identifier: GPL-2.0-or-later
"""The device as a plug-in of Debian's unmodified QEMU.

The emulator is that of Debian's package (qemu_package.py); vssd-qemu.so is
compiled with headers of the source package of the same version, and loaded by
-plugin.  Nothing of QEMU is compiled (docs/qemu-device.md).  A package of vssd
brings that file.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from .. import installed
from ..arch import X86_64, Arch
from ..errors import UserError
from ..paths import cache_dir, find_made, key_of, locked
from . import model, packages, programs, qemu_package, qemu_source, venv
from .qemu_build import Qemu

NAME = "vssd-qemu.so"
TARGET = f"hw-ssd/qemu/plugin/{NAME}"
QTEST = "hw-ssd/qemu/plugin/vssd-qtest.so"
OPTION = "qemu_source"
STARTS = 2  # changes with what _starts() makes
SUITE = qemu_source.SUITE
# Before it, a vCPU may look up an access in the wrong table while the memory of a
# PCI device moves (docs/qemu-device.md).
WITHOUT_RACE = (11, 0)


def package(arch: Arch = X86_64, mirror: str = "") -> qemu_package.Package:
    """Debian's QEMU for guests of an architecture: the machine's own, if it is of
    the version that the device is for."""
    own = qemu_package.installed(arch)
    if installed.here():
        return _for_installed(own, arch, mirror)
    if own and _numbers(own) >= qemu_source.OLDEST and _is_of(
            own, qemu_source.full_version(qemu_source.parts(mirror))):
        return own
    return qemu_package.unpacked(SUITE, arch, mirror)


def _for_installed(own: qemu_package.Package | None, arch: Arch,
                   mirror: str) -> qemu_package.Package:
    """The same for the plug-in that a package of vssd brings."""
    plugin, version = installed.plugin(), installed.qemu_version()
    if own and _is_of(own, version):
        return own
    found = qemu_package.unpacked(SUITE, arch, mirror)
    if not _is_of(found, version):
        raise UserError(f"{plugin} is for QEMU {version}, and {SUITE} of the mirror"
                        f" has {found.version}: install vssd-qemu of that version,"
                        " or give --server")
    return found


def _package_made() -> qemu_package.Package | None:
    """The same, if it is there; nothing is fetched."""
    own = qemu_package.installed()
    tree = qemu_source.parts_made()
    version = installed.qemu_version() if installed.here() \
        else qemu_source.full_version(tree) if tree else ""
    if own and _is_of(own, version):
        return own
    return qemu_package.there(SUITE)


def _is_of(package: qemu_package.Package, version: str) -> bool:
    return qemu_package.upstream(package.version) == version


def _numbers(package: qemu_package.Package) -> tuple[int, ...]:
    """The first two of its version."""
    return tuple(map(int, qemu_package.upstream(package.version).split(".")[:2]))


def ensure(arch: Arch = X86_64, mirror: str = "") -> Qemu:
    """Debian's emulator for guests of an architecture, with the device."""
    debian = package(arch, mirror)
    if installed.here():
        return Qemu(_start_installed(debian), arch)

    def build() -> tuple[list[Path], list[Path]]:
        plugin = build_plugin("release", debian, mirror)
        loaded = cache_dir() / (programs.PREFIX + _key(debian)) / NAME
        return [plugin, *_starts(debian, loaded, plugin.parent)], []

    return Qemu(programs.ensure(lambda: _key(debian), build), arch)


def made() -> Qemu | None:
    """The same, if it is there and up to date."""
    debian = _package_made()
    if not debian:
        return None
    found = find_made(_started(debian), qemu_package.VERSION) \
        if installed.here() else programs.find(_key(debian))
    return Qemu(found) if found else None


def _key(package: qemu_package.Package) -> str:
    return programs.key("qemu-plugin", programs.DEVICE, model.KINDS["release"],
                        package.arch.name, package.root, package.version,
                        STARTS)


def _started(package: qemu_package.Package) -> str:
    """The folder of the cache that starts it with the plug-in of a package."""
    return "qemu-start-" + key_of(package.arch.name, package.root, package.version,
                                  installed.plugin(), STARTS)


def _start_installed(package: qemu_package.Package) -> Path:
    """That folder, with a link to the plug-in."""
    name = _started(package)
    folder = cache_dir() / name
    with locked(name):
        if not folder.exists():
            part = folder.with_name(name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            made = _starts(package, installed.plugin(), part)[0].parent
            (made / NAME).symlink_to(installed.plugin())
            made.rename(folder)
            part.rmdir()
    return folder


def build_plugin(kind: str, package: qemu_package.Package,
                 mirror: str = "") -> Path:
    """vssd-qemu.so for this package, in the build `kind` of the model."""
    packages.ensure(packages.BUILD)
    venv.ensure()
    model.set_option(kind, OPTION, str(source_of(package, mirror)))
    return model.ensure(kind, TARGET) / TARGET


def source_of(package: qemu_package.Package, mirror: str = "") -> Path:
    """QEMU's source, as far as the plug-in for this package needs it."""
    return qemu_source.parts(mirror, qemu_package.upstream(package.version))


def _starts(package: qemu_package.Package, plugin: Path, to: Path) -> list[Path]:
    """Scripts that start the emulator with the plug-in, and the image tools."""
    emulator = package.arch.emulator
    folder = to / emulator
    folder.mkdir(exist_ok=True)
    found = [qemu_package.write_start(
        folder / emulator, package.start(emulator, "-plugin", str(plugin)))]
    for tool in qemu_package.IMAGE_TOOLS:
        found.append(qemu_package.write_start(folder / tool,
                                              package.start(tool)))
    version = folder / qemu_package.VERSION
    version.write_text(package.version + "\n", encoding="ascii")
    return [*found, version]


def ensure_qtest(mirror: str = "") -> Qemu:
    """The same with QEMU's accelerator for tests without a guest, which the
    package lacks."""
    qemu = ensure(X86_64, mirror)
    debian = package(X86_64, mirror)
    build_plugin("release", debian, mirror)
    accelerator = model.ensure("release", QTEST) / QTEST
    return Qemu(starts_qtest(debian, qemu.build / NAME, accelerator))


def starts_qtest(debian: qemu_package.Package, plugin: Path,
                 accelerator: Path) -> Path:
    """The folder of scripts that start the emulator with this plug-in and that
    accelerator, and the image tools; beside the accelerator."""
    folder = accelerator.parent / "qtest"
    folder.mkdir(exist_ok=True)
    emulator = X86_64.emulator
    qemu_package.write_start(folder / emulator, debian.start(
        emulator, "-plugin", str(plugin), preload=accelerator))
    for tool in qemu_package.IMAGE_TOOLS:
        qemu_package.write_start(folder / tool, debian.start(tool))
    return folder


def loses_interrupts(emulator: Path) -> bool:
    """May guests with several vCPUs lose interrupts in this emulator, when each
    has a thread of its own?"""
    try:
        text = emulator.with_name(qemu_package.VERSION).read_text("ascii")
    except OSError:
        return False  # one that we have built has the patches
    numbers = qemu_package.upstream(text).split(".")
    return tuple(map(int, numbers[:2])) < WITHOUT_RACE
