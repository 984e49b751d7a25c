# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of ./vssd figures layout (S. Zertal, IJAEE 5(1), 2015): its
statements that hold, on a smaller drive, without pictures."""

import functools
import json
import os
import pathlib
import subprocess
import unittest

SIM = os.environ["VSSD_SIM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
ACCESS_NS = {"read": 130000, "write": 305000}
REQUESTS = 6000
PER_S = 2000  # of 64 KiB, half of them reads: the dies are busy for 0.44
DL, RANDOM = "dl", "random-block"
LOCKS = ("chip", "die", "plane")  # degree 0, 1, 2
SMALL = ("nand.blocks=256", "host.queue_depth=65536", "ftl.random_blocks=8")


@functools.cache
def result(degree: int, alloc: str, *sets: str, per_s: int = PER_S,
           mixed: int = 50) -> dict:
    """Of a run of random requests of 64 KiB."""
    workload = (f"rw=randrw rwmixread={mixed} bs=64k rate_iops={per_s}"
                f" rate_process=poisson number_ios={REQUESTS}")
    args = [SIM, "run", "--json", "--profile",
            str(ROOT / "profiles/zertal2015.ini"), "--workload", workload]
    for one in (*SMALL, f"nand.lock={LOCKS[degree]}", f"ftl.alloc={alloc}",
                *sets):
        args += ["--set", one]
    return json.loads(subprocess.run(
        args, capture_output=True, text=True, timeout=300,
        check=True).stdout)


def wait_us(kind: str, *args: object, **more: int) -> float:
    """Mean waiting."""
    mean = result(*args, **more)["latency_ns"][kind]["mean"]
    return (mean - ACCESS_NS[kind]) / 1000


class Layout(unittest.TestCase):
    """Degree 0, 1 and 2; what DL_algo keeps and random blocks lose."""

    def test_degree_0(self) -> None:
        """No parallelism: the layout does not matter."""
        for kind in ACCESS_NS:
            waits = [wait_us(kind, 0, p, per_s=PER_S // 16)
                     for p in (DL, RANDOM)]
            self.assertAlmostEqual(waits[0] / waits[1], 1, delta=0.02)

    def test_less_waiting(self) -> None:
        """Writes wait less with DL_algo at degrees 1 and 2, so do reads of
        data that was rewritten."""
        for degree in (1, 2):
            for kind in ACCESS_NS:
                ratio = wait_us(kind, degree, DL) \
                    / wait_us(kind, degree, RANDOM)
                self.assertLess(ratio, 0.9, f"degree {degree}, {kind}s")

    def test_all_writes(self) -> None:
        """The same without reads (S5)."""
        ratio = wait_us("write", 2, DL, per_s=1000, mixed=0) \
            / wait_us("write", 2, RANDOM, per_s=1000, mixed=0)
        self.assertLess(ratio, 0.9)

    def test_planes(self) -> None:
        """Waiting falls from degree 1 to degree 2 with either policy."""
        for policy in (DL, RANDOM):
            fall = wait_us("write", 1, policy) / wait_us("write", 2, policy)
            self.assertGreater(fall, 1.5)

    def test_random_blocks_cost_copies(self) -> None:
        """With little room, GC copies more for random blocks than for DL_algo:
        that alone slows random writes of a page (figure-layout.md)."""
        tight = ("ftl.op_percent=10%", "ftl.gc_low=0%", "ftl.gc_high=3%",
                 "ftl.gc_period=100ms")
        copied = [result(2, p, *tight)["nand"]["programs"]
                  for p in (DL, RANDOM)]
        self.assertGreater(copied[1], 1.2 * copied[0])

    def test_period(self) -> None:
        """More frequent GC comes earlier: it has erased more at the end."""
        sets = ("ftl.op_percent=10%", "ftl.gc_low=0%", "ftl.gc_high=3%")
        often = result(2, RANDOM, *sets, "ftl.gc_period=1ms")
        never = result(2, RANDOM, *sets)
        self.assertGreater(often["nand"]["erases"], never["nand"]["erases"])


if __name__ == "__main__":
    unittest.main()
