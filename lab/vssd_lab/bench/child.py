# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that is measured: what it took of the machine."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any


def run(command: Sequence[str | Path], out: IO[Any] | int = subprocess.DEVNULL,
        err: IO[Any] | int = subprocess.DEVNULL) \
        -> tuple[int, resource.struct_rusage]:
    """Its exit status, as of Popen, and its own use of time and memory.
    OSError: it cannot start."""
    proc = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                            stderr=err)
    _, status, usage = os.wait4(proc.pid, 0)
    proc.returncode = os.waitstatus_to_exitcode(status)
    return proc.returncode, usage


def cpu_s(usage: resource.struct_rusage) -> float:
    """CPU time, in s."""
    return usage.ru_utime + usage.ru_stime
