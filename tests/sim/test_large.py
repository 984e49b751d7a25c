# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive of 1 TB is aged in the memory of its tables, in seconds."""

import json
import os
import resource
import subprocess
import unittest

# Measured: 14 to 18 s of processor time beside other work.
MOST_CPU_S = 40

DRIVE = ["--profile", os.environ["VSSD_ROOT"] + "/profiles/pm9a3.ini", "--set",
         "nand.pages=1536", "--set", "nand.erase=3500us"]


def sim(*args: str) -> dict:
    done = subprocess.run([os.environ["VSSD_SIM"], *args], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


class Age(unittest.TestCase):
    def test_time_and_memory(self) -> None:
        memory = sim("info", *DRIVE)["memory_bytes"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = sim("run", *DRIVE, "--json", "--precondition", "--workload",
                  "rw=randread iodepth=8 number_ios=1000")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = (after.ru_utime + after.ru_stime
                 - before.ru_utime - before.ru_stime)
        print(f"{cpu_s:.1f} s of processor time, {run['peak_rss_bytes']} bytes "
              f"of memory, {memory} by info")
        self.assertEqual(run["requests"], 1000)
        self.assertLess(run["peak_rss_bytes"], 1.1 * memory)
        self.assertLess(cpu_s, MOST_CPU_S)


if __name__ == "__main__":
    unittest.main()
