# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-sim --live: the file says what the drive's statistics say, and no reader
can stop or slow the run."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any

import live_file

SIM = os.environ["VSSD_SIM"]
MIX = "rw=randrw bs=4k iodepth=8 fsync=50 number_ios="
# Members that the machine decides, or the name of a file.
OF_MACHINE = ("wall_s", "cpu_s", "peak_rss_bytes", "requests_per_s_wall",
              "requests_per_s_cpu")


class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "drive.live"

    def args(self, n: int, *more: str, live: bool = True,
             workload: str = MIX) -> list[str]:
        return [SIM, "run", "--json", "--profile", "tiny", "--fill", "random",
                "--workload", f"{workload}{n}", *more,
                *(["--live", str(self.file)] if live else [])]

    def play(self, n: int, *more: str, **how: Any) -> Any:
        done = subprocess.run(self.args(n, *more, **how), capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0)
        return json.loads(done.stdout)

    def refused(self, *more: str) -> str:
        done = subprocess.run(self.args(1000, *more), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)
        return done.stderr.strip()

    def start(self, n: int) -> subprocess.Popen[str]:
        run = subprocess.Popen(self.args(n), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stdout.close)  # type: ignore[union-attr]
        self.addCleanup(run.stderr.close)  # type: ignore[union-attr]
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        while not self.file.exists():
            time.sleep(.002)
        return run

    def stopped(self, run: subprocess.Popen[str]) -> None:
        """It ends in order, by a signal."""
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM)
        self.assertEqual(live_file.read(self.file).header.state, live_file.ENDED)

    def ended_well(self, run: subprocess.Popen[str]) -> Any:
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        return json.loads(out)

    # ---- the numbers ------------------------------------------------------

    def test_numbers(self) -> None:
        """The last picture, and the statistics of the same instant."""
        for sets in ((), ("streams.max=2", "nand.blocks=128"),
                     ("ftl.recovery=checkpoint", "thermal.resistance=10",
                      "power.active=3000", "power.idle=100", "nand.blocks=64"),
                     ("nand.cell=tlc", "nand.slc_blocks=4", "nand.blocks=64"),
                     ("media.factory_bad=2%", "nand.blocks=128")):
            with self.subTest(sets=sets):
                result = self.play(4000, *(f"--set={s}" for s in sets))
                picture = live_file.read(self.file)
                self.assertEqual(picture.header.state, live_file.ENDED)
                self.assertGreaterEqual(live_file.check_numbers(picture, result), 60)
                live_file.check_blocks(picture, result)
                self.assertEqual(picture.words("drive.state"), ["ready"])
                self.assertGreaterEqual(picture.values["sim_ns"][0], result["sim_ns"])

    def test_superblocks(self) -> None:
        """A cell has the blocks of one superblock."""
        result = self.play(4000, "--set", "superblock.width=4",
                           "--set", "nand.blocks=64")
        picture = live_file.read(self.file)
        drive = picture.layout["drive"]
        self.assertEqual(drive["superblocks"], drive["blocks"] // 4)
        states = picture.words("superblock.state")
        self.assertAlmostEqual(states.count("free") * 4, result["gc"]["free_blocks"],
                               delta=4)
        self.assertGreater(max(picture.values["superblock.valid"]), 200)

    def test_result_is_the_same(self) -> None:
        """A view, even one that is read, changes no result."""
        run = self.start(300000)
        n = sum(1 for _ in live_file.watch(self.file))
        with_view = self.ended_well(run)
        without = self.play(300000, live=False)
        for name in OF_MACHINE:
            with_view.pop(name, None)
            without.pop(name, None)
        self.assertGreaterEqual(n, 2)  # one while it runs
        self.assertEqual(with_view, without)

    # ---- readers ----------------------------------------------------------

    def test_sequence(self) -> None:
        """Pictures come while one wants them; the sequence is even and rises by
        2; counters rise; slow commands come with their costs."""
        run = self.start(1000000)
        pictures = list(live_file.watch(self.file))
        self.ended_well(run)
        self.assertGreater(len(pictures), 10)
        for p in pictures:
            self.assertEqual(p.header.sequence, 2 * p.header.pictures)
        for a, b in zip(pictures, pictures[1:]):
            self.assertGreater(b.header.sequence, a.header.sequence)
            self.assertGreater(b.values["sim_ns"][0], a.values["sim_ns"][0])
        # Those at the beginning and at the end are there wanted or not.
        for a, b in zip(pictures[1:], pictures[2:-1]):
            self.assertGreaterEqual(b.header.written_ns - a.header.written_ns, 50e6)
            self.assertEqual(b.values["host_ns"][0], b.header.written_ns)
        self.check_slow(pictures[-1])

    def check_slow(self, p: live_file.Picture) -> None:
        n = int(p.values["slow.count"][0])
        self.assertGreater(n, 5)
        ops, waits = p.words("slow.op"), p.words("slow.waited_for")
        costs = p.values["slow.cost"]
        k = len(costs) // 64
        for i in range(min(n, 64)):
            latency = p.values["slow.latency_ns"][i]
            self.assertGreater(latency, 0)
            # Each part is rounded down.
            self.assertAlmostEqual(sum(costs[i * k:i * k + k]), latency, delta=k)
            self.assertIn(ops[i], ("read", "write", "flush"))
            self.assertEqual(p.values["slow.bytes"][i], 0 if ops[i] == "flush" else 4096)
            if ops[i] == "read":
                self.assertLess(p.values["slow.die"][i], p.layout["drive"]["dies"])
        self.assertTrue(any(w.startswith("gc ") for w in waits), waits)

    def test_nobody_reads(self) -> None:
        self.play(300000)
        self.assertEqual(live_file.read(self.file).header.pictures, 2)

    def test_reader_dies(self) -> None:
        """Its wish ends with its two seconds; until then it costs pictures only."""
        run = self.start(2500000)
        live_file.want(self.file, .5)
        time.sleep(1)
        n = live_file.read(self.file).header.pictures
        time.sleep(.4)
        self.assertEqual(live_file.read(self.file).header.pictures, n)
        self.assertGreater(n, 1)
        self.stopped(run)

    def test_wanted_far_ahead(self) -> None:
        """A wish for ever is one for ten seconds, and others can raise it then."""
        run = self.start(10000000)
        with self.file.open("r+b", buffering=0) as f:
            f.seek(live_file.WANTED_AT)
            f.write(b"\xff" * 8)
        time.sleep(.6)
        ahead = live_file.read(self.file).header.wanted_ns - time.monotonic_ns()
        self.assertLess(ahead, 10.1e9)
        self.assertGreater(ahead, 8e9)
        self.stopped(run)

    def test_two_readers(self) -> None:
        """Two readers cost the pictures of one."""
        run = self.start(1000000)
        second = subprocess.Popen(
            [sys.executable, "-c",
             "import live_file, pathlib, sys; "
             "print(sum(1 for p in live_file.watch(pathlib.Path(sys.argv[1]))))",
             str(self.file)], stdout=subprocess.PIPE, text=True)
        n = sum(1 for _ in live_file.watch(self.file))
        out, _ = second.communicate(timeout=60)
        self.ended_well(run)
        made = live_file.read(self.file).header.pictures
        for seen in (n, int(out)):
            self.assertGreater(seen, 3)
            self.assertLessEqual(seen, made)

    def test_truncated(self) -> None:
        """A reader that takes the file's bytes stops no run."""
        run = self.start(1500000)
        live_file.want(self.file, 9)
        for _ in range(20):
            os.truncate(self.file, 0)
            time.sleep(.01)
        self.ended_well(run)

    # ---- files ------------------------------------------------------------

    def test_replaced(self) -> None:
        """The file of a drive that has ended is replaced, and what a reader has
        mapped of it stays."""
        self.play(1000)
        old = self.file.open("rb")
        self.addCleanup(old.close)
        self.play(2000)
        self.assertNotEqual(os.fstat(old.fileno()).st_ino, self.file.stat().st_ino)
        self.assertEqual(live_file.parse(old.read()).named("counter")["requests"], 1000)
        self.assertEqual(live_file.read(self.file).named("counter")["requests"], 2000)

    def test_killed(self) -> None:
        """The same of a drive that was killed."""
        run = self.start(100000000)
        run.kill()
        run.wait()
        self.assertEqual(live_file.read(self.file).header.state, live_file.RUNS)
        self.play(1000)
        self.assertEqual(live_file.read(self.file).header.state, live_file.ENDED)

    def test_in_use(self) -> None:
        run = self.start(100000000)
        self.assertIn(f"live {self.file}: in use by another drive (process {run.pid})",
                      self.refused())

    def test_no_live_file(self) -> None:
        for text in ("", "vssd", "my notes, which are long enough"):
            self.file.write_text(text)
            self.assertIn(f"live {self.file}: is there, and is no live file",
                          self.refused())
            self.assertEqual(self.file.read_text(), text)
        self.file.unlink()
        os.mkfifo(self.file)
        self.assertIn("is no live file", self.refused())
        self.file.unlink()
        self.file.mkdir()
        self.assertIn("Is a directory", self.refused())

    def test_several_drives(self) -> None:
        self.assertIn("--live", self.refused("--drives", "2"))

    def limited(self, *, file_bytes: int) -> subprocess.CompletedProcess[str]:
        """A run that may write no larger files, and gets an error, no signal."""
        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, -1))

        return subprocess.run(self.args(1000), capture_output=True, text=True,
                              timeout=60, preexec_fn=limit, restore_signals=False)

    def test_no_room(self) -> None:
        """A disk that is full refuses the view before the run."""
        done = self.limited(file_bytes=16384)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.strip().count("\n"), 0)
        self.assertIn(f"live {self.file}: ", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(list(self.file.parent.iterdir()), [])

    def test_no_room_later(self) -> None:
        """A file that cannot be written any more ends the view; the run goes on,
        and says so."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        run = subprocess.Popen(self.args(2500000), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               restore_signals=False)
        while not self.file.exists():
            time.sleep(.002)
        # The header can still be written; then a picture is not.
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (4096, -1))
        live_file.want(self.file, 9)
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(json.loads(out)["requests"], 2500000)
        self.assertIn(f"live {self.file}: File too large", err)
        left = live_file.header(self.file.read_bytes())
        self.assertEqual((left.state, left.sequence % 2), (live_file.RUNS, 1))


if __name__ == "__main__":
    unittest.main()
