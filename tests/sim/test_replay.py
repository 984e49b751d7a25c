# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces in the vssd-sim command: which requests are played, where and when."""

import csv
import glob
import json
import lzma
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from command import SIM, TINY, TRACE, result, run


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
