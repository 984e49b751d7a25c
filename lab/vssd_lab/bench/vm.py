# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests to measure in: on a disk that takes no part, with the drives that are
compared behind block nodes that move no bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import emulator as emulators
from vssd.guest import hardware, kvm
from vssd.guest import image as image_module
from vssd.guest.guest import Guest
from vssd.rundir import rundir
from vssd.ui import Stage

SETTLE_S = 10
NULL_BYTES = 2 << 30
PEER, OURS, READ40 = "bench-peer", "bench-zero", "bench-read40"  # serials


def null_node() -> dict[str, Any]:
    """A block node that moves no bytes, the same for every drive."""
    return {"driver": "null-co", "size": NULL_BYTES}


def null_drive(device: str, serial: str, profile: str = "") -> hardware.Drive:
    """A drive in front of a block node that does nothing."""
    return hardware.Drive(Path(), "", device,
                         paths.find_profile(profile) if profile else None,
                         serial=serial, node=null_node())


@contextmanager
def booted(*more: hardware.Drive, smp: int = 2, emulator: Path | None = None,
           extra: Sequence[str] = ()) -> Iterator[Guest]:
    """A guest on a virtio disk, which takes no part, with these drives; they
    count from 1.  emulator: another one than ours; extra: arguments for it."""
    qemu = emulators.ensure()
    built_in = image_module.ensure()
    with rundir() as folder:
        root = folder / "root.qcow2"
        image_module.overlay(qemu.img, built_in.disk, root)
        spec = hardware.Spec(
            emulator or qemu.emulator, kvm.accelerator(qemu),
            [hardware.Drive(root, "qcow2", "virtio-blk-pci"), *more],
            kernel=built_in.kernel, initrd=built_in.initrd, serve=True,
            smp=smp, extra=list(extra),
            append=f"root={built_in.root} rw {hardware.KERNEL_ARGS}")
        with Guest(spec) as guest:
            with Stage("booting a guest to measure in"):
                guest.wait_agent()
                guest.wait_prompt()
                time.sleep(SETTLE_S)
            yield guest


def reset_stats(guest: Guest, drive: int) -> None:
    """Reset the drive's statistics."""
    guest.qmp("qom-set", path=f"/machine/peripheral/ssd{drive}",
              property="reset-stats", value=True)
