# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd-sim command: results, errors, and the pages made from its tables."""

import glob
import json
import lzma
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

SIM = os.environ["VSSD_SIM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
TRACE = ROOT / "tests/sim/small-msr.csv"
TINY = ROOT / "profiles/tiny.ini"

# What depends on the machine and not on the model.
OF_THE_MACHINE = ("wall_s", "requests_per_s_wall", "cpu_s",
                  "requests_per_s_cpu", "peak_rss_bytes")


def run(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SIM, *map(str, args)], capture_output=True,
                          text=True, timeout=600, check=False)


def no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return dict(pairs)


def result(*args: object) -> dict:
    done = run("--json", *args)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout, object_pairs_hook=no_repeats)


class Failures(unittest.TestCase):
    WEARS_OUT = ("--profile", TINY, "--set", "media.erase_fail=0.2",
                 "--workload", "rw=randwrite bs=4k number_ios=40000")

    def test_read_only(self) -> None:
        """A drive that has worn out: the results, what failed and how, exit 1."""
        done = run(*self.WEARS_OUT, "--json")
        self.assertEqual(done.returncode, 1)
        r = json.loads(done.stdout)
        by = r["errors_by_status"]
        self.assertTrue(r["media"]["read_only"])
        self.assertGreater(by["read_only"], 1000)
        self.assertEqual(sum(by.values()), r["errors"])
        self.assertEqual(done.stderr, "vssd-sim: the drive is read-only at the "
                         f"end of the run: {r['errors']} requests failed\n")

    def test_text(self) -> None:
        done = run(*self.WEARS_OUT)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\n\d+ of 40000 requests failed: (\d+ with"
                         r" write_fault, )?\d+ with read_only\n")

    def test_reads_fail(self) -> None:
        """Lost data is a result like any other."""
        r = result("--profile", TINY, "--set", "media.errors=on", "--set",
                   "media.base=8e-3", "--set", "media.retry_limit=0",
                   "--workload", "rw=randread bs=4k number_ios=1000")
        self.assertGreater(r["errors"], 10)
        self.assertEqual(r["errors_by_status"]["unrecovered_read"], r["errors"])


class Fits(unittest.TestCase):
    ASKED = ("read_gb=0.02 written_gb=0.04 accessed_gb=0.01 read_sectors=14.7"
             " write_sectors=16.7 interval_s=0.15")

    def test_attributes(self) -> None:
        """What --fit makes has what was asked for, within 4 %."""
        done = run("--profile", TINY, "--set", "nand.blocks=128", "--fit",
                   self.ASKED + " spread=zoned:70/10:30/90"
                   " write_spread=zoned:40/10:60/90", "--describe", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        for key, asked in (("read_bytes", 2e7), ("written_bytes", 4e7),
                           ("accessed_bytes", 1e7),
                           ("mean_read_bytes", 14.7 * 512),
                           ("mean_write_bytes", 16.7 * 512),
                           ("mean_interval_s", 0.15)):
            self.assertAlmostEqual(got[key] / asked, 1, delta=0.04, msg=key)

    def test_refusals(self) -> None:
        """One line each."""
        for more, word in (("top=50% spread=random", "give one of them"),
                           ("write_spread=random", "allowed with spread"),
                           ("spread=zoned:1/1", "summing to 100"),
                           ("accessed_gb=9", "accessed_gb"),
                           ("nothing=1", "no such attribute")):
            done = run("--profile", TINY, "--fit", f"{self.ASKED} {more}",
                       "--describe")
            self.assertEqual(done.returncode, 1, more)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Results(unittest.TestCase):
    def test_warm_up(self) -> None:
        """What is left out and what is counted add up to the whole."""
        text = "rw=randwrite bs=4k number_ios={}"
        whole, first, rest = (
            result("--profile", TINY, "--workload", text.format(n), *more)
            for n, more in ((1000, ()), (400, ()),
                            (1000, ("--warm-up", 400))))
        self.assertEqual([r["warm_up"] for r in (whole, first, rest)],
                         [0, 0, 400])
        for part in (lambda r: r["requests"], lambda r: r["sim_ns"],
                     lambda r: r["host_bytes_written"],
                     lambda r: round(r["latency_ns"]["all"]["mean"] *
                                     r["requests"])):
            self.assertAlmostEqual(part(whole), part(first) + part(rest),
                                   delta=2)
        done = run("--profile", TINY, "--workload", text.format(100),
                   "--warm-up", 101)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--warm-up=101", done.stderr)

    def test_members(self) -> None:
        r = result("--profile", TINY, "--workload",
                   "rw=randrw iodepth=8 number_ios=5000 fsync=100")
        self.assertEqual(r["schema_version"], 1)
        self.assertEqual(r["requests"], 5000)
        self.assertEqual(r["errors"], 0)
        for kind in ("all", "read", "write", "flush", "trim"):
            row = r["latency_ns"][kind]
            self.assertEqual(set(row), {
                "count", "mean", "min", "p50", "p99", "p999", "max",
                "tail_1pct_mean", "tail_001pct_mean"})
            self.assertLessEqual(row["p50"], row["p99"])
            self.assertLessEqual(row["p999"], row["max"])
        lat = r["latency_ns"]
        self.assertEqual(lat["all"]["count"], 5000)
        self.assertEqual(sum(lat[k]["count"] for k in
                             ("read", "write", "flush", "trim")), 5000)
        self.assertGreater(lat["flush"]["count"], 10)
        self.assertAlmostEqual(r["iops"], 5000e9 / r["sim_ns"], places=3)
        self.assertEqual(set(r["nand"]["by_cause"]),
                         {"host", "gc", "wear", "refresh", "meta", "map", "merge"})
        by_cause = r["nand"]["by_cause"].values()
        for kind in ("reads", "programs", "erases"):
            self.assertEqual(r["nand"][kind], sum(c[kind] for c in by_cause))
        for name in ("hits", "misses", "dirty_evictions", "early_flushes",
                     "rewrites_after_flush"):
            self.assertIn(name, r["buffer"])
        self.assertAlmostEqual(r["waf"], r["nand"]["programs"] * 16384 /
                               r["host_bytes_written"])

    def test_same_seed(self) -> None:
        args = ("--profile", TINY, "--workload", "rw=randrw number_ios=3000")
        runs = [result(*args, "--seed", seed) for seed in (7, 7, 8)]
        for r in runs:
            for name in OF_THE_MACHINE:
                del r[name]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0]["latency_ns"], runs[2]["latency_ns"])
        self.assertEqual(runs[2]["seed"], 8)

    def test_trace(self) -> None:
        r = result("--profile", TINY, "--trace", TRACE)
        self.assertEqual(r["requests"], 4)
        self.assertEqual(r["disordered"], 1)
        self.assertEqual(r["latency_ns"]["read"]["count"], 2)

    def test_streams_of_a_trace(self) -> None:
        """The column, --stream-map, and streams that there are not."""
        def lines(*numbers: object) -> str:
            return "time_ns,op,offset,size,stream\n" + "".join(
                f"{i},{'W' if n != 'R' else 'R'},{i * 16384},16384,"
                f"{n if n != 'R' else 60}\n" for i, n in enumerate(numbers))

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "t.csv")
            path.write_text(lines(0, 1, 2, 2, 3, "R"))
            args = ("--profile", TINY, "--set", "streams.gc=merge",
                    "--set", "ftl.op_percent=100%",
                    "--trace", path)
            three = (*args, "--set", "streams.max=3")
            two = (*args, "--set", "streams.max=2")

            def written(*more: object) -> list[int]:
                return [s["host_bytes_written"] // 16384
                        for s in result(*more)["streams"]]

            self.assertEqual(written(*three), [1, 1, 2, 1])
            self.assertEqual(written(*two, "--stream-map", "0,1,1,2"),
                             [1, 3, 1])
            for more, word in (
                    ((*two,), ":6: stream 3, but the drive has 0..2"),
                    ((*two, "--stream-map", "0,1,1"), ":6: the stream"),
                    ((*two, "--stream-map", "0,64"), "--stream-map=0,64"),
                    ((*two, "--stream-map", ""), "--stream-map="),
                    (("--profile", TINY, "--workload", "number_ios=1",
                      "--stream-map", "0"), "only with --trace")):
                done = run(*more)
                self.assertEqual(done.returncode, 1, more)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_series_of_cleaning(self) -> None:
        """The intervals add up to the run, without the fill before it."""
        r = result("--profile", TINY, "--fill", "random", "--workload",
                   "rw=randwrite bs=4k iodepth=8 number_ios=20000",
                   "--series", "0.05")
        copied = r["series"]["copied_units"]
        self.assertGreater(len(copied), 3)
        self.assertGreater(min(copied[:-1]), 0)
        self.assertGreater(r["gc"]["copied_units"], 1000)
        self.assertLessEqual(sum(copied), r["gc"]["copied_units"])
        self.assertGreater(sum(copied), 0.98 * r["gc"]["copied_units"])

    def test_profile_name(self) -> None:
        r = result("--profile", "tiny", "--workload", "number_ios=1")
        self.assertEqual(r["profile"], "tiny")

    def test_set(self) -> None:
        args = ("--profile", TINY, "--workload", "rw=randread number_ios=10")
        slow = result(*args, "--set", "nand.read=1ms", "--set",
                      "host.firmware=0")
        self.assertGreater(slow["latency_ns"]["read"]["min"], 1000000)

    def test_text(self) -> None:
        done = run("--profile", TINY, "--workload", "rw=randwrite "
                   "number_ios=1000")
        self.assertEqual(done.returncode, 0)
        self.assertIn("1000 requests", done.stdout)
        self.assertIn("write amplification", done.stdout)

    def test_info(self) -> None:
        done = run("--profile", TINY, "--info", "--block", 4096)
        info = json.loads(done.stdout, object_pairs_hook=no_repeats)
        self.assertEqual(info["block_bytes"], 4096)
        self.assertEqual(info["nblocks"] * 4096, info["capacity_bytes"])
        self.assertEqual(info["unit_bytes"], 4096)


class Errors(unittest.TestCase):
    """One line that names what is wrong, and a non-zero exit."""

    def refuse(self, says: str, *args: object, status: int = 1) -> None:
        done = run(*args)
        self.assertEqual(done.returncode, status, args)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("vssd-sim: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_arguments(self) -> None:
        w = ("--workload", "number_ios=1")
        p = ("--profile", TINY)
        self.refuse("--profile is missing", *w)
        self.refuse("--workload or --trace", *p)
        self.refuse("--workload or --trace", *p, *w, "--trace", TRACE)
        self.refuse("what is \"x\"?", *p, *w, "x", status=2)
        self.refuse("--bogus", *p, *w, "--bogus", status=2)
        self.refuse("--block=1000: allowed 512, 4096", *p, *w, "--block", 1000)
        self.refuse("--fill=half: allowed none, preload", *p, *w, "--fill",
                    "half")
        self.refuse("--format=x: no such", *p, "--trace", TRACE, "--format",
                    "x")
        self.refuse("seed=x: allowed", *p, *w, "--seed", "x")
        self.refuse("unknown keyword \"bz\"", *p, "--workload", "bz=4k")
        self.refuse("nand.channels=65: allowed 1..64", *p, *w, "--set",
                    "nand.channels=65")
        self.refuse("ftl.op_percent", *p, *w, "--set", "ftl.op_percent=0")

    def test_files(self) -> None:
        w = ("--workload", "number_ios=1")
        self.refuse("/nowhere.ini", "--profile", "/nowhere.ini", *w)
        self.refuse("/nowhere.csv", "--profile", TINY, "--trace",
                    "/nowhere.csv")
        with tempfile.TemporaryDirectory() as tmp:
            bad = pathlib.Path(tmp, "bad.ini")
            bad.write_text("[nand]\nchanels = 4\n")
            self.refuse(f"{bad}: nand.chanels: no such option", "--profile",
                        bad, *w)
            trace = pathlib.Path(tmp, "bad.csv")
            trace.write_text(TRACE.read_text() + "garbage\n")
            self.refuse(f"{trace}:5: field 1", "--profile", TINY, "--trace",
                        trace)
            trace.write_text("5,h,0,Read,99999999999,4096,1\n")
            self.refuse(f"{trace}:1: 4096 bytes at offset 99999999999",
                        "--profile", TINY, "--trace", trace)
            r = result("--profile", TINY, "--trace", trace, "--wrap")
            self.assertEqual(r["wrapped"], 1)

    def test_times_without_a_unit(self) -> None:
        """Which unit would it be?  The line names those that there are."""
        for key in ("nand.read", "host.firmware", "ftl.idle"):
            self.refuse(f"{key}=90: allowed with a unit (ps, ns, us, ms, s,"
                        " min, h)", "--profile", TINY, "--workload",
                        "number_ios=1", "--set", f"{key}=90")

    def test_empty_trace(self) -> None:
        """Of any kind; --check, too."""
        with tempfile.TemporaryDirectory() as tmp:
            trace = pathlib.Path(tmp, "t.csv")
            for text in ("", "# nothing\n", "time_ns,op,offset,size\n"):
                trace.write_text(text)
                self.refuse("holds no request", "--profile", TINY, "--trace",
                            trace, "--format", "csv")
            trace.write_text("")
            self.refuse("holds no request", "--profile", TINY, "--trace",
                        trace)
            self.refuse("holds no request", "--profile", TINY, "--trace",
                        TRACE, "--trace", trace)
            # A recording that ends before anything came.
            recording = pathlib.Path(tmp, "recording")
            run("--profile", TINY, "--trace", trace, "--record", recording)
            for more in ((), ("--check",)):
                self.refuse("holds no request", "--trace", recording, *more)
            self.refuse("holds no request", "--profile", TINY, "--trace",
                        TRACE, "--device", 7)

    def test_outputs_before_the_run(self) -> None:
        """A file that cannot be written: no hours of playing first."""
        for option in ("--csv", "--oplog", "--record", "--save-state",
                       "--save"):
            for name in ("/nowhere/x", "/"):
                self.refuse(f"{option} {name}: ", "--profile", TINY,
                            "--workload", "number_ios=0 io_size=1t", option,
                            name)

    def test_full_disk(self) -> None:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([SIM, "--options"], stdout=full,
                                  stderr=subprocess.PIPE, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)


class Signals(unittest.TestCase):
    """SIGINT and SIGTERM end a run; what it found so far is printed."""

    ENDLESS = ("--profile", TINY, "--json", "--workload",
               "rw=randwrite bs=4k iodepth=4 io_size=100t")

    def test_results_so_far(self) -> None:
        for number, args in ((signal.SIGINT, ()),
                             (signal.SIGTERM, ("--warm-up", "100000000")),
                             (signal.SIGTERM, ("--drives", "2"))):
            with subprocess.Popen(
                    [SIM, *map(str, self.ENDLESS + args)],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True) as proc:
                time.sleep(2)
                proc.send_signal(number)
                out, err = proc.communicate(timeout=60)
            self.assertEqual(proc.returncode, 128 + number, err)
            self.assertEqual(err, "")
            r = json.loads(out)
            self.assertTrue(r["stopped"])
            self.assertGreater(r["requests"], 100)
            self.assertEqual(r["latency_ns"]["all"]["count"], r["requests"])

    def test_a_run_to_its_end(self) -> None:
        self.assertFalse(result("--profile", TINY, "--workload",
                                "number_ios=10")["stopped"])

    def test_before_there_are_results(self) -> None:
        """One line, the same status."""
        with subprocess.Popen(
                [SIM, "--profile", str(ROOT / "profiles/tlc-generic.ini"),
                 "--precondition", "--workload", "number_ios=1"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as proc:
            time.sleep(1)
            proc.terminate()
            out, err = proc.communicate(timeout=60)
        self.assertEqual((proc.returncode, out), (143, ""))
        self.assertEqual(err, "vssd-sim: stopped before there are results\n")


class Arrays(unittest.TestCase):
    """--drives: several drives as one."""

    READS = ("--workload", "rw=randread bs=4k iodepth=64 number_ios=4000")

    def test_two(self) -> None:
        """Twice the drives, twice the work, half of it on each."""
        one = result("--profile", TINY, *self.READS)
        two = result("--profile", TINY, *self.READS, "--drives", "2")
        self.assertEqual(two["stripe_bytes"], 65536)
        self.assertEqual(two["capacity_bytes"],
                         one["capacity_bytes"] // 65536 * 65536 * 2)
        self.assertGreater(two["iops"], 1.7 * one["iops"])
        reads = [d["nand"]["reads"] for d in two["drives"]]
        self.assertEqual(len(reads), 2)
        self.assertEqual(sum(reads), one["nand"]["reads"])
        self.assertLess(max(reads), 0.55 * sum(reads))

    def test_of_one(self) -> None:
        """One drive is what it is without the option."""
        self.assertEqual(*(
            {k: v for k, v in result("--profile", TINY, *self.READS,
                                     *more).items() if k not in OF_THE_MACHINE}
            for more in ((), ("--drives", "1"))))

    def test_fills(self) -> None:
        """All drives are filled."""
        for fill in ("seq", "random"):
            r = result("--profile", TINY, "--drives", "3", "--stripe", "16k",
                       "--fill", fill, "--workload", "rw=read bs=64k")
            for d in r["drives"]:
                self.assertGreater(d["gc"]["mapped_units"], 5000)
                self.assertGreater(d["nand"]["reads"], 1000)

    def test_states(self) -> None:
        """Each drive starts from the state."""
        with tempfile.TemporaryDirectory() as tmp:
            state = pathlib.Path(tmp, "state")
            done = run("--profile", TINY, "--precondition", "--save-state",
                       state)
            self.assertEqual(done.returncode, 0, done.stderr)
            r = result("--profile", TINY, "--drives", "2", "--state", state,
                       "--workload", "rw=randwrite number_ios=2000")
            for d in r["drives"]:
                self.assertGreater(d["nand"]["erases"], 0)

    def test_refusals(self) -> None:
        """One line that names the option."""
        for args, words in (
                (("--drives", "0"), ("--drives=0", "1..64")),
                (("--drives", "65"), ("--drives=65", "1..64")),
                (("--stripe", "64k"), ("--stripe", "--drives")),
                (("--drives", "2", "--stripe", "5k"), ("5k", "4096")),
                (("--drives", "2", "--stripe", "1t"), ("1t", "up to")),
                (("--drives", "2", "--info"), ("--info", "one drive")),
                (("--drives", "2", "--csv", "x"), ("--csv",)),
                (("--drives", "2", "--save-state", "x"), ("--save-state",)),
                (("--drives", "2", "--set", "faults=x"), ("faults",))):
            done = run("--profile", TINY, *self.READS, *args)
            self.assertEqual(done.returncode, 1, args)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)


class Pages(unittest.TestCase):
    def test_help(self) -> None:
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--profile", "rwmixread", "msr", "preload"):
            self.assertIn(word, done.stdout)

    def test_options(self) -> None:
        """docs/options.md ends with what the tables say."""
        page = (ROOT / "docs/options.md").read_text()
        done = run("--options")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(page.endswith(done.stdout),
                        "put the output of vssd-sim --options there")

    def test_results_page(self) -> None:
        """docs/results.md names every member, and no other."""
        page = (ROOT / "docs/results.md").read_text()
        names = set()

        def walk(path: str, value: object) -> None:
            if isinstance(value, dict):
                for k, v in value.items():
                    walk(f"{path}.{k}" if path else k, v)
            elif isinstance(value, list):
                for v in value:
                    walk(path + "[]", v)
            else:
                names.add(path)

        walk("", result("--profile", TINY, "--trace", TRACE))
        walk("", result("--profile", TINY, "--workload", "number_ios=1"))
        walk("", result("--profile", TINY, "--workload", "number_ios=1",
                        "--drives", "2"))
        self.assertIn("`drives[]`", page)
        for name in sorted({n.removeprefix("drives[].") for n in names}):
            parts = name.split(".")
            leaf = parts[-1]
            self.assertTrue(f"`{name}`" in page or f"`{leaf}`" in page,
                            f"docs/results.md does not explain {name}")


@unittest.skipUnless(os.environ.get("VSSD_TRACES"), "VSSD_TRACES is not set")
class RealTraces(unittest.TestCase):
    def test_msr(self) -> None:
        for name in ("hm_1.csv", "wdev_1.csv", "proj_0.csv"):
            paths = glob.glob(os.path.join(os.environ["VSSD_TRACES"],
                                           f"*{name}*"))
            if not paths:
                continue
            with tempfile.TemporaryDirectory() as tmp:
                data = pathlib.Path(paths[0]).read_bytes()
                if paths[0].endswith(".xz"):
                    data = lzma.decompress(data)
                plain = pathlib.Path(tmp, name)
                plain.write_bytes(data)
                r = result("--profile", "tlc-generic", "--trace", plain,
                           "--wrap")
                self.assertEqual(r["requests"], data.count(b"\n"))
                self.assertEqual(r["errors"], 0)


if __name__ == "__main__":
    unittest.main()
