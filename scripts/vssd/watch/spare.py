# SPDX-License-Identifier: GPL-2.0-or-later
"""The spare space of a drive whose image is smaller than its profile: such a
drive hardly ever collects garbage, and nothing in its statistics says so.

Asks no program: it may have to be built first.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UserError
from ..sim.calibrate import number_of, settings

if TYPE_CHECKING:
    from ..guest.hardware import Drive

GEOMETRY = ("channels", "chips", "dies", "planes", "blocks", "pages",
            "page_size")
QCOW2 = struct.Struct(">4s20xQ")  # magic and the size of the disk
OP_PERCENT = "7%"  # of a profile that gives none (docs/options.md)
FAR_PERCENT = 25   # more than its own and twice its own: worth a line


@dataclass(frozen=True)
class Spare:
    """(Physical capacity - capacity) / capacity, in percent."""

    now: float     # with the image as capacity
    own: float     # of the profile and the options
    bytes: int     # of an image that leaves the own share

    @property
    def is_far(self) -> bool:
        """Far more than its data sheet says?"""
        return self.now >= max(2 * self.own, self.own + FAR_PERCENT)

    def text(self, name: str) -> str:
        """The line of a run's summary."""
        return (f"  {name} has {int(self.now)} % spare space, {int(self.own)} % by"
                " its data sheet, since its image is smaller than the drive: GC"
                " hardly runs; use a further drive, as --drive PROFILE without"
                f" size=, or an image of {self.bytes} bytes")


def image_bytes(drive: Drive) -> int:
    """The size of the disk that the guest sees; 0: it is not known."""
    try:
        with drive.image.open("rb") as f:
            if drive.fmt != "qcow2":
                return f.seek(0, 2)
            magic, size = QCOW2.unpack(f.read(QCOW2.size))
            return int(size) if magic == b"QFI\xfb" else 0
    except (OSError, struct.error):
        return 0


def of(drive: Drive) -> Spare | None:
    """The spare space of a drive; None: it cannot be known from here."""
    size = image_bytes(drive)
    if not drive.profile or not size:
        return None
    try:
        have = settings(drive.profile.read_text(encoding="utf-8"))
        for one in drive.sets:
            key, _, value = one.partition("=")
            have[key] = value
        if have.get("zones.enabled") == "on":
            return None  # whole blocks are spare, by the layout of the zones
        raw = math.prod(number_of(have[f"nand.{key}"])[0] for key in GEOMETRY)
        capacity = number_of(have.get("ftl.capacity", "0"))[0]
        own = 100 * (raw / capacity - 1) if capacity else \
            number_of(have.get("ftl.op_percent", OP_PERCENT))[0]
    except (OSError, KeyError, UserError):
        return None
    return Spare(100 * (raw / size - 1), own, int(raw / (1 + own / 100)))


def advice(drives: list[Drive], ids: list[str]) -> str:
    """A line for each of these drives (ssd0, ...) that has far more."""
    found = [(f"ssd{i}", of(drive)) for i, drive in enumerate(drives)]
    return "\n".join(spare.text(name) for name, spare in found
                     if spare and spare.is_far and name in ids)
