# SPDX-License-Identifier: GPL-2.0-or-later
"""The vssd-sim command: results, errors, and the pages made from its tables."""

import csv
import glob
import json
import lzma
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import time
import unittest

SIM = os.environ["VSSD_SIM"]
ROOT = pathlib.Path(os.environ["VSSD_ROOT"])
TRACE = ROOT / "tests/sim/small-msr.csv"
TINY = ROOT / "profiles/tiny.ini"

# Members that depend on the machine and not on the model.
OF_THE_MACHINE = ("wall_s", "requests_per_s_wall", "cpu_s",
                  "requests_per_s_cpu", "peak_rss_bytes")


def run(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SIM, *map(str, args)], capture_output=True,
                          text=True, errors="replace", timeout=600, check=False,
                          stdin=subprocess.DEVNULL)  # output may be binary


def no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return dict(pairs)


def result(command: str, *args: object) -> dict:
    done = run(command, "--json", *args)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout, object_pairs_hook=no_repeats)


class Parts(unittest.TestCase):
    """Several traces: parts of one recording, hours of one, or neither."""

    PLAY = "replay", "--profile", TINY
    HOUR = 3600 * 10**7  # in MSR's ticks
    BEGIN = 128166372000000000
    Q, D, C, WRITE, NOTE = 1, 7, 8, 2 << 16, 1 << 26

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @staticmethod
    def record(cpu: int, us: int, page: int, action: int, *,
               device: int = 8 << 20) -> bytes:
        return struct.pack("<IIQQIIIIIHH", 0x65617407, 1, 10**12 + us * 1000,
                           page * 8, 4096, action, 1, device, cpu, 0, 0)

    def cpu(self, number: int, *records: tuple[int, int, int],
            name: str = "x", device: int = 8 << 20) -> pathlib.Path:
        path = self.folder / f"{name}.blktrace.{number}"
        path.write_bytes(b"".join(
            self.record(number, us, page, action, device=device)
            for us, page, action in records))
        return path

    def cpus(self, name: str = "x") -> list[pathlib.Path]:
        """Two CPUs that interleave; one has only queued and completed, one is
        idle, and one has a note only."""
        q, d, c = (n | self.WRITE for n in (self.Q, self.D, self.C))
        return [self.cpu(0, (0, 0, q), (10, 0, d), (30, 1, d), (90, 2, d),
                         name=name),
                self.cpu(1, (20, 5, d), (40, 6, d), (95, 0, d), name=name),
                self.cpu(2, (21, 5, q), (50, 5, c), name=name),
                self.cpu(3, name=name), self.cpu(4, (5, 0, self.NOTE),
                                                 name=name)]

    def played(self, *args: object) -> tuple[dict, list[tuple[int, int]]]:
        """The result, and microseconds and page of each request."""
        out = self.folder / "out.csv"
        r = result(*self.PLAY, *args, "--csv", out)
        with out.open() as f:
            rows = list(csv.DictReader(f))
        return r, sorted((int(row["arrival_ns"]) // 1000,
                          int(row["offset"]) // 4096) for row in rows)

    def hours(self, *begins: int, host: str = "h") -> list[pathlib.Path]:
        paths = []
        for n, begin in enumerate(begins):
            paths.append(self.folder / f"{host}{n}.csv")
            paths[-1].write_text("".join(
                f"{self.BEGIN + begin + i * 10},{host},0,Write,{n * 40960},"
                "4096,1\n" for i in range(3)))
        return paths

    def test_cpus(self) -> None:
        whole = self.folder / "merged"
        paths = self.cpus()
        records = b"".join(p.read_bytes() for p in paths)
        whole.write_bytes(b"".join(sorted(
            (records[i:i + 48] for i in range(0, len(records), 48)),
            key=lambda r: int.from_bytes(r[8:16], "little"))))
        want = [(0, 0), (10, 5), (20, 1), (30, 6), (80, 2), (85, 0)]
        r, requests = self.played(whole)
        self.assertEqual((r["join"], r["missing_parts"]), ("", 0))
        self.assertEqual(requests, want)
        renamed = []
        for i, path in enumerate(self.cpus("y")):
            renamed.append(path.rename(self.folder / f"part{i}"))
        for given in (paths, paths[::-1], renamed):
            for more in ((), ("--remap", "none"), ("--remap", "compact"),
                         ("--action", "D"), ("--join", "clock")):
                r, requests = self.played(*given, *more)
                self.assertEqual((r["join"], r["missing_parts"]),
                                 ("clock", 0), more)
                if "compact" not in more:
                    self.assertEqual(requests, want, more)
        # A window and passes are of the recording, not of each part.
        for given in ([whole], paths, renamed):
            _, requests = self.played(*given, "--from", "0.000015")
            self.assertEqual(requests, [(5, 1), (15, 6), (65, 2), (70, 0)])
            _, requests = self.played(*given, "--repeat", "2")
            self.assertEqual(requests, want + [(85 + us, page)
                                               for us, page in want])
            _, requests = self.played(*given, "--sample", "50%")
            self.assertEqual(requests, [(0, 0), (30, 6), (80, 2), (85, 0)])
        self.assertIn("5 traces, parts of one recording",
                      run(*self.PLAY, *paths).stdout)
        # Side by side, as before, when asked for.
        r, requests = self.played(*renamed[:2], "--join", "apart")
        self.assertEqual(r["join"], "apart")
        self.assertEqual([us for us, _ in requests], [0, 0, 20, 20, 75, 80])

    def test_devices_of_parts(self) -> None:
        """Of the same number: one.  Others are laid beside."""
        d = self.D | self.WRITE
        paths = [self.cpu(0, (0, 3, d)), self.cpu(1, (7, 4, d)),
                 self.cpu(0, (9, 5, d), name="y", device=8 << 20 | 16)]
        r, requests = self.played(*paths)
        self.assertEqual(r["join"], "clock")
        self.assertEqual(requests, [(0, 3), (7, 4), (9, 256 + 5)])
        one = self.folder / "one"
        with one.open("wb") as f:
            done = subprocess.run([SIM, "convert", "--to", "binary", "--remap",
                                   "none", *paths[1:]], check=False, stdout=f,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("x.blktrace.0 is beside it", done.stderr)
        _, requests = self.played(one, "--remap", "none")
        self.assertEqual(requests, [(0, 4), (2, 5)])
        _, requests = self.played(one)
        self.assertEqual(requests, [(0, 4), (2, 256 + 5)])
        _, requests = self.played(one, "--device", 8 << 20 | 16)
        self.assertEqual(requests, [(0, 5)])

    def test_two_recordings(self) -> None:
        paths = self.cpus()[:2] + self.cpus("y")[:2]
        done = run(*self.PLAY, *paths)
        self.assertEqual(done.returncode, 1)
        self.assertIn("more than one recording", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        d = self.D | self.WRITE
        r, _ = self.played(self.cpu(0, (0, 0, d), name="a"),
                           self.cpu(0, (0, 0, d), name="b"))
        self.assertEqual(r["join"], "apart")

    def test_a_part_alone(self) -> None:
        paths = self.cpus()
        for given, missing, says in (
                (paths[:1], 3, "x.blktrace.1 and others are beside"),
                (paths[1:2], 3, "x.blktrace.0 and others are beside"),
                (paths[:2], 2, "2 of its 4 files"),
                (paths[:3], 1, "x.blktrace.4 is beside it"),
                ([paths[0], *paths[2:]], 1, "x.blktrace.1 is beside it")):
            for more in (("--json",), ("--describe",), ()):
                done = run(*self.PLAY[:1], *given, *more,
                           *(() if "--describe" in more else self.PLAY[1:]))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                if "--json" in more:
                    self.assertEqual(
                        json.loads(done.stdout)["missing_parts"], missing)
                else:
                    self.assertIn(says, done.stdout)
        renamed = paths[1].rename(self.folder / "trace")
        done = run(*self.PLAY, renamed)
        self.assertIn("the requests of CPU 1 alone", done.stderr)

    def test_parts_without_the_lower(self) -> None:
        """Nothing is beside them, but CPUs have no gaps."""
        paths = [self.cpu(n, (n, n, self.D | self.WRITE)) for n in range(8)]
        for kept, missing in ((paths[5:6], 5), (paths[6:], 6),
                              ([paths[0], paths[2]], 1), (paths[:1], 0)):
            with tempfile.TemporaryDirectory() as folder:
                moved = [pathlib.Path(folder, path.name) for path in kept]
                for path, to in zip(kept, moved, strict=True):
                    to.write_bytes(path.read_bytes())
                done = run(*self.PLAY, "--json", *moved)
                self.assertEqual(json.loads(done.stdout)["missing_parts"],
                                 missing)
                self.assertEqual("of CPU" in done.stderr, missing > 0)
                for n in range(8):  # idle CPUs
                    pathlib.Path(folder, paths[n].name).open("ab").close()
                r, _ = self.played(*moved)
                self.assertEqual(r["missing_parts"], 0)

    def test_dates(self) -> None:
        """Hours of one host keep their distance, in any order."""
        first, second = self.hours(0, self.HOUR)
        hour = 3600 * 10**6
        want = [(us, page) for us, page in
                [(0, 0), (1, 0), (2, 0), (hour, 10), (hour + 1, 10),
                 (hour + 2, 10)]]
        for more in ((first, second), (second, first),
                     (first, second, "--join", "append"),
                     (first, second, "--remap", "none")):
            r, requests = self.played(*more)
            self.assertEqual(requests, want, more)
            _, requests = self.played(*more, "--from", "3600", "--retime", "D1")
            self.assertEqual(requests, [(0, 10), (1, 10), (2, 10)], more)
        r, requests = self.played(first, second, "--time-scale", "0.5")
        self.assertEqual(r["join"], "clock")
        self.assertEqual(requests[3][0], hour // 2)
        other = self.hours(0, host="g")
        r, requests = self.played(first, *other)
        self.assertEqual(r["join"], "apart")
        self.assertEqual(requests[-1], (2, 256))
        r, requests = self.played(first, *other, "--join", "append")
        self.assertEqual(requests[3], (2, 256))
        r, _ = self.played(first, first)
        self.assertEqual(r["join"], "apart")

    def test_dated_columns(self) -> None:
        paths = []
        for n, begin in enumerate((1456098745, 1456095145)):
            paths.append(self.folder / f"{n}.csv")
            paths[-1].write_text("time_s,op,offset,size\n"
                                 f"{begin}.5,W,{n * 4096},4096\n")
        r, requests = self.played(*paths)
        self.assertEqual(r["join"], "clock")
        self.assertEqual(requests, [(0, 1), (3600 * 10**6, 0)])

    def test_systor(self) -> None:
        paths = []
        for begin in (1456095145, 1456098745):
            paths.append(self.folder / f"{begin}.csv")
            paths[-1].write_text("Timestamp,Response,IOType,LUN,Offset,Size\n"
                                 f"{begin}.5,0.1,W,0,4096,4096\n")
        r, requests = self.played(*paths)
        self.assertEqual(r["join"], "clock")
        self.assertEqual(requests, [(0, 1), (3600 * 10**6, 1)])

    def test_late_lines_of_systor(self) -> None:
        """The earliest request of all files arrives at 0."""
        paths = []
        for n, begin in enumerate((1456098745, 1456095145)):
            paths.append(self.folder / f"{begin}.csv")
            paths[-1].write_text(
                "Timestamp,Response,IOType,LUN,Offset,Size\n"
                f"{begin}.5,0.1,W,0,{n * 8192},4096\n"
                f"{begin}.4,0.3,W,0,{n * 8192 + 4096},4096\n")
        r, requests = self.played(*paths)
        self.assertEqual(r["join"], "clock")
        self.assertEqual(r["disordered"], 0)
        self.assertEqual(requests, [
            (0, 3), (10**5, 2), (3600 * 10**6, 1), (3600 * 10**6 + 10**5, 0)])

    def test_append(self) -> None:
        """Clocks of their own: each begins where the one before ended."""
        paths = []
        for n in range(3):
            paths.append(self.folder / f"{n}.trace")
            paths[-1].write_text(f"{n}7000 0 {n * 8} 8 0\n"
                                 f"{n}9000 0 80 8 0\n")
        form = "--format", "ssdsim"
        r, requests = self.played(*paths, *form, "--join", "append")
        self.assertEqual(r["join"], "append")
        self.assertEqual(requests, [(0, 0), (2, 1), (2, 10), (4, 2), (4, 10),
                                    (6, 10)])
        r, requests = self.played(*paths, *form, "--join", "clock", "--remap",
                                  "none")
        self.assertEqual([us for us, _ in requests], [0, 2, 10, 12, 20, 22])
        r, _ = self.played(*paths, *form)
        self.assertEqual(r["join"], "apart")
        for how, says in (("nosuch", "allowed apart, clock, append"),
                          ("", "allowed apart, clock, append")):
            done = run(*self.PLAY, *paths, "--join", how)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)

    def test_nothing_at_all(self) -> None:
        paths = [self.cpu(n, (0, 0, self.NOTE)) for n in range(2)]
        done = run(*self.PLAY, *paths)
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds no request", done.stderr)


class Devices(unittest.TestCase):
    """A trace of several devices, as a file and as a pipe."""

    TWO = ("8,0 0 1 0.0 1 D W 0 + 8 [x]\n8,0 0 2 0.1 1 D W 8 + 8 [x]\n"
           "8,16 0 3 0.2 1 D R 0 + 8 [x]\n")
    PLAY = "replay", "--profile", TINY

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace"
        self.trace.write_text(self.TWO)

    def pages(self, *args: object) -> tuple[str, list[int]]:
        """The way of --remap, and the pages that were played."""
        out = self.folder / "out.csv"
        r = result(*self.PLAY, *args, "--csv", out)
        with out.open() as f:
            return r["remap"], [int(row["offset"]) // 4096
                                for row in csv.DictReader(f)]

    def test_side_by_side(self) -> None:
        self.assertEqual(self.pages(self.trace), ("beside", [0, 1, 256]))
        self.assertEqual(self.pages(self.trace, "--remap", "none"),
                         ("none", [0, 1, 0]))
        for device in ("8,0", "sda", "/dev/sda"):
            self.assertEqual(self.pages(self.trace, "--device", device),
                             ("none", [0, 1]))

    def test_pipe(self) -> None:
        def piped(*args: object) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [SIM, *map(str, self.PLAY), "-", *map(str, args)],
                input=self.TWO, capture_output=True, text=True, timeout=60,
                check=False)

        for more in (("--device", "sda"), ("--remap", "none")):
            done = piped(*more)
            self.assertEqual(done.returncode, 0, done.stderr)
        for more in ((), ("--remap", "compact"), ("--retime", "D2"),
                     (self.trace,), ("--remap", "none", "-")):
            done = piped(*more)
            self.assertEqual(done.returncode, 1, more)
            self.assertIn("standard input: ", done.stderr)
            self.assertIn("needs two readings", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_packed_in_a_pipe(self) -> None:
        """The way to unpack it, though the file has no name."""
        done = subprocess.run([SIM, *map(str, self.PLAY), "-"],
                              input=b"BZh91AY&SY" + bytes(100),
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard input: packed by bzip2; unpack it on the way: "
                      b"bzcat FILE | ./vssd sim replay -", done.stderr)

    def test_times(self) -> None:
        """None at all, and in no order."""
        untimed = "op,offset,size\n" + "W,0,4096\n" * 20
        unsorted = "time_ns,op,offset,size\n" + "".join(
            f"{20 - i},W,0,4096\n" for i in range(20))
        for text, says in ((untimed, f"{self.trace}: has no times; --iodepth"),
                           (unsorted, f"{self.trace}:21: more than a tenth")):
            self.trace.write_text(text)
            done = run(*self.PLAY, self.trace)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            r = result(*self.PLAY, self.trace, "--iodepth", "4")
            self.assertEqual(r["requests"], 20)
        self.assertEqual(run("replay", self.trace, "--describe").returncode, 1)
        self.trace.write_text(untimed)
        done = run("replay", self.trace, "--describe")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_too_many_for_the_binary_form(self) -> None:
        self.trace.write_text("".join(f"{n},1,512,W,0.0\n"
                                      for n in range(4097)))
        r = result(*self.PLAY, self.trace, "--wrap")
        self.assertEqual(r["requests"], 4097)
        done = run("convert", self.trace, "--to", "binary")
        self.assertEqual(done.returncode, 1)
        self.assertIn("at most 4096 devices", done.stderr)


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
        for more, what in (((), "--fill=preload"),
                           (("--fill", "preload"), "--fill=preload"),
                           (("--fill", "seq"), "--fill=seq"),
                           (("--fill", "random"), "--fill=random"),
                           (("--precondition",), "--precondition")):
            begin = time.monotonic()
            done = run("run", *drive, *self.WORK, *more)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(
                done.stderr, rf"^vssd-sim: {what}: a full drive of 381 TiB"
                r" needs 17\d\d\.\d GiB of memory, of which [\d.]+ GiB are"
                r" free: give --fill=none, or a smaller drive with fewer"
                r" nand\.blocks\n$")
        done = run("replay", TRACE, *drive)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--fill=preload: a full drive", done.stderr)

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
        self.refuse("--format=x: no such", "replay", *p[1:], TRACE, "--format",
                    "x")
        for units in ("", "x", "time", "time=min", "size=0", "time=us,time=ns",
                      "address=1048577", "size=4k"):
            self.refuse(f"--units={units}: allowed time=ns|100ns|us|ms|s, "
                        "address=BYTES", "replay", *p[1:], TRACE, "--units",
                        units)
        self.refuse("seed=x: allowed", *p, *w, "--seed", "x")
        self.refuse("unknown keyword \"bz\"", *p, "--workload", "bz=4k")
        self.refuse("nand.channels=65: allowed 1..64", *p, *w, "--set",
                    "nand.channels=65")
        self.refuse("ftl.op_percent", *p, *w, "--set", "ftl.op_percent=0")

    def test_commands(self) -> None:
        """Which one?"""
        which = "which command? run, replay, batch, convert, fit, info, options"
        self.refuse(f"ply: {which} (vssd-sim --help)", "ply", "--profile", TINY,
                    status=2)
        self.refuse(f"ply: {which}", "ply", status=2)
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


class Converts(unittest.TestCase):
    """convert takes the options of replay about traces."""

    LINES = "".join(
        f"{1000 * n},{'RW'[n % 3 == 0]},{n % 2},{4096 * (n * 7 % 50)},4096\n"
        for n in range(400))

    def binary(self, out: pathlib.Path, *words: object) -> None:
        with out.open("wb") as f:
            done = subprocess.run([SIM, "convert", "--to", "binary",
                                   *map(str, words)], check=False, stdout=f,
                                  stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_filters(self) -> None:
        """What is written replays as the trace with the options does."""
        with tempfile.TemporaryDirectory() as tmp:
            out, bare, other = (pathlib.Path(tmp, n)
                                for n in ("out", "bare", "other"))
            trace = pathlib.Path(tmp, "t.csv")
            bare.write_text(self.LINES)
            trace.write_text("time_ns,op,device,offset,size\n" + self.LINES)
            other.write_text("0.001 0 8 8 0\n0.7 0 8 8 1\n")
            drive = ("replay", "--profile", TINY)
            for words in (
                    (trace,), (trace, "--device", 1),
                    (trace, "--remap", "compact"), (trace, "--remap", "beside"),
                    (trace, "--time-scale", "0.5"), (trace, "--retime", "D4"),
                    (trace, "--from", "0.0001", "--runtime", "0.0002"),
                    (trace, "--repeat", 3), (trace, "--sample", "30%"),
                    (trace, "--sample", "30%", "--repeat", 2, "--device", 0,
                     "--from", "0.00005", "--time-scale", "3"),
                    (trace, other), (trace, other, "--remap", "none"),
                    (bare, "--columns", "time_ns,op,device,offset,size")):
                with self.subTest(words=words):
                    self.binary(out, *words)
                    seed = ("--seed", "0") if "--retime" in words else ()
                    want = result(*drive, *words, *seed)
                    got = result(*drive, out, *seed)
                    # A file begins with its first request.
                    late = "--from" in words or "--sample" in words
                    when = () if late else ("sim_ns",)
                    for member in ("requests", "host_bytes_read", "latency_ns",
                                   "host_bytes_written", *when):
                        self.assertEqual(got[member], want[member], member)
            r = result(*drive, trace, "--from", "0.0001", "--sample", "50%",
                       "--repeat", 2)
            self.assertEqual((r["from_s"], r["sample_percent"], r["repeat"]),
                             (0.0001, 50, 2))
            self.binary(out, trace)
            whole = result(*drive, out)["requests"]
            self.binary(out, trace, "--from", "0.0001", "--runtime", "0.0002")
            self.assertEqual((whole, result(*drive, out)["requests"]),
                             (400, 200))

    def test_refused(self) -> None:
        for words, says in (
                (("binary", "--remap", "modulo"), "--remap=modulo: not for"),
                (("binary", "--runtime", "0"), "--runtime=0: allowed"),
                (("msr", "--device", "0"), "--device: only with --to=binary"),
                (("msr", "--runtime", "1"), "--runtime: only with"),
                (("msr", TRACE), "several traces only with --to=binary")):
            done = run("convert", TRACE, "--to", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


class Trims(unittest.TestCase):
    """TRIMs that are not whole blocks of the drive."""

    def test_parts_of_a_block(self) -> None:
        with tempfile.TemporaryDirectory() as tmp:
            trace = pathlib.Path(tmp) / "t.csv"
            trace.write_text("time_us,op,offset,size\n"
                             "0,trim,512,512\n100,R,0,4096\n")
            for block, kept in ((4096, 512), (512, 0)):
                found = result("replay", trace, "--profile", TINY,
                               "--block", block, "--fill", "preload")
                self.assertEqual(found["kept_trim_bytes"], kept)
                self.assertEqual(found["requests"], 2)

    def test_long(self) -> None:
        """A recorded TRIM that becomes several is still one range."""
        drive = ("--profile", TINY, "--set", "nand.blocks=20000")
        with tempfile.TemporaryDirectory() as tmp:
            csv = pathlib.Path(tmp) / "t.csv"
            own = pathlib.Path(tmp) / "t.vssd"
            text = pathlib.Path(tmp) / "t.blkparse"
            csv.write_text(f"time_us,op,offset,size\n0,trim,512,{3 << 30}\n")
            done = run("replay", csv, *drive, "--block", 512, "--fill", "none",
                       "--record", own)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("convert", own, "--to", "blkparse")
            self.assertEqual(done.returncode, 0, done.stderr)
            text.write_text(done.stdout)
            for trace in (own, text):
                found = result("replay", trace, *drive, "--block", 4096,
                               "--fill", "none")
                self.assertEqual(found["requests"], 2)
                self.assertEqual(found["kept_trim_bytes"], 3584 + 512)


class Units(unittest.TestCase):
    """How a trace was read is told, and an ambiguous one is refused."""

    LINE = ("{}: disksim, times in us, addresses in units of 512 bytes, sizes "
            "in units of 4096 bytes, 2 devices: 3, 0\n")

    def test_told(self) -> None:
        """In the result, the summary and --describe, each as text and JSON."""
        with tempfile.TemporaryDirectory() as tmp:
            five = pathlib.Path(tmp, "five")
            five.write_text("1000 3 8 1 0\n1007 0 8 2 1\n")
            units = ("--units", "time=us,size=4096")
            drive = ("--profile", TINY)
            for more in (("--describe",), drive):
                done = run("replay", five, *units, *more)
                self.assertIn(self.LINE.format(five), done.stdout)
                done = run("replay", five, *more)
                self.assertEqual(done.returncode, 1)
                self.assertIn("in ms (--format=disksim), in ns (--format=ssdsim",
                              done.stderr)
                done = run("replay", five, *units, *more, "--json")
                self.assertEqual(json.loads(done.stdout)["traces"], [
                    {"format": "disksim", "time_unit": "us",
                     "address_bytes": 512, "size_bytes": 4096,
                     "n_devices": 2, "devices": "3, 0"}])
            done = run("convert", five, "--to", "binary")
            self.assertIn("--format=disksim", done.stderr)
            done = run("replay", TRACE, TRACE, *drive)
            self.assertIn(f"{TRACE} and 1 more: msr, times in 100ns, addresses "
                          "in bytes, sizes in bytes, 1 device: 0\n", done.stdout)
            both = result("replay", TRACE, TRACE, *drive)["traces"]
            self.assertEqual([t["time_unit"] for t in both], ["100ns"] * 2)
            none = result("run", *drive, "--workload", "number_ios=1")
            self.assertNotIn("traces", none)


class Listed(unittest.TestCase):
    """--help of a command lists the options that the command takes, and no
    other."""

    # A good value of each option that takes one; OUT: a file to write.
    OUT = object()
    VALUES = {
        "workload": "number_ios=20", "section": "a", "save": OUT,
        "profile": TINY, "set": "nand.blocks=64", "seed": "3",
        "block": "4096", "drives": "2", "stripe": "64k", "fill": "none",
        "save-state": OUT, "warm-up": "1", "csv": OUT, "series": "1",
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
             "check", "help"}

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
        self.values = {**self.VALUES, "state": self.state, "job": self.job}

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
        elif option.startswith("timeline-") and command in (
                ("run",), ("replay",), ("fit",)):
            given += ["--timeline", self.tmp / "out"]
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
                r = result("replay", "--profile", "tlc-generic", plain,
                           "--wrap")
                self.assertEqual(r["requests"], data.count(b"\n"))
                self.assertEqual(r["errors"], 0)


if __name__ == "__main__":
    unittest.main()
