# SPDX-License-Identifier: GPL-2.0-or-later
"""Which QEMU guests run in.

Debian's own with the device as a plug-in (qemu_plugin.py); one that is built with
the device in it (qemu_build.py) if ./vssd setup was given a source or a suite, or
if a package of vssd brings it.
"""

from __future__ import annotations

import os

from .. import installed
from ..arch import X86_64, Arch
from ..errors import UserError
from . import packages, qemu_build, qemu_plugin
from .qemu_build import Qemu


def is_built() -> bool:
    """Is it one that we build?"""
    if installed.here():
        return bool(installed.qemu())
    origin = qemu_build.remembered_origin()
    return bool(origin.source or origin.suite) or os.uname().machine != "x86_64"


def made() -> Qemu:
    """QEMU for guests of this architecture, if it is there; UserError if not."""
    if is_built():
        return qemu_build.built()
    if found := qemu_plugin.made():
        return found
    raise UserError("QEMU is not there yet: run ./vssd setup")


def is_made(arch: Arch) -> bool:
    """Is that of ensure() there?  Of other architectures nobody knows."""
    if arch is not X86_64:
        return False
    try:
        made()
    except UserError:
        return False
    return True


def check() -> None:
    """UserError, before anything is made, if no package brings the device."""
    if installed.here() and not is_built():
        installed.plugin()


def ensure(arch: Arch = X86_64) -> Qemu:
    """QEMU for guests of an architecture."""
    if is_built():
        return qemu_build.ensure_for(arch)
    if arch is not X86_64:
        packages.ensure(packages.foreign(arch))
    return qemu_plugin.ensure(arch, qemu_build.remembered_origin().mirror)


def ensure_qtest() -> Qemu:
    """The same for tests without a guest."""
    if is_built():
        return qemu_build.ensure()
    return qemu_plugin.ensure_qtest(qemu_build.remembered_origin().mirror)
