# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that run in the guest: built here, static, so that they run on
whatever the guest is."""

from __future__ import annotations

import shutil
from pathlib import Path

from .. import installed
from ..arch import X86_64, Arch
from ..paths import PROJECT, file_bytes
from ..proc import run_logged

AGENT = "vssd-agent"
# Each with the files it is made of; headers are found by their folders.
TOOLS = {
    AGENT: ("vssd-agent.c",),
    "vssdctl": ("vssdctl.c", "drive.c"),
    "streamrun": ("streamrun.c", "placement.c", "hints.c"),
    "streamwrite": ("streamwrite.c", "drive.c", "placement.c", "uring.c"),
    "streamchurn": ("streamchurn.c", "drive.c", "placement.c", "uring.c"),
}
HEADERS = ("guest-tools/drive.h", "guest-tools/placement.h",
           "guest-tools/uring.h", "hw-ssd/nvme/vendor-log.h")
FLAGS = ("-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", "-Werror",
         f"-I{PROJECT / 'hw-ssd/nvme'}")


def source_bytes() -> bytes:
    """All that the tools are made of, for key_of()."""
    names = sorted({f"guest-tools/{n}" for files in TOOLS.values()
                    for n in files})
    return file_bytes(*names, *HEADERS, "scripts/vssd/build/guest_tools.py")


def build(folder: Path, arch: Arch = X86_64) -> dict[str, Path]:
    """Build every tool into a folder; where each is.  A package has them."""
    made = {}
    for name, files in TOOLS.items():
        made[name] = folder / name
        if installed.here():
            shutil.copy(installed.guest_tools() / name, folder)
            continue
        run_logged([arch.compiler, *FLAGS,
                    *(PROJECT / "guest-tools" / f for f in files),
                    "-o", made[name]], "guest-tools",
                   f"building the guest's {name}")
    return made
