# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of drives do what their data sheets say, within a stated range.

docs/profiles.md has the source of each figure.  Published "up to" figures are
compared as they stand.  The ranges: 10 % for latency, bandwidth, power and
rates that a controller limits, 20 % for random writes in the steady state,
whose level depends on over-provisioning and data placement that nobody
publishes.  A drive takes seconds to get there: all but two do with --long only.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SIM = os.environ["VSSD_SIM"]
LONG = "VSSD_LONG" in os.environ

READ_QD1 = ("preload", "rw=randread bs=4k iodepth=1 number_ios=3000")
WRITE_QD1 = ("none", "rw=randwrite bs=4k iodepth=1 number_ios=3000")
READ_QD256 = ("preload", "rw=randread bs=4k iodepth=256 number_ios=60000")
READ_SEQ = ("seq", "rw=read bs=128k iodepth=32 number_ios=8000")
WRITE_SEQ = ("none", "rw=write bs=128k iodepth=32 number_ios=16000")
WRITE_RANDOM = ("random", "rw=randwrite bs=4k iodepth=32 number_ios=200000")
WRITE_RANDOM_FRESH = ("none",
                      "rw=randwrite bs=4k iodepth=32 number_ios=200000")
IDLE = ("preload", "rw=randread bs=4k iodepth=1 number_ios=20 rate_iops=10")
# Of a drive in its steady state, after WRITE_RANDOM.
STEADY_WRITE_QD1 = "rw=randwrite bs=4k iodepth=1 number_ios=30000"
MIX_QD1 = "rw=randrw rwmixread=70 bs=4k iodepth=1 number_ios=30000"


def play(profile: str, workload: str, *args: str) -> dict[str, float]:
    """The figures of a run, in us, per second, MB/s and W."""
    done = subprocess.run([SIM, "run", "--json", "--profile", profile,
                           "--workload", workload, *args],
                          capture_output=True, text=True, timeout=1500,
                          check=True)
    r = json.loads(done.stdout)
    found = {f"{op}.{name}": value / 1e3
             for op in ("read", "write")
             for name, value in r["latency_ns"][op].items()}
    return found | {
        "us": r["latency_ns"]["all"]["mean"] / 1e3,
        "iops": r["iops"],
        "mb_s": sum(r["bytes_per_s"].values()) / 1e6,
        "w": r.get("power", {}).get("mean_w", 0),
        "waited": r["waited"],
    }


def figures(profile: str, how: tuple[str, str], *sets: str) -> dict[str, float]:
    """Those of a drive that is filled first."""
    fill, workload = how
    return play(profile, workload, "--fill", fill,
                *(x for s in sets for x in ("--set", s)))


class Classes(unittest.TestCase):
    def between(self, found: float, low: float, high: float,
                tolerance: float = 0) -> None:
        self.assertGreaterEqual(found, low * (1 - tolerance))
        self.assertLessEqual(found, high * (1 + tolerance))

    def within(self, profile: str, how: tuple[str, str], unit: str,
               low: float, high: float, tolerance: float) -> None:
        with self.subTest(profile=profile, how=how, unit=unit):
            self.between(figures(profile, how)[unit], low, high, tolerance)

    def steady(self, profile: str, iops: float,
               *then: str) -> list[dict[str, float]]:
        """Random writes of a full drive do so many; what it does afterwards."""
        if not LONG and profile not in ("sata-mlc-2013", "pm9a3"):
            self.skipTest("the steady state: with --long only")
        with tempfile.TemporaryDirectory() as folder:
            state = str(pathlib.Path(folder, "steady.state"))
            fill, workload = WRITE_RANDOM
            found = play(profile, workload, "--fill", fill, "--save-state",
                         state)
            self.between(found["iops"], iops, iops, .20)
            return [play(profile, w, "--state", state) for w in then]

    def test_sata_mlc_2013(self) -> None:
        p = "sata-mlc-2013"
        self.within(p, READ_QD1, "us", 100, 100, .10)
        self.within(p, READ_QD1, "read.p999", 0, 500, 0)
        self.within(p, WRITE_QD1, "us", 65, 65, .10)
        self.within(p, READ_SEQ, "mb_s", 470, 470, .10)
        self.within(p, WRITE_SEQ, "mb_s", 320, 320, .10)
        # 32 tags: of 256 commands, 224 wait outside.
        self.within(p, READ_QD256, "iops", 67000, 67000, .10)
        self.within(p, READ_QD256, "waited", 60000 - 256, 60000, 0)
        self.within(p, IDLE, "w", .5, .5, .10)
        one, mix = self.steady(p, 14500, STEADY_WRITE_QD1, MIX_QD1)
        self.assertLessEqual(one["write.p999"], 5000)
        # Nothing suspends a program: a read may wait for a whole one.
        self.assertGreaterEqual(mix["read.p999"], 2200)

    def test_nvme_tlc_2019(self) -> None:
        p = "nvme-tlc-2019"
        self.within(p, READ_QD1, "us", 1e6 / 19000, 1e6 / 14000, 0)
        self.within(p, WRITE_QD1, "us", 1e6 / 60000, 1e6 / 60000, .10)
        self.within(p, READ_SEQ, "mb_s", 3500, 3500, .10)
        self.within(p, WRITE_SEQ, "mb_s", 900, 900, .10)
        # Published for a drive with room; of the steady state nothing is, so
        # only that it is far below.
        self.within(p, WRITE_RANDOM_FRESH, "iops", 200000, 200000, .20)
        self.within(p, IDLE, "w", .03, .03, .20)
        if LONG:
            self.within(p, WRITE_RANDOM, "iops", 5000, 60000, 0)

    def test_dramless_tlc(self) -> None:
        p = "dramless-tlc"
        self.within(p, READ_SEQ, "mb_s", 2400, 2400, .10)
        # The cost of the map in NAND is not published, only that there is one.
        in_memory = figures(p, READ_QD1, "ftl.map=page")["us"]
        self.assertGreater(figures(p, READ_QD1)["us"], 1.5 * in_memory)

    @unittest.skipUnless(LONG, "runs with --long only")
    def test_tail_of_the_map(self) -> None:
        """Writes stop while translation pages wait for GC of their plane; a
        drive with its map in memory has no such tail."""
        p = "dramless-tlc"
        self.assertGreater(figures(p, WRITE_RANDOM)["write.p999"], 50000)
        self.assertLess(
            figures(p, WRITE_RANDOM, "ftl.map=page")["write.p999"], 20000)

    def test_pm9a3(self) -> None:
        p = "pm9a3"
        self.within(p, READ_SEQ, "mb_s", 6500, 6500, .10)
        self.within(p, WRITE_SEQ, "mb_s", 1500, 1500, .10)
        self.within(p, READ_QD256, "iops", 580000, 580000, .10)
        mix, = self.steady(p, 70000, MIX_QD1)
        # Reads suspend programs (1.05 ms) and erases.
        self.assertLess(mix["read.p999"], 1049)

    def test_qlc(self) -> None:
        p = "qlc"
        self.within(p, READ_SEQ, "mb_s", 3200, 3200, .10)
        self.within(p, WRITE_SEQ, "mb_s", 1000, 1000, .10)
        self.within(p, READ_QD256, "iops", 427000, 427000, .10)
        mix, = self.steady(p, 36000, MIX_QD1)
        self.assertLess(mix["read.p999"], 8389)  # a program

    def test_low_latency_slc(self) -> None:
        p = "low-latency-slc"
        self.within(p, READ_QD1, "us", 12, 20, 0)
        self.within(p, WRITE_QD1, "us", 16, 16, .10)
        self.within(p, READ_QD256, "iops", 750000, 750000, .10)
        self.within(p, READ_SEQ, "mb_s", 3200, 3200, .10)
        self.within(p, WRITE_SEQ, "mb_s", 3200, 3200, .10)
        self.steady(p, 170000)

    @unittest.skipUnless(LONG, "runs with --long only")
    def test_superblock_gc(self) -> None:
        """With rows, GC by superblocks is no slower than by planes."""
        free = "host.max_write_iops=0"
        off, plane, superblock = (
            figures("p4500", WRITE_RANDOM, free, f"superblock.row={row}",
                    f"superblock.width={width}")["iops"]
            for row, width in (("plane", "plane"), ("die", "plane"),
                               ("die", "drive")))
        self.assertGreater(superblock, .95 * off)
        self.assertGreater(superblock, .95 * plane)


if __name__ == "__main__":
    unittest.main()
