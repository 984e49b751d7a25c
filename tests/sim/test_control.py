# SPDX-License-Identifier: GPL-2.0-or-later
"""vssd-sim --control: a run that is paused, stepped, slowed down and set back has
the results of one that is not, and no client can harm it."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
from typing import Any

import live_file

SIM = os.environ["VSSD_SIM"]
# Members that the machine decides.
OF_MACHINE = ("wall_s", "cpu_s", "peak_rss_bytes", "requests_per_s_wall",
              "requests_per_s_cpu", "workload")
CUT = "cmd=1000000 -> cut power\n"
KINDS = ("event", "command", "gc")


class Control(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "drive.live"
        self.socket = self.folder / "drive.live.control"

    def args(self, *more: str, n: int = 20000) -> list[str]:
        load = [] if "--format" in more else [
            "--workload", f"rw=randrw bs=4k iodepth=8 fsync=50 number_ios={n}"]
        return [SIM, "run" if load else "replay", "--json", "--profile", "tiny",
                "--fill", "random", *load, *more]

    def plain(self, *more: str, n: int = 20000) -> Any:
        """The run without a control."""
        done = subprocess.run(self.args(*more, n=n), capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def start(self, *more: str, n: int = 20000) -> subprocess.Popen[str]:
        run = subprocess.Popen(
            [*self.args(*more, n=n), "--live", str(self.file), "--control"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stdout.close)  # type: ignore[union-attr]
        self.addCleanup(run.stderr.close)  # type: ignore[union-attr]
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def paused(self, *more: str, n: int = 20000) -> subprocess.Popen[str]:
        """At its first events: the run is stopped before it can end."""
        run = self.start(*more, n=n)
        self.assertEqual(self.ask("pause")["state"], "paused")
        return run

    def connect(self) -> socket.socket:
        end = time.monotonic() + 30
        while True:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(60)
            try:
                s.connect(str(self.socket))
                return s
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                s.close()
                if time.monotonic() > end:
                    raise
                time.sleep(.005)

    def raw(self, text: bytes) -> bytes:
        with self.connect() as s:
            s.sendall(text)
            out = b""
            with contextlib.suppress(ConnectionResetError):
                while part := s.recv(65536):
                    out += part
        return out

    def ask(self, line: str) -> Any:
        return json.loads(self.raw(line.encode() + b"\n"))

    def picture(self) -> live_file.Picture:
        """A new one of the run as it is now."""
        before, end = live_file.read(self.file).header, time.monotonic() + 20
        while (now := live_file.read(self.file)).header.written_ns <= before.written_ns:
            live_file.want(self.file)
            self.assertLess(time.monotonic(), end)
            time.sleep(.01)
        return now

    def same(self, run: subprocess.Popen[str], wanted: Any) -> None:
        """It ends with these results, and removes its socket."""
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertEqual(err, "")
        found = json.loads(out)
        for name in OF_MACHINE:
            found.pop(name, None)
            wanted.pop(name, None)
        self.assertEqual(found, wanted)
        self.assertEqual(os.listdir(self.folder), [self.file.name])
        self.assertEqual(live_file.read(self.file).header.state, live_file.ENDED)

    # ---- time -------------------------------------------------------------

    def test_steps(self) -> None:
        """Each step goes as far as it says, and none changes a result."""
        run = self.paused()
        for kind in KINDS * 5:
            before = self.ask("state")
            after = self.ask(f"step {kind}")
            self.assertEqual(after["state"], "paused")
            if kind == "event":
                self.assertIn(after["sim_ns"] - before["next_ns"], (0, 1))
            if kind == "command":
                self.assertGreater(after["commands"], before["commands"])
            self.assertGreaterEqual(after["sim_ns"], before["sim_ns"])
        self.assertEqual(self.ask("go")["state"], "runs")
        self.same(run, self.plain())

    def test_gc_step(self) -> None:
        """It ends at the event that chose a victim."""
        run = self.paused()

        def victims() -> int:
            return int(self.picture().named("counter")["gc.victims"])

        for _ in range(3):
            before = victims()
            self.ask("step gc")
            self.assertGreater(victims(), before)
        self.ask("go")
        self.same(run, self.plain())

    def test_power_cut_step(self) -> None:
        """Of a script; after the last cut the run goes to its end."""
        faults = self.folder.parent / f"{self.folder.name}.rules"
        faults.write_text(CUT)
        self.addCleanup(faults.unlink)
        more = f"--set=faults={faults}", "--fill", "preload"
        run = self.paused(*more, n=1100000)
        self.assertEqual(self.ask("step power-cut")["state"], "paused")
        self.assertEqual(self.ask("step power-cut")["state"], "ended")
        self.same(run, self.plain(*more, n=1100000))

    def test_speed(self) -> None:
        """A modelled second in so many of the host, at least; then as fast as
        possible."""
        run = self.paused()
        self.ask("speed 0.02")
        before, begin = self.ask("go"), time.monotonic()
        time.sleep(.5)
        after, end = self.ask("pause"), time.monotonic()
        passed_s = (after["sim_ns"] - before["sim_ns"]) / 1e9
        self.assertGreater(passed_s, 0)
        self.assertLessEqual(passed_s, .02 * (end - begin) + .001)
        self.assertEqual(self.ask("speed max")["speed"], 0)
        self.ask("go")
        self.same(run, self.plain())

    # ---- back -------------------------------------------------------------

    def test_back(self) -> None:
        """The completions after going back are those of before, whatever was
        changed meanwhile; and the result is that of the plain run."""
        run = self.paused()
        self.ask("step gc")
        marked = self.ask("mark")
        self.assertEqual(marked["marks_ns"], [marked["sim_ns"]])

        def course() -> list[int]:
            return [self.ask(f"step {k}")["sim_ns"] for k in KINDS * 4]

        first = course()
        self.ask("mark")
        for _ in range(3):
            self.ask("set host.firmware=50us")
            self.ask("set ftl.gc_low=4%")
            self.assertNotEqual(course(), first)
            pictures = self.picture().header
            self.assertEqual(self.ask("back 1")["state"], "goes back")
            self.assertGreater(self.picture().header.sequence, pictures.sequence)
            self.assertEqual(self.ask("state"), marked)
            self.assertEqual(self.ask("get host.firmware")["value"], "3us")
            self.assertEqual(course(), first)
            self.ask("mark")
        self.assertEqual(len(self.ask("state")["marks_ns"]), 2)
        self.ask("back 2")
        self.ask("go")
        self.same(run, self.plain())

    def test_back_in_a_trace(self) -> None:
        """The file of requests is read again from where it was."""
        trace = self.folder.parent / f"{self.folder.name}.csv"
        trace.write_text("".join(
            f"{i * 40},{'R' if i % 3 else 'W'},{i * 7919 % 2000 * 4096},4096\n"
            for i in range(40000)))
        self.addCleanup(trace.unlink)
        more = (str(trace), "--format", "csv", "--columns",
                "time_us,op,offset,size", "--wrap")
        run = self.paused(*more)
        self.ask("mark")
        self.ask("go")
        time.sleep(.05)
        with contextlib.suppress(OSError, ValueError):
            self.ask("pause")
        if run.poll() is None:
            self.ask("back 1")
            self.ask("go")
        self.same(run, self.plain(*more))

    def test_most_marks(self) -> None:
        run = self.paused()
        for n in range(8):
            self.assertEqual(len(self.ask("mark")["marks_ns"]), n + 1)
        self.assertEqual(self.ask("mark"),
                         {"error": "mark: there are 8, which is the most"})
        self.ask("back 3")
        self.assertEqual(len(self.ask("state")["marks_ns"]), 3)
        self.ask("go")
        self.same(run, self.plain())

    def test_signals(self) -> None:
        """Also of a run that waits, and that has marks: a signal ends it with its
        results so far, and no process is left."""
        for marks in (0, 2):
            with self.subTest(marks=marks):
                run = self.paused("--fill", "preload", n=10**9)
                for _ in range(20):
                    self.ask("step command")
                for _ in range(marks):
                    self.ask("mark")
                run.send_signal(signal.SIGTERM)
                out, err = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 128 + signal.SIGTERM, err)
                self.assertGreater(json.loads(out)["requests"], 0)
                self.assertFalse(self.socket.exists())

    def test_killed(self) -> None:
        """The first process takes the others with it; the socket that it leaves is
        replaced."""
        run = self.paused(n=10**9)
        self.ask("mark")
        run.kill()
        run.communicate(timeout=60)  # the last one has closed standard output
        self.assertTrue(self.socket.exists())
        self.paused().kill()

    # ---- options ----------------------------------------------------------

    def test_options(self) -> None:
        """A value takes effect at once; others are refused, and nothing changes."""
        run = self.paused()
        listed = self.ask("options")["options"]
        self.assertEqual(listed["host.firmware"]["value"], "3us")
        self.assertIn("nand.suspend", listed)
        self.assertNotIn("nand.dies", listed)
        for line, error in (
                ("set nand.dies=3", "nand.dies: does not change while"),
                ("set host.firmware=1h", "host.firmware=1h: allowed "),
                ("set host.firmware", "set host.firmware: not KEY=VALUE"),
                ("set no.such=1", "no.such: no such option"),
                ("get no.such", "no.such: no such option")):
            self.assertTrue(self.ask(line)["error"].startswith(error), line)
        self.assertEqual(self.ask("options")["options"], listed)
        self.assertEqual(self.ask("set nand.suspend=both"),
                         {"key": "nand.suspend", "value": "both"})
        self.assertEqual(self.ask("options")["options"]["nand.suspend"]["value"],
                         "both")
        self.ask("go")
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertNotEqual(json.loads(out)["latency_ns"],
                            self.plain()["latency_ns"])

    def test_page(self) -> None:
        """docs/watch.md has all that may change, and no other."""
        run = self.paused()
        page = (pathlib.Path(os.environ["VSSD_ROOT"]) / "docs/watch.md").read_text()
        table = page.partition("| options | from then on |\n")[2].partition("\n\n")[0]
        named = [key for row in table.splitlines()
                 for key in re.findall(r"`([^`]+)`", row.split("|")[1])]
        self.assertEqual(sorted(named), sorted(self.ask("options")["options"]))
        run.kill()

    # ---- clients ----------------------------------------------------------

    def test_hostile_clients(self) -> None:
        """Garbage, half a line, too long a line, none at all, many at once, gone
        in the middle: an answer in one line, or none, and the run goes on."""
        run = self.paused()
        for text in (b"\n", b"step\n", b"step now\n", b"pause now\n", b"back 1\n",
                     b"back x\n", b"speed -1\n", b"speed nan\n", b"speed 1e99\n",
                     b"\xff\xfe\0\n", b"x" * 600, b"state\0\n"):
            answer = json.loads(self.raw(text))
            self.assertTrue("error" in answer or text == b"state\0\n", text)
        idle = [self.connect() for _ in range(50)]
        half = self.connect()
        half.sendall(b"sta")
        gone = self.connect()
        gone.sendall(b"step gc\n")
        gone.close()
        both = [self.connect() for _ in range(2)]
        for s in both:
            s.sendall(b"step command\n")
        self.assertEqual([json.loads(s.recv(65536))["state"] for s in both],
                         ["paused"] * 2)
        for s in (*idle, half, *both):
            s.close()
        self.assertEqual(self.ask("state")["state"], "paused")
        self.ask("go")
        self.same(run, self.plain())

    def test_flood(self) -> None:
        """A run that is asked all the time."""
        run = self.start(n=200000)
        n = 0
        while run.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                n += "state" in self.ask_once()
        self.assertGreater(n, 0)
        self.same(run, self.plain(n=200000))

    def ask_once(self) -> Any:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(str(self.socket))
            s.sendall(b"state\n")
            return json.loads(s.recv(65536))

    # ---- the socket -------------------------------------------------------

    def test_mode(self) -> None:
        self.paused()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)

    def refused(self, *more: str) -> str:
        done = subprocess.run(self.args("--control", *more), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)
        return done.stderr.strip()

    def test_refused(self) -> None:
        self.assertIn("--control needs --live", self.refused())
        self.socket.write_text("mine")
        self.assertIn(f"--control: {self.socket}: is there, and is no socket",
                      self.refused("--live", str(self.file)))
        self.assertEqual(self.socket.read_text(), "mine")
        deep = self.folder / ("d" * 120)
        self.assertIn("the name of a socket has at most 107 bytes",
                      self.refused("--live", str(deep)))

    def test_no_marks(self) -> None:
        """With files that the run writes as it goes."""
        run = self.paused("--csv", str(self.folder / "out.csv"))
        self.assertIn("mark: not with --csv", self.ask("mark")["error"])
        self.assertEqual(self.ask("state")["no_marks"], "--csv")
        run.kill()


if __name__ == "__main__":
    unittest.main()
