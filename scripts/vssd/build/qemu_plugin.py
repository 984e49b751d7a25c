# SPDX-License-Identifier: GPL-2.0-or-later
"""The device as a plug-in of Debian's unmodified QEMU.

The emulator is that of Debian's package (qemu_package.py); vssd-qemu.so is
compiled with headers of the source package of the same version, and loaded by
-plugin.  Nothing of QEMU is compiled (hw-ssd/qemu/README.md).
"""

from __future__ import annotations

from pathlib import Path

from ..arch import X86_64, Arch
from ..paths import cache_dir
from . import model, packages, programs, qemu_package, qemu_source, venv
from .qemu_build import Qemu

NAME = "vssd-qemu.so"
TARGET = f"hw-ssd/qemu/plugin/{NAME}"
QTEST = "hw-ssd/qemu/plugin/vssd-qtest.so"
OPTION = "qemu_source"
STARTS = 2  # changes with what _starts() makes
SUITE = qemu_source.SUITE
# Before it, a vCPU may look up an access in the wrong table while the memory of a
# PCI device moves (hw-ssd/qemu/README.md).
WITHOUT_RACE = (11, 0)


def ensure(arch: Arch = X86_64, mirror: str = "") -> Qemu:
    """Debian's emulator for guests of an architecture, with the device."""
    package = qemu_package.unpacked(SUITE, arch, mirror)

    def build() -> tuple[list[Path], list[Path]]:
        plugin = build_plugin("release", package, mirror)
        return [plugin, *_starts(package, _key(package), plugin.parent)], []

    return Qemu(programs.ensure(lambda: _key(package), build), arch)


def made() -> Qemu | None:
    """The same, if it is there and up to date."""
    package = qemu_package.there(SUITE)
    found = programs.find(_key(package)) if package else None
    return Qemu(found) if found else None


def _key(package: qemu_package.Package) -> str:
    return programs.key("qemu-plugin", programs.DEVICE, model.KINDS["release"],
                        package.arch.name, package.folder, package.version,
                        STARTS)


def build_plugin(kind: str, package: qemu_package.Package,
                 mirror: str = "") -> Path:
    """vssd-qemu.so for this package, in the build `kind` of the model."""
    packages.ensure(packages.BUILD)
    venv.ensure()
    tree = qemu_source.parts(mirror, qemu_package.upstream(package.version))
    model.set_option(kind, OPTION, str(tree))
    return model.ensure(kind, TARGET) / TARGET


def _starts(package: qemu_package.Package, name: str, to: Path) -> list[Path]:
    """Scripts that start the emulator with the plug-in, and the image tools."""
    plugin = cache_dir() / (programs.PREFIX + name) / NAME
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
    package = qemu_package.unpacked(SUITE, X86_64, mirror)
    build_plugin("release", package, mirror)
    accelerator = model.ensure("release", QTEST) / QTEST
    folder = accelerator.parent / "qtest"
    folder.mkdir(exist_ok=True)
    emulator = X86_64.emulator
    qemu_package.write_start(folder / emulator, package.start(
        emulator, "-plugin", str(qemu.build / NAME), preload=accelerator))
    for tool in qemu_package.IMAGE_TOOLS:
        qemu_package.write_start(folder / tool, package.start(tool))
    return Qemu(folder)


def loses_interrupts(emulator: Path) -> bool:
    """May guests with several vCPUs lose interrupts in this emulator, when each
    has a thread of its own?"""
    try:
        text = emulator.with_name(qemu_package.VERSION).read_text("ascii")
    except OSError:
        return False  # one that we have built has the patches
    numbers = qemu_package.upstream(text).split(".")
    return tuple(map(int, numbers[:2])) < WITHOUT_RACE
