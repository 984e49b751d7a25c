# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: what is needed for what, and installing what is missing.

The only module that needs root, and only when a package is missing: it says
which, why, and the command that it runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from .errors import UserError
from .proc import log_file, telling_line
from .ui import Stage, say


@dataclass(frozen=True)
class Group:
    """Packages with one purpose."""

    why: str
    names: tuple[str, ...]


PYTHON = Group("the vssd command's Python environment", ("python3-venv",))
BUILD = Group("building the model and QEMU", (
    "gcc", "libc6-dev", "make", "pkg-config", "ninja-build", "flex", "bison",
    "libglib2.0-dev", "libpixman-1-dev", "libslirp-dev", "liburing-dev",
    "libaio-dev", "libcap-ng-dev", "libattr1-dev", "libnuma-dev",
    "libfdt-dev", "zlib1g-dev", "liblzma-dev", "libzstd-dev"))
SOURCE = Group("unpacking QEMU's source", ("dpkg-dev", "xz-utils", "patch"))
FIRMWARE = Group("firmware that boots guests",
                 ("seabios", "ovmf", "qemu-system-data"))
IMAGE = Group("making the guest image", (
    "mmdebstrap", "fakeroot", "e2fsprogs", "fdisk", "mtools", "dosfstools",
    "grub-common", "grub-pc-bin", "grub-efi-amd64-bin", "uidmap",
    "debian-archive-keyring", "libc6-dev"))
KERNEL = Group("building a guest kernel", (
    "gcc", "libc6-dev", "make", "flex", "bison", "bc", "libelf-dev",
    "libssl-dev", "patch"))
CLANG = Group("the tests' second compiler and sanitizers", ("clang", "llvm"))
CASSANDRA = Group("getting Cassandra for a guest", (
    "maven", "default-jdk-headless", "e2fsprogs"))
LIBVIRT = Group("the libvirt test", (
    "libvirt-daemon", "libvirt-daemon-driver-qemu", "libvirt-clients"))

SETUP = (PYTHON, BUILD, SOURCE, FIRMWARE, IMAGE)


def missing(names: tuple[str, ...]) -> list[str]:
    """Those of the packages that are not installed."""
    out = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n",
         *names], capture_output=True, text=True, check=False).stdout
    have = {line.split()[0] for line in out.splitlines()
            if line.endswith(" installed")}
    return [n for n in names if n not in have]


def plan(*groups: Group) -> list[tuple[Group, list[str]]]:
    """What ensure() would install."""
    if not shutil.which("dpkg-query"):
        raise UserError("this system has no dpkg: install the packages listed"
                        " in docs/guest.md by hand and use --no-packages")
    found = [(g, missing(g.names)) for g in groups]
    return [(g, names) for g, names in found if names]


def install_command(names: list[str]) -> list[str]:
    """The command that installs them; with sudo only when not root."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    if os.geteuid() == 0:
        return command
    return ["sudo", *command]


def ensure(*groups: Group) -> None:
    """Install what is missing of these groups."""
    if os.environ.get("VSSD_NO_PACKAGES"):
        return
    wanted = plan(*groups)
    if not wanted:
        return
    names = sorted({n for _, some in wanted for n in some})
    for group, some in wanted:
        say(f"needs for {group.why}: {' '.join(some)}")
    command = install_command(names)
    if command[0] == "sudo" and not shutil.which("sudo"):
        raise UserError("Debian packages are missing and there is no sudo; as"
                        f" root: {' '.join(command[1:])}")
    say("runs: " + " ".join(command))
    if command[0] == "sudo" and subprocess.run(["sudo", "-v"]).returncode:
        raise UserError("sudo refused; as root: " + " ".join(command[1:]))
    with Stage("installing Debian packages"):
        _install(command)


def _install(command: list[str]) -> None:
    log = log_file("packages")
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C")
    if command[0] == "sudo":
        command = ["sudo", "DEBIAN_FRONTEND=noninteractive", *command[1:]]
    update = [*command[:command.index("apt-get")], "apt-get", "update"]
    with open(log, "w", encoding="utf-8") as f:
        for attempt in (command, update, command):
            done = subprocess.run(attempt, stdout=f, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, env=env,
                                  check=False)
            if attempt is command and done.returncode == 0:
                return
    with open(log, encoding="utf-8", errors="replace") as f:
        why = telling_line(f.readlines())
    raise UserError(f"installing Debian packages failed: {why} (log: {log})")


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
