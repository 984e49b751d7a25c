# SPDX-License-Identifier: GPL-2.0-or-later
"""The accounts of the array add up (docs/results.md)."""

import json
import os
import pathlib
import subprocess
import unittest

SIM = os.environ["VSSD_SIM"]
TINY = pathlib.Path(os.environ["VSSD_ROOT"]) / "profiles/tiny.ini"
ENERGY = {"read": 7000, "program": 90000, "erase": 1500000, "bus": 30}
CAUSES = ("host", "gc", "wear", "refresh", "meta", "map", "merge")


def nand(fill: str, workload: str, *sets: str) -> dict:
    args = [SIM, "run", "--json", "--profile", str(TINY), "--fill", fill,
            "--workload", workload]
    for key, value in ENERGY.items():
        args += ["--set", f"nand.energy_{key}={value}"]
    for item in sets:
        args += ["--set", item]
    done = subprocess.run(args, capture_output=True, text=True, timeout=600,
                          check=True)
    return json.loads(done.stdout)["nand"]


class Accounts(unittest.TestCase):
    # Ends while nothing is going on: all operations are in the sums.
    QUIET = ("preload", "rw=randread bs=4k iodepth=8 number_ios=3000")
    BUSY = ("random", "rw=randrw bs=4k iodepth=8 number_ios=5000")

    def test_busy_and_idle(self) -> None:
        for fill, workload in (self.QUIET, self.BUSY):
            n = nand(fill, workload)
            self.assertEqual([len(n["busy_ns"][k]) for k in
                              ("channel", "die", "plane")], [2, 4, 4])
            for busy, idle in zip(n["busy_ns"]["die"], n["die_idle_ns"]):
                self.assertEqual(busy + idle, n["elapsed_ns"])
                self.assertGreaterEqual(idle, 0)
                self.assertGreater(busy, 0)
            for busy in n["busy_ns"]["channel"] + n["busy_ns"]["plane"]:
                self.assertGreater(busy, 0)
                self.assertLessEqual(busy, n["elapsed_ns"])
            # A plane's array works only while something holds the die.
            for die, plane in zip(n["busy_ns"]["die"], n["busy_ns"]["plane"]):
                self.assertLess(plane, die)
            self.assertAlmostEqual(
                sum(n["busy_ns"]["die"]) / n["elapsed_ns"] / 4,
                n["die_utilization"], delta=1e-8)

    def test_phases(self) -> None:
        n = nand(*self.QUIET)
        time = {c: n["time_ns"][c] for c in CAUSES}
        self.assertEqual(time.keys(), n["time_ns"].keys())
        # Rounding down, once per resource and once per cause.
        self.assertAlmostEqual(sum(t["bus"] for t in time.values()),
                               sum(n["busy_ns"]["channel"]), delta=10)
        self.assertAlmostEqual(sum(t["cell"] for t in time.values()),
                               sum(n["busy_ns"]["plane"]), delta=10)
        # 50 us for each read, nothing for any other cause.
        self.assertEqual(time["host"]["cell"], 50000 * n["reads"])
        for cause in CAUSES[1:]:
            self.assertEqual(sum(time[cause].values()), 0)

    def test_causes(self) -> None:
        n = nand(*self.BUSY)
        for cause in ("host", "gc"):
            ops = n["by_cause"][cause]
            self.assertEqual(n["time_ns"][cause]["cell"],
                             50000 * ops["reads"] + 500000 * ops["programs"] +
                             3000000 * ops["erases"])
        self.assertGreater(n["time_ns"]["gc"]["die_wait"], 0)

    def test_energy(self) -> None:
        for sets in ((), ("nand.copyback=on",),
                     ("nand.cell=tlc", "nand.one_shot=on", "nand.pages=18")):
            n = nand(*self.BUSY, *sets)
            e = n["energy_nj"]
            for kind in ("read", "program", "erase"):
                self.assertEqual(e[kind], ENERGY[kind] * n[kind + "s"])
            self.assertGreater(e["bus"], 0)
            self.assertAlmostEqual(
                e["total"], e["read"] + e["program"] + e["erase"] + e["bus"],
                delta=1e-9 * e["total"])
            self.assertAlmostEqual(e["total"], sum(e["by_cause"].values()),
                                   delta=1e-8 * e["total"])

    def test_energy_of_the_bus(self) -> None:
        n = nand(*self.QUIET)
        self.assertAlmostEqual(n["energy_nj"]["bus"],
                               30 * 4096 * n["reads"] / 1000, delta=1)

    def test_off(self) -> None:
        done = subprocess.run([SIM, "run", "--json", "--profile", str(TINY),
                               "--workload", "rw=read bs=64k number_ios=100"],
                              capture_output=True, text=True, timeout=600,
                              check=True)
        self.assertEqual(json.loads(done.stdout)["nand"]["energy_nj"]["total"],
                         0)


if __name__ == "__main__":
    unittest.main()
