# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of zones, one at a time, on libvssd: a program of its own.

    python -m vssd.measured.zones '{"library": ..., "act": "finish", ...}'

Each zone is written up to a part, the drive rests, and the command is timed.
"""

from __future__ import annotations

import ctypes
import json
import sys
from array import array
from typing import Any

from .host import (
    FINISH,
    NEVER,
    OPEN,
    RESET,
    WRITE,
    Completion,
    Request,
    info_of,
    open_drive,
    open_library,
    side,
)

ACTS = {"reset": RESET, "finish": FINISH, "open": OPEN}
CHUNK = 2048  # blocks of a write
HOUR_NS = 3600 * 10**9
MOST_WRITTEN = 2 * 10**9  # bytes, of all zones
UNIT = 8  # blocks


class Zones:
    """One drive, one command at a time."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.lib = open_library(setup["library"])
        self.drive = open_drive(self.lib, setup)
        info = info_of(self.lib, self.drive)
        self.blocks = int(info.zone_blocks)
        if not self.blocks:
            raise SystemExit("the drive has no zones (zones.enabled)")
        self.n = int(info.nblocks) // self.blocks
        self.tag = 0

    def run(self, op: int, lba: int, nblocks: int = 1) -> int:
        """One command; how many ns it took."""
        request, done = Request(0, lba, nblocks, 0, op, 0), Completion()
        self.tag += 1
        if self.lib.vssd_submit(self.drive, self.lib.vssd_now(self.drive),
                                ctypes.byref(request), self.tag) < 0:
            raise SystemExit(self.lib.vssd_message(self.drive).decode())
        while True:
            event = self.lib.vssd_next_event(self.drive)
            if event == NEVER:
                raise SystemExit("a command of a zone does not end")
            if self.lib.vssd_advance(self.drive, event, ctypes.byref(done), 1,
                                     ctypes.sizeof(Completion)) == 1:
                return int(done.complete_ns - done.submit_ns)

    def fill(self, zone: int, blocks: int) -> None:
        """Write so much of it, and let the drive come to rest."""
        for at in range(0, blocks, CHUNK):
            self.run(WRITE, zone * self.blocks + at, min(CHUNK, blocks - at))
        self.lib.vssd_rest(self.drive, HOUR_NS)

    def times(self, act: str, part: float, n: int) -> array[int]:
        """Of the command, zone after zone."""
        found = array("Q")
        units = round(part * self.blocks / UNIT)
        if part > 0 and not units:
            units = 1
        for zone in range(n):
            at = zone % self.n
            if zone >= self.n:
                self.run(RESET, at * self.blocks)
            self.fill(at, units * UNIT)
            found.append(self.run(ACTS[act], at * self.blocks))
            if act != "reset":
                self.run(RESET, at * self.blocks)
        return found


def main() -> int:
    """The program."""
    setup = json.loads(sys.argv[1])
    zones = Zones(setup)
    written = max(setup["part"] * zones.blocks * 512, 1)
    n = int(min(max(MOST_WRITTEN / written, 3), 200))
    print(json.dumps({"read": None, "write": side(
        zones.times(setup["act"], setup["part"], n), 1.0)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
