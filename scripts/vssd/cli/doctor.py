# SPDX-License-Identifier: GPL-2.0-or-later
"""./vssd doctor: what works on this machine, and what to do about the rest.

No check installs or builds; that of KVM runs a boot sector.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import ending, installed, origin, paths
from ..build import emulator, packages, venv
from ..errors import UserError

WORKS, MADE_LATER, SLOWER, FAILS = "works", "is made when needed", \
    "is missing, and not needed", "fails"
GIB = 1 << 30
REPORT = "./vssd bench --report FILE"
# QEMU's source and build, vssd-sim's builds, the guest image.
DISK_BYTES = 8 * GIB
MEMORY_BYTES = 2 * GIB  # a guest of 1 GiB and the model of its drive


@dataclass
class Finding:
    """The outcome of one check."""

    what: str
    state: str
    detail: str
    remedy: str = ""


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) \
        -> None:
    """The command's options."""
    p = sub.add_parser(
        "doctor", help="say what works on this machine",
        description="Checks versions, packages, disk, memory, KVM and what is"
        " built.  It changes nothing.  The exit status is 1 if something"
        " fails.")
    p.add_argument("--json", action="store_true",
                   help="findings as JSON on standard output")
    p.set_defaults(call=main, without_libraries=True)


def _version() -> Finding:
    return Finding("vssd", WORKS, origin.version_text().removeprefix("vssd "))


def _system() -> Finding:
    name = "Linux"
    try:
        release = platform.freedesktop_os_release()
        name = release.get("PRETTY_NAME", name)
    except OSError:
        pass
    machine = platform.machine()
    if machine == "x86_64":
        return Finding("system", WORKS, f"{name}, {platform.release()}")
    return Finding("system", FAILS, f"{name}, {machine}",
                   "guests need an x86-64 processor")


def _python() -> Finding:
    # ./vssd starts none before 3.10.
    return Finding("Python", WORKS, platform.python_version())


def _libraries() -> Finding:
    if (venv.venv_dir() / "done").exists():
        return Finding("Python libraries", WORKS, str(venv.venv_dir()))
    return Finding("Python libraries", MADE_LATER,
                   "downloaded by pip into the cache")


def _group(group: packages.Group) -> Finding:
    what = f"packages for {group.why}"
    if not shutil.which("dpkg-query"):
        return Finding(what, FAILS, "this system has no dpkg",
                       "install by hand: " + " ".join(group.names))
    lost = packages.missing(group.names)
    if not lost:
        return Finding(what, WORKS, f"{len(group.names)} packages")
    if os.environ.get("VSSD_NO_PACKAGES"):
        return Finding(what, FAILS, "missing: " + " ".join(lost),
                       "install them, or unset VSSD_NO_PACKAGES")
    if os.geteuid() != 0 and not shutil.which("sudo"):
        return Finding(what, FAILS, "missing: " + " ".join(lost),
                       "as root: apt-get install " + " ".join(lost))
    return Finding(what, MADE_LATER, "missing: " + " ".join(lost))


def _disk() -> Finding:
    cache = paths.cache_dir()
    free = shutil.disk_usage(cache).free
    detail = f"{free / GIB:.1f} GiB free in {cache}"
    if free >= DISK_BYTES or _qemu().state == WORKS:
        return Finding("disk", WORKS, detail)
    return Finding("disk", FAILS, detail,
                   f"all builds need {DISK_BYTES // GIB} GiB: make room, or set"
                   " VSSD_CACHE to a directory elsewhere")


def _memory() -> Finding:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    free = 1024 * next(int(line.split()[1]) for line in text.splitlines()
                       if line.startswith("MemAvailable:"))
    detail = f"{free / GIB:.1f} GiB available"
    if free >= MEMORY_BYTES:
        return Finding("memory", WORKS, detail)
    return Finding("memory", FAILS, detail, "a guest and its drive need"
                   f" {MEMORY_BYTES // GIB} GiB; ./vssd run --mem 512M needs"
                   " less")


def _qemu() -> Finding:
    try:
        qemu = emulator.made()
    except UserError:
        return Finding("QEMU with the device", MADE_LATER,
                       "the first ./vssd run makes it")
    said = subprocess.run([qemu.emulator, "--version"], capture_output=True,
                          text=True, check=False)
    if said.returncode:
        return Finding("QEMU with the device", FAILS, str(qemu.emulator),
                       f"remove {qemu.build}; ./vssd setup makes it again")
    version = said.stdout.split("version", 1)[-1].split("\n")[0].strip()
    return Finding("QEMU with the device", WORKS, version)


def _kvm() -> Finding:
    device = Path("/dev/kvm")
    slow = "guests run with TCG, about ten times slower"
    if not device.exists():
        return Finding("KVM", SLOWER, f"no {device}; {slow}",
                       "enable virtualization in the firmware or hypervisor")
    if not os.access(device, os.R_OK | os.W_OK):
        return Finding("KVM", SLOWER, f"{device} cannot be opened; {slow}",
                       "add yourself to the group kvm")
    from ..guest import kvm

    try:
        answer = kvm.accelerator(emulator.made())
    except UserError:
        return Finding("KVM", WORKS, f"{device} can be opened; a guest tests it"
                       " once QEMU is built")
    if answer == "kvm":
        return Finding("KVM", WORKS, "a guest ran with it")
    return Finding("KVM", SLOWER, f"a guest did not run with it; {slow}")


def _speed() -> Finding:
    kvm = _kvm()
    if kvm.state == WORKS:
        return Finding("speed", WORKS, "with KVM, expect a guest's prompt in"
                       " seconds, and latencies near the modelled ones; no"
                       " machine of this project has KVM",
                       f"{REPORT} measures it")
    return Finding("speed", WORKS, "with TCG and two idle cores, expect a"
                   " guest's prompt after some 25 s, 25,000 small requests a"
                   " second, and 70 us more than the modelled latency; with"
                   " --icount guests measure exact times",
                   f"{REPORT} measures it")


CHECKS: tuple[Callable[[], Finding], ...] = (
    _version, _system, _python, _libraries,
    _disk, _memory, _qemu, _kvm, _speed)


def findings() -> list[Finding]:
    """The outcome of every check."""
    groups = packages.INSTALLED if installed.here() else packages.SETUP
    return [*(check() for check in CHECKS), *map(_group, groups)]


def main(args: argparse.Namespace) -> int:
    """./vssd doctor"""
    found = findings()
    if args.json:
        origin.write({"findings": [asdict(f) for f in found]})
    else:
        width = max(len(f.what) for f in found)
        for f in found:
            print(f"{f.what:{width}}  {f.state}: {f.detail}")
            if f.remedy:
                print(f"{'':{width}}  -> {f.remedy}")
    return ending.FAILED if any(f.state == FAILS for f in found) else 0
