# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput of a NAND-bound run is linear in channels and dies, within 3 %,
until the bus is the bottleneck; and the report names it."""

import json
import os
import subprocess
import unittest

# The array's times in vssd-bench-nand, in seconds.
COMMAND, READ, PROGRAM = 290e-9, 75e-6, 750e-6
DATA = 4096 / 333e6


class Scaling(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        done = subprocess.run([os.environ["VSSD_BENCH_NAND"], "--scaling"],
                              capture_output=True, text=True, timeout=600,
                              check=True)
        cls.scaling = json.loads(done.stdout)["scaling"]

    def check(self, rows: list[dict], cell: float) -> None:
        one = 1 / (COMMAND + cell + DATA)
        sizes = set()
        for row in rows:
            n = row["channels"] * row["dies"]
            of_dies = n * one
            of_bus = row["channels"] / (COMMAND + DATA)
            sizes.add((row["channels"], row["dies"]))
            self.assertEqual(row["bottleneck"],
                             "dies" if of_dies < of_bus else "bus", row)
            self.assertLessEqual(row["iops"], min(of_dies, of_bus) * 1.0001)
            self.assertGreaterEqual(row["iops"], min(of_dies, of_bus) * .97)
            if row["bottleneck"] == "dies":
                self.assertAlmostEqual(row["linear"], 1, delta=.03)
        self.assertEqual(sizes, {(1, 1), (2, 1), (4, 1), (8, 1), (16, 1),
                                 (1, 2), (1, 4), (1, 8)})

    def test_reads(self) -> None:
        self.check(self.scaling["read"], READ)
        # Eight dies want more than a bus of 333 MT/s has.
        self.assertEqual([r["bottleneck"] for r in self.scaling["read"]],
                         ["dies"] * 7 + ["bus"])

    def test_writes(self) -> None:
        self.check(self.scaling["write"], PROGRAM)


if __name__ == "__main__":
    unittest.main()
