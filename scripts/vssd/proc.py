# SPDX-License-Identifier: GPL-2.0-or-later
"""Running other programs: into a log, with progress, and with an error of one
line that names the log."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import UserError, one_line
from .paths import cache_dir

NINJA = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
HARMLESS = ("ninja: build stopped", "ninja: subcommand failed")


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
            proc = subprocess.Popen(
                [str(a) for a in args], cwd=cwd, env=full, text=True,
                errors="replace", stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert proc.stdout
            try:
                for line in proc.stdout:
                    f.write(line)
                    tail = tail[-400:] + [line]
                    if on_line:
                        on_line(line.rstrip())
                status = proc.wait()
            except BaseException:
                proc.terminate()
                proc.wait()
                raise
    except FileNotFoundError as e:
        raise UserError(f"{what} failed: {e.filename} is not installed; "
                        "run ./vssd setup") from e
    except OSError as e:
        raise UserError(f"{what} failed: {e.strerror} (log: {log})") from e
    if status != 0:
        raise UserError(f"{what} failed: {telling_line(tail)} (log: {log})")


def ninja_step(step: Callable[[int, int, str], None]) -> Callable[[str], None]:
    """An on_line that turns ninja's [n/m] into progress."""
    def on_line(line: str) -> None:
        m = NINJA.match(line)
        if m:
            step(int(m[1]), int(m[2]), m[3].split()[-1] if m[3] else "")
    return on_line
