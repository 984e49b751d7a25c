# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of ./vssd figures streams: what Kang et al. (HotStorage 2014)
state of a multi-streamed SSD, on a drive of 1/256 of theirs.

A store writes a log in turn, tables that are merged by fours, and beside it
parts of the system's files at random places.  Five series play the same
writes.  It knows sizes, not keys; the figure's own store (lsm.py) knows both.
"""

import json
import os
import random
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

SIM = os.environ["VSSD_SIM"]
KIB, MIB = 1 << 10, 1 << 20
SETS = ["nand.blocks=128", "nand.pages=16", "buffer.size=1MiB",
        "streams.gc=merge"]
SYSTEM_BYTES = 152 * MIB
LOG_BYTES = 8 * MIB
WRITE = 128 * KIB  # of log and tables
FLUSH = MIB
MERGED = 3  # of four tables, after updates of one key have met
LARGEST = 6 * MIB
TIERS = 2
TABLES_END = 222 * MIB
STEPS = 4000  # each a write of the log
SYSTEM, LOG, TABLE, TIER1, TIER2 = range(5)

OFF, ON, APP, DATA = "TRIM off", "TRIM on", "Multi-App", "Multi-Data"
LOGS = "Multi-Log"
MAPS = {OFF: "0,0,0,0,0", ON: "0,0,0,0,0", APP: "0,1,1,1,1",
        LOGS: "0,1,2,2,2", DATA: "0,1,2,3,4"}

Request = tuple[str, int, int, int]  # operation, offset, bytes, kind


class Store:
    """Its writes, as they come."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.free = list(range(SYSTEM_BYTES + LOG_BYTES, TABLES_END, WRITE))
        self.tables: list[list[list[int]]] = [[] for _ in range(TIERS + 1)]

    def writes(self) -> Iterator[Request]:
        """The system's files, then the store at work."""
        for at in range(0, SYSTEM_BYTES, WRITE):
            yield "W", at, WRITE, SYSTEM
        tasks: list[Iterator[Request]] = []
        for step in range(STEPS):
            yield "W", SYSTEM_BYTES + step * WRITE % LOG_BYTES, WRITE, LOG
            yield "W", self.rng.randrange(SYSTEM_BYTES // 4096) * 4096, 4096, \
                SYSTEM
            if step % (FLUSH // WRITE) == 0:
                tasks.append(self.flush())
            tasks += self.merges()
            for task in list(tasks):
                for _ in range(2):
                    request = next(task, None)
                    if request is None:
                        tasks.remove(task)
                        break
                    yield request

    def table(self, nbytes: int, tier: int, inputs: list[list[int]]) \
            -> Iterator[Request]:
        made: list[int] = []
        kind = (TABLE, TIER1, TIER2)[min(tier, 2)]
        for _ in range(0, nbytes, WRITE):
            made.append(self.free.pop(0))
            yield "W", made[-1], WRITE, kind
        for at in (x for old in inputs for x in old):
            self.free.append(at)
            yield "D", at, WRITE, SYSTEM
        if tier <= TIERS:
            self.tables[tier].append(made)
        else:  # the last merge replaces all of it
            self.free += made
            for at in made:
                yield "D", at, WRITE, SYSTEM

    def flush(self) -> Iterator[Request]:
        return self.table(FLUSH, 0, [])

    def merges(self) -> Iterator[Iterator[Request]]:
        for tier, tables in enumerate(self.tables):
            if len(tables) >= 4:
                inputs = [tables.pop(0) for _ in range(4)]
                nbytes = len(inputs[0]) * WRITE * MERGED
                yield self.table(min(nbytes, LARGEST), tier + 1, inputs)


class Kang2014(unittest.TestCase):
    result: dict[str, dict[str, float]]

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as name:
            store = list(Store(2014).writes())
            cls.result = {n: cls.play(Path(name), n, store) for n in MAPS}

    @staticmethod
    def play(folder: Path, name: str, store: list[Request]) \
            -> dict[str, float]:
        """Time, pages copied and 99.9 % of the writes after the system's
        files."""
        trace, commands = folder / "trace.csv", folder / "commands.csv"
        trace.write_text("time_ns,op,offset,size,stream\n" + "".join(
            f"{i},{op},{at},{n},{kind}\n"
            for i, (op, at, n, kind) in enumerate(store)
            if op != "D" or name != OFF))
        sets = [x for s in (*SETS, f"streams.max={MAPS[name][-1]}")
                for x in ("--set", s)]
        done = subprocess.run(
            [SIM, "replay", str(trace), "--json", "--profile", "kang2014",
             *sets, "--fill", "none", "--iodepth", "4", "--stream-map",
             MAPS[name], "--csv", str(commands)],
            capture_output=True, text=True, timeout=250, check=True)
        r = json.loads(done.stdout)
        ns = sorted(int(x[7]) for x in (line.split(",") for line in
                    commands.read_text().splitlines()[1 + SYSTEM_BYTES // WRITE:])
                    if x[1] == "write")
        return {"time": r["sim_ns"], "copied": r["gc"]["copied_units"],
                "tail": ns[len(ns) * 999 // 1000]}

    def ordered(self, what: str, names: tuple[str, ...]) -> None:
        """Each value is below the one before."""
        values = [self.result[n][what] for n in names]
        self.assertEqual(values, sorted(values, reverse=True), names)
        self.assertEqual(len(set(values)), len(values), names)

    def test_throughput(self) -> None:
        """TRIM improves, each finer mapping more (slides 23 to 26)."""
        self.ordered("time", (OFF, ON, APP, LOGS, DATA))
        self.assertGreater(self.result[OFF]["time"],
                           1.1 * self.result[ON]["time"])

    def test_copies(self) -> None:
        """So do the copied pages, to nearly none (slides 27 to 31)."""
        self.ordered("copied", (OFF, ON, APP, LOGS, DATA))
        self.assertLess(self.result[DATA]["copied"],
                        .05 * self.result[OFF]["copied"])

    def test_latency(self) -> None:
        """And the writes that 99.9 % do not exceed (slide 32)."""
        for name in (APP, LOGS, DATA):
            self.assertLess(self.result[name]["tail"], self.result[ON]["tail"])


if __name__ == "__main__":
    unittest.main()
