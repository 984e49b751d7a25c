# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-server, and the library that it is linked with.

libvfio-user has no package, but QEMU's source package has its source.
"""

from __future__ import annotations

from pathlib import Path

from .. import installed
from ..paths import PROJECT
from . import model, packages, programs, qemu_build, qemu_source, venv

TARGET = "hw-ssd/vfio-user/vssd-server"
LIBRARY = "subprojects/libvfio-user"
OPTION = "libvfio_user"


def library() -> Path:
    """The source of libvfio-user."""
    return qemu_source.parts(qemu_build.remembered_origin().mirror) / LIBRARY


def ensure() -> Path:
    """The program, up to date; a package brings its own."""
    if installed.here():
        return installed.program("vssd-server")
    folder = programs.ensure(
        lambda: programs.key(TARGET, programs.SIM, model.KINDS["release"]),
        lambda: ([build("release")], [PROJECT / "profiles"]))
    return folder / "vssd-server"


def build(kind: str) -> Path:
    """The program in the build `kind` of the model."""
    packages.ensure(packages.SERVER)
    venv.ensure()
    model.set_option(kind, OPTION, str(library()))
    return model.ensure(kind, TARGET) / TARGET
