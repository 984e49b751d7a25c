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


def write(profile: str, first: int, last: int) -> dict[str, Any]:
    """Sequential writes of 128 KiB to an empty drive; results of some."""
    done = subprocess.run(
        [SIM, "run", "--json", "--profile", profile, "--fill", "none",
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

    def test_980_pro(self) -> None:
        self.shape("980-pro", (600, 1500), 4000, 113 / 1000, 1500)

    def test_870_qvo(self) -> None:
        self.shape("870-qvo", (300, 700), 487, 78 / 4000, 169)


if __name__ == "__main__":
    unittest.main()
