# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of an installed vssd.

`meson install` (packaging/install.py) writes MARKER beside the sources of this
command: the folders of its programs and the device for QEMU, relative to the
marker's, and the version of that QEMU.  A checkout has none, and builds its
programs in the cache.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from .errors import UserError
from .paths import PROJECT

MARKER = PROJECT / "installed.json"


def here() -> bool:
    """Is this vssd installed?"""
    return MARKER.is_file()


def _said(kind: str) -> str:
    return str(json.loads(MARKER.read_text(encoding="ascii"))[kind])


def _folder(kind: str) -> Path:
    return Path(os.path.normpath(PROJECT / _said(kind)))


def program(name: str) -> Path:
    """A program for users: vssd-sim, vssd-oplog-check, vssd-server."""
    return _there(_folder("bin") / name, "vssd")


def qemu() -> Path | None:
    """The folder of a QEMU that has the device, if the package brings one."""
    folder = _folder("libexec") / "qemu"
    return folder if folder.exists() else None


def plugin() -> Path:
    """The device for an unmodified QEMU."""
    return _there(_folder("plugin"), "vssd-qemu")


def qemu_version() -> str:
    """The version of that QEMU, as 10.0.13."""
    return _said("qemu")


def guest_tools() -> Path:
    """The folder of the programs for guests."""
    return _there(_folder("libexec") / "guest-tools", "vssd")


def _there(path: Path, package: str) -> Path:
    if not path.exists():
        raise UserError(f"{path} is missing: install the package {package}")
    return path


def needs_sources(what: str) -> None:
    """Refuse what only a checkout can do."""
    if here():
        raise UserError(f"{what} needs the sources of vssd, and this vssd is"
                        " installed: run ./vssd of a checkout")
