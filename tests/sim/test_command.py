# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd-sim command: results, errors, and the pages made from its tables."""

import csv
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

from command import (
    OF_THE_MACHINE,
    ROOT,
    SIM,
    TINY,
    TRACE,
    no_repeats,
    result,
    run,
)


class Terminal(unittest.TestCase):
    """Nothing of a file or an argument is obeyed by the terminal."""

    BAD = "a\x1b]0;x\x07\x9b2J\u00e4\x7fb"
    WORK = "--workload", "rw=randwrite bs=4k number_ios=10"
    SHOWN = r"a\x1b]0;x\x07\xc2\x9b2J\u00e4\x7fb".replace("\\u00e4", "\u00e4")

    def check(self, shown: str, *args: object) -> None:
        done = run(*args)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(shown, done.stderr)
        self.assertNotRegex(done.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_arguments(self) -> None:
        bad, shown = "a\x1b[2J\x07\x7fb", r"a\x1b[2J\x07\x7fb"
        self.check(shown, bad)
        self.check(shown, "run", "--profile", bad, *self.WORK)
        self.check(shown, "run", "--profile", TINY, "--set", f"{bad}=1",
                   *self.WORK)

    def test_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder, "p.ini")
            profile.write_text(TINY.read_text() + f"\n[{self.BAD}]\nx=1\n")
            self.check(self.SHOWN, "run", "--profile", profile, *self.WORK)

    def test_names_in_results(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder, self.BAD)
            profile.write_text(TINY.read_text())
            trace = pathlib.Path(folder, self.BAD + ".csv")
            trace.write_text("time_ns,op,offset,size\n0,R,0,4096\n")
            done = run("replay", "--profile", profile, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(self.SHOWN), 3)
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class LargeDrives(unittest.TestCase):
    """Sizes from data that no machine here can fill."""

    WORK = ("--workload", "rw=randread number_ios=10")

    @staticmethod
    def drive(blocks: int) -> list[object]:
        """20 TiB for each 400 blocks."""
        keys = (("channels", 8), ("chips", 2), ("dies", 16), ("planes", 4),
                ("pages", 4096), ("blocks", blocks))
        return ["--profile", ROOT / "profiles/tlc-generic.ini", "--set",
                "ftl.op_percent=25%",
                *(x for k, v in keys for x in ("--set", f"nand.{k}={v}"))]

    def test_fills_beyond_the_memory(self) -> None:
        """One line before the run: the option, the memory, what to do."""
        drive = self.drive(7620)  # 381 TiB
        stored = ("--set", "ftl.recovery=scan")
        for more, what in ((stored, "--fill=preload"),
                           (("--fill", "preload", *stored), "--fill=preload"),
                           (("--fill", "seq"), "--fill=seq"),
                           (("--fill", "random"), "--fill=random"),
                           (("--precondition",), "--precondition")):
            begin = time.monotonic()
            done = run("run", *drive, *self.WORK, *more)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(
                done.stderr, rf"^vssd-sim: {what}: a full drive of 381 TiB"
                r" needs \d{4}\.\d GiB of memory, of which [\d.]+ GiB are"
                r" free: give --fill=none, or a smaller drive with fewer"
                r" nand\.blocks\n$")
        done = run("replay", TRACE, *drive, *stored)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--fill=preload: a full drive", done.stderr)

    def test_preload(self) -> None:
        """24 TiB of old data, whose places are computed: in 1 GB."""
        for rw in ("randread", "randwrite"):
            done = result("run", *self.drive(480), "--workload",
                          f"rw={rw} iodepth=32 number_ios=20000")
            self.assertEqual(done["requests"], 20000)
            self.assertEqual(done["fill"], "preload")
            self.assertLess(done["peak_rss_bytes"], 1e9)

    def test_what_does_not_fill(self) -> None:
        """Goes on: an empty drive, and the geometry."""
        drive = self.drive(480)  # 24 TiB
        self.assertEqual(run("info", *drive).returncode, 0)
        done = run("run", *drive, *self.WORK, "--fill", "none", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)


class Failures(unittest.TestCase):
    WEARS_OUT = ("run", "--profile", TINY, "--set", "media.erase_fail=0.2",
                 "--workload", "rw=randwrite bs=4k number_ios=40000")

    def test_read_only(self) -> None:
        """A drive that has worn out: the results, the failed requests by
        status, exit 1."""
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
        r = result("run", "--profile", TINY, "--set", "media.errors=on", "--set",
                   "media.base=8e-3", "--set", "media.retry_limit=0",
                   "--workload", "rw=randread bs=4k number_ios=1000")
        self.assertGreater(r["errors"], 10)
        self.assertEqual(r["errors_by_status"]["unrecovered_read"], r["errors"])


class Fits(unittest.TestCase):
    ASKED = ("read_gb=0.02 written_gb=0.04 accessed_gb=0.01 read_sectors=14.7"
             " write_sectors=16.7 interval_s=0.15")

    def test_attributes(self) -> None:
        """Requests of fit have the requested attributes, within 4 %."""
        done = run("fit", "--profile", TINY, "--set", "nand.blocks=128",
                   *self.ASKED.split(), "spread=zoned:70/10:30/90"
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
            done = run("fit", "--profile", TINY, f"{self.ASKED} {more}",
                       "--describe")
            self.assertEqual(done.returncode, 1, more)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Results(unittest.TestCase):
    def test_explain(self) -> None:
        """The text and the members name the same bottleneck."""
        reads = ("run", "--profile", TINY, "--fill", "preload", "--workload")
        for depth, bound, line in ((64, "dies", "bound by dies: "),
                                   (1, "latency", "bound by latency: 1.0 ")):
            args = (*reads, f"rw=randread bs=4k iodepth={depth} "
                    "number_ios=4000", "--explain")
            text = run(*args)
            self.assertEqual(text.returncode, 0, text.stderr)
            self.assertIn("\n" + line, text.stdout)
            e = result(*args)["explain"]
            self.assertEqual(e["bound_by"], bound)
            self.assertAlmostEqual(e["commands_in_flight"] / depth, 1,
                                   delta=0.03)
            self.assertEqual(e["stages"]["cores"]["servers"], 0)
        several = run(*args, "--drives", "2")
        self.assertEqual(several.stdout.count("\nbound by "), 2)

    def test_warm_up(self) -> None:
        """The skipped and the counted part add up to the whole."""
        text = "rw=randwrite bs=4k number_ios={}"
        whole, first, rest = (
            result("run", "--profile", TINY, "--workload", text.format(n),
                   *more)
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
        for warm_up in (100, 101):
            done = run("run", "--profile", TINY, "--workload",
                       text.format(100), "--warm-up", warm_up)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, f"vssd-sim: --warm-up={warm_up}: the "
                             "run ended after 100 requests\n")

    def test_until_steady(self) -> None:
        """Rounds of one drive write go before the run; what is judged keeps
        to the limits, or a line says that it did not."""
        text = "rw=randwrite bs=4k iodepth=8 number_ios=6000 "
        r = result("run", "--profile", TINY, "--workload", text, "--until-steady", "waf")
        s = r["steady"]
        self.assertEqual((s["verdict"], r["requests"]), ("steady", 6000))
        self.assertIn(s["rounds_before"], range(5, 26))
        self.assertAlmostEqual(s["round_drive_writes"], 1, delta=0.01)
        self.assertLessEqual(s["range"]["waf"], 0.2)
        self.assertLessEqual(s["slope"]["waf"], 0.1)
        self.assertAlmostEqual(
            r["waf"] / result("run", "--profile", TINY, "--workload", text + " seed=5",
                              "--until-steady", "waf")["waf"], 1, delta=0.03)
        # More than the drive can do: the latency grows for ever.
        reads = "rw=randread number_ios=100 rate_iops=1000000"
        s = result("run", "--profile", TINY, "--workload", reads, "--until-steady",
                   "latency")["steady"]
        self.assertEqual((s["verdict"], s["rounds_before"]), ("changing", 25))
        self.assertEqual((s["round_requests"], s["round_drive_writes"]),
                         (10000, 0))
        done = run("run", "--profile", TINY, "--workload", reads,
                   "--until-steady", "latency")
        self.assertIn("the steady state of latency was not reached in 25 rounds; "
                      "last five rounds of 10000 requests: range of iops ",
                      done.stdout)

    def test_verdict(self) -> None:
        """From the run's own rounds."""
        for workload, verdict in (
                ("rw=randread number_ios=300", "short"),
                ("rw=randread number_ios=3000", "steady"),
                ("rw=randwrite iodepth=8 number_ios=6000", "changing")):
            s = result("run", "--profile", TINY, "--workload", workload, "--fill",
                       "preload")["steady"]
            self.assertEqual((s["verdict"], s["rounds_before"]), (verdict, 0))
        s = result("run", "--profile", TINY, "--workload", "rw=randwrite iodepth=8"
                   " number_ios=2000", "--fill", "random")["steady"]
        self.assertEqual(s["verdict"], "flat")
        self.assertLess(s["round_drive_writes"], 0.1)

    def test_precondition_of_a_load(self) -> None:
        """The steady state that it reports is that of the run."""
        for load in ("rw=randwrite iodepth=8", "rw=write bs=64k iodepth=2",
                     "rw=randwrite random_distribution=zipf:1.2",
                     "rw=randwrite rate_iops=100"):
            done = run("run", "--profile", TINY, "--precondition", "--json",
                       "--workload", load + " io_size=100m")
            told = re.findall(r"WAF ([\d.]+) of the load", done.stderr)
            self.assertAlmostEqual(json.loads(done.stdout)["waf"]
                                   / float(told[0]), 1, delta=0.05)

    def test_precondition_of_a_large_drive(self) -> None:
        """It is laid out from a model, as one line says; the state is a drive's."""
        with tempfile.TemporaryDirectory() as tmp:
            state = pathlib.Path(tmp, "state")
            drive = ("--profile", TINY, *(
                x for option in ("channels=8", "dies=64", "blocks=128", "pages=64")
                for x in ("--set", f"nand.{option}")))
            done = run("run", *drive, "--precondition", "--save-state", state)
            self.assertRegex(done.stderr, r"WAF 2\.\d+ after the fill and [\d.]+ "
                             r"capacities at random; of a model with 1/256 of the "
                             r"units, .* with 2 % of its units overwritten")
            told = re.findall(r"WAF ([\d.]+)", done.stderr)
            r = result("run", *drive, "--state", state, "--workload",
                       "rw=randwrite number_ios=1000000 rate_iops=20000")
        self.assertAlmostEqual(r["waf"] / float(told[0]), 1, delta=0.05)

    def test_waf_is_explained(self) -> None:
        """Below 1, and while GC makes up for a fill."""
        done = run("run", "--profile", TINY, "--workload",
                   "rw=randwrite number_ios=5", "--fill", "none")
        self.assertIn("below 1: 0.02 MB are still in the buffer", done.stdout)
        done = run("run", "--profile", TINY, "--fill", "random", "--workload",
                   "rw=randwrite rate_iops=50 number_ios=100")
        self.assertRegex(done.stdout, r"GC made \d+ blocks more free than the "
                         r"writes took; without these it is about [23]\.")

    def test_no_request_at_all(self) -> None:
        """No result of zeros: the first request comes after the end."""
        with tempfile.TemporaryDirectory() as tmp:
            trace = pathlib.Path(tmp, "t.csv")
            trace.write_text("time_s,op,offset,size\n0,R,0,512\n1,R,0,512\n"
                             "3,R,0,512\n")
            play = ("replay", "--profile", TINY, trace, "--from", "1.5")
            self.assertEqual(result(*play, "--runtime", "2")["requests"], 1)
            done = run(*play, "--runtime", "1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "vssd-sim: no request was played: the "
                         "runtime ends before the first one\n")

    def test_members(self) -> None:
        r = result("run", "--profile", TINY, "--workload",
                   "rw=randrw iodepth=8 number_ios=5000 fsync=100")
        self.assertEqual(r["schema_version"], 1)
        self.assertEqual(r["requests"], 5000)
        self.assertEqual(r["errors"], 0)
        for kind in ("all", "read", "write", "flush", "trim"):
            row = r["latency_ns"][kind]
            self.assertEqual(set(row), {
                "count", "mean", "min", "p50", "p99", "p999", "p9999", "p99999",
                "p999999", "max", "tail_1pct_mean", "tail_001pct_mean"})
            shares = ("p50", "p99", "p999", "p9999", "p99999", "p999999", "max")
            values = [row[share] for share in shares]
            self.assertEqual(values, sorted(values))
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
        args = ("run", "--profile", TINY, "--workload",
                "rw=randrw number_ios=3000")
        runs = [result(*args, "--seed", seed) for seed in (7, 7, 8)]
        for r in runs:
            for name in OF_THE_MACHINE:
                del r[name]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0]["latency_ns"], runs[2]["latency_ns"])
        self.assertEqual(runs[2]["seed"], 8)

    def test_trace(self) -> None:
        r = result("replay", "--profile", TINY, TRACE)
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
            args = ("replay", "--profile", TINY, "--set", "streams.gc=merge",
                    "--set", "ftl.op_percent=100%", path)
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
                    ((*two, "--stream-map", ""), "--stream-map=")):
                done = run(*more)
                self.assertEqual(done.returncode, 1, more)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_series_of_cleaning(self) -> None:
        """The intervals add up to the run, without the fill before it."""
        r = result("run", "--profile", TINY, "--fill", "random", "--workload",
                   "rw=randwrite bs=4k iodepth=8 number_ios=20000",
                   "--series", "0.05")
        copied = r["series"]["copied_units"]
        self.assertGreater(len(copied), 3)
        self.assertGreater(min(copied[:-1]), 0)
        self.assertGreater(r["gc"]["copied_units"], 1000)
        self.assertLessEqual(sum(copied), r["gc"]["copied_units"])
        self.assertGreater(sum(copied), 0.98 * r["gc"]["copied_units"])

    def test_profile_name(self) -> None:
        r = result("run", "--profile", "tiny", "--workload", "number_ios=1")
        self.assertEqual(r["profile"], "tiny")

    def test_set(self) -> None:
        args = ("run", "--profile", TINY, "--workload",
                "rw=randread number_ios=10")
        slow = result(*args, "--set", "nand.read=1ms", "--set",
                      "host.firmware=0")
        self.assertGreater(slow["latency_ns"]["read"]["min"], 1000000)

    def test_text(self) -> None:
        done = run("run", "--profile", TINY, "--workload", "rw=randwrite "
                   "number_ios=1000")
        self.assertEqual(done.returncode, 0)
        self.assertIn("1000 requests", done.stdout)
        self.assertIn("write amplification", done.stdout)

    def test_text_has_the_tail(self) -> None:
        """The same percentiles as in JSON, up to 99.9999 %."""
        args = ("run", "--profile", TINY, "--workload",
                "rw=randread iodepth=16 number_ios=20000")
        lines = [x.split() for x in run(*args).stdout.splitlines()]
        head = next(x for x in lines if x[0] == "us")
        found = dict(zip(head, next(x for x in lines if x[0] == "read")))
        tail = result(*args)["latency_ns"]["read"]
        for name in ("p50", "p99", "p99.9", "p99.99", "p99.999", "p99.9999",
                     "max"):
            self.assertAlmostEqual(float(found[name]) * 1e3,
                                   tail[name.replace(".", "")], delta=51)

    def test_info(self) -> None:
        done = run("info", "--profile", TINY, "--block", 4096)
        info = json.loads(done.stdout, object_pairs_hook=no_repeats)
        self.assertEqual(info["block_bytes"], 4096)
        self.assertEqual(info["nblocks"] * 4096, info["capacity_bytes"])
        self.assertEqual(info["unit_bytes"], 4096)


class Errors(unittest.TestCase):
    """One line that names the fault, and a non-zero exit."""

    def refuse(self, says: str, *args: object, status: int = 1) -> None:
        done = run(*args)
        self.assertEqual(done.returncode, status, args)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("vssd-sim: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_arguments(self) -> None:
        w = ("--workload", "number_ios=1")
        p = ("run", "--profile", TINY)
        self.refuse("--profile is missing", "run", *w)
        self.refuse("--workload or --job", *p)
        self.refuse("one of --workload or --job", *p, *w, "--job", "x")
        self.refuse("--section: only with --job", *p, *w, "--section", "x")
        self.refuse("what is \"x\"?", *p, *w, "x", status=2)
        self.refuse("--bogus", *p, *w, "--bogus", status=2)
        self.refuse("--block=1000: allowed 512, 4096", *p, *w, "--block", 1000)
        self.refuse("--fill=half: allowed none, preload", *p, *w, "--fill",
                    "half")
        self.refuse("--until-steady=x: allowed iops, waf, latency\n", *p, *w,
                    "--until-steady", "x")
        self.refuse("--until-steady=waf: the workload writes nothing\n", *p,
                    *w, "--until-steady", "waf")
        self.refuse("--format=x: no such", "replay", *p[1:], TRACE, "--format",
                    "x")
        for units in ("", "x", "time", "time=min", "size=0", "time=us,time=ns",
                      "address=1048577", "size=4k"):
            self.refuse(f"--units={units}: allowed time=ns|100ns|us|ms|s, "
                        "address=BYTES", "replay", *p[1:], TRACE, "--units",
                        units)
        self.refuse("seed=x: allowed", *p, *w, "--seed", "x")
        self.refuse("unknown keyword \"bz\"; did you mean bs?", *p, "--workload", "bz=4k")
        self.refuse("nand.channels=65: allowed 1..64", *p, *w, "--set",
                    "nand.channels=65")
        self.refuse("ftl.op_percent", *p, *w, "--set", "ftl.op_percent=0")

    def test_commands(self) -> None:
        """Which one?"""
        self.refuse("Unknown option --porfile; did you mean --profile? (", "run",
                    "--porfile", TINY, status=2)
        which = "which command? run, replay, batch, convert, fit, info, options"
        self.refuse(f"ply: {which} (vssd-sim --help)", "ply", "--profile", TINY,
                    status=2)
        self.refuse(f"ply: {which}", "ply", status=2)
        self.refuse(f"rnu: {which}; did you mean run? (", "rnu", status=2)
        self.refuse(f"vssd-sim: {which}", status=2)
        self.refuse("--trace (vssd-sim run --help)", "run", "--profile", TINY,
                    "--trace", TRACE, status=2)
        for words, says in (
                (("replay",), "FILE is missing (vssd-sim replay --help)"),
                (("convert",), "FILE is missing"),
                (("convert", TRACE), "--to is missing"),
                (("convert", TRACE, "--to", "pdf"),
                 "--to=pdf: allowed blkparse, msr, binary"),
                (("convert", TRACE, "--to", "msr"), "no trace of vssd"),
                (("convert", TRACE, "--to", "msr", "--format", "msr"),
                 "--format: only with --to=binary"),
                (("convert", TRACE, "--to", "binary", "--format", "pdf"),
                 "--format=pdf: no such trace format"),
                (("convert", TINY, "--to", "binary"),
                 "looks like no trace format"),
                (("fit", "--profile", TINY), "which attributes?"),
                (("info",), "--profile is missing"),
                (("info", "--profile", TINY, TRACE), "no trace of vssd")):
            self.refuse(says, *words)

    def test_plain(self) -> None:
        """Options without a command: run, or replay of --trace FILE."""
        w = ("--workload", "number_ios=10")
        for plain, named in ((w, ("run", *w)),
                             (("--trace", TRACE), ("replay", TRACE)),
                             ((f"--trace={TRACE}",), ("replay", TRACE))):
            common = ("--profile", TINY)
            done = run(*common, "--json", *plain)
            self.assertEqual(done.stderr, "")
            first = json.loads(done.stdout)
            second = result(named[0], *common, *named[1:])
            self.assertEqual(first["latency_ns"], second["latency_ns"])
            self.assertGreater(first["requests"], 0)
        self.refuse("--bogus (vssd-sim run --help)", "--bogus", status=2)
        self.refuse("--trace (vssd-sim run --help)", "--profile", TINY,
                    "--trace", status=2)

    def test_options_that_would_do_nothing(self) -> None:
        """Each is refused, by its name."""
        p = ("--profile", TINY)
        w = ("--workload", "number_ios=1")
        with tempfile.TemporaryDirectory() as tmp:
            out = pathlib.Path(tmp, "out")
            none = ("run", *p, "--save-state", out)
            for option in (("--csv", out), ("--oplog", out), ("--json",),
                           ("--record", out), ("--series", "1"),
                           ("--warm-up", "1"), ("--describe",),
                           ("--fill", "seq"), ("--save", out)):
                self.refuse(f"{option[0]}: only with --workload", *none,
                            *option)
            self.refuse("--section: only with --job", *none, "--section", "x")
            for option in (("--csv", out), ("--oplog", out), ("--record", out),
                           ("--series", "1"), ("--warm-up", "1"),
                           ("--fill", "seq"), ("--precondition",),
                           ("--state", out), ("--save-state", out)):
                for command in (("run", *p, *w), ("replay", TRACE),
                                ("fit", *p, "read_gb=1")):
                    self.refuse(f"{option[0]}: not with --describe", *command,
                                "--describe", *option)
            for option in (p, ("--seed", "1"), ("--drives", "2"),
                           ("--wrap",), ("--iodepth", "1")):
                self.refuse(f"{option[0]}: not with --describe", "replay",
                            TRACE, "--describe", *option)
            self.assertFalse(out.exists())
        self.refuse("--describe: not with --check", "replay", TRACE,
                    "--check", "--describe")
        self.refuse("--time-scale: not with --iodepth", "replay", TRACE, *p,
                    "--iodepth", "2", "--time-scale", "2")
        self.refuse("--action: not for", "replay", TRACE, *p, "--action", "D")
        self.refuse("--columns: not for", "replay", TRACE, *p, "--format",
                    "msr", "--columns", "time_ns,op,offset,size")

    def test_ranges(self) -> None:
        """The line names the bound that was broken, or the unit that there is
        not."""
        raid = ("--drives", "3", "--raid", "5")
        timeline = ("--timeline", "/dev/null")
        run_it = ("run", "--profile", TINY, "--workload", "number_ios=1")
        replay = ("replay", "--profile", TINY, TRACE)
        for command, option, bad, says in (
                (run_it, "drives", "0", "1..64, it is below 1"),
                (run_it, "drives", "65", "1..64, it is above 64"),
                (run_it, "drives", "2k", "1..64, without 'k'"),
                (run_it, "drives", "1.5", "1..64\n"),
                ((*run_it, *raid), "spares", "-1", "0..63, it is below 0"),
                ((*run_it, *raid), "spares", "64", "0..63, it is above 63"),
                ((*run_it, *raid), "rebuild-depth", "65",
                 "1..64, it is above 64"),
                ((*run_it, *raid), "rebuild-rate", "0", ", it is below 1\n"),
                ((*run_it, *raid), "rebuild-rate", "5q", "not 'q'"),
                ((*run_it, *raid), "stripe", "1t", "bytes, it is above "),
                ((*run_it, *raid), "stripe", "512", ", it is below 4096\n"),
                ((*run_it, *raid), "fail", "3@1",
                 "0..2 for DRIVE of DRIVE@SECONDS, it is above 2"),
                ((*run_it, *raid), "fail", "1@5h", "0..315360000 for SECONDS "
                 "of DRIVE@SECONDS, without 'h'"),
                ((*run_it, *raid), "fail", "1", "0..315360000 for SECONDS"),
                (run_it, "warm-up", "x", "0..9223372036854775807 requests\n"),
                (run_it, "warm-up", "99999999999999999999",
                 ", it is above 9223372036854775807"),
                (run_it, "series", "0", "0.000001..1000000 seconds, it is "
                 "below 0.000001"),
                (run_it, "series", "5ms", "seconds, without 'ms'"),
                ((*run_it, *timeline), "timeline-from", "5",
                 "with a unit (ps, ns, us, ms, s, min, h), 0ns..4800h"),
                ((*run_it, *timeline), "timeline-for", "5x",
                 "no unit is 'x': ps, ns,"),
                ((*run_it, *timeline), "timeline-size", "1",
                 "1MiB..16GiB, it is below 1MiB"),
                (replay, "iodepth", "0", "1..65536, it is below 1"),
                (replay, "iodepth", "65537", "1..65536, it is above 65536"),
                (replay, "runtime", "1e9", "0.000001..315360000 seconds, it "
                 "is above 315360000"),
                (replay, "runtime", "5min", "seconds, without 'min'"),
                (replay, "from", "x", "0..315360000 seconds\n"),
                (replay, "from", "-1", "seconds, it is below 0"),
                (replay, "repeat", "0", "1..1000000, it is below 1"),
                (replay, "repeat", "1000001", "it is above 1000000"),
                (replay, "sample", "10", "0.0001%..100%\n"),
                (replay, "sample", "101%", "0.0001%..100%, it is above 100%"),
                (replay, "sample", "0%", "0.0001%..100%, it is below 0.0001%"),
                (replay, "time-scale", "0", "0.000001..1000000, it is below "
                 "0.000001"),
                (replay, "time-scale", "2x", "without 'x'"),
                (replay, "retime", "D0", "D1..D1000000, it is below D1"),
                (replay, "stream-map", "0,64",
                 "0..63 with commas between, it is above 63")):
            with self.subTest(option=option, bad=bad):
                self.refuse(f"--{option}={bad}: allowed ", *command,
                            f"--{option}", bad)
                self.refuse(says, *command, f"--{option}", bad)

    def test_files(self) -> None:
        w = ("--workload", "number_ios=1")
        play = ("replay", "--profile", TINY)
        self.refuse("/nowhere.ini", "run", "--profile", "/nowhere.ini", *w)
        self.refuse("/nowhere.csv", *play, "/nowhere.csv")
        with tempfile.TemporaryDirectory() as tmp:
            bad = pathlib.Path(tmp, "bad.ini")
            bad.write_text("[nand]\nchanels = 4\n")
            self.refuse(f"{bad}: nand.chanels: no such option", "run",
                        "--profile", bad, *w)
            trace = pathlib.Path(tmp, "bad.csv")
            trace.write_text(TRACE.read_text() + "garbage\n")
            self.refuse(f"{trace}:5: field 1", *play, trace)
            trace.write_text("5,h,0,Read,99999999999,4096,1\n")
            self.refuse(f"{trace}:1: 4096 bytes at offset 99999999999", *play,
                        trace)
            r = result(*play, trace, "--wrap")
            self.assertEqual(r["wrapped"], 1)

    def test_played_address(self) -> None:
        """--csv has the address that was played, not that of the trace."""
        block = 4096
        with tempfile.TemporaryDirectory() as tmp:
            out = pathlib.Path(tmp, "out")
            trace = pathlib.Path(tmp, "t.csv")
            drive = ("replay", "--profile", TINY)
            trace.write_text("5,h,0,Read,0,4096,1\n")
            size = result(*drive, trace)["capacity_bytes"]
            self.assertEqual(size % block, 0)
            asked = (size + 512, 3 * size + 5 * block, size - block)
            trace.write_text("".join(
                f"{n},h,0,Read,{at},{2 * block if n == 2 else 512},1\n"
                for n, at in enumerate(asked)))
            for how in (("--wrap",), ("--remap", "modulo")):
                result(*drive, trace, *how, "--csv", out)
                with out.open() as f:
                    rows = {int(row["n"]): row for row in csv.DictReader(f)}
                self.assertEqual(
                    sorted(int(row["offset"]) for row in rows.values()),
                    [512, 5 * block, size - 2 * block])

    def test_times_without_a_unit(self) -> None:
        """Which unit would it be?  The line names those that there are."""
        for key in ("nand.read", "host.firmware", "ftl.idle"):
            self.refuse(f"{key}=90: allowed with a unit (ps, ns, us, ms, s,"
                        " min, h)", "run", "--profile", TINY, "--workload",
                        "number_ios=1", "--set", f"{key}=90")

    def test_empty_trace(self) -> None:
        """Of any kind; --check, too."""
        play = ("replay", "--profile", TINY)
        with tempfile.TemporaryDirectory() as tmp:
            trace = pathlib.Path(tmp, "t.csv")
            for text in ("", "# nothing\n", "time_ns,op,offset,size\n"):
                trace.write_text(text)
                self.refuse("holds no request", *play, trace, "--format",
                            "csv")
            trace.write_text("")
            self.refuse("holds no request", *play, trace)
            self.refuse("holds no request", *play, TRACE, trace)
            # A recording that ends before anything came.
            recording = pathlib.Path(tmp, "recording")
            run(*play, trace, "--record", recording)
            for more in ((), ("--check",)):
                self.refuse("holds no request", "replay", recording, *more)
            self.refuse("holds no request", *play, TRACE, "--device", 7)

    def test_outputs_before_the_run(self) -> None:
        """A file that cannot be written: no hours of playing first."""
        for option in ("--csv", "--oplog", "--record", "--save-state",
                       "--save"):
            for name in ("/nowhere/x", "/"):
                self.refuse(f"{option} {name}: ", "run", "--profile", TINY,
                            "--workload", "number_ios=0 io_size=1t", option,
                            name)

    def test_outputs_of_another_drive(self) -> None:
        """A file that another run writes is refused, whatever each calls it;
        afterwards it is free, and no lock is left."""
        work = ("--profile", TINY, "--workload", "rw=read bs=4k io_size=100t")
        for first in ("save-state", "oplog", "record", "csv", "histograms",
                      "timeline"):
            with tempfile.TemporaryDirectory() as tmp:
                out = pathlib.Path(tmp, "out")
                with subprocess.Popen(
                        [SIM, "run", *map(str, work), f"--{first}", out],
                        stdout=subprocess.DEVNULL) as other:
                    lock = pathlib.Path(f"{out}.vssd-lock")
                    end = time.monotonic() + 60
                    while not lock.exists() or not lock.read_text():
                        self.assertIsNone(other.poll())
                        if time.monotonic() > end:
                            other.kill()
                            self.fail(f"no lock of --{first}")
                        time.sleep(0.01)
                    for second in ("save-state", "oplog", "record", "csv",
                                   "timeline", "histograms"):
                        self.refuse(f"{out}: in use by another drive (process"
                                    f" {other.pid})", "run", "--profile", TINY,
                                    "--workload", "io_size=1t", f"--{second}",
                                    out)
                    other.kill()
                work_now = (*work[:3], "io_size=4k")
                result("run", *work_now, f"--{first}", out)
                self.assertEqual([x.name for x in out.parent.iterdir()],
                                 ["out"])

    def test_closed_pipe(self) -> None:
        """Quiet, also where SIGPIPE was ignored, as by Python."""
        for args in (["options"], ["--help"], ["run", "--help"]):
            for restored in (True, False):
                reading, writing = os.pipe()
                os.close(reading)
                done = subprocess.run([SIM, *args], stdout=writing,
                                      stderr=subprocess.PIPE, check=False,
                                      restore_signals=restored)
                os.close(writing)
                self.assertEqual((done.returncode, done.stderr),
                                 (-signal.SIGPIPE, b""))

    def test_full_disk(self) -> None:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([SIM, "options"], stdout=full,
                                  stderr=subprocess.PIPE, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)


class Signals(unittest.TestCase):
    """SIGINT and SIGTERM end a run; the results so far are printed."""

    ENDLESS = ("run", "--profile", TINY, "--json", "--workload",
               "rw=randwrite bs=4k iodepth=4 io_size=100t")

    def setUp(self) -> None:
        # Of a job in the background it is ignored, also in programs started.
        signal.signal(signal.SIGINT, signal.default_int_handler)

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

    def test_progress(self) -> None:
        """On a terminal, and only there: a line that goes in the end."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([SIM, *map(str, self.ENDLESS)],
                              stdout=subprocess.DEVNULL, stderr=theirs) as p:
            os.close(theirs)
            select.select([ours], [], [], 30)
            p.send_signal(signal.SIGINT)
            shown = b""
            try:
                while more := os.read(ours, 1000):
                    shown += more
            except OSError:
                pass  # the other end is closed
            p.wait(timeout=60)
        os.close(ours)
        self.assertRegex(shown, rb"\A(\rplaying: \d+\.\d million requests,"
                         rb" \S+ million/s, \d+ s\x1b\[K)+"
                         rb"\r\x1b\[K\Z")

    def test_a_run_to_its_end(self) -> None:
        self.assertFalse(result("run", "--profile", TINY, "--workload",
                                "number_ios=10")["stopped"])

    def test_before_there_are_results(self) -> None:
        """One line, the same status."""
        with subprocess.Popen(
                [SIM, "run",
                 "--profile", str(ROOT / "profiles/tlc-generic.ini"),
                 "--precondition", "--workload", "number_ios=1"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as proc:
            time.sleep(1)
            proc.terminate()
            out, err = proc.communicate(timeout=60)
        self.assertEqual((proc.returncode, out), (143, ""))
        self.assertEqual(err, "vssd-sim: stopped before there are results\n")


class Listed(unittest.TestCase):
    """--help of a command lists the options that the command takes, and no
    other."""

    # A good value of each option that takes one; OUT: a file to write.
    OUT = object()
    VALUES = {
        "workload": "number_ios=20", "section": "a", "save": OUT,
        "profile": TINY, "set": "nand.blocks=64", "seed": "3",
        "block": "4096", "drives": "2", "stripe": "64k", "fill": "none",
        "save-state": OUT, "warm-up": "1", "until-steady": "iops", "csv": OUT, "series": "1",
        "oplog": OUT, "record": OUT, "format": "msr", "action": "D",
        "units": "time=us",
        "columns": "time_ns,op,offset,size", "device": "0", "remap": "modulo",
        "join": "clock", "from": "0", "repeat": "2", "sample": "100%",
        "time-scale": "2", "retime": "D2", "iodepth": "2", "runtime": "1",
        "stream-map": "0", "timeline": OUT, "histograms": OUT, "timeline-from": "1us",
        "timeline-for": "1ms", "timeline-size": "1MiB",
        "to": "msr", "raid": "1", "spares": "1", "fail": "0@1",
        "rebuild-depth": "2", "rebuild-rate": "1m"}
    # Options of an array need these.
    RAID = {"raid": [], "spares": ["--raid", "1"], "fail": ["--raid", "1"],
            "rebuild-depth": ["--raid", "1"], "rebuild-rate": ["--raid", "1"]}
    # Options that take no value.
    FLAGS = {"precondition", "describe", "json", "explain", "skip-bad", "wrap",
             "check", "control", "help"}

    def setUp(self) -> None:
        """Files for the options that read one."""
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tmp = pathlib.Path(tmp.name)
        self.job = self.tmp / "job.fio"
        self.job.write_text("[a]\nrw=randread\nnumber_ios=20\n")
        self.plain = self.tmp / "plain.csv"
        self.plain.write_text("1000,W,4096,8192\n")
        self.five = self.tmp / "five"
        self.five.write_text("1000 0 8 16 0\n")
        self.state = self.tmp / "state"
        self.recorded = self.tmp / "recorded"
        for option, path in (("--save-state", self.state),
                             ("--record", self.recorded)):
            done = run("run", "--profile", TINY, "--workload",
                       "rw=randwrite number_ios=20", option, path)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.values = {**self.VALUES, "state": self.state, "job": self.job,
                       "live": self.tmp / "live", "window": "100",
                       "overlap": "20", "jobs": "2"}

    def listed(self, *command: str) -> set[str]:
        """The options in --help."""
        done = run(*command, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(re.findall(r"^  (?:-h, )?--([a-z-]+)", done.stdout, re.M))

    def line(self, command: tuple[str, ...], option: str) -> list[object]:
        """A command line that gives the option, and all that it needs."""
        needs = command[0] in ("run", "fit", "info", "batch") or command == ("replay",)
        value = self.values.get(option)
        if value is self.OUT:
            value = self.tmp / "out"
        given = [f"--{option}"] + ([value] if value is not None else [])
        if option == "section":
            given += ["--job", self.job]
        elif option == "control" and command in (
                ("run",), ("replay",), ("fit",)):
            given += ["--live", self.tmp / "live"]
        elif option.startswith("timeline-") and command in (
                ("run",), ("replay",), ("fit",)):
            given += ["--timeline", self.tmp / "out"]
        elif option in ("overlap", "jobs") and command == ("replay",):
            given += ["--window", "100"]
        elif option == "stripe" and needs:
            given += ["--drives", "2"]
        elif option in self.RAID and needs:
            given += ["--drives", "2", *self.RAID[option]]
        if command[0] == "run" and option not in ("workload", "job",
                                                  "section"):
            given += ["--workload", "number_ios=20"]
        own = {"check": self.recorded, "columns": self.plain}.get(option, TRACE)
        own = self.five if option == "units" else own
        in_binary = command[0] == "convert" and option not in ("to", "help")
        words: list[object] = {"replay": [own],
                               "convert": [own if in_binary else self.recorded],
                               "fit": Fits.ASKED.split()}.get(command[0], [])
        if command[0] == "convert" and option != "to":
            given += ["--to", "binary" if in_binary else "msr"]
        if needs and option not in ("profile", "check") and (
                command[0], option) != ("replay", "describe"):
            given += ["--profile", TINY]
        return [*command, *given, *words]

    def test_help_is_right(self) -> None:
        """Each option that is listed is accepted, or refused for its value;
        each other one is refused in one line that names it."""
        modes = [(c,) for c in re.findall(r"^  (\w+) +\S", run("--help").stdout,
                                          re.M)]
        self.assertGreaterEqual(len(modes), 6)
        modes += [(c, "--describe") for c in ("run", "replay", "fit")]
        lists = {mode: self.listed(*mode) for mode in modes}
        every = set().union(*lists.values())
        self.assertEqual(every, {*self.values, *self.FLAGS})
        for mode, options in lists.items():
            self.assertIn("help", options)
            for option in every:
                with self.subTest(mode=mode, option=option):
                    done = run(*self.line(mode, option))
                    if option not in options:
                        self.assertNotEqual(done.returncode, 0)
                        self.assertRegex(
                            done.stderr, rf"\Avssd-sim: .*--{option}\b.*\n\Z")
                    elif done.returncode:
                        self.assertRegex(
                            done.stderr, rf"\Avssd-sim: --{option}(=\S+)?:"
                            r" (allowed|not for) .*\n\Z")


class Pages(unittest.TestCase):
    def test_help(self) -> None:
        """A line for each command; its help has only its own options."""
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        lines = re.findall(r"^  (\w+) +\S", done.stdout, re.M)
        self.assertEqual(lines, ["run", "replay", "batch", "convert", "fit",
                                 "info", "options"])
        self.assertNotIn("--profile", done.stdout)
        words = {"run": ("--profile", "rwmixread", "preload", "oltp", "--csv"),
                 "replay": ("--profile", "systor17", "compact", "--check"),
                 "batch": ("--profile", "--state", "preload"),
                 "convert": ("--to", "blkparse"),
                 "fit": ("--profile", "read_sectors", "--save"),
                 "info": ("--profile", "--block"), "options": ()}
        for command in lines:
            done = run(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(
                f"Usage:\n  vssd-sim {command} "), done.stdout)
            for word in words[command]:
                self.assertIn(word, done.stdout)
        for command, word in (("run", "systor17"), ("replay", "rwmixread"),
                              ("batch", "--csv"),
                              ("convert", "--profile"), ("info", "--json"),
                              ("info", "--fill"), ("options", "--set")):
            self.assertNotIn(word, run(command, "--help").stdout)

    def test_options(self) -> None:
        """docs/options.md ends with the text of the tables."""
        page = (ROOT / "docs/options.md").read_text()
        done = run("options")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(page.endswith(done.stdout),
                        "put the output of vssd-sim options there")


if __name__ == "__main__":
    unittest.main()
