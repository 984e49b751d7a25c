# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace in windows side by side, against the same trace in one piece."""

import collections.abc
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from command import OF_THE_MACHINE, SIM, TINY, TRACE, result, run

UNIT = 4096
# A drive whose GC is spread over 16 dies, so that one stall more or less in a
# hundred thousand requests does not show.
DRIVE = ("--profile", TINY, "--set", "nand.channels=4", "--set", "nand.dies=4",
         "--set", "nand.blocks=64", "--precondition", "--wrap")
UNITS = 46000

Lines = collections.abc.Iterator[str]


def plain(n: int, interval_ns: float, reads: float, *, burst: int = 1,
          units: int = UNITS) -> Lines:
    rng = random.Random(1)
    at = 0.0
    yield "time_ns,op,offset,size\n"
    for i in range(n):
        if i % burst == 0:
            at += rng.expovariate(1 / interval_ns) * burst
        op = "R" if rng.random() < reads else "W"
        yield f"{at:.0f},{op},{rng.randrange(units) * UNIT},{UNIT}\n"


def msr(n: int) -> Lines:
    """Hot addresses, so that the buffer is hit; requests of 4 to 16 KiB."""
    rng = random.Random(3)
    at = 128166372000000000
    for _ in range(n):
        at += int(rng.expovariate(1 / 800))
        op = "Read" if rng.random() < 0.4 else "Write"
        unit = min(int(rng.paretovariate(1) * 50) % UNITS, UNITS - 4)
        yield f"{at},h,0,{op},{unit * UNIT},{rng.choice((1, 1, 2, 4)) * UNIT},0\n"


def children(pid: int) -> list[int]:
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(p) for p in text.split()]


class Windows(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, lines: Lines) -> pathlib.Path:
        path = self.folder / "trace.csv"
        with path.open("w") as f:
            f.writelines(lines)
        return path

    def of_model(self, r: dict) -> dict:
        """Without what depends on the machine, or says that there were
        windows."""
        return {k: v for k, v in r.items()
                if k not in (*OF_THE_MACHINE, "windows")}

    def same(self, got: object, want: object, path: str) -> None:
        """Values of the only window are those of the run; means and shares are
        null, and values over time are not there."""
        if isinstance(want, dict):
            assert isinstance(got, dict)
            self.assertEqual(list(got), list(want), path)
            for key, value in want.items():
                self.same(got[key], value, f"{path}.{key}")
        elif isinstance(want, list) and got != []:
            assert isinstance(got, list)
            self.assertEqual(len(got), len(want), path)
            for mine, other in zip(got, want):
                self.same(mine, other, path)
        elif got == [] or got == "" or got is None:
            self.n_left += 1
        elif isinstance(want, float):
            self.assertAlmostEqual(got, want, delta=abs(want) * 1e-9, msg=path)
        else:
            self.assertEqual(got, want, path)

    def test_one_window(self) -> None:
        """A trace that is shorter than a window: the run in one piece."""
        trace = self.trace(plain(5000, 100e3, 0.4))
        play = "replay", trace, "--profile", TINY, "--wrap"
        whole, got = result(*play), result(*play, "--window", "6000")
        self.n_left = 0
        self.assertEqual(got["windows"]["count"], 1)
        self.assertEqual(got["windows"]["seam"]["requests"], 0)
        steady = got.pop("steady"), whole.pop("steady")  # windows are rounds
        self.assertEqual(steady[0]["verdict"], "short")
        self.same(self.of_model(got), self.of_model(whole), "")
        self.assertGreater(self.n_left, 5)
        self.assertLess(self.n_left, 100)
        for key in ("waf", "waf_by_cause", "latency_ns", "host_bytes_written"):
            self.same(got[key], whole[key], key)
        self.assertEqual(got["waf"], whole["waf"])

    def test_jobs(self) -> None:
        """The same windows one after the other, or three at a time."""
        play = ("replay", self.trace(plain(9000, 100e3, 0.4)), "--profile",
                TINY, "--wrap", "--window", "2000")
        one, three = (result(*play, "--jobs", n) for n in (1, 3))
        self.assertEqual(self.of_model(one), self.of_model(three))
        self.assertEqual([r["windows"].pop("jobs") for r in (one, three)],
                         [1, 3])
        for key in ("count", "requests", "overlap", "played_twice", "seam"):
            self.assertEqual(one["windows"][key], three["windows"][key])
        self.assertEqual(one["windows"]["count"], 5)
        self.assertEqual(one["windows"]["overlap"], 500)
        self.assertEqual(one["windows"]["seam"]["requests"], 4 * 250)

    def test_sums(self) -> None:
        """Each request counts once.  Reads that do not meet have the same
        latencies in any window, so quantiles are those of all of them."""
        lines = list(plain(9000, 1e6, 1.0))
        trace = self.trace(iter(lines))
        play = "replay", trace, "--profile", TINY, "--wrap"
        whole, got = result(*play), result(*play, "--window", "1100")
        for key in ("requests", "latency_ns", "host_bytes_read", "sim_ns",
                    "iops", "bytes_per_s", "wrapped", "waited", "errors"):
            self.assertEqual(got[key], whole[key], key)
        self.assertEqual(got["nand"]["by_cause"], whole["nand"]["by_cause"])
        self.assertEqual(got["windows"]["seam"]["mean_error"], 0)
        mixed = self.trace(plain(9000, 100e3, 0.4, units=9000))
        play = "replay", mixed, "--profile", TINY, "--wrap"
        whole, got = result(*play), result(*play, "--window", "1100")
        for key in ("requests", "host_bytes_read", "host_bytes_written",
                    "wrapped"):
            self.assertEqual(got[key], whole[key], key)
        self.assertGreater(got["wrapped"], 0)
        self.assertEqual(got["latency_ns"]["all"]["count"], 9000)

    def test_error(self) -> None:
        """Mean within 1 %, p99 within 3 %, on five kinds of traces."""
        n = 120000
        for name, lines in (("reads", plain(n, 10e3, 1)),
                            ("writes under GC", plain(n, 100e3, 0)),
                            ("mix", plain(n, 50e3, 0.5)),
                            ("bursts", plain(n, 60e3, 0.5, burst=20)),
                            ("msr", msr(n))):
            play = "replay", self.trace(lines), *DRIVE
            with self.subTest(trace=name):
                whole, got = (json.loads(done.stdout) for done in (
                    run(*play, "--json"),
                    run(*play, "--json", "--window", "40000")))
                self.assertEqual(got["windows"]["count"], 3)
                a, b = (r["latency_ns"]["all"] for r in (got, whole))
                self.assertEqual(a["count"], n)
                self.assertLess(abs(a["mean"] / b["mean"] - 1), 0.01, name)
                self.assertLess(abs(a["p99"] / b["p99"] - 1), 0.03, name)
                if name != "reads":
                    self.assertLess(abs(got["waf"] / whole["waf"] - 1), 0.01)
                    self.assertGreater(whole["gc"]["victims"], 100)

    def test_trims(self) -> None:
        """The pass trims, too: what a window reads there takes no NAND time."""
        lines = [f"{i * 100000},trim,{i * UNIT},{UNIT}\n" for i in range(500)]
        lines += [f"{(i + 500) * 100000},R,{i * UNIT},{UNIT}\n"
                  for i in range(500)]
        trace = self.trace(iter(["time_ns,op,offset,size\n", *lines]))
        r = result("replay", trace, "--profile", TINY, "--window", "100",
                   "--overlap", "10")
        self.assertEqual(r["latency_ns"]["read"]["count"], 500)
        self.assertEqual(r["nand"]["by_cause"]["host"]["reads"], 0)

    def test_runtime(self) -> None:
        play = ("replay", self.trace(plain(3000, 1e6, 1.0)), "--profile", TINY,
                "--wrap", "--runtime", "1")
        self.assertEqual(result(*play)["requests"],
                         result(*play, "--window", "400")["requests"])

    def test_text(self) -> None:
        done = run("replay", self.trace(plain(3000, 1e5, 0.5)), "--profile",
                   TINY, "--wrap", "--window", "1000", "--jobs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout,
            r"\n3 windows of 1000 requests, 2 at a time; \d+ requests were played"
            r" twice\npass without time: \d+\.\d % of the processor time of a run"
            r" in one piece, so at most \d+\.\d times as fast on many cores\n"
            r"at the seams, 250 requests in both of their windows: mean"
            r" [+-]\d+\.\d\d %, p99 [+-]\d+\.\d\d % in the later one\n")

    def test_refusals(self) -> None:
        streams = self.folder / "streams.csv"
        streams.write_text("time_ns,op,offset,size,stream\n0,W,0,4096,1\n")
        for more, word in (
                (["--window", "31"], "--window=31: allowed 32..100000000"),
                (["--window", "64", "--overlap", "65"], "--overlap=65: allowed"),
                (["--window", "64", "--jobs", "0"], "--jobs=0: allowed 1..1024"),
                (["--overlap", "64"], "--overlap needs --window"),
                (["--jobs", "2"], "--jobs needs --window"),
                (["--window", "64", "--iodepth", "2"], "--iodepth: not with"),
                (["--window", "64", "--drives", "2"], "--drives: not with"),
                (["--window", "64", "--csv", "x"], "--csv: not with --window"),
                (["--window", "64", "--save-state", "x"], "--save-state: not"),
                (["--window", "64", "--fill", "seq"], "not with --fill=seq"),
                (["--window", "64", "--set", "media.errors=on"],
                 "--window: not with media.errors=on"),
                (["--window", "64", "--set", "thermal.resistance=5"],
                 "--window: not with thermal.resistance=5")):
            with self.subTest(more=more):
                done = run("replay", TRACE, "--profile", TINY, *more)
                self.assertEqual(done.returncode, 1)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_bad_line(self) -> None:
        """Found by the pass, with its place; no process is left."""
        trace = self.trace(iter([*plain(3000, 1e5, 1), "x\n"]))
        done = run("replay", trace, "--profile", TINY, "--wrap", "--window",
                   "500")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Avssd-sim: \S+trace.csv:3002: .*\n\Z")

    def with_child(self, act: collections.abc.Callable[[int, int], None]
                   ) -> tuple[int, str]:
        """Act on a run and the process of its first window, which is long."""
        trace = self.trace(plain(300000, 1e5, 0))
        with subprocess.Popen(
                [SIM, "replay", str(trace), "--profile", str(TINY), "--wrap",
                 "--window", "200000", "--overlap", "2"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True) as proc:
            while proc.poll() is None and not (found := children(proc.pid)):
                time.sleep(0.001)
            act(proc.pid, found[0])
            try:
                _, err = proc.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                proc.kill()
                raise
        for pid in found:
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())
        return proc.returncode, err

    def test_killed(self) -> None:
        code, err = self.with_child(
            lambda _, child: os.kill(child, signal.SIGKILL))
        self.assertEqual(code, 1)
        self.assertEqual(err, "vssd-sim: window 1: its process was ended by "
                              "signal 9\n")

    def test_stopped(self) -> None:
        def stop(pid: int, child: int) -> None:
            os.kill(child, signal.SIGSTOP)  # it never ends by itself
            os.kill(pid, signal.SIGTERM)

        code, err = self.with_child(stop)
        self.assertEqual(code, 128 + signal.SIGTERM)
        self.assertEqual(err, "vssd-sim: stopped before all windows were "
                              "played: there are no results\n")


if __name__ == "__main__":
    unittest.main()
