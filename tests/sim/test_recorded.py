# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of the project's own: a recording is played again to the
nanosecond, converts without loss, and is refused when it is damaged."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SIM = os.environ["VSSD_SIM"]
SWARM = os.environ["VSSD_SWARM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
TINY = ROOT / "profiles/tiny.ini"
WORK = "rw=randrw bs=4k iodepth=8 number_ios=3000 fsync=10"
SEEDS = range(1, 41)


def run(*args: object) -> subprocess.CompletedProcess[str]:
    """vssd-sim."""
    return subprocess.run([SIM, *map(str, args)], capture_output=True,
                          text=True, timeout=600, check=False)


def result(command: str, *args: object) -> dict:
    """Its output as JSON."""
    done = run(command, "--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Recorded(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vssd-recorded-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "run.trace"

    def record(self, *more: object, work: str = WORK) -> dict:
        """A run of vssd-sim, recorded."""
        return result("run", "--profile", TINY, "--workload", work,
                      "--record", self.trace, *more)

    def refused(self, *args: object) -> str:
        """One line on stderr, and a status that says so."""
        done = run(*args)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_hosts_of_every_kind(self) -> None:
        """Aborts, power cuts, streams, failing media, each way of polling."""
        seen = dict.fromkeys(("checked", "cuts", "errors"), 0)
        for seed in SEEDS:
            with self.subTest(seed=seed):
                subprocess.run(
                    [SWARM, "--seed", str(seed), "--commands", "1500",
                     "--trace", str(self.trace)], check=True, timeout=600,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                got = result("replay", self.trace, "--check")
                self.assertIs(got["checked"], True)
                seen["checked"] += got["requests"]
                seen["cuts"] += got["power_cuts"]
                seen["errors"] += got["errors"]
        self.assertGreater(seen["checked"], 50000)
        self.assertGreater(seen["cuts"], 40)
        self.assertGreater(seen["errors"], 40)

    def test_the_same_run_again(self) -> None:
        """The fill is part of a recorded run; without it, plain play agrees."""
        self.record("--fill", "random", "--block", 4096)
        self.assertGreater(result("replay", self.trace, "--check")
                           ["requests"], 3000)
        first = self.record("--fill", "preload")
        again = result("replay", self.trace)
        check = result("replay", self.trace, "--check")
        self.assertEqual(again["fill"], "trace")
        self.assertIs(again["checked"], False)
        for got in (again, check):
            for name in ("requests", "latency_ns", "nand", "waf", "sim_ns",
                         "profile"):
                self.assertEqual(got[name], first[name], name)

    def test_another_drive(self) -> None:
        """The first difference is told; a drive of another size is refused."""
        self.record()
        text = self.refused("replay", self.trace, "--check", "--set",
                            "nand.read=41us")
        self.assertRegex(text, r"not as recorded, after \d+ commands: command"
                         r" \d+ \((read|write), .*recorded ok after \d+ ns,"
                         r" here ok after \d+ ns")
        text = self.refused("replay", self.trace, "--check", "--profile",
                            ROOT / "profiles/c4.ini")
        self.assertIn("the recorded drive has", text)
        self.assertEqual(result("replay", self.trace, "--profile",
                                ROOT / "profiles/c4.ini")["requests"],
                         result("replay", self.trace)["requests"])

    def test_early(self) -> None:
        """A recording of before version 1.0."""
        self.record(work="rw=write bs=4k number_ios=9")
        self.trace.write_bytes(b"VSSD" + self.trace.read_bytes()[4:])
        for words in (("--check",), ()):
            self.assertIn("of a version of vssd before 1.0: make it again",
                          self.refused("replay", self.trace, *words))

    def test_one_byte(self) -> None:
        """Whatever byte of a record changes, nothing breaks, and each change
        is found but those without an effect on time (an address, mostly)."""
        self.record("--fill", "none",
                    work="rw=randrw bs=4k iodepth=4 number_ios=60 fsync=7")
        good = self.trace.read_bytes()
        begin = 32 + int.from_bytes(good[24:28], "little")
        found = []
        for at in range(begin, len(good), 3):
            bad = bytearray(good)
            bad[at] ^= 1 << (at % 8)
            self.trace.write_bytes(bad)
            done = run("replay", self.trace, "--check")
            self.assertIn(done.returncode, (0, 1), at)
            self.assertEqual(len(done.stderr.splitlines()), done.returncode)
            found.append(done.returncode)
        self.assertGreater(sum(found), len(found) * 0.8)

    def test_cut_off(self) -> None:
        """The rest is played with the option; a header alone is refused."""
        self.record()
        good = self.trace.read_bytes()
        self.trace.write_bytes(good[:len(good) // 2 + 1])
        for cut in range(len(good) // 2, len(good) // 2 + 20):
            self.trace.write_bytes(good[:cut])
            done = run("replay", self.trace)
            if done.returncode:
                break
        self.assertIn("the file ends within a record", done.stderr)
        self.assertEqual(result("replay", self.trace, "--skip-bad")
                         ["skipped"], 1)
        for n in (8, 31, 40):
            self.trace.write_bytes(good[:n])
            self.assertIn("ends within its header",
                          self.refused("replay", self.trace, "--profile",
                                       TINY))

    def test_conversion(self) -> None:
        """Other tools' words say the same."""
        self.record("--fill", "none")
        own = result("replay", self.trace, "--profile", TINY, "--fill",
                     "none")
        for name, suffix in (("blkparse", ".txt"), ("msr", ".csv")):
            with self.subTest(name):
                done = run("convert", self.trace, "--to", name)
                self.assertEqual(done.returncode, 0)
                path = self.folder / f"converted{suffix}"
                path.write_text(done.stdout)
                got = result("replay", path, "--profile", TINY, "--fill",
                             "none")
                for op in ("read", "write"):
                    self.assertEqual(got["latency_ns"][op]["count"],
                                     own["latency_ns"][op]["count"])
                if name == "blkparse":
                    self.assertEqual(got["latency_ns"], own["latency_ns"])
                    self.assertEqual(done.stdout.count(" C "),
                                     own["requests"])
                else:
                    flushes = own["latency_ns"]["flush"]["count"]
                    self.assertIn(f"{flushes} commands left out", done.stderr)

    def test_bad_input(self) -> None:
        """Options that do not go with it, files that are none."""
        self.record()
        for more, text in ((("--remap", "compact"), "--remap: not with"),
                           (("--fill", "none"), "--fill: not with"),
                           (("--warm-up", "2"), "--warm-up: not with"),
                           (("--stream-map", "0"), "--stream-map: not with"),
                           (("--iodepth", "2"), "--iodepth: not with")):
            self.assertIn(text, self.refused("replay", self.trace, "--check",
                                             *more))
        csv = ROOT / "tests/sim/small-msr.csv"
        self.assertIn("made by trace=", self.refused("replay", csv,
                                                     "--check"))
        self.assertIn("--to=pdf: allowed", self.refused(
            "convert", self.trace, "--to", "pdf"))
        self.assertIn("--fill=trace", self.refused(
            "run", "--profile", TINY, "--workload", WORK, "--fill", "trace"))
        self.assertIn("/no/where: ", self.refused(
            "run", "--profile", TINY, "--workload", WORK, "--record",
            "/no/where"))
        full = pathlib.Path("/dev/full")
        if full.exists():
            self.assertIn("No space left", self.refused(
                "run", "--profile", TINY, "--workload", WORK, "--record",
                full))


if __name__ == "__main__":
    unittest.main()
