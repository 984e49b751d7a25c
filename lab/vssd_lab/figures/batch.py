# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs from one drive: vssd-sim batch, one process for each core.

A process loads the drive once and plays each run on a copy of it, so that a
run costs no start and no load.  Knows vssd-sim batch; knows no requests.
"""

from __future__ import annotations

import json
import queue
import shlex
import subprocess
import threading
from types import TracebackType

from vssd.errors import UserError
from vssd.sim.run import Result, Runner


class Batch:
    """Processes of vssd-sim batch; play() may be called by several threads.

    with Batch(runner, ["--profile", ..., "--state", ...]) as batch:
        result = batch.play(["replay", "FILE", "--iodepth", "4"])
    """

    def __init__(self, runner: Runner, drive: list[str]) -> None:
        self.command = [str(runner.sim), "batch", *drive]
        self.runner = runner
        self.idle: queue.Queue[subprocess.Popen[str]] = queue.Queue()
        self.lock = threading.Lock()
        self.all: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None,
                 value: BaseException | None,
                 trace: TracebackType | None) -> None:
        with self.lock:
            for proc in self.all:
                proc.terminate()
            for proc in self.all:
                proc.communicate()
            self.all = []

    def _process(self) -> subprocess.Popen[str]:
        """An idle one, or a new one while there are fewer than jobs."""
        with self.lock:
            if self.idle.empty() and len(self.all) < self.runner.jobs:
                self.all.append(subprocess.Popen(
                    self.command, text=True, errors="replace",
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE))
                return self.all[-1]
        return self.idle.get()

    def play(self, words: list[str]) -> Result:
        """The result of one run; UserError in vssd-sim's words."""
        proc = self._process()
        try:
            lines = _exchange(proc, shlex.join(words) + "\n")
        finally:
            self.idle.put(proc)
        results = [json.loads(line) for line in lines]
        for r in results:
            if "error" in r:
                raise UserError(r["error"])
        if not results:
            raise UserError("vssd-sim batch: a run without a result")
        result: Result = results[0]
        return result


def _exchange(proc: subprocess.Popen[str], line: str) -> list[str]:
    assert proc.stdin and proc.stdout and proc.stderr
    out: list[str] = []
    try:
        proc.stdin.write(line)
        proc.stdin.flush()
        while (got := proc.stdout.readline()) not in ("\n", ""):
            out.append(got)
    except BrokenPipeError:
        got = ""
    if got == "":
        text = proc.stderr.read().strip().splitlines()
        raise UserError(text[-1].removeprefix("vssd-sim: ") if text
                        else "vssd-sim batch ended early")
    return out
