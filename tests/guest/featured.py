# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives of the guest that the tests of streams, zones, metadata, keys, the
controller memory buffer, atomic writes and virtual functions share: one boot for
all.

The tests find a drive by its serial number.  Those with a number have it as
VSSD0001 and so on; of these QEMU has the statistics.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vssd import paths
from vssd.build import model
from vssd.guest.hardware import Drive

MIB = 1 << 20
STREAMS, HANDLES, GROUPS = 1, 2, 3
ZONES, GAP, BOTH = 4, 5, 6
# Linux has no multipath then: each virtual function has a disk of its own.
APPEND = " nvme_core.multipath=N"
VIRTUAL = {"sriov_vfs": 3, "num_queues": 4, "sriov_vq_flexible": 9,
           "sriov_vi_flexible": 9, "sriov_vq_per_vf": 5, "sriov_vi_per_vf": 5}

_PLACED = ["nand.channels=2", "nand.dies=1", "nand.pages=32",
           "ftl.op_percent=60%"]
_ZONED = ["nand.blocks=72", "nand.pages=64", "ftl.op_percent=0%",
          "ftl.alloc=in-order", "buffer.plp=on", "buffer.size=32MiB",
          "zones.enabled=on", "zones.max_active=14"]
NUMBERED = {
    STREAMS: [*_PLACED, "streams.max=4"],
    HANDLES: [*_PLACED, "fdp.ruhs=4"],
    GROUPS: [*_PLACED, "fdp.ruhs=2", "fdp.groups=2"],
    ZONES: _ZONED,
    GAP: [*_ZONED, "zones.capacity=12MiB"],  # behind the capacity of each zone
    BOTH: [*_ZONED, "zones.conventional=128MiB"],  # a namespace without
}
# By serial number: size in MiB, profile, properties of the device.
NAMED: dict[str, tuple[int, str, dict[str, Any]]] = {
    "T1": (64, "zero-latency", {"metadata": 8, "pi": 1}),
    "G64": (64, "zero-latency", {"metadata": 16, "pi": 1, "pi_guard": 64,
                                 "logical_block_size": 4096}),
    "EXT": (64, "zero-latency", {"metadata": 8, "pi": 2,
                                 "metadata_at": "extended"}),
    "KV": (128, "tlc-generic", {"namespaces": "64M:kv;rest"}),
    "CMBDRIVE": (64, "tlc-generic", {"cmb": 16 * MIB}),
    "WHOLE": (64, "tlc-generic", {
        "options": "buffer.plp=on;buffer.atomic=64KiB"}),
    "TORN": (64, "tlc-generic", {"atomic.nawupf": 0}),
    "SRIOVDRIVE": (64, "tlc-generic", {"bus": "port9", **VIRTUAL}),
}


def blank(path: Path, nbytes: int) -> Path:
    """An empty raw image."""
    with path.open("wb") as f:
        f.truncate(nbytes)
    return path


def numbered(folder: Path) -> list[Drive]:
    """Drives 1 to 6."""
    profile = paths.find_profile("tlc-generic")
    return [Drive(blank(folder / f"{i}.raw", model.drive_info(
        profile, sets)["capacity_bytes"]), "raw", "vssd", profile, sets)
        for i, sets in NUMBERED.items()]


def named(folder: Path) -> list[str]:
    """QEMU's arguments for the others."""
    args = ["-device", "pcie-root-port,id=port9,slot=9"]
    for serial, (size_mib, profile, properties) in NAMED.items():
        image = blank(folder / f"{serial}.raw", size_mib * MIB)
        args += ["-blockdev", json.dumps({
                     "driver": "raw", "node-name": f"node-{serial}",
                     "file": {"driver": "file", "filename": str(image)}}),
                 "-device", json.dumps({
                     "driver": "vssd", "drive": f"node-{serial}",
                     "serial": serial,
                     "profile": str(paths.find_profile(profile)),
                     **properties})]
    return args
