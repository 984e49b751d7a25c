# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-server against the device in QEMU: 4 KiB random I/O of a guest of each,
in turns; and the server's CPU time while its guest does nothing.

Both drives take no modelled time and have a sparse raw file, which fio fills
first.  The guest that is not measured is stopped.  Both guests are in one QEMU
if the built one has vfio-user-pci; else the server's is in Debian's.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import emulator as emulators
from vssd.build import qemu_package, vfio_server
from vssd.guest import hardware, served
from vssd.guest.guest import Guest
from vssd.rundir import rundir
from vssd.ui import Stage

from .fio import Runner, device_of
from .idle import IDLE_S, idle_cpu
from .peer import in_turns
from .rows import row
from .vm import NULL_BYTES, OURS, SETTLE_S, booted

PROFILE = "zero-latency"


def emulator() -> Path:
    """That of other guests if it can have the drive of a server, else Debian's."""
    usual = emulators.ensure().emulator
    return usual if qemu_package.has_vfio_user(usual) \
        else qemu_package.ensure_vfio_user().emulator


def version_of(program: Path) -> str:
    """QEMU's version."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True,
                          check=True).stdout
    return said.split("version ")[-1].split()[0]


def empty(path: Path) -> Path:
    """A sparse image."""
    with path.open("wb") as file:
        file.truncate(NULL_BYTES)
    return path


@contextmanager
def with_server(folder: Path) -> Iterator[tuple[Guest, Path]]:
    """A guest with a drive of a server; the server's control socket."""
    profile = paths.find_profile(PROFILE)
    image = empty(folder / "served.raw")
    with served.serving(vfio_server.ensure(),
                        served.Options(profile, image, serial=OURS),
                        folder) as found:
        drive = hardware.Drive(image, "raw", "vfio-user-pci", profile,
                              server=found)
        with booted(drive, emulator=emulator()) as guest:
            yield guest, found[1]


def filled(guest: Runner) -> str:
    """The device of the drive, whose blocks have been written once."""
    device = device_of(guest, OURS)
    guest.run(f"fio --name=fill --filename={device} --rw=write --bs=128k"
              " --size=256m --direct=1 --ioengine=libaio --iodepth=8")
    return device


def speed(rounds: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Rows for each workload and queue depth."""
    with rundir() as folder, with_server(folder) as (ours, _):
        image = empty(folder / "device.raw")
        with booted(hardware.Drive(image, "raw", "vssd",
                                  paths.find_profile(PROFILE), serial=OURS)) \
                as peer, Stage("fio: the server and the device in turns"):
            devices = {guest: filled(guest) for guest in (ours, peer)}
            versions = [version_of(guest.spec.emulator)
                        for guest in (ours, peer)]
            for depth, workload, mine, other in in_turns(
                    ours, peer, devices, rounds, seconds):
                yield row(f"guest_{workload}_4k_qd{depth}_server", mine, other,
                          "IOPS", f"{PROFILE} in vssd-server, QEMU"
                          f" {versions[0]}, against -device vssd, QEMU"
                          f" {versions[1]}; accelerator {ours.spec.accel}")


def idle(rounds: int) -> list[dict[str, Any]]:
    """CPU time of the server while its guest does nothing."""
    found = []
    for _ in range(rounds):
        with rundir() as folder, with_server(folder) as (guest, control), \
                Stage("an idle guest of vssd-server"):
            guest.run("sync")
            time.sleep(SETTLE_S)
            found.append(100 * idle_cpu(served.process_of(control), IDLE_S))
    return [row("idle_cpu_server", statistics.median(found), None, "% of a core",
                f"of vssd-server, {IDLE_S} s each: "
                + ", ".join(f"{x:.2f}" for x in found) + "; aim: below 1")]
