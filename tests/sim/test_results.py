# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/results*.md and the results of vssd-sim: every member has a row, and every
row has a member in one of the runs below."""

import functools
import json
import os
import pathlib
import re
import subprocess
import unittest

import results_page

SIM = os.environ["VSSD_SIM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
WORKLOAD = ("run", "--workload", "rw=randrw number_ios=2000")

# Together they show every member.
RUNS = (
    WORKLOAD,
    ("replay", ROOT / "tests/sim/small-msr.csv"),
    ("replay", ROOT / "tests/sim/small-msr.csv", "--window", "32"),
    (*WORKLOAD, "--series", "0.01"),
    (*WORKLOAD, "--set", f"faults={ROOT}/tests/sim/small-rules.txt"),
    (*WORKLOAD, "--drives", "2"),
    (*WORKLOAD, "--drives", "3", "--raid", "5"),
    (*WORKLOAD, "--set", "ftl.map=dftl", "--set", "ftl.op_percent=100"),
    (*WORKLOAD, "--set", "thermal.resistance=5", "--set",
     "power.states=8000:0:0/50:10:100:idle"),
    (*WORKLOAD, "--set", "ftl.recovery=scan", "--set", "ftl.op_percent=80",
     "--set", "ftl.counters_interval=1ms"),
    (*WORKLOAD, "--set", "nand.cell=tlc", "--set", "nand.pages=12",
     "--set", "ftl.slc_dynamic=20%"),
)


def members(command: object, *args: object) -> set[str]:
    """Paths of a result; those of a drive of several, without the drive."""
    done = subprocess.run(
        [SIM, str(command), "--profile", str(ROOT / "profiles/tiny.ini"),
         *map(str, args)], capture_output=True, text=True, timeout=600,
        check=True)
    return {re.sub(r"^drives\[\d+\]\.", "", p)
            for p in results_page.paths(json.loads(done.stdout))}


@functools.cache
def of_all_runs() -> set[str]:
    """Members that one of the runs shows."""
    return {p for args in RUNS
            for p in members(*args, "--json")}


class Pages(unittest.TestCase):
    def compare(self, shown: set[str], *sections: str) -> None:
        without_row, without_member = results_page.differences(shown, *sections)
        self.assertEqual(without_row, [], "members without a row")
        self.assertEqual(without_member, [], "rows without a member")

    def test_run(self) -> None:
        self.assertGreater(len(of_all_runs()), 300)
        self.compare({m for m in of_all_runs()
                      if not m.startswith("options.")},
                     "run", "about", "series", "drive", "maps")

    def test_options(self) -> None:
        """The options that differ from their defaults, and no others."""
        listed = (ROOT / "docs/options.md").read_text()
        shown = {m.removeprefix("options.") for m in of_all_runs()
                 if m.startswith("options.")}
        for name in shown:
            self.assertIn(f"| `{name}` |", listed)
        self.assertLessEqual({"ftl.map", "power.states", "nand.cell",
                              "ftl.recovery"}, shown)
        of_one = members(*WORKLOAD, "--json", "--set", "ftl.map=dftl",
                         "--set", "ftl.op_percent=100")
        other = members(*WORKLOAD, "--json", "--set", "ftl.map=page",
                        "--set", "ftl.op_percent=100")
        self.assertEqual({m for m in of_one ^ other
                          if m.startswith("options.")}, {"options.ftl.map"})

    def test_info(self) -> None:
        self.compare(members("info"), "info")

    def test_names_of_sets(self) -> None:
        """Each name of a set is shown, too."""
        words = {w for p in of_all_runs() for w in re.split(r"[.\[\]]+", p)}
        for name, all_of_them in results_page.sets().items():
            self.assertTrue(all_of_them, name)
            if name != "op":  # of QEMU
                self.assertLessEqual(set(all_of_them), words, name)


if __name__ == "__main__":
    unittest.main()
