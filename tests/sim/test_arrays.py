# SPDX-License-Identifier: GPL-2.0-or-later
"""Several drives or runs in one vssd-sim command, and scripted faults."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from command import OF_THE_MACHINE, SIM, TINY, TRACE, result, run


class Arrays(unittest.TestCase):
    """--drives: several drives as one."""

    READS = ("--workload", "rw=randread bs=4k iodepth=64 number_ios=4000")

    def test_two(self) -> None:
        """Twice the drives, twice the work, half of it on each."""
        one = result("run", "--profile", TINY, *self.READS)
        two = result("run", "--profile", TINY, *self.READS, "--drives", "2")
        self.assertEqual(two["stripe_bytes"], 65536)
        self.assertEqual(two["capacity_bytes"],
                         one["capacity_bytes"] // 65536 * 65536 * 2)
        self.assertGreater(two["iops"], 1.7 * one["iops"])
        reads = [d["nand"]["reads"] for d in two["drives"]]
        self.assertEqual(len(reads), 2)
        self.assertEqual(sum(reads), one["nand"]["reads"])
        self.assertLess(max(reads), 0.55 * sum(reads))

    def test_of_one(self) -> None:
        """One drive is the same as without the option."""
        self.assertEqual(*(
            {k: v for k, v in result("run", "--profile", TINY, *self.READS,
                                     *more).items() if k not in OF_THE_MACHINE}
            for more in ((), ("--drives", "1"))))

    def test_rebuild(self) -> None:
        """A drive fails, and a hot spare takes its place; the run waits."""
        r = result("run", "--profile", TINY, "--drives", "4", "--raid", "5",
                   "--spares", "1", "--fail", "1@0.01", "--workload",
                   "rw=randrw bs=4k iodepth=8 number_ios=4000")
        raid = r["raid"]
        self.assertEqual((raid["failed_drives"], raid["lost_stripes"],
                          r["errors"]), (1, 0, 0))
        self.assertEqual(raid["rebuild"]["bytes"] * 3, r["capacity_bytes"])
        self.assertFalse(raid["rebuild"]["active"])
        self.assertEqual(len(r["drives"]), 5)
        self.assertGreater(r["drives"][4]["nand"]["programs"], 1000)
        worn = result("run", "--profile", TINY, "--drives", "2", "--raid", "1",
                      "--rebuild-rate", "1m", "--spares", "1",
                      "--fail", "0@0", "--workload", "rw=randread number_ios=9")
        self.assertGreater(worn["raid"]["rebuild"]["ns"],
                           worn["capacity_bytes"] * 900)  # 1 MiB/s

    def test_idle_drives(self) -> None:
        """Drives without a command have the same time behind them: of the whole
        run, and since the end of the warm-up."""
        for args in (("--drives", "4"), ("--drives", "4", "--raid", "5")):
            for warm_up in ("0", "100"):
                r = result("run", "--profile", TINY, *args, "--warm-up", warm_up,
                           "--workload", "rw=randread bs=4k size=64k"
                           " iodepth=4 number_ios=500")
                reads = [d["nand"]["reads"] for d in r["drives"]]
                self.assertEqual(sum(n > 0 for n in reads), 1)
                elapsed = {d["nand"]["elapsed_ns"] for d in r["drives"]}
                self.assertEqual(len(elapsed), 1)
                self.assertEqual(elapsed, {r["sim_ns"]})

    def test_fills(self) -> None:
        """All drives are filled."""
        for fill in ("seq", "random"):
            r = result("run", "--profile", TINY, "--drives", "3",
                       "--stripe", "16k", "--fill", fill,
                       "--workload", "rw=read bs=64k")
            for d in r["drives"]:
                self.assertGreater(d["gc"]["mapped_units"], 5000)
                self.assertGreater(d["nand"]["reads"], 1000)

    def test_states(self) -> None:
        """Each drive starts from the state."""
        with tempfile.TemporaryDirectory() as tmp:
            state = pathlib.Path(tmp, "state")
            done = run("run", "--profile", TINY, "--precondition",
                       "--save-state", state)
            self.assertEqual(done.returncode, 0, done.stderr)
            r = result("run", "--profile", TINY, "--drives", "2",
                       "--state", state, "--workload",
                       "rw=randwrite number_ios=2000")
            for d in r["drives"]:
                self.assertGreater(d["nand"]["erases"], 0)

    def test_refusals(self) -> None:
        """One line that names the option."""
        for args, words in (
                (("--drives", "0"), ("--drives=0", "1..64")),
                (("--drives", "65"), ("--drives=65", "1..64")),
                (("--stripe", "64k"), ("--stripe", "--drives")),
                (("--drives", "2", "--stripe", "5k"), ("5k", "4096")),
                (("--drives", "2", "--stripe", "1t"), ("1t", "above")),
                (("--drives", "2", "--csv", "x"), ("--csv",)),
                (("--drives", "2", "--save-state", "x"), ("--save-state",)),
                (("--drives", "2", "--set", "faults=x"), ("faults",)),
                (("--raid", "5"), ("--raid", "--drives")),
                (("--drives", "3", "--raid", "7"), ("--raid=7", "10, 5")),
                (("--drives", "3", "--raid", "6"), ("--drives=3", "4 or")),
                (("--drives", "3", "--spares", "1"), ("--spares", "--raid")),
                (("--drives", "3", "--raid", "5", "--spares", "99"),
                 ("--spares=99", "0..63")),
                (("--drives", "3", "--raid", "5", "--fail", "3@1"),
                 ("--fail=3@1", "0..2")),
                (("--drives", "3", "--raid", "5", "--fail", "1@1",
                  "--fail", "1@2"), ("--fail=1@2", "already")),
                (("--drives", "3", "--raid", "5", "--rebuild-depth", "0"),
                 ("--rebuild-depth=0", "1..64")),
                (("--drives", "3", "--raid", "5", "--rebuild-rate", "x"),
                 ("--rebuild-rate=x", "allowed"))):
            done = run("run", "--profile", TINY, *self.READS, *args)
            self.assertEqual(done.returncode, 1, args)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)


def batch(lines: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SIM, "batch", *map(str, args)], input=lines,
                          capture_output=True, text=True, timeout=600,
                          check=False)


class Batches(unittest.TestCase):
    WRITES = "rw=randwrite bs=4k number_ios=2000 seed=5"

    def rows(self, lines: str, *args: object) -> list[dict]:
        done = batch(lines, "--profile", TINY, *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(not done.stdout or done.stdout.endswith("\n\n"))
        return [json.loads(part.splitlines()[-1])
                for part in done.stdout.split("\n\n")[:-1]]

    def same(self, a: dict, b: dict) -> None:
        for name in OF_THE_MACHINE:
            a, b = ({k: v for k, v in r.items() if k != name}
                    for r in (a, b))
        self.assertEqual(a, b)

    def test_each_from_the_same_drive(self) -> None:
        """No run sees the writes of another, and all have the results of
        vssd-sim run and replay."""
        with tempfile.TemporaryDirectory() as tmp:
            state = pathlib.Path(tmp, "state")
            run("run", "--profile", TINY, "--workload", self.WRITES,
                "--save-state", state)
            lines = (f"run --workload '{self.WRITES}'\n\n"
                     f"replay {TRACE} --wrap --iodepth 4\n"
                     f"  run --workload '{self.WRITES}' --warm-up 100\n"
                     f"run --workload '{self.WRITES}'")
            rows = self.rows(lines, "--state", state)
            self.assertEqual(len(rows), 4)
            self.same(rows[0], rows[3])
            self.same(rows[0], result("run", "--profile", TINY, "--workload",
                                      self.WRITES, "--state", state))
            self.same(rows[1], result("replay", "--profile", TINY, TRACE,
                                      "--wrap", "--iodepth", 4, "--state",
                                      state))
            self.assertEqual(rows[2]["warm_up"], 100)

    def test_errors_are_of_a_run(self) -> None:
        """A line that is refused says why; the next one is played.  A drive
        that wears out has its results before."""
        with tempfile.TemporaryDirectory() as tmp:
            csv = pathlib.Path(tmp, "x")
            wrong = {
                "info": "info: a line begins with run or replay",
                f"replay {TRACE} --csv {csv}":
                    "--csv: not with batch, where runs share a drive",
                f"replay {TRACE} --oplog {csv}":
                    "--oplog: not with batch, where runs share a drive",
                "run --workload rw=read --state x": "--state",
                "run --workload rw=read --seed 3": "--seed",
                "run --workload rw=no": "rw=no",
                "run 'x": "quot",
                "run --workload rw=read x": 'what is "x"?',
                "replay /nonexistent": "/nonexistent: No such file",
            }
            rows = self.rows("\n".join([*wrong, "run --workload"
                                        " 'rw=read number_ios=3'"]))
            for line, row in zip(wrong, rows):
                self.assertIn(wrong[line], row["error"], line)
            self.assertEqual(rows[-1]["requests"], 3)
            self.assertFalse(csv.exists())
        done = batch("run --workload 'rw=randwrite bs=4k number_ios=40000'\n",
                     "--profile", TINY, "--set", "media.erase_fail=0.2")
        first, second = done.stdout.strip().splitlines()
        self.assertTrue(json.loads(first)["media"]["read_only"])
        self.assertIn("read-only", json.loads(second)["error"])

    def test_refused(self) -> None:
        for args, words in (
                (("--profile", TINY, "--save-state", "x"),
                 "--save-state: not for batch"),
                ((), "--profile is missing"),
                (("--profile", TINY, "word"), 'what is "word"?'),
                (("--profile", TINY, "--json"), "--json")):
            done = batch("", *args)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn(words, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.rows(""), [])

    def test_array(self) -> None:
        """Of several drives."""
        line = f"run --workload '{self.WRITES}'"
        rows = self.rows(line, "--drives", 2, "--stripe", "64k")
        self.same(rows[0], result("run", "--profile", TINY, "--drives", 2,
                                  "--stripe", "64k", "--workload",
                                  self.WRITES))

    def test_precondition(self) -> None:
        """Once, before all runs."""
        line = f"run --workload '{self.WRITES}'\n"
        done = batch(2 * line, "--profile", TINY, "--precondition")
        self.assertEqual(done.stderr.count("preconditioned"), 1)
        alone = run("run", "--json", "--profile", TINY, "--precondition",
                    "--workload", self.WRITES)
        for text in done.stdout.strip().split("\n\n"):
            self.same(json.loads(text), json.loads(alone.stdout))

    def test_runtime(self) -> None:
        """A replay ends after its time; without, with its requests."""
        with tempfile.TemporaryDirectory() as tmp:
            trace = pathlib.Path(tmp, "t.csv")
            trace.write_text("".join(f"{n},h,0,Read,{n * 4096},4096,0\n"
                                     for n in range(400)))
            drive = ("replay", "--profile", TINY, trace, "--iodepth", 1)
            whole = result(*drive)
            half = whole["sim_ns"] / 2e9
            part = result(*drive, "--runtime", f"{half:.9f}")
        self.assertEqual(whole["requests"], 400)
        self.assertTrue(190 <= part["requests"] <= 210, part["requests"])
        self.assertGreaterEqual(part["sim_ns"], 0.99e9 * half)
        for value in ("0", "x", "-1", "1e9", "315360001"):
            done = run("replay", "--profile", TINY, TRACE,
                       f"--runtime={value}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"--runtime={value}: allowed 0.000001..315360000",
                          done.stderr)


class Faults(unittest.TestCase):
    """The file of the option faults=."""

    def test_rules_of_a_controller(self) -> None:
        """Rules about queues are refused with their line; about NAND not."""
        with tempfile.TemporaryDirectory() as tmp:
            file = pathlib.Path(tmp, "rules")
            file.write_text("on=read nth=1 -> uncorrectable # irq\n"
                            "cmd=5 -> latency x2 for 1ms\n")
            args = ("run", "--profile", TINY, "--set", f"faults={file}",
                    "--workload", "rw=randread number_ios=20")
            self.assertEqual(run(*args).returncode, 0)
            file.write_text("# cmd=read -> drop\n\ncmd=read -> wrong-cid\n")
            done = run(*args)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(f"{file}:3: wrong-cid: needs QEMU", done.stderr)
            # before a fill, which may take long
            done = run(*args, "--fill", "random", "--csv", f"{tmp}/csv")
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse(pathlib.Path(tmp, "csv").exists())

    def test_rules_about_commands(self) -> None:
        """The results count them; a line of --csv has the status; a recorded
        run is not checked with them."""
        with tempfile.TemporaryDirectory() as tmp:
            file, csv, trace = (pathlib.Path(tmp, x)
                                for x in ("rules", "csv", "trace"))
            file.write_text("cmd=read nth=3 -> status 2/81\n"
                            "cmd=read nth=5 -> drop\n")
            rules = ("--profile", TINY, "--set", f"faults={file}")
            load = ("--workload", "rw=randread number_ios=20 iodepth=2")
            done = run("run", *rules, *load, "--json", "--csv", str(csv))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual(found["requests"], 19)
            self.assertEqual(found["dropped"], 1)
            self.assertEqual(found["errors"], 1)
            self.assertEqual(found["errors_by_status"]["rule"], 1)
            self.assertEqual(found["faults"], [
                {"rule": "cmd=read nth=3 -> status 2/81", "matched": 20,
                 "fired": 1},
                {"rule": "cmd=read nth=5 -> drop", "matched": 20,
                 "fired": 1}])
            self.assertEqual(csv.read_text().count(",rule,"), 1)
            done = run("run", *rules, *load)
            self.assertIn("1 of 19 requests failed: 1 with rule\n", done.stdout)
            self.assertIn("1 requests were dropped by rules", done.stdout)
            done = run("run", "--profile", TINY, *load, "--record", str(trace))
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("replay", str(trace), "--check", "--set",
                       f"faults={file}")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("--check: not with rules about commands",
                          done.stderr)
            file.write_text("cmd=any -> drop\n")
            done = run("run", *rules, *load)
            self.assertEqual(done.returncode, 1)
            self.assertIn("dropped all 2 that may be in flight", done.stderr)


if __name__ == "__main__":
    unittest.main()
