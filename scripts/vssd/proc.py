# SPDX-License-Identifier: GPL-2.0-or-later
"""Running other programs: into a log, with progress, and with an error of one
line that names the log; two jobs of them side by side."""

from __future__ import annotations

import concurrent.futures
import os
import re
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .errors import UserError, one_line
from .paths import cache_dir

NINJA = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
HARMLESS = ("ninja: build stopped", "ninja: subcommand failed")
A = TypeVar("A")
B = TypeVar("B")


class _Running:
    """Programs of run_logged() that run; of those that have ended, the CPU time
    of each thread that ran them."""

    lock = threading.Lock()
    programs: set[subprocess.Popen[str]] = set()
    ending = False  # together(): no further program is started
    used = threading.local()


def cpu_s() -> float:
    """Seconds of CPU time of the programs that run_logged() has run in this
    thread."""
    return float(getattr(_Running.used, "seconds", 0.0))


def log_file(name: str) -> Path:
    """Where the output of `name` goes."""
    logs = cache_dir() / "logs"
    logs.mkdir(exist_ok=True)
    return logs / f"{name}.log"


def telling_line(lines: Sequence[str]) -> str:
    """The line of a log that best describes the failure."""
    real = [x.strip() for x in lines
            if x.strip() and not x.startswith(HARMLESS)]
    for want in (r"No space left", r"undefined reference",
                 r"\b[Ff]atal error:|\berror:|^dpkg: error|^E: |ERROR:", r"\[ERROR\] \S"):
        for line in real:
            if re.search(want, line):
                return one_line(line)[:300]
    return one_line(real[-1])[:300] if real else "no output"


def run_logged(args: Sequence[str | Path], name: str, what: str,
               on_line: Callable[[str], None] | None = None,
               cwd: Path | None = None, env: dict[str, str] | None = None,
               append: bool = False) -> None:
    """Run to the end, output to the log `name`; UserError if it fails."""
    log = log_file(name)
    tail: list[str] = []
    full = dict(os.environ, **(env or {}))
    try:
        with open(log, "a" if append else "w", encoding="utf-8") as f:
            proc = _start([str(a) for a in args], cwd, full)
            assert proc.stdout
            try:
                for line in proc.stdout:
                    f.write(line)
                    tail = tail[-400:] + [line]
                    if on_line:
                        on_line(line.rstrip())
                status = _wait(proc)
            except BaseException:
                proc.terminate()
                _wait(proc)
                raise
            finally:
                with _Running.lock:
                    _Running.programs.discard(proc)
    except FileNotFoundError as e:
        raise UserError(f"{what} failed: {e.filename} is not installed; "
                        "run ./vssd setup") from e
    except OSError as e:
        raise UserError(f"{what} failed: {e.strerror} (log: {log})") from e
    if status != 0:
        raise UserError(f"{what} failed: {telling_line(tail)} (log: {log})")


def _start(args: list[str], cwd: Path | None,
           env: dict[str, str]) -> subprocess.Popen[str]:
    with _Running.lock:
        if _Running.ending:
            raise UserError("ended, since another step failed")
        proc = subprocess.Popen(
            args, cwd=cwd, env=env, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        _Running.programs.add(proc)
        return proc


def wait_used(proc: subprocess.Popen[Any]) -> float:
    """Wait for the end of a program; the seconds of CPU time that it and its
    children have used, 0 if Popen has waited already."""
    try:
        _, status, usage = os.wait4(proc.pid, 0)
    except ChildProcessError:  # terminate() of a program that had ended
        proc.wait()
        return 0.0
    proc.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _wait(proc: subprocess.Popen[str]) -> int:
    """Its exit status; its CPU time is counted."""
    _Running.used.seconds = cpu_s() + wait_used(proc)
    return proc.returncode


def together(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """What both return; they run side by side.  When one raises, or this process
    is to end, the programs that run_logged() runs for the other are ended, and
    that error is raised."""
    pool = concurrent.futures.ThreadPoolExecutor(2)
    try:
        a, b = pool.submit(first), pool.submit(second)
        both: list[concurrent.futures.Future[Any]] = [a, b]
        done, _ = concurrent.futures.wait(
            both, return_when=concurrent.futures.FIRST_EXCEPTION)
        for one in done:
            one.result()
        return a.result(), b.result()
    except BaseException:
        _end_programs()
        raise
    finally:
        pool.shutdown()
        _Running.ending = False


def _end_programs() -> None:
    with _Running.lock:
        _Running.ending = True
        for proc in _Running.programs:
            proc.terminate()


def ninja_step(step: Callable[[int, int, str], None]) -> Callable[[str], None]:
    """An on_line that turns ninja's [n/m] into progress."""
    def on_line(line: str) -> None:
        m = NINJA.match(line)
        if m:
            step(int(m[1]), int(m[2]), m[3].split()[-1] if m[3] else "")
    return on_line
