# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives with an SLC cache write fast for its size, then at the published rate,
within 15 %: reviews of the drives that the profiles name."""

import json
import os
import subprocess
import unittest
from typing import Any

SIM = os.environ["VSSD_SIM"]
TOLERANCE = .15


# GB of the cache of an empty drive, and of the drive: reviews of BIOSTAR M700,
# Lexar NM620, Samsung 980 and 980 PRO, WD SN580, Sabrent Rocket 4 Plus
# (TechPowerUp, page 6 of each).
SIZES = ((62, 512), (208, 1024), (160, 1000), (113, 1000), (341, 1000),
         (200, 2000))


def info(profile: str, *sets: str) -> dict[str, Any]:
    done = subprocess.run(
        [SIM, "info", "--profile", profile, *sets],
        capture_output=True, text=True, timeout=600, check=True)
    return dict(json.loads(done.stdout))


def write(profile: str, first: int, last: int, *sets: str) -> dict[str, Any]:
    """Sequential writes of 128 KiB to an empty drive; results of some."""
    done = subprocess.run(
        [SIM, "run", "--json", "--profile", profile, *sets, "--fill", "none",
         "--warm-up", str(first), "--workload",
         f"rw=write bs=128k iodepth=32 number_ios={last}"],
        capture_output=True, text=True, timeout=600, check=True)
    return dict(json.loads(done.stdout))


class SlcCache(unittest.TestCase):
    def near(self, ours: float, published: float) -> None:
        self.assertLess(abs(ours / published - 1), TOLERANCE,
                        (ours, published))

    def shape(self, profile: str, within: tuple[int, int], fast: float,
              part: float, slow: float) -> None:
        """MB/s in the cache, its part of the capacity, MB/s after it."""
        r = write(profile, *within)
        self.near(r["bytes_per_s"]["write"] / 1e6, fast)
        self.assertEqual(r["slc"]["direct_units"], 0)
        r = write(profile, 0, 16000)
        self.near(r["slc"]["host_units"] * 4096 / r["capacity_bytes"], part)
        self.assertEqual(r["slc"]["free_bytes"], 0)
        r = write(profile, 5000, 16000)
        self.near(r["bytes_per_s"]["write"] / 1e6, slow)

    def test_published_sizes(self) -> None:
        """ftl.slc_dynamic is the share of the blocks that a published size
        takes, in TLC; the cache then has that share of the drive."""
        sets = ["--set", "nand.slc_blocks=0", "--set", "ftl.slc_when_full=direct",
                "--set", "ftl.slc_fold_at=0%"]
        empty = info("980-pro", *sets)
        capacity = empty["capacity_bytes"]
        for size, drive in SIZES:
            share = 3 * size / drive * capacity / empty["raw_bytes"]
            r = write("980-pro", 0, int(1.1 * size / drive * capacity) >> 17,
                      *sets, "--set", f"ftl.slc_dynamic={100 * share:.2f}%")
            got = r["slc"]["host_units"] * 4096 / capacity * drive
            self.assertLess(abs(got / size - 1), .02, (size, got))
            self.assertGreater(r["slc"]["direct_units"], 0)

    def test_980_pro(self) -> None:
        self.shape("980-pro", (600, 1500), 4000, 113 / 1000, 1500)

    def test_870_qvo(self) -> None:
        self.shape("870-qvo", (300, 700), 487, 78 / 4000, 169)


if __name__ == "__main__":
    unittest.main()
