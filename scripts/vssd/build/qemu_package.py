# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU that nobody builds: Debian's newest package, unmodified, in a root of
its own in the cache; for guests whose drive is in vssd-server.

The machine's own apt names the mirror.  The package and all that it needs are
unpacked, not installed: the emulator runs with the libraries of that root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ..errors import UserError
from ..paths import cache_dir, find_made, key_of, locked, need_space
from ..proc import run_logged
from ..ui import Stage
from . import aptsrc
from .qemu_build import Qemu

BASE = "trixie"
SUITE = "trixie-backports"  # has QEMU 10.1 or later
PACKAGE = "qemu-system-x86"
EMULATOR = "qemu-system-x86_64"
DEVICE = "vfio-user-pci"
DONE = "done"
ROOT_BYTES = 500 << 20
TRIPLET = "x86_64-linux-gnu"
START = f"""\
#!/bin/sh
# The emulator of Debian's package {PACKAGE}, with the libraries beside it.
root=$(dirname "$(readlink -f "$0")")/root
export QEMU_MODULE_DIR="$root/usr/lib/{TRIPLET}/qemu"
exec "$root/usr/lib64/ld-linux-x86-64.so.2" \\
    --library-path "$root/usr/lib/{TRIPLET}" \\
    "$root/usr/bin/{EMULATOR}" -L "$root/usr/share/seabios" \\
    -L "$root/usr/share/qemu" -L "$root/usr/lib/ipxe/qemu" "$@"
"""


def ensure(mirror: str = "") -> Qemu:
    """The machine's own QEMU if it is new enough; else the package's."""
    own = shutil.which(EMULATOR)
    if own and has_device(Path(own)):
        return Qemu(Path(own).parent)
    name = "qemu-package-" + key_of(SUITE, PACKAGE, START, "1")
    if found := find_made(name, DONE):
        return Qemu(found)
    folder = cache_dir() / name
    with locked(name):
        if not (folder / DONE).exists():
            _make(folder, mirror)
    return Qemu(folder)


def has_device(emulator: Path) -> bool:
    """Can it have a drive of vssd-server?  QEMU ends with status 0 also for a
    device that it does not know."""
    done = subprocess.run([str(emulator), "-device", f"{DEVICE},help"],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode == 0 and f"{DEVICE} options" in done.stdout


def _make(folder: Path, mirror: str) -> None:
    if os.uname().machine != "x86_64":
        raise UserError("--server needs an x86-64 machine, or a QEMU 10.1 or"
                        f" later in PATH as {EMULATOR}")
    need_space(cache_dir(), ROOT_BYTES, "Debian's QEMU")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    part.mkdir()
    try:
        _unpack(_download(part / "apt", mirror), part / "root")
        shutil.rmtree(part / "apt")
        start = part / EMULATOR
        start.write_text(START, encoding="ascii")
        start.chmod(0o755)
        if not has_device(start):
            raise UserError(f"the package {PACKAGE} of {SUITE} has no {DEVICE}:"
                            " QEMU 10.1 or later is needed")
        (part / DONE).touch()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _sources(mirror: str) -> list[aptsrc.Source]:
    found = aptsrc.require(BASE, mirror, "Debian's QEMU")
    return found + [s for s in aptsrc.require(SUITE, mirror, "Debian's QEMU")
                    if s.suite == SUITE]


def _download(root: Path, mirror: str) -> list[Path]:
    with Stage(f"fetching the package {PACKAGE} by apt") as stage:
        stage.note("index of " + SUITE)
        apt = aptsrc.PrivateApt(root, _sources(mirror), kind="deb")
        apt.only("amd64")
        apt.options += ["-o", "APT::Install-Recommends=false"]
        apt.get("update", what="reading the mirror's index")
        stage.note(PACKAGE)
        apt.get("install", "--download-only", "-y", "-t", SUITE, PACKAGE,
                what=f"fetching the package {PACKAGE}")
    return sorted((root / "archives").glob("*.deb"))


def _unpack(archives: list[Path], root: Path) -> None:
    root.mkdir()
    with Stage(f"unpacking {PACKAGE}") as stage:
        for i, path in enumerate(archives):
            stage.step(i, len(archives), path.name.split("_")[0])
            run_logged(["dpkg", "-x", path, root], "qemu-package",
                       f"unpacking {path.name}")
