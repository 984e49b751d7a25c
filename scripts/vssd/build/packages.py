# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: the groups of packages, and their installation.

The only module that needs root, and only when a package is missing: it says
which, why, and the command that it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from .. import installed
from ..arch import Arch
from ..errors import UserError
from ..proc import run_logged
from ..ui import Stage, say


@dataclass(frozen=True)
class Group:
    """Packages with one purpose.

    `derived` finds the names that differ from suite to suite; it raises
    LookupError while apt does not know the packages that it asks about.
    """

    why: str
    names: tuple[str, ...]
    derived: Callable[[], tuple[str, ...]] | None = None


def clang_runtime() -> tuple[str, ...]:
    """Clang's sanitizer runtime: clang only recommends it, and its name has
    the number of the clang that is, or would be, installed."""
    found = re.search(r"\bclang-(\d+)\b", _depends("clang"))
    if not found:
        raise LookupError("clang")
    # Before Debian 12 the runtime is in the package of common files.
    for name in (f"libclang-rt-{found[1]}-dev",
                 f"libclang-common-{found[1]}-dev"):
        if not missing((name,)) or _apt_cache("show", name):
            return (name,)
    raise LookupError(f"libclang-rt-{found[1]}-dev")


def _depends(name: str) -> str:
    """Dependencies of a package: as installed, else as apt knows them."""
    if not missing((name,)):
        return _output(["dpkg-query", "-W", "-f", "${Depends}", name])
    return _apt_cache("depends", "--important", name)


def _apt_cache(*args: str) -> str:
    return _output(["apt-cache", *args])


def _output(command: list[str]) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C")).stdout


PYTHON = Group("the vssd command's Python environment", ("python3-venv",))
BUILD = Group("building the model and the device", (
    "gcc", "libc6-dev", "pkg-config", "ninja-build", "libglib2.0-dev",
    "liburing-dev", "zlib1g-dev", "liblzma-dev", "libzstd-dev"))
SERVER = Group("building vssd-server", (*BUILD.names, "libjson-c-dev", "libnbd-dev"))
QEMU = Group("building QEMU", (
    *BUILD.names, "make", "flex", "bison", "libpixman-1-dev", "libslirp-dev",
    "libaio-dev", "libcap-ng-dev", "libattr1-dev", "libnuma-dev", "libfdt-dev"))
SOURCE = Group("unpacking QEMU's source", ("dpkg-dev", "xz-utils", "patch"))
FIRMWARE = Group("firmware that boots guests",
                 ("seabios", "ovmf", "qemu-system-data"))
IMAGE = Group("making the guest image", (
    "mmdebstrap", "fakeroot", "e2fsprogs", "fdisk", "mtools", "dosfstools",
    "grub-common", "grub-pc-bin", "grub-efi-amd64-bin", "uidmap",
    "debian-archive-keyring", "libc6-dev", "kmod"))
KERNEL = Group("building a guest kernel", (
    "gcc", "libc6-dev", "make", "flex", "bison", "bc", "libelf-dev",
    "libssl-dev", "patch"))
CLANG = Group("the tests' second compiler and sanitizers", ("clang", "llvm"),
              clang_runtime)
LINT = Group("the checks of the sources, man pages and completions", (
    "clang-tidy", "shellcheck", "man-db", "zsh", "fish"))
BROWSER = Group("the tests of the live page", ("chromium", "fonts-dejavu-core"))
PACKAGING = Group("the tests of packages", (
    "debhelper", "dpkg-dev", "fakeroot", "nix-bin", "rpm"))
CASSANDRA = Group("getting Cassandra for a guest", (
    "maven", "default-jdk-headless", "e2fsprogs"))
# Its guest has the files of this machine; without udev it finds no port for the
# output and the status of its command.
VNG = Group("booting kernels by virtme-ng", ("busybox-static", "kmod", "udev"))
U_BOOT = Group("the U-Boot test", ("u-boot-qemu",))
LIBVIRT = Group("the libvirt test", (
    "libvirt-daemon", "libvirt-daemon-driver-qemu", "libvirt-clients",
    "virtinst", "apparmor"))

_lock = threading.Lock()  # of threads, of which one installs at a time
LOCK_S = 600  # for another apt that runs

SETUP = (PYTHON, BUILD, SOURCE, FIRMWARE, IMAGE)
TEST = (*SETUP, QEMU, CLANG, LINT)
INSTALLED = (PYTHON, FIRMWARE, IMAGE)  # setup without a compiler


def foreign(arch: Arch) -> Group:
    """Packages for guests of another architecture."""
    return Group(f"guests of {arch.name}", arch.packages)


def missing(names: tuple[str, ...]) -> list[str]:
    """Those of the packages that are not installed."""
    out = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n",
         *names], capture_output=True, text=True, check=False).stdout
    have = {line.split()[0] for line in out.splitlines()
            if line.endswith(" installed")}
    return [n for n in names if n not in have]


def plan(*groups: Group) -> list[tuple[Group, list[str]]]:
    """The packages that ensure() would install; LookupError: apt must update its lists
    first."""
    if not shutil.which("dpkg-query"):
        raise UserError("this system has no dpkg: install by hand what"
                        " scripts/vssd/build/packages.py names, and set"
                        " VSSD_NO_PACKAGES=1")
    found = [(g, missing(g.names + (g.derived() if g.derived else ())))
             for g in groups]
    return [(g, names) for g, names in found if names]


def install_command(names: list[str]) -> list[str]:
    """The command that installs them; with sudo only when not root."""
    return _apt_get("install", "-y", "--no-install-recommends", *names)


def _apt_get(*args: str) -> list[str]:
    command = ["apt-get", "-o", f"DPkg::Lock::Timeout={LOCK_S}", *args]
    return command if os.geteuid() == 0 else ["sudo", *command]


def setup_groups() -> tuple[Group, ...]:
    """All that guests of this machine's architecture need."""
    return INSTALLED if installed.here() else SETUP


def ensure(*groups: Group) -> None:
    """Install the missing packages of these groups."""
    if not os.environ.get("VSSD_NO_PACKAGES"):
        with _lock:
            _ensure(*groups)


def _ensure(*groups: Group) -> None:
    try:
        wanted = plan(*groups)
    except LookupError:
        wanted = _plan_after_update(*groups)
    if not wanted:
        return
    names = sorted({n for _, some in wanted for n in some})
    for group, some in wanted:
        say(f"needs for {group.why}: {' '.join(some)}")
    command = install_command(names)
    _announce(command)
    with Stage("installing Debian packages"):
        _run([command, _apt_get("update"), command])


def _plan_after_update(*groups: Group) -> list[tuple[Group, list[str]]]:
    command = _apt_get("update")
    _announce(command)
    with Stage("updating apt's lists of packages"):
        _run([command])
    try:
        return plan(*groups)
    except LookupError as e:
        raise UserError(f"apt knows no package {e}; does its configuration"
                        " name a mirror of this suite?") from e


def _announce(command: list[str]) -> None:
    """Name the commands that will run as root, and have sudo ask for the password."""
    if command[0] == "sudo" and not shutil.which("sudo"):
        raise UserError("Debian packages are missing and there is no sudo; as"
                        f" root: {' '.join(command[1:])}")
    say("runs: " + " ".join(command))
    if command[0] == "sudo" and subprocess.run(["sudo", "-v"],
                                               check=False).returncode:
        raise UserError("sudo refused; as root: " + " ".join(command[1:]))


def _run(attempts: list[list[str]]) -> None:
    """Run them until the first, or its repetition, succeeds."""
    what = next(x for x in ("install", "update") if x in attempts[0])
    for i, command in enumerate(attempts):
        args = command if command[0] != "sudo" else [
            "sudo", "DEBIAN_FRONTEND=noninteractive", *command[1:]]
        try:
            run_logged(args, "packages", f"apt-get {what}", append=i > 0,
                       env={"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
        except UserError:
            if i == len(attempts) - 1:
                raise
        else:
            if command == attempts[0]:
                return


def print_plan(*groups: Group) -> None:
    """For --dry-run."""
    wanted = plan(*groups)
    for group, some in wanted:
        print(f"would install for {group.why}: {' '.join(some)}")
    if wanted:
        names = sorted({n for _, some in wanted for n in some})
        print("by: " + " ".join(install_command(names)))
    else:
        print("every Debian package is there", file=sys.stdout)
