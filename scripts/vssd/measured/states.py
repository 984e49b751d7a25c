# SPDX-License-Identifier: GPL-2.0-or-later
"""Preconditioned drives: made once, kept in the cache, and started from.

Knows what each name of a state means; not the experiments that use it.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from ..paths import cache_dir, locked
from ..sim.run import Point, Runner
from .drives import Drive

UNIT = 4096
# --fill of vssd-sim makes these; a state is at rest, as a drive that waited.
FILLS = ("none", "preload", "seq")
AT_ONCE = ("none", "preload")


def write_trace(path: Path, requests: list[tuple[str, int, int]]) -> None:
    """A trace for vssd-sim replay: kind, offset and bytes of each request."""
    with path.open("w", encoding="utf-8") as f:
        f.write("time_ns,op,offset,size\n")
        f.writelines(f"0,{op},{at},{n}\n" for op, at, n in requests)


class States:
    """The states of drives.  `version` is the content of vssd-sim."""

    def __init__(self, runner: Runner, version: bytes,
                 folder: Path | None = None) -> None:
        self.runner = runner
        self.version = version + Path(__file__).read_bytes()
        self.folder = folder or cache_dir() / "board"
        self.folder.mkdir(exist_ok=True)
        self.sizes: dict[tuple[Path, tuple[str, ...]], int] = {}

    def capacity(self, drive: Drive) -> int:
        """The bytes of the drive as it is played."""
        key = (drive.path, drive.sets)
        if key not in self.sizes:
            point = Point(drive.path, "rw=read number_ios=1",
                          sets=drive.sets, args=("--fill", "none"))
            self.sizes[key] = self.runner.one(point)["capacity_bytes"]
        return self.sizes[key]

    def args(self, drive: Drive, name: str) -> tuple[str, ...]:
        """The options of vssd-sim that start a run from a state."""
        if name in AT_ONCE:
            return ("--fill", name)
        return ("--state", str(self.file(drive, name)))

    def file(self, drive: Drive, name: str) -> Path:
        """The drive in a state, as a file."""
        head, _, number = name.partition(":")
        key = Point(drive.path, "", sets=drive.sets, args=(name,)) \
            .key(self.version)
        file = self.folder / f"{key}.state"
        with locked(f"board-{key}"):
            if not file.exists():
                self._make(drive, head, float(number or 0), file)
        return file

    def _make(self, drive: Drive, head: str, number: float,
              file: Path) -> None:
        size = self.capacity(drive)
        new = file.with_suffix(".new")
        save = ("--save-state", str(new))
        if head in FILLS:
            self.runner.one(Point(drive.path, "rw=read number_ios=1",
                                  sets=drive.sets,
                                  args=("--fill", head, *save)))
        elif head == "scattered":
            units = list(range(size // UNIT))
            random.Random(1).shuffle(units)
            with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
                trace = Path(folder) / "fill.csv"
                write_trace(trace, [("write", u * UNIT, UNIT) for u in units])
                self.runner.one(Point(drive.path, trace=trace,
                                      sets=drive.sets, args=(
                                          "--iodepth", "128", "--fill",
                                          "none", *save)))
        elif head == "used":
            self.runner.one(Point(
                drive.path, f"rw=write bs=512k iodepth=8 size="
                f"{100 * number:.4g}% number_ios={int(size * number) >> 19}",
                sets=drive.sets, args=("--fill", "none", *save)))
        elif head == "megabytes":
            self.runner.one(Point(
                drive.path, "rw=randwrite bs=1m iodepth=128 seed=11"
                " offset=10.7% size=42.9%"
                f" number_ios={int(number * size * 0.429) >> 20}",
                sets=drive.sets, args=("--fill", "seq", *save)))
        else:  # random:N
            self.runner.one(Point(
                drive.path, "rw=randwrite bs=4k iodepth=448 seed=11"
                f" number_ios={int(number * size) // UNIT}",
                sets=drive.sets, args=("--fill", "seq", *save)))
        new.replace(file)
