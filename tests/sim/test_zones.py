# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-sim on a drive with zones: writes in order, appends, resets, finishes,
limits, saved drives, and what it refuses."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SIM = os.environ["VSSD_SIM"]
PROFILES = Path(os.environ["VSSD_ROOT"], "profiles")
# 25 zones of 1 MiB: 16 pages of 16 KiB on each of four dies.
ZONED = ("zones.enabled=on", "ftl.alloc=in-order", "buffer.plp=on",
         "ftl.op_percent=0%", "zones.max_active=4")
PAGE_US = 500 + 16384 / 400


def call(*args: str, sets: tuple[str, ...] = ZONED) -> \
        "subprocess.CompletedProcess[str]":
    words = [w for one in sets for w in ("--set", one)]
    return subprocess.run([SIM, *args, "--profile",
                           str(PROFILES / "tiny.ini"), *words, "--json"],
                          capture_output=True, text=True, timeout=60)


class Zones(unittest.TestCase):
    def run_it(self, workload: str, *args: str,
               sets: tuple[str, ...] = ()) -> dict:
        done = call("run", "--workload", workload, *args, sets=ZONED + sets)
        self.assertEqual(done.returncode, 0, done.stderr)
        found: dict = json.loads(done.stdout)
        return found

    def refused(self, says: str, *args: str) -> None:
        done = call(*args)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)

    def test_written_again_is_reset_before(self) -> None:
        once = self.run_it("rw=write bs=64k iodepth=4", "--fill", "none")
        self.assertEqual(once["nand"]["erases"], 0)
        again = self.run_it("rw=write bs=64k iodepth=4")
        self.assertEqual(again["nand"]["erases"], 25 * 4)
        self.assertEqual(again["latency_ns"]["trim"]["count"], 0)
        self.assertEqual(again["latency_ns"]["write"]["count"], 400)
        self.assertLess(once["waf"], 1.01)
        self.assertEqual(again["waf"], once["waf"])
        # A write that begins a zone does not count the erase before it.
        first = self.run_it("rw=write bs=64k number_ios=1")
        self.assertEqual(first["nand"]["erases"], 4)
        self.assertLess(first["latency_ns"]["write"]["max"], 1e5)

    def test_appends_take_their_turns(self) -> None:
        for zones in (1, 4):
            found = self.run_it(
                f"rw=write bs=4k iodepth=8 zone_append=1 max_open_zones={zones}"
                " number_ios=60", "--fill", "none",
                sets=("zones.append_time=20us",))
            rate = 60 / found["sim_ns"] * 1e9
            self.assertAlmostEqual(rate, 50_000, delta=3000)

    def test_finishes_pad(self) -> None:
        found = self.run_it("rw=write bs=16k finish_after=512k number_ios=330",
                            "--fill", "none")
        finish = found["latency_ns"]["flush"]
        self.assertEqual(finish["count"], 10)
        # 8 pages of each die are left; and what is still to be programmed.
        self.assertGreater(finish["min"], 8 * PAGE_US * 1e3)
        self.assertLess(finish["max"], 14 * PAGE_US * 1e3)
        found = self.run_it("rw=write bs=16k finish_after=512k number_ios=330",
                            "--fill", "none", sets=("zones.finish_pads=off",))
        self.assertLess(found["latency_ns"]["flush"]["max"],
                        5 * PAGE_US * 1e3)

    def test_resets(self) -> None:
        found = self.run_it("rw=trim bs=4k number_ios=25",
                            sets=("zones.reset_record=1ms",
                                  "zones.reset_unit=100ns"))
        reset = found["latency_ns"]["trim"]
        self.assertEqual((reset["count"], found["nand"]["erases"]), (25, 100))
        expected = 3e3 + 1e6 + 256 * 100 + 3e6
        self.assertAlmostEqual(reset["min"], expected, delta=2e3)
        self.assertAlmostEqual(reset["max"], expected, delta=2e3)

    def test_saved(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            state = str(Path(folder, "z.state"))
            trace = Path(folder, "z.csv")
            self.run_it("rw=write bs=16k number_ios=32", "--fill", "none",
                        "--save-state", state)
            # The pointer of zone 0 is where it was.
            trace.write_text("time_ns,op,offset,size\n"
                             "0,write,524288,16384\n")
            done = call("replay", str(trace), "--state", state)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace.write_text("time_ns,op,offset,size\n0,write,540672,16384\n")
            self.refused("zone 0: a write at block 1056, the write pointer is"
                         " at 1024", "replay", str(trace), "--state", state)
            whole = Path(state).read_bytes()
            Path(state).write_bytes(whole[:-9])
            self.refused("state file", "replay", str(trace), "--state", state)

    def test_limits(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "z.csv")
            trace.write_text("time_ns,op,offset,size\n" + "".join(
                f"0,write,{zone << 20},4096\n" for zone in range(5)))
            self.refused("after 4 writes: zone 4: too many zones are active"
                         " (zones.max_active=4)", "replay", str(trace),
                         "--fill", "none", "--iodepth", "1")
            trace.write_text("time_ns,op,offset,size\n0,trim,0,4096\n")
            self.refused("a TRIM that is not one whole zone", "replay",
                         str(trace))

    def test_refused(self) -> None:
        for says, args in (
                ("--drives: not with zones.enabled=on", ("--drives", "2")),
                ("--precondition: not with", ("--precondition",)),
                ("--until-steady: not with", ("--until-steady", "iops")),
                ("--fill=random: not with", ("--fill", "random"))):
            self.refused(says, "run", "--workload", "rw=read number_ios=1",
                         *args)
        for says, workload in (
                ("holds fewer whole zones", "rw=write max_open_zones=26"),
                ("which divides that of a zone", "rw=write bs=24k"),
                ("holds no whole zone", "rw=trim size=64k")):
            self.refused(says, "run", "--workload", workload)
        done = call("run", "--workload", "rw=write zone_append=1 number_ios=1",
                    sets=())
        self.assertIn("zone_append=...: needs a drive with zones", done.stderr)


if __name__ == "__main__":
    unittest.main()
