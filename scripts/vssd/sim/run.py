# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of vssd-sim: one point, or many at a time on the cores of this machine.

Knows vssd-sim's command line and its JSON; knows neither sweeps nor figures.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, one_line
from ..paths import key_of

Result = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One run: a drive and its input."""

    profile: Path
    workload: str = ""
    trace: Path | None = None
    sets: tuple[str, ...] = ()  # "key=value"
    args: tuple[str, ...] = ()  # further options of vssd-sim

    def command(self, sim: str) -> list[str]:
        """The command line."""
        name, *options = self.arguments()
        return [sim, name, "--json", "--profile", str(self.profile), *options]

    def arguments(self) -> list[str]:
        """The command of vssd-sim, and its options without the profile."""
        args = ["replay", str(self.trace)] if self.trace \
            else ["run", "--workload", self.workload]
        for one in self.sets:
            args += ["--set", one]
        return args + list(self.args)

    def key(self, version: bytes) -> str:
        """A name for the point: the same program and the same contents of its
        files, the same name."""
        trace = content(self.trace) if self.trace else ""
        return key_of(version, self.profile.read_bytes(), self.workload,
                      trace, *self.sets, "args",
                      *(content(Path(a)) if os.path.isfile(a) else a
                        for a in self.args))


def content(path: Path) -> str:
    """A digest of a file; of an unchanged file it is calculated once."""
    st = path.stat()
    return _digest(path, st.st_size, st.st_mtime_ns)


@functools.cache
def _digest(path: Path, size: int, changed: int) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def result_of(status: int, out: str, err: str) -> Result:
    """vssd-sim's answer; UserError in its own words."""
    if status != 0:
        text = one_line(err) or f"vssd-sim ended with status {status}"
        raise UserError(text.removeprefix("vssd-sim: "))
    result: Result = json.loads(out)
    return result


class Runner:
    """Runs points on this machine, `jobs` at a time."""

    def __init__(self, sim: Path, jobs: int = 0) -> None:
        self.sim = sim
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self.running: set[subprocess.Popen[str]] = set()
        self.lock = threading.Lock()
        self.stopped = False

    def one(self, point: Point) -> Result:
        """Run one point to its end."""
        return result_of(*self.output(point.command(str(self.sim))))

    def output(self, command: list[str]) -> tuple[int, str, str]:
        """Run a command that stop() ends: status, output, errors."""
        with self.lock:
            if self.stopped:
                raise UserError("stopped")
            proc = subprocess.Popen(
                command, text=True, errors="replace",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            self.running.add(proc)
        try:
            out, err = proc.communicate()
        finally:
            with self.lock:
                self.running.discard(proc)
        return proc.returncode, out, err

    def stop(self) -> None:
        """End the active runs; later runs are refused."""
        with self.lock:
            self.stopped = True
            for proc in self.running:
                proc.terminate()

    def each(self, call: Callable[[Any], Any], items: Iterable[Any],
             done: Callable[[Any, Any], None]) -> None:
        """call(item) for each, several at a time; done(item, result) here, as
        they end.  The first failure ends all."""
        pool = concurrent.futures.ThreadPoolExecutor(self.jobs)
        waiting = {pool.submit(call, i): i for i in items}
        try:
            for future in concurrent.futures.as_completed(waiting):
                done(waiting[future], future.result())
        except BaseException:
            for future in waiting:
                future.cancel()
            self.stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def points(self, points: list[Point],
               done: Callable[[Point, Result], None]) -> None:
        """Run all of them."""
        self.each(self.one, points, done)


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """A result's scalars by dotted name; lists are left out."""
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, one in value.items():
            out.update(flat(one, f"{prefix}.{name}" if prefix else name))
        return out
    return {} if isinstance(value, list) else {prefix: value}
