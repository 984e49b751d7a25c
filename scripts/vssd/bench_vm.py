# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests to measure in, for bench_guest.py and the idle figure."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import bench_guest, paths
from .build import qemu_build
from .guest import image as image_module
from .guest import kvm, machine
from .guest.guest import Guest
from .rundir import rundir
from .ui import Stage

SETTLE_S = 10
IDLE_S = 20


def null_drive(device: str, serial: str, profile: str = "") -> machine.Drive:
    """A drive in front of a block node that does nothing."""
    return machine.Drive(Path(), "", device,
                         paths.find_profile(profile) if profile else None,
                         serial=serial, node=bench_guest.null_node())


@contextmanager
def booted(*more: machine.Drive) -> Iterator[Guest]:
    """A guest on a virtio disk, which takes no part, with these drives; they
    count from 1."""
    qemu = qemu_build.ensure()
    built_in = image_module.ensure()
    with rundir() as folder:
        root = folder / "root.qcow2"
        image_module.overlay(qemu.img, built_in.disk, root)
        spec = machine.Spec(
            qemu.emulator, kvm.accelerator(qemu),
            [machine.Drive(root, "qcow2", "virtio-blk-pci"), *more],
            kernel=built_in.kernel, initrd=built_in.initrd, serve=True,
            append=f"root={built_in.root} rw console=ttyS0")
        with Guest(spec) as guest:
            with Stage("booting a guest to measure in"):
                guest.wait_agent()
                guest.wait_prompt()
                time.sleep(SETTLE_S)
            yield guest


def reset_stats(guest: Guest, drive: int) -> None:
    """Forget what the drive did until now."""
    guest.qmp("qom-set", path=f"/machine/peripheral/ssd{drive}",
              property="reset-stats", value=True)


def row(name: str, ours: float, peer: float | None, unit: str, note: str = "",
        ratio: float | None = None) -> dict[str, Any]:
    """One line of results."""
    if ratio is None and peer:
        ratio = ours / peer
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio,
            "unit": unit, "note": note}


def idle(rounds: int) -> list[dict[str, Any]]:
    """CPU time of QEMU while the guest does nothing, with and without us."""
    found: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        for who, drives in (("peer", []), ("ours", [
                null_drive("vssd", bench_guest.OURS, "zero-latency")])):
            with booted(*drives) as guest, Stage(f"an idle guest ({who})"):
                assert guest.live.proc
                guest.run("sync")
                time.sleep(SETTLE_S)
                share = bench_guest.idle_cpu(guest.live.proc.pid, IDLE_S)
                found[who].append(100 * share)
    ours, peer = (statistics.median(found[w]) for w in ("ours", "peer"))
    return [row("idle_cpu", ours, peer, "% of a core",
                f"peer: without the device; difference {ours - peer:+.2f},"
                " aim: within 1")]
